import Foundation
import MatterModel
import Testing

/// Alters the facts themselves, in memory: of every kind of statement that they make, some of all places. Each must be noticed.
@Suite(.enabled(if: Facts.folder != nil, Facts.nothing))
struct FactsSweepTests {
    /// At how many places each kind of statement is altered; there are some twenty thousand places in all, which takes minutes.
    static let places = ProcessInfo.processInfo.environment["HEARTH_FACTS_PLACES"].flatMap { Int($0) } ?? 3

    @Test func everyStatementOfAClusterCounts() throws {
        let (model, facts) = (try OwnModel.current.get(), try Facts.read.get())
        var sweep = FactsSweep(silent: Self.silentInClusters)
        for cluster in model.clusters {
            // With what it inherits.
            var alone = facts
            alone.clusters[cluster.id] = facts.complete(try #require(facts.clusters[cluster.id]))
            alone[.cluster(cluster.id)].set([.member("baseCluster")], to: .null)
            sweep.collect(alone, .cluster(cluster.id), owner: cluster.name) { FactsComparison.differences(of: cluster, from: $0) }
        }
        let altered = sweep.run(places: Self.places)
        #expect(altered > 300)
        print("facts: \(altered) alterations of clusters")
    }

    @Test func everyStatementOfADeviceTypeCounts() throws {
        let (model, facts) = (try OwnModel.current.get(), try Facts.read.get())
        // Each with what it inherits, and inheriting nothing: otherwise what stands in two places hides an alteration of one.
        var sweep = FactsSweep(silent: Self.silentInDeviceTypes)
        for device in model.deviceTypes {
            var alone = facts
            alone.deviceTypes = [facts.withoutSuperset(try #require(facts.deviceType(named: device.name)))]
            sweep.collect(alone, .deviceTypes, owner: device.name) { FactsComparison.differences(of: device, from: $0) }
        }
        let altered = sweep.run(places: 3 * Self.places)
        #expect(altered > 100)
        print("facts: \(altered) alterations of device types")
    }

    @Test func everyStatementOfAGlobalTypeCounts() throws {
        let (model, facts) = (try OwnModel.current.get(), try Facts.read.get())
        // Those that are derived from nothing are words of the notation.
        var known = facts
        known.globalTypes = facts.globalTypes.filter { $0.text("base") != nil && !FactsComparison.primitives.contains($0.name) }
        var sweep = FactsSweep(silent: ["[].constraint"])
        sweep.collect(known, .globalTypes, owner: "every cluster") { FactsComparison.globalDifferences(of: model, from: $0) }
        let altered = sweep.run(places: Self.places)
        #expect(altered > 50)
        print("facts: \(altered) alterations of global types")
    }

    /// Statements that say nothing of the model, or say again what another one says.
    private static let silentInClusters: Set<String> = [
        // Of the file.
        "matterRevision", "provenance", "counts", "idDec", "role", "baseCluster",
        // The same as `bit`, and as `from` and `to`.
        "features[].mask", "bitmaps[].fields[].mask", "bitmaps[].fields[].bit",
        // Where fields were copied from, and a word before a default's value.
        "commands[].fieldsInheritedFrom", "attributes[].default[].type",
        // Fields are as fabric-scoped as the command or structure that they belong to.
        "commands[].fields[].fabricScoped", "structs[].fields[].fabricScoped",
    ]
    private static let silentInDeviceTypes: Set<String> = [
        // A chapter of the Device Library, and what was taken away for this test.
        "[].category", "[].superset", "[].conditions",
    ]
}

/// Alterations of facts, by the shape of the place: the path without the entries' numbers.
struct FactsSweep {
    private enum Kind: Hashable { case change, removal }
    private struct Shape: Hashable {
        var kind: Kind
        var path: String
    }
    private struct Place {
        var facts: Facts
        var part: FactsPart
        var steps: [JSONStep]
        var owner: String
        var before: [String]
        var differences: (Facts) -> [String]
    }

    private let silent: Set<String>
    private var places: [Shape: [Place]] = [:]
    /// What stands at the places of a shape: something else of the same sort is put in its place.
    private var values: [String: Set<JSONValue>] = [:]

    init(silent: Set<String>) { self.silent = silent }

    /// Notes every place in a part of the facts. `owner` is what differences begin with.
    mutating func collect(_ facts: Facts, _ part: FactsPart, owner: String, differences: @escaping (Facts) -> [String]) {
        let before = differences(facts)
        // What is left out on purpose may be altered as it likes.
        let leftOut = Set(
            before.filter { $0.hasSuffix(" is missing") }.compactMap { $0.split(separator: " ").dropLast(2).last.map(String.init) })
        func visit(_ value: JSONValue, _ steps: [JSONStep], _ path: String) {
            guard !silent.contains(path), !leftOut.contains(value.name) else { return }
            func note(_ kind: Kind) {
                places[Shape(kind: kind, path: path), default: []].append(
                    Place(facts: facts, part: part, steps: steps, owner: owner, before: before, differences: differences))
            }
            if let members = value.object {
                // The facts list the FabricIndex of some commands, of others not; a feature without conformance is optional.
                let mayGo = path == "commands[].fields[]" && value.name == "FabricIndex" || path == "features[].conformance"
                if !steps.isEmpty, members.values.contains(where: { !$0.isNull }), !mayGo { note(.removal) }
                for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                    visit(member, steps + [.member(name)], path.isEmpty ? name : path + "." + name)
                }
            } else if let entries = value.array {
                for (index, entry) in entries.enumerated() { visit(entry, steps + [.entry(index)], path + "[]") }
            } else if !value.isNull {
                values[path, default: []].insert(value)
                note(.change)
                if path.hasSuffix(".default") { note(.removal) }
            }
        }
        visit(facts[part], [], "")
    }

    /// Alters and compares; records what was not noticed. Returns the number of alterations.
    func run(places wanted: Int) -> Int {
        var altered = 0
        for (shape, found) in places.sorted(by: { $0.key.path < $1.key.path }) {
            let others = (values[shape.path] ?? []).sorted { $0.description < $1.description }
            for number in 0..<min(wanted, found.count) {
                let place = found[number * found.count / min(wanted, found.count)]
                var copy = place.facts
                let old = copy[place.part][place.steps]
                let new = shape.kind == .removal ? nil : old.map { Self.other($0, others) }
                copy[place.part].set(place.steps, to: new)
                altered += 1
                if place.differences(copy) == place.before {
                    Issue.record(
                        "\(place.owner), \(shape.path): \(old?.description.prefix(100) ?? "") became \(new?.description ?? "nothing"), unnoticed"
                    )
                }
            }
        }
        return altered
    }

    private static func other(_ value: JSONValue, _ others: [JSONValue]) -> JSONValue {
        switch value {
        case .boolean(let flag): .boolean(!flag)
        case .integer(let number): .integer(number + 1)
        case .string(let text):
            others.first { FactsComparison.squeezed($0.string) != FactsComparison.squeezed(text) } ?? .string(text + " altered")
        default: .string("altered")
        }
    }
}
