import Foundation
import MatterModel
import Testing

/// Facts of the data model as others hold them. A value, so that a test can alter a copy.
struct Facts: Sendable {
    /// A file for each cluster, by the cluster's id.
    var clusters: [ClusterID: JSONValue] = [:]
    var deviceTypes: [JSONValue] = []
    /// Primitive and derived types, enumerations, bitmaps and structures that belong to no cluster.
    var globalTypes: [JSONValue] = []
    /// A second source: the specification's spelling, what needs a timed interaction, and the attributes that every cluster has.
    var spelling: JSONValue = [:]
}

extension Facts {
    /// Where somebody has laid them: in the folder that HEARTH_SHARED names, else in one beside the package.
    static let folder: URL? = {
        let folder = shared.appending(path: "matter-model").standardizedFileURL
        return FileManager.default.fileExists(atPath: folder.appending(path: "index.json").path) ? folder : nil
    }()
    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    static var shared: URL {
        ProcessInfo.processInfo.environment["HEARTH_SHARED"].map { URL(filePath: $0) }
            ?? package.appending(path: "../shared").standardizedFileURL
    }

    /// What the tests say when there are none.
    static var nothing: Comment {
        "nothing to compare the data model with: there is no \(shared.path)/matter-model (HEARTH_SHARED names another folder than ../shared)"
    }

    /// Read once for all tests.
    static let read: Result<Facts, any Error> = Result {
        guard let folder else { throw CocoaError(.fileNoSuchFile) }
        func json(_ name: String) throws -> JSONValue {
            try JSONValue(parsing: Array(Data(contentsOf: folder.appending(path: name))))
        }
        var facts = Facts()
        let wanted = Set(DataModel.index.map(\.id))
        for entry in try json("index.json")["clusters"]?.array ?? [] {
            guard let id = entry.clusterID, wanted.contains(id), let file = entry["file"]?.string else { continue }
            facts.clusters[id] = try json(file)
        }
        facts.deviceTypes = try json("device-types.json")["deviceTypes"]?.array ?? []
        facts.globalTypes = try json("global-types.json")["types"]?.array ?? []
        facts.spelling = try json("sdk-definitions.json")
        return facts
    }

    func cluster(named name: String) -> JSONValue? { clusters.values.first { $0["name"]?.string == name } }
    func deviceType(named name: String) -> JSONValue? { deviceTypes.first { $0["name"]?.string == name } }

    /// A cluster's facts with what they leave to those of the cluster that it is derived from: there they state no type or privilege.
    func complete(_ facts: JSONValue) -> JSONValue {
        guard let base = facts["baseCluster"]?.string.flatMap({ cluster(named: $0) }), var members = facts.object else { return facts }
        members["attributes"] = .array(
            facts.list("attributes").map { own in
                guard own["type"] == nil, let above = base.list("attributes").first(where: { $0["id"] == own["id"] }) else { return own }
                // What a derived attribute does not state stands there as if it were not so.
                let stated = [("nullable", JSONValue.boolean(false)), ("readable", true), ("writable", false), ("qualityCode", "")]
                    .filter { own[$0.0] != $0.1 }.map(\.0)
                return above.overlaid(with: own, ["name", "conformance", "constraint", "default"] + stated)
            })
        members["events"] = .array(
            facts.list("events").map { own in
                guard own["readPrivilege"]?.string == nil,
                    let above = base.list("events").first(where: { $0["id"] == own["id"] })
                else { return own }
                return above.overlaid(
                    with: own, ["name", "priority", "fabricSensitive", "conformance"] + (own.list("fields").isEmpty ? [] : ["fields"]))
            })
        for kind in ["enums", "bitmaps", "structs"] {
            let names = Set(facts.list(kind).map(\.name))
            members[kind] = .array(base.list(kind).filter { !names.contains($0.name) } + facts.list(kind))
        }
        return .object(members)
    }

    /// What a device type demands, with what it takes over from its superset and from the base of every device type. What is said
    /// nearer goes before what is said further up; a mention that says nothing changes nothing.
    func requirements(_ device: JSONValue) -> [JSONValue] {
        var chain = [device]
        while let above = chain.last?["superset"]?.string.flatMap({ deviceType(named: $0) }), chain.count < 10 { chain.append(above) }
        if let base = deviceType(named: "Base") { chain.append(base) }
        var merged: [JSONValue] = []
        for requirement in chain.reversed().flatMap({ $0.list("requirements") }) {
            Self.merge(requirement, into: &merged)
        }
        return merged
    }

    /// The device type with all its requirements as its own, those that say nothing left out.
    func withoutSuperset(_ device: JSONValue) -> JSONValue {
        var members = device.object ?? [:]
        members["superset"] = .null
        members["requirements"] = .array(
            requirements(device).map { requirement in
                var members = requirement.object ?? [:]
                members["requirements"] = .array(requirement.statedElements)
                return .object(members)
            })
        return .object(members)
    }

    private static func merge(_ requirement: JSONValue, into merged: inout [JSONValue]) {
        let same = merged.firstIndex { other in
            other["element"] == requirement["element"]
                && (other["id"] == nil ? other["name"] == requirement["name"] : other["id"] == requirement["id"])
        }
        guard let same else { return merged.append(requirement) }
        var elements = merged[same].list("requirements")
        for element in requirement.list("requirements") { merge(element, into: &elements) }
        var members = (merged[same].object ?? [:]).merging(requirement.object ?? [:]) { _, nearer in nearer }
        members["requirements"] = .array(elements)
        merged[same] = .object(members)
    }
}

extension JSONValue {
    var name: String { self["name"]?.string ?? "" }
    /// The entries of a member that is an array; none when it is not there.
    func list(_ member: String) -> [JSONValue] { self[member]?.array ?? [] }
    func text(_ member: String) -> String? { self[member]?.string }
    func flag(_ member: String) -> Bool { self[member]?.boolean ?? false }
    var idNumber: UInt64? { self["id"]?.string.flatMap { Hexadecimal.number($0) } ?? self["id"]?.unsigned }
    var clusterID: ClusterID? { idNumber.flatMap { UInt32(exactly: $0) }.map { ClusterID($0) } }
    /// What a device type says of a cluster's elements; some are only mentioned.
    var statedElements: [JSONValue] {
        list("requirements").filter { $0["conformance"] != nil || $0["constraint"] != nil || $0["access"] != nil }
    }
    var conformanceText: String? { self["conformance"]?["text"]?.string }

    fileprivate func overlaid(with other: JSONValue, _ names: [String]) -> JSONValue {
        var members = object ?? [:]
        for name in names { if let value = other[name] { members[name] = value } }
        return .object(members)
    }
}
