"""The device types and the index of clusters."""
from .definitions import conformance, qualities
from .model import number
from .names import HEADER, text


def element(entry):
    kind = next(kind for kind in ("feature", "attribute", "command", "event") if kind in entry)
    parts = [f".{kind}", text(entry[kind])]
    if "conformance" in entry:
        parts.append(f"conformance: {conformance(entry)}")
    if "constraint" in entry:
        parts.append(f"constraint: Constraint({text(entry['constraint'])})")
    if "access" in entry:
        parts.append(f"access: {text(entry['access'])}")
    return f"ElementRequirement({', '.join(parts)})"


def requirement(entry):
    tail = ""
    if entry.get("elements"):
        tail = ", elements: [\n" + "".join(f"                {element(item)},\n" for item in entry["elements"]) + "            ]"
    stated = conformance(entry) if "conformance" in entry else 'Conformance("desc")'
    return (f"ClusterRequirement(0x{number(entry['id']):04X}, {text(entry['cluster'])}, .{entry['side']}, conformance: {stated}"
            f"{qualities(entry)}{tail})")


def resolved(loaded, entry):
    """The requirements of a device type over those of what it is a superset of and of every device type."""
    base = next(other for other in loaded.device_types if other["name"] == "Base")
    chain = [entry]
    while "superset" in chain[-1]:
        chain.append(next(other for other in loaded.device_types if other["name"] == chain[-1]["superset"]))
    merged = {}
    for owner in [base] + chain[::-1]:
        for item in owner["clusters"]:
            key = (number(item["id"]), item["side"])
            above = merged.get(key, {})
            elements = {}
            for part in above.get("elements", []) + item.get("elements", []):
                elements[tuple((kind, part[kind]) for kind in ("feature", "attribute", "command", "event") if kind in part)] = part
            combined = {**above, **item}
            if elements:
                combined["elements"] = list(elements.values())
            merged[key] = combined
    return [merged[key] for key in sorted(merged, key=lambda key: (key[1] != "server", key[0]))]


def device_types(loaded):
    lines = [HEADER.format(source="Model/device-types.json"), "extension DeviceTypeDefinition {"]
    listed = [entry for entry in loaded.device_types if "id" in entry]
    names = []
    for entry in listed:
        name = entry["name"][0].lower() + entry["name"][1:]
        names.append(name)
        superset = f", superset: {text(entry['superset'])}" if "superset" in entry else ""
        lines.append(f"    public static let {name} = DeviceTypeDefinition(")
        lines.append(f"        0x{number(entry['id']):04X}, {text(entry['name'])}, title: {text(entry['title'])}, .{entry['class']}, "
                     f"revision: {entry['revision']}{superset},")
        lines.append("        clusters: [")
        lines += [f"            {requirement(item)}," for item in resolved(loaded, entry)]
        lines += ["        ])", ""]
    lines.append("    /// Every one, in the order of ids.")
    lines.append("    public static let all: [DeviceTypeDefinition] = [")
    lines += [f"        {name}," for name in names] + ["    ]", "}", ""]
    return "\n".join(lines)


def index(loaded):
    lines = [HEADER.format(source="Model/clusters"), "extension DataModel {",
             "    /// Every cluster with a definition, in the order of ids.", "    public static let index: [ClusterIndexEntry] = ["]
    for entry in sorted(loaded.clusters, key=lambda entry: number(entry["id"])):
        name = entry["name"]
        lines.append(f"        ClusterIndexEntry({name}.id, {text(name)}, {text(entry['title'])}, {text(entry['pics'])}) "
                     f"{{ {name}.definition }},")
    return "\n".join(lines + ["    ]", "}", ""])
