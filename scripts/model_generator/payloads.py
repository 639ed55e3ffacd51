"""The typed side: ids, features, enumerations, bitmaps, structures and payloads as Swift types."""
from .model import number
from .names import HEADER, member


def constants(title, swift, entries, width):
    lines = [f"    public enum {title} {{"]
    seen = set()
    for entry in entries:
        if entry["name"] in seen:
            continue
        seen.add(entry["name"])
        lines.append(f"        public static let {member(entry['name'])}: {swift} = 0x{number(entry['id']):0{width}X}")
    return lines + ["    }"]


def cluster(loaded, entry):
    name = entry["name"]
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
        lines += ["", "    /// The bits of FeatureMap.", "    public struct Feature: OptionSet, Hashable, Sendable {",
                  "        public let rawValue: UInt32", "        public init(rawValue: UInt32) { self.rawValue = rawValue }"]
        lines += [f"        public static let {member(feature['name'])} = Feature(rawValue: 1 << {feature['bit']})"
                  for feature in entry["features"]] + ["    }"]
    return "\n".join(lines + ["}", ""])


def global_types(loaded):
    return "\n".join([HEADER.format(source="Model/global-types.json"), "import MatterTLV", "",
                      "/// Types and attributes that belong to no cluster.", "public enum GlobalTypes {", "}", ""])
