"""A session with a Hearth device, as docs/protocol.md, sections 1 to 3, describe it: TCP, TLS 1.3, frames, exchanges."""

import json
import pathlib
import socket
import ssl
import struct
import time

import tlv

ESTABLISHED = bytes.fromhex("0040000000000000" "000000000000")
BUSY = bytes.fromhex("004000000000" "0800" "00000000" "0400")
SECURE_CHANNEL, INTERACTION_MODEL = 0, 1
STATUS_RESPONSE, READ, SUBSCRIBE, SUBSCRIBED, REPORT, WRITE, WRITTEN, INVOKE, INVOKED, TIMED = range(1, 11)
REVISION = (0xFF, 12)


class Credentials:
    """What `hearth credentials export --out DIR` wrote."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.identity = json.loads((self.folder / "identity.json").read_text())

    def instance_name(self, node):
        return f"{self.identity['compressedFabricId']:016X}-{node:016X}"

    def context(self, certificate=True, verify=True):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        # The name is an operational instance name and no DNS name of the certificate: ids are compared instead.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED if verify else ssl.CERT_NONE
        context.load_verify_locations(self.folder / "root.pem")
        if certificate:
            context.load_cert_chain(self.folder / "controller.pem", self.folder / "key.pem")
        context.set_alpn_protocols(["hearth/1"])
        return context


def once_free(connect):
    """What `connect` makes: (connection, its first frame). Again while the device is busy with a pairing that is ending."""
    for _ in range(100):
        connection, first = connect()
        if not first.startswith(BUSY):
            return connection, first
        time.sleep(0.1)
    raise AssertionError("the device stays busy")


class Refused(Exception):
    """The peer answered with a StatusResponse other than SUCCESS."""

    def __init__(self, status):
        super().__init__(f"status {status:#04x}")
        self.status = status


class Session:
    """Frames and exchanges over one connection. Requests go one after another."""

    def __init__(self, address, credentials, node, context=None, resume=None, timeout=20):
        host, port = address.rsplit(":", 1)
        self.context = context or credentials.context()
        raw = socket.create_connection((host, int(port)), timeout=timeout)
        self.tls = self.context.wrap_socket(raw, server_hostname=credentials.instance_name(node), session=resume)
        if self.tls.selected_alpn_protocol() != "hearth/1":
            raise AssertionError(f"the peer chose the protocol {self.tls.selected_alpn_protocol()!r}")
        self.check_peer(credentials, node)
        self.next_exchange = 0x1000
        self.reports = []
        if (first := self.receive_frame()) != ESTABLISHED:
            raise AssertionError(f"the first frame is {first.hex()}, not 'session established'")

    def check_peer(self, credentials, node):
        """The certificate names the node and the fabric that were dialled."""
        subject = {key: value for part in self.tls.getpeercert()["subject"] for key, value in part}
        expected = {"1.3.6.1.4.1.37244.1.1": f"{node:016X}", "1.3.6.1.4.1.37244.1.5": f"{credentials.identity['fabricId']:016X}"}
        for oid, wanted in expected.items():
            if subject.get(oid) != wanted:
                raise AssertionError(f"the peer's certificate says {subject}, and not {oid} = {wanted}")

    def close(self):
        try:
            self.tls.unwrap().close()
        except (OSError, ValueError):
            self.tls.close()

    # Frames

    def send_frame(self, message):
        self.tls.sendall(struct.pack("<I", len(message)) + message)

    def receive_exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.tls.recv(count - len(data))
            if not part:
                raise EOFError("the peer closed the connection")
            data += part
        return data

    def receive_frame(self):
        length = struct.unpack("<I", self.receive_exactly(4))[0]
        if length > 64_000:
            raise AssertionError(f"a frame of {length} bytes")
        return self.receive_exactly(length)

    # Exchanges

    def send(self, exchange, opcode, value, initiator=True, protocol=INTERACTION_MODEL):
        payload = value if isinstance(value, bytes) else tlv.encode(value)
        self.send_frame(struct.pack("<BBHH", 1 if initiator else 0, opcode, exchange, protocol) + payload)

    def begin(self):
        self.next_exchange += 1
        return self.next_exchange

    def receive_any(self):
        """(begun by the peer, exchange, opcode, payload)."""
        message = self.receive_frame()
        flags, opcode, exchange, protocol = struct.unpack_from("<BBHH", message)
        if protocol != INTERACTION_MODEL:
            raise AssertionError(f"a message of protocol {protocol}")
        if flags & ~1:
            raise AssertionError(f"exchange flags {flags:#x} over a reliable transport")
        return bool(flags & 1), exchange, opcode, tlv.decode(message[6:])

    def receive(self, exchange):
        """The next message of an exchange that this side has begun; reports that come meanwhile are kept."""
        while True:
            from_peer, number, opcode, payload = self.receive_any()
            if from_peer:
                self.reports.append((number, opcode, payload))
            elif number == exchange:
                if payload.get(0xFF) != 12:
                    raise AssertionError(f"InteractionModelRevision is {payload.get(0xFF)}")
                return opcode, payload

    def status(self, exchange, code=0, initiator=True):
        self.send(exchange, STATUS_RESPONSE, tlv.Structure([(0, code), REVISION]), initiator)

    def expect(self, exchange, *opcodes):
        opcode, payload = self.receive(exchange)
        if opcode == STATUS_RESPONSE and (opcode not in opcodes or payload[0] != 0):
            raise Refused(payload[0])
        if opcode not in opcodes:
            raise AssertionError(f"opcode {opcode} where {opcodes} was expected")
        return opcode, payload

    # Interactions

    def read_report(self, exchange, items, always_acknowledged):
        while True:
            _, report = self.expect(exchange, REPORT)
            items += report.get(1, [])
            more, suppressed = report.get(3, False), report.get(4, False)
            if more or always_acknowledged or not suppressed:
                self.status(exchange)
            if not more:
                return items

    def read(self, *paths):
        exchange = self.begin()
        self.send(exchange, READ, tlv.Structure([(0, tlv.Array(attribute_path(*p) for p in paths)), (3, True), REVISION]))
        return [item_of(report) for report in self.read_report(exchange, [], False)]

    def timed(self, exchange, milliseconds):
        if milliseconds is None:
            return
        self.send(exchange, TIMED, tlv.Structure([(0, milliseconds), REVISION]))
        self.expect(exchange, STATUS_RESPONSE)

    def write(self, path, value, timed=None, claims_timed=None):
        exchange = self.begin()
        self.timed(exchange, timed)
        data = tlv.Structure([(1, attribute_path(*path)), (2, value)])
        is_timed = timed is not None if claims_timed is None else claims_timed
        self.send(exchange, WRITE, tlv.Structure([(0, False), (1, is_timed), (2, tlv.Array([data])), REVISION]))
        _, response = self.expect(exchange, WRITTEN)
        return response[0][0][1][0]

    def invoke(self, endpoint, cluster, command, fields=None, timed=None, claims_timed=None):
        """(status, None), or (None, (command, fields)) of the response."""
        exchange = self.begin()
        self.timed(exchange, timed)
        path = tlv.List([(0, endpoint), (1, cluster), (2, command)])
        data = tlv.Structure([(0, path), (1, tlv.Structure(fields or []))])
        is_timed = timed is not None if claims_timed is None else claims_timed
        self.send(exchange, INVOKE, tlv.Structure([(0, False), (1, is_timed), (2, tlv.Array([data])), REVISION]))
        _, response = self.expect(exchange, INVOKED)
        answer = response[1][0]
        if (status := answer.get(1)) is not None:
            return status[1][0], None
        return None, (answer[0][0][2], answer[0].get(1))

    def subscribe(self, *paths, minimum=0, maximum=60):
        exchange = self.begin()
        self.send(exchange, SUBSCRIBE, tlv.Structure([
            (0, True), (1, minimum), (2, maximum), (3, tlv.Array(attribute_path(*p) for p in paths)), (7, True), REVISION]))
        items = self.read_report(exchange, [], True)
        _, response = self.expect(exchange, SUBSCRIBED)
        return response[0], response[2], [item_of(report) for report in items]

    def next_report(self):
        """(subscription, items) of a report that the device sends by itself."""
        while not self.reports:
            from_peer, number, opcode, payload = self.receive_any()
            if from_peer:
                self.reports.append((number, opcode, payload))
        number, opcode, payload = self.reports.pop(0)
        if opcode != REPORT:
            raise AssertionError(f"the device began an exchange with opcode {opcode}")
        # An answer to an exchange that the peer has begun: the initiator flag is clear.
        self.status(number, 0, initiator=False)
        return payload[0], [item_of(report) for report in payload.get(1, [])]


def attribute_path(endpoint=None, cluster=None, attribute=None):
    members = [(2, endpoint), (3, cluster), (4, attribute)]
    return tlv.List((tag, number) for tag, number in members if number is not None)


class Item:
    """One attribute of a report: a value, or a status."""

    def __init__(self, path, value=None, status=None):
        self.path, self.value, self.status = path, value, status

    def __repr__(self):
        return f"{self.path}: " + (f"status {self.status:#04x}" if self.status is not None else repr(self.value))


def item_of(report):
    def key(path):
        return tuple(path.get(tag) for tag in (2, 3, 4))

    if (data := report.get(1)) is not None:
        return Item(key(data[1]), value=data[2])
    return Item(key(report[0][0]), status=report[0][1][0])
