"""Reads Model/ and refuses what the notation does not allow."""
import json
import re

PRIMITIVES = {"bool": ("boolean", None), "single": ("single", None), "double": ("double", None), "string": ("utf8", None),
              "octstr": ("octets", None), "any": ("any", None)}
for _bits in range(8, 65, 8):
    PRIMITIVES[f"uint{_bits}"] = ("unsigned", _bits // 8)
    PRIMITIVES[f"int{_bits}"] = ("signed", _bits // 8)
for _bits in (8, 16):
    PRIMITIVES[f"enum{_bits}"] = ("unsigned", _bits // 8)
for _bits in (8, 16, 32, 64):
    PRIMITIVES[f"map{_bits}"] = ("unsigned", _bits // 8)

MEMBERS = {
    "cluster": {"id", "name", "title", "revision", "pics", "base", "features", "attributes", "commands", "events", "enums",
                "bitmaps", "structs", "types"},
    "feature": {"bit", "code", "name", "conformance"},
    "attribute": {"id", "name", "type", "quality", "constraint", "access", "conformance", "default"},
    "field": {"id", "name", "type", "quality", "constraint", "access", "conformance", "default"},
    "command": {"id", "name", "direction", "access", "response", "conformance", "fields"},
    "event": {"id", "name", "priority", "access", "conformance", "fields"},
    "enum": {"name", "type", "items"},
    "enum item": {"value", "name", "conformance"},
    "bitmap": {"name", "type", "items"},
    "bitmap item": {"bit", "name", "conformance"},
    "struct": {"name", "fabric", "fields"},
    "type": {"name", "type"},
}
QUALITIES = {"X": "nullable", "N": "nonVolatile", "F": "fixed", "S": "scene", "C": "changesOmitted", "Q": "quieter",
             "P": "reportable", "T": "atomic", "L": "largeMessage", "K": "diagnostics", "I": "singleton"}


class ModelError(Exception):
    """A file of Model/ that cannot be understood; says where."""


class Model:
    """Everything in Model/, with look-ups for types."""

    def __init__(self, global_types, clusters, device_types):
        self.types = {entry["name"]: entry["type"] for entry in global_types.get("types", [])}
        self.globals = global_types
        self.clusters = clusters
        self.device_types = device_types
        self.by_name = {cluster["name"]: cluster for cluster in clusters}

    def find(self, cluster, name):
        """The kind ("enum", "bitmap", "struct"), owner (None for a global type) and definition of a named type; None if unknown."""
        owners = [cluster] if cluster else []
        if cluster and "base" in cluster:
            owners.append(self.by_name[cluster["base"]])
        for owner in owners + [None]:
            source = owner if owner is not None else self.globals
            for kind in ("enum", "bitmap", "struct"):
                for entry in source.get(kind + "s", []):
                    if entry["name"] == name:
                        return kind, owner, entry
        return None

    def alias(self, cluster, name):
        """What a derived type, such as `temperature`, is derived from; None if it is not one."""
        for entry in (cluster or {}).get("types", []):
            if entry["name"] == name:
                return entry["type"]
        return self.types.get(name)

    def primitive(self, cluster, name):
        """The encoding of a primitive or derived type; None for others."""
        seen = 0
        while name not in PRIMITIVES:
            name = self.alias(cluster, name)
            seen += 1
            if name is None or seen > 5:
                return None
        return PRIMITIVES[name]


def number(text):
    return text if isinstance(text, int) else int(text, 0)


def _members(entry, kind, where):
    unknown = set(entry) - MEMBERS[kind]
    if unknown:
        raise ModelError(f"{where}: unknown member {sorted(unknown)[0]} of {kind} {entry.get('name')}")


def _type(loaded, cluster, name, where):
    inner = re.fullmatch(r"list\[(.+)\]", name)
    if inner:
        name = inner.group(1)
    if loaded.primitive(cluster, name) is None and loaded.find(cluster, name) is None:
        raise ModelError(f"{where}: unknown type {name}")


def _fields(loaded, cluster, fields, where):
    seen = set()
    for field in fields:
        _members(field, "field", where)
        if field["id"] in seen or field["id"] == 254:
            raise ModelError(f"{where}: field id {field['id']} stands twice, or is FabricIndex, which is implied")
        seen.add(field["id"])
        _element(loaded, cluster, field, where)


def _element(loaded, cluster, element, where):
    where = f"{where}.{element['name']}"
    _type(loaded, cluster, element["type"], where)
    for letter in element.get("quality", "").split():
        if letter not in QUALITIES:
            raise ModelError(f"{where}: unknown quality {letter}")
    if "default" in element and element["default"] is None and "X" not in element.get("quality", "").split():
        raise ModelError(f"{where}: null by default but not nullable")


def _check(loaded, cluster):
    where = cluster["name"]
    _members(cluster, "cluster", where)
    if not isinstance(cluster["revision"], int) or not isinstance(cluster["pics"], str):
        raise ModelError(f"{where}: revision or pics")
    for feature in cluster.get("features", []):
        _members(feature, "feature", where)
    for attribute in cluster.get("attributes", []):
        _members(attribute, "attribute", where)
        if not re.fullmatch(r"(R|RW|R\[W\]) [VOMA]{1,2}( F)?( S)?( T)?", attribute["access"]):
            raise ModelError(f"{where}.{attribute['name']}: access {attribute['access']}")
        _element(loaded, cluster, attribute, where)
    names = {command["name"] for command in cluster.get("commands", [])}
    for command in cluster.get("commands", []):
        _members(command, "command", where)
        if command.get("direction") != "response":
            if command["response"] not in names | {"status"}:
                raise ModelError(f"{where}.{command['name']}: unknown response {command['response']}")
            if not re.fullmatch(r"[VOMA]( F)?( T)?", command["access"]):
                raise ModelError(f"{where}.{command['name']}: access {command['access']}")
        _fields(loaded, cluster, command.get("fields", []), f"{where}.{command['name']}")
    for event in cluster.get("events", []):
        _members(event, "event", where)
        if event["priority"] not in ("debug", "info", "critical") or not re.fullmatch(r"[VOMA]( S)?", event["access"]):
            raise ModelError(f"{where}.{event['name']}: priority or access")
        _fields(loaded, cluster, event.get("fields", []), f"{where}.{event['name']}")
    _check_types(loaded, cluster, where)


def _check_types(loaded, source, where):
    cluster = source if "id" in source else None
    for kind in ("enum", "bitmap"):
        for entry in source.get(kind + "s", []):
            _members(entry, kind, where)
            for item in entry["items"]:
                _members(item, kind + " item", f"{where}.{entry['name']}")
    for entry in source.get("structs", []):
        _members(entry, "struct", where)
        _fields(loaded, cluster, entry["fields"], f"{where}.{entry['name']}")


def _read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{path.name}: {error}") from None


def load(folder):
    clusters = []
    for path in sorted((folder / "clusters").glob("*.json")):
        cluster = _read(path)
        if path.name != f"{number(cluster['id']):04X}-{cluster['name']}.json":
            raise ModelError(f"{path.name}: holds {cluster['id']} {cluster['name']}")
        clusters.append(cluster)
    loaded = Model(_read(folder / "global-types.json"), clusters, _read(folder / "device-types.json")["deviceTypes"])
    _check_types(loaded, loaded.globals, "global-types.json")
    for cluster in clusters:
        try:
            _check(loaded, cluster)
        except KeyError as error:
            raise ModelError(f"{cluster['name']}: member {error} is missing") from None
    return loaded
