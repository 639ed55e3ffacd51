"""The definitions: what a cluster consists of, as values."""
import re

from .model import QUALITIES, number
from .names import HEADER, member, text

PRIVILEGES = {"V": ".view", "O": ".operate", "M": ".manage", "A": ".administer"}


def conformance(element):
    known = {"M": ".mandatory", "O": ".optional"}
    given = element.get("conformance", "M")
    return known.get(given, f"Conformance({text(given)})")


def encoding(primitive):
    kind, size = primitive
    return f".{kind}" if size is None else f".{kind}(bytes: {size})"


def reference(loaded, cluster, name):
    """The expression of a TypeReference."""
    inner = re.fullmatch(r"list\[(.+)\]", name)
    if inner:
        return f"TypeReference(list: {reference(loaded, cluster, inner.group(1))})"
    found = loaded.find(cluster, name)
    if found:
        _, owner, _ = found
        place = "GlobalTypes.Types" if owner is None else "Types" if owner is cluster else owner["name"] + ".Types"
        return f"{place}.{member(name)}"
    return f"TypeReference({text(name)}, {encoding(loaded.primitive(cluster, name))})"


def default_value(loaded, cluster, element):
    """The expression of a default, with its label; empty without one."""
    if "default" not in element:
        return ""
    value = element["default"]
    if isinstance(value, dict):
        return f", defaultAttribute: {text(value['attribute'])}"
    return ", default: " + literal(loaded, cluster, element["type"], value)


def literal(loaded, cluster, type_name, value):
    if value is None:
        return ".null"
    if isinstance(value, bool):
        return f".boolean({str(value).lower()})"
    inner = re.fullmatch(r"list\[(.+)\]", type_name)
    if inner:
        return ".array([" + ", ".join(literal(loaded, cluster, inner.group(1), entry) for entry in value) + "])"
    primitive = loaded.primitive(cluster, type_name)
    if primitive is None:
        kind, owner, definition = loaded.find(cluster, type_name)
        if kind == "struct":
            fields = {field["name"]: field for field in definition["fields"]}
            members = [(fields[name]["id"], literal(loaded, owner, fields[name]["type"], entry)) for name, entry in value.items()]
            return ".structure([" + ", ".join(f"TLVElement({tag}, {entry})" for tag, entry in sorted(members)) + "])"
        return f".unsigned({value})"
    kind = primitive[0]
    if kind == "utf8":
        return f".utf8({text(value)})"
    if kind == "octets":
        return f".octets({list(bytes.fromhex(value))})"
    return f".{kind}({value})"


def qualities(element):
    letters = element.get("quality", "").split()
    return ", quality: [" + ", ".join("." + QUALITIES[letter] for letter in letters) + "]" if letters else ""


def constraint(element):
    return f", constraint: Constraint({text(element['constraint'])})" if "constraint" in element else ""


def attribute(loaded, cluster, element):
    mode, letters, *flags = element["access"].split()
    access = "" if letters[0] == "V" else f", read: {PRIVILEGES[letters[0]]}"
    if mode != "R":
        access += f", write: {PRIVILEGES[letters[-1]]}" + (", writeIsOptional: true" if "[" in mode else "")
    access += "".join(f", {label}: true" for flag, label in (("T", "timed"), ("F", "fabricScoped"), ("S", "fabricSensitive")) if flag in flags)
    return (f"AttributeDefinition(0x{number(element['id']):04X}, {text(element['name'])}, {reference(loaded, cluster, element['type'])}"
            f"{qualities(element)}{access}, conformance: {conformance(element)}{constraint(element)}"
            f"{default_value(loaded, cluster, element)})")


def field(loaded, cluster, element):
    sensitive = ", fabricSensitive: true" if element.get("access") == "S" else ""
    return (f"FieldDefinition({element['id']}, {text(element['name'])}, {reference(loaded, cluster, element['type'])}"
            f"{qualities(element)}{sensitive}, conformance: {conformance(element)}{constraint(element)}"
            f"{default_value(loaded, cluster, element)})")


def fields(loaded, cluster, entry, indent, fabric=False):
    rows = [field(loaded, cluster, element) for element in entry.get("fields", [])] + (["FieldDefinition.fabricIndex"] if fabric else [])
    if not rows:
        return ""
    return ", fields: [\n" + "".join(f"{indent}    {row},\n" for row in rows) + f"{indent}]"


def command(loaded, cluster, element):
    indent = " " * 12
    if element.get("direction") == "response":
        head = ".response, response: .none"
    else:
        letters, *flags = element["access"].split()
        answer = ".status"
        if element["response"] != "status":
            target = next(other for other in cluster["commands"] if other["name"] == element["response"])
            answer = f".command(0x{number(target['id']):02X})"
        head = f".request, response: {answer}" + ("" if letters == "O" else f", invoke: {PRIVILEGES[letters]}")
        head += (", timed: true" if "T" in flags else "") + (", fabricScoped: true" if "F" in flags else "")
    return (f"CommandDefinition(0x{number(element['id']):02X}, {text(element['name'])}, {head}, conformance: {conformance(element)}"
            f"{fields(loaded, cluster, element, indent)})")


def event(loaded, cluster, element):
    letters, *flags = element["access"].split()
    access = "" if letters == "V" else f", read: {PRIVILEGES[letters]}"
    sensitive = ", fabricSensitive: true" if "S" in flags else ""
    return (f"EventDefinition(0x{number(element['id']):02X}, {text(element['name'])}, .{element['priority']}{access}{sensitive}, "
            f"conformance: {conformance(element)}{fields(loaded, cluster, element, ' ' * 12, bool(sensitive))})")


def feature(element):
    return (f"FeatureDefinition(bit: {element['bit']}, code: {text(element['code'])}, name: {text(element['name'])}, "
            f"conformance: {conformance(element)})")


def bits(item):
    first, _, last = str(item["bit"]).partition("-")
    return int(first), int(last or first)


def type_declarations(loaded, cluster, source):
    """One `static let` for each enumeration, bitmap and structure."""
    lines = []
    for kind, case, item_type in (("enums", "enumeration", "EnumDefinition"), ("bitmaps", "bitmap", "BitmapDefinition")):
        for entry in source.get(kind, []):
            size = int(re.sub(r"\D", "", entry["type"])) // 8
            label = "items" if kind == "enums" else "fields"
            name = member(entry["name"])
            lines.append(f"        static let {name} = TypeReference({text(entry['name'])}, .{case}({name}Definition))")
            lines.append(f"        static let {name}Definition = {item_type}({text(entry['name'])}, bytes: {size}, {label}: [")
            for item in entry["items"]:
                tail = "" if item.get("conformance", "M") == "M" else ", " + conformance(item)
                if kind == "enums":
                    lines.append(f"            EnumDefinition.Item({item['value']}, {text(item['name'])}{tail}),")
                else:
                    first, last = bits(item)
                    lines.append(f"            BitmapDefinition.Field({first}...{last}, {text(item['name'])}{tail}),")
            lines.append("        ])")
    for entry in source.get("structs", []):
        fabric = entry.get("fabric", False)
        scoped = ", fabricScoped: true" if fabric else ""
        listed = fields(loaded, cluster, entry, " " * 12, fabric)
        lines.append(f"        static let {member(entry['name'])} = TypeReference(")
        lines.append(f"            {text(entry['name'])}, .structure(StructDefinition({text(entry['name'])}{scoped}{listed})))")
    return lines


def cluster(loaded, entry):
    name = entry["name"]
    source = f"Model/clusters/{number(entry['id']):04X}-{name}.json"
    lines = [HEADER.format(source=source), "import MatterTLV", "", f"extension {name} {{"]
    lines += ["    /// The cluster's shape; made on first use.", "    public static let definition = ClusterDefinition("]
    parts = [("features", "FeatureDefinition", feature), ("attributes", "AttributeDefinition", None),
             ("commands", "CommandDefinition", None), ("events", "EventDefinition", None)]
    arguments = [f"id: id, name: {text(name)}, title: {text(entry['title'])}, revision: revision, picsCode: {text(entry['pics'])}"]
    arguments += [f"{part}: Shape.{part}" for part, _, _ in parts if entry.get(part)]
    owners = [loaded.by_name[entry["base"]], entry] if "base" in entry else [entry]
    for kind in ("enums", "bitmaps", "structs"):
        listed = [("Types" if owner is entry else owner["name"] + ".Types") + "." + member(item["name"])
                  for owner in owners for item in owner.get(kind, [])]
        if listed:
            arguments.append(f"{kind}: [\n            " + ", ".join(listed) + f",\n        ].{kind}")
    lines.append("        " + ",\n        ".join(arguments) + ")")
    lines += ["", "    private enum Shape {"]
    makers = {"attributes": attribute, "commands": command, "events": event}
    for part, swift, make in parts:
        if not entry.get(part):
            continue
        lines.append(f"        static var {part}: [{swift}] {{")
        lines.append(f"            var list: [{swift}] = []")
        for element in entry[part]:
            made = make(element) if make else makers[part](loaded, entry, element)
            lines.append(f"            list.append({made})")
        lines += ["            return list", "        }"]
    lines += ["    }", "", "    enum Types {"] + type_declarations(loaded, entry, entry) + ["    }", "}", ""]
    return "\n".join(lines)


def global_types(loaded):
    lines = [HEADER.format(source="Model/global-types.json"), "import MatterTLV", "", "extension GlobalTypes {", "    enum Types {"]
    lines += type_declarations(loaded, None, loaded.globals) + ["    }", ""]
    lines += ["    /// Enumerations, bitmaps and structures.", "    static let types: [TypeReference] = ["]
    lines += [f"        Types.{member(entry['name'])}," for kind in ("enums", "bitmaps", "structs") for entry in loaded.globals.get(kind, [])]
    lines += ["    ]", ""]
    lines += ["    /// The attributes that every cluster has (Matter Core, 7.13).", "    static let attributes: [AttributeDefinition] = ["]
    lines += [f"        {attribute(loaded, None, element)}," for element in loaded.globals["attributes"]] + ["    ]", "}", ""]
    return "\n".join(lines)
