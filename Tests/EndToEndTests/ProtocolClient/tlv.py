"""Matter TLV as docs/protocol.md, section 4, describes it. Knows nothing of Hearth's own code."""

import struct


class Signed(int):
    """A signed integer; plain ints are written unsigned."""


class Structure(list):
    """Pairs of (context tag, value)."""

    def get(self, tag, default=None):
        return next((value for t, value in self if t == tag), default)

    def __getitem__(self, tag):
        found = [value for t, value in self if t == tag]
        if not found:
            raise KeyError(f"no member with tag {tag} in {list(self)}")
        return found[0]


class List(Structure):
    """Like a structure on the wire, but with the type of a list: paths are lists."""


class Array(list):
    """Values without tags."""


def _integer(number, types):
    for kind, (low, high, form) in types.items():
        if low <= number <= high:
            return kind, struct.pack(form, number)
    raise ValueError(f"{number} does not fit into 64 bits")


_UNSIGNED = {4: (0, 0xFF, "<B"), 5: (0, 0xFFFF, "<H"), 6: (0, 0xFFFFFFFF, "<I"), 7: (0, 2**64 - 1, "<Q")}
_SIGNED = {
    0: (-0x80, 0x7F, "<b"), 1: (-0x8000, 0x7FFF, "<h"), 2: (-0x80000000, 0x7FFFFFFF, "<i"), 3: (-2**63, 2**63 - 1, "<q")}


def encode(value, tag=None):
    """One element. `tag` is a context tag, or None for an anonymous element."""

    def head(kind):
        return bytes([kind]) if tag is None else bytes([kind | 0x20, tag])

    if value is None:
        return head(0x14)
    if isinstance(value, bool):
        return head(0x09 if value else 0x08)
    if isinstance(value, int):
        kind, data = _integer(value, _SIGNED if isinstance(value, Signed) else _UNSIGNED)
        return head(kind) + data
    if isinstance(value, float):
        return head(0x0B) + struct.pack("<d", value)
    if isinstance(value, (str, bytes)):
        data, base = (value.encode(), 0x0C) if isinstance(value, str) else (value, 0x10)
        if len(data) < 0x100:
            return head(base) + struct.pack("<B", len(data)) + data
        return head(base + 1) + struct.pack("<H", len(data)) + data
    if isinstance(value, Structure):
        kind = 0x17 if isinstance(value, List) else 0x15
        return head(kind) + b"".join(encode(v, t) for t, v in value) + b"\x18"
    if isinstance(value, Array):
        return head(0x16) + b"".join(encode(v) for v in value) + b"\x18"
    raise TypeError(f"no TLV for {value!r}")


class _Reader:
    def __init__(self, data):
        self.data, self.offset = data, 0

    def take(self, count):
        if self.offset + count > len(self.data):
            raise ValueError(f"the TLV ends too early, at byte {self.offset}")
        self.offset += count
        return self.data[self.offset - count:self.offset]

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def element(self):
        """(tag, value), or None at the end of a container."""
        control = self.number("<B")
        if control == 0x18:
            return None
        form, kind = control >> 5, control & 0x1F
        if form > 1:
            raise ValueError(f"a tag form that this protocol does not use: {control:#x}")
        tag = self.number("<B") if form == 1 else None
        return tag, self.value(kind)

    def members(self):
        members = []
        while (member := self.element()) is not None:
            members.append(member)
        return members

    def value(self, kind):
        if kind <= 3:
            return Signed(self.number(("<b", "<h", "<i", "<q")[kind]))
        if kind <= 7:
            return self.number(("<B", "<H", "<I", "<Q")[kind - 4])
        if kind in (8, 9):
            return kind == 9
        if kind in (0x0A, 0x0B):
            return self.number("<f" if kind == 0x0A else "<d")
        if 0x0C <= kind <= 0x13:
            data = self.take(self.number(("<B", "<H", "<I", "<Q")[kind & 3]))
            return data.decode() if kind < 0x10 else data
        if kind == 0x14:
            return None
        if kind == 0x15:
            return Structure(self.members())
        if kind == 0x16:
            return Array(value for _, value in self.members())
        if kind == 0x17:
            return List(self.members())
        raise ValueError(f"unknown element type {kind:#x}")


def decode(data):
    """The only element of `data`."""
    reader = _Reader(data)
    element = reader.element()
    if element is None or reader.offset != len(data):
        raise ValueError("not exactly one element")
    return element[1]
