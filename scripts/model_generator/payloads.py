"""The typed side: ids, features, enumerations, bitmaps, structures and payloads as Swift types."""
import re

from .definitions import bits
from .model import ModelError, number
from .names import HEADER, member

IDENTIFIERS = {"endpoint-no": "EndpointID", "cluster-id": "ClusterID", "attrib-id": "AttributeID", "command-id": "CommandID",
               "event-id": "EventID", "devtype-id": "DeviceTypeID", "node-id": "NodeID", "fabric-id": "FabricID",
               "fabric-idx": "FabricIndex", "group-id": "GroupID", "vendor-id": "VendorID", "data-ver": "DataVersion",
               "event-no": "EventNumber", "status": "StatusCode", "priority": "EventPriority"}
BASIC = {"boolean": "Bool", "single": "Float", "double": "Double", "utf8": "String", "octets": "[UInt8]", "any": "TLVValue"}


def swift_type(loaded, cluster, name):
    inner = re.fullmatch(r"list\[(.+)\]", name)
    if inner:
        entry = swift_type(loaded, cluster, inner.group(1))
        return "ByteList" if entry == "UInt8" else f"[{entry}]"
    if name in IDENTIFIERS:
        return IDENTIFIERS[name]
    found = loaded.find(cluster, name)
    if found:
        owner = found[1]
        return name if owner is cluster else f"{owner['name'] if owner else 'GlobalTypes'}.{name}"
    kind, size = loaded.primitive(cluster, name)
    if kind in BASIC:
        return BASIC[kind]
    width = next(width for width in (8, 16, 32, 64) if width >= size * 8)
    return ("UInt" if kind == "unsigned" else "Int") + str(width)


def constants(title, swift, entries, width):
    lines = [f"    public enum {title} {{"]
    seen = set()
    for entry in entries:
        if entry["name"] in seen:
            continue
        seen.add(entry["name"])
        lines.append(f"        public static let {member(entry['name'])}: {swift} = 0x{number(entry['id']):0{width}X}")
    return lines + ["    }"]


def enumeration(entry):
    name, raw = entry["name"], "UInt" + re.sub(r"\D", "", entry["type"])
    lines = [f"    public struct {name}: ClusterEnum {{", f"        public let rawValue: {raw}",
             f"        public init(rawValue: {raw}) {{ self.rawValue = rawValue }}"]
    lines += [f"        public static let {member(item['name'])} = {name}(rawValue: {item['value']})" for item in entry["items"]]
    return lines + [f"        public static var definition: EnumDefinition {{ Types.{member(name)}Definition }}", "    }"]


def bit_members(name, raw, items):
    lines = []
    for item in items:
        first, last = bits(item)
        if first == last:
            lines.append(f"        public static let {member(item['name'])} = {name}(rawValue: 1 << {first})")
        else:
            lines += [f"        /// The number in bits {first} to {last}.", f"        public var {member(item['name'])}: {raw} {{",
                      f"            get {{ number({first}...{last}) }}",
                      f"            set {{ self = {name}(rawValue: with(newValue, in: {first}...{last})) }}", "        }"]
    return lines


def bitmap(entry):
    name, raw = entry["name"], "UInt" + re.sub(r"\D", "", entry["type"])
    lines = [f"    public struct {name}: ClusterBitmap {{", f"        public let rawValue: {raw}",
             f"        public init(rawValue: {raw}) {{ self.rawValue = rawValue }}"]
    lines += bit_members(name, raw, entry["items"])
    return lines + [f"        public static var definition: BitmapDefinition {{ Types.{member(name)}Definition }}", "    }"]


def structure(loaded, cluster, name, protocol, fields, fabric=False, extra=(), failure=""):
    """A structure with typed properties, from and to TLV."""
    rows = []
    for field in fields + ([{"id": 254, "name": "FabricIndex", "type": "fabric-idx", "conformance": "O"}] if fabric else []):
        swift = swift_type(loaded, cluster, field["type"])
        if "X" in field.get("quality", "").split():
            swift = f"Nullable<{swift}>"
        rows.append((field["id"], field["name"], member(field["name"]), swift, field.get("conformance", "M") != "M"))
    lines = [f"    public struct {name}: {protocol} {{"] + [f"        {line}" for line in extra]
    lines += [f"        public var {prop}: {swift}{'?' if optional else ''}" for _, _, prop, swift, optional in rows]
    parameters = ", ".join(f"{prop}: {swift}{'? = nil' if optional else ''}" for _, _, prop, swift, optional in rows)
    if not rows:
        return lines + ["        public init() {}",
                        f"        public init(tlv: TLVValue) throws(Status) {{ _ = try StructureReader(tlv{failure}) }}",
                        "        public var tlv: TLVValue { .structure([]) }", "    }"]
    lines += ["", f"        public init({parameters}) {{"]
    lines += [f"            self.{prop.strip('`')} = {prop}" for _, _, prop, _, _ in rows] + ["        }", ""]
    lines += ["        public init(tlv: TLVValue) throws(Status) {", f"            let fields = try StructureReader(tlv{failure})"]
    lines += [f"            {prop} = try fields.{'optional' if optional else 'required'}({tag}, \"{name}\")"
              for tag, name, prop, _, optional in rows] + ["        }", ""]
    lines += ["        public var tlv: TLVValue {", "            var fields = StructureBuilder()"]
    lines += [f"            fields.add({tag}, {'ifPresent: ' if optional else ''}{prop})" for tag, _, prop, _, optional in rows]
    return lines + ["            return fields.structure", "        }", "    }"]


def commands(loaded, cluster):
    for entry in cluster.get("commands", []):
        response = entry.get("direction") == "response"
        extra = [f"public static let cluster: ClusterID = 0x{number(cluster['id']):04X}",
                 f"public static let id: CommandID = 0x{number(entry['id']):02X}"]
        if not response:
            answer = "StatusOnly" if entry["response"] == "status" else entry["response"]
            timed = str("T" in entry["access"].split()[1:]).lower()
            extra += [f"public typealias Response = {answer}", f"public static let isTimed = {timed}"]
        yield structure(loaded, cluster, entry["name"], "CommandPayload" if response else "CommandRequest", entry.get("fields", []),
                        extra=extra, failure=", failure: .invalidCommand")


def events(loaded, cluster):
    for entry in cluster.get("events", []):
        extra = [f"public static let cluster: ClusterID = 0x{number(cluster['id']):04X}",
                 f"public static let id: EventID = 0x{number(entry['id']):02X}",
                 f"public static let priority = EventPriority.{entry['priority']}"]
        yield structure(loaded, cluster, entry["name"], "EventPayload", entry.get("fields", []),
                        fabric="S" in entry["access"].split()[1:], extra=extra)


def named_types(loaded, cluster, source):
    lines = []
    for entry in source.get("enums", []):
        if entry["name"] not in IDENTIFIERS:
            lines += [""] + enumeration(entry)
    for entry in source.get("bitmaps", []):
        lines += [""] + bitmap(entry)
    for entry in source.get("structs", []):
        lines += [""] + structure(loaded, cluster, entry["name"], "ClusterStruct", entry["fields"], fabric=entry.get("fabric", False))
    return lines


def feature_set(entry):
    lines = ["", "    /// The bits of FeatureMap.", "    public struct Feature: OptionSet, Hashable, Sendable {",
             "        public let rawValue: UInt32", "        public init(rawValue: UInt32) { self.rawValue = rawValue }"]
    return lines + [f"        public static let {member(feature['name'])} = Feature(rawValue: 1 << {feature['bit']})"
                    for feature in entry["features"]] + ["    }"]


def cluster(loaded, entry):
    name = entry["name"]
    taken = ["Attributes", "Commands", "Events", "Feature", "Types", "Shape"]
    taken += [item["name"] for part in ("commands", "events", "enums", "bitmaps", "structs") for item in entry.get(part, [])]
    for item in taken:
        if taken.count(item) > 1:
            raise ModelError(f"{name}: two Swift types would be named {item}")
    source = f"Model/clusters/{number(entry['id']):04X}-{name}.json"
    lines = [HEADER.format(source=source), "import MatterTLV", ""]
    lines += [f"/// {entry['title']} (0x{number(entry['id']):04X}): ids and typed values.", f"public enum {name} {{"]
    lines += [f"    public static let id: ClusterID = 0x{number(entry['id']):04X}",
              f"    public static let revision: UInt16 = {entry['revision']}"]
    for title, swift, part, width in (("Attributes", "AttributeID", "attributes", 4), ("Commands", "CommandID", "commands", 2),
                                      ("Events", "EventID", "events", 2)):
        if entry.get(part):
            lines += [""] + constants(title, swift, entry[part], width)
    if entry.get("features"):
        lines += feature_set(entry)
    lines += named_types(loaded, entry, entry) + ["}"]
    for title, payloads in (("Commands.", commands), ("Events.", events)):
        listed = list(payloads(loaded, entry))
        if listed:
            lines += ["", f"// {title}", f"extension {name} {{"]
            for position, payload in enumerate(listed):
                lines += ([""] if position else []) + payload
            lines.append("}")
    return "\n".join(lines + [""])


def global_types(loaded):
    lines = [HEADER.format(source="Model/global-types.json"), "import MatterTLV", "",
             "/// Types and attributes that belong to no cluster.", "public enum GlobalTypes {"]
    lines += named_types(loaded, None, loaded.globals)[1:]
    return "\n".join(lines + ["}", ""])
