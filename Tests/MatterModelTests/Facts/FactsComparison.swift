import Foundation
import MatterModel

/// What this package holds of the data model, as far as facts say something of it. A value, so that a test can alter a copy.
struct OwnModel: Sendable {
    var clusters: [ClusterDefinition]
    var deviceTypes: [DeviceTypeDefinition]
    /// Enumerations, bitmaps and structures that belong to no cluster.
    var globalTypes: [TypeReference]
    /// What each type with a name of its own is derived from, as `Model/` has it.
    var derivedTypes: [String: String]
    var globalAttributes: [AttributeDefinition]

    static let current: Result<OwnModel, any Error> = Result {
        let file = Facts.package.appending(path: "Model/global-types.json")
        let types = try JSONValue(parsing: Array(Data(contentsOf: file))).list("types")
        return OwnModel(
            clusters: DataModel.index.map(\.definition), deviceTypes: DataModel.deviceTypes, globalTypes: DataModel.globalTypes,
            derivedTypes: Dictionary(types.map { ($0.name, $0.text("type") ?? "") }, uniquingKeysWith: { _, last in last }),
            globalAttributes: DataModel.globalAttributes)
    }
}

/// Compares a model with facts, member by member and both ways: what differs, what is missing here, what the facts do not have.
///
/// It knows no exceptions: `KnownDifferences` lists those that are meant.
struct FactsComparison {
    let facts: Facts
    /// One line each, the place first.
    private(set) var differences: [String] = []

    init(facts: Facts) { self.facts = facts }

    /// Everything that differs. Clusters and device types that only the facts have are none of it: this package need not have all.
    static func differences(of model: OwnModel, from facts: Facts) -> [String] {
        model.clusters.flatMap { differences(of: $0, from: facts) }
            + model.deviceTypes.flatMap { differences(of: $0, from: facts) }
            + globalDifferences(of: model, from: facts)
    }

    static func differences(of cluster: ClusterDefinition, from facts: Facts) -> [String] {
        var comparison = FactsComparison(facts: facts)
        comparison.compare(cluster)
        return comparison.differences
    }

    static func differences(of device: DeviceTypeDefinition, from facts: Facts) -> [String] {
        var comparison = FactsComparison(facts: facts)
        comparison.compare(device)
        return comparison.differences
    }

    static func globalDifferences(of model: OwnModel, from facts: Facts) -> [String] {
        var comparison = FactsComparison(facts: facts)
        comparison.compareGlobalTypes(model)
        comparison.compareGlobalAttributes(model.globalAttributes)
        return comparison.differences
    }

    // MARK: - What every comparison is made of

    mutating func differ(_ place: String, _ text: String) { differences.append("\(place): \(text)") }

    mutating func check<Value: Equatable>(_ place: String, _ what: String, _ own: Value?, _ fact: Value?) {
        func shown(_ value: Value?) -> String {
            guard let value else { return "none" }
            let text = "\(value)"
            return text.isEmpty ? "none" : text
        }
        if own != fact { differ(place, "\(what) \(shown(own)), in the facts \(shown(fact))") }
    }

    /// Notations are compared without spaces, and without case: the facts write the names of elements another way.
    mutating func checkNotation(_ place: String, _ what: String, _ own: String?, _ fact: String?) {
        if Self.squeezed(own) != Self.squeezed(fact) { check(place, what, own, fact) }
    }

    mutating func checkName(_ place: String, _ own: String, _ fact: JSONValue) {
        if !Self.same(own, fact.name) { check(place, "the name", own, fact.name) }
    }

    /// Finds what belongs together by a key. Of several with one key, those that `isTwin` calls the same go together.
    mutating func pair<Own>(
        _ facts: [JSONValue], with own: [Own], _ place: String, _ kind: String, factKey: (JSONValue) -> String,
        ownKey: (Own) -> String, ownName: (Own) -> String, isTwin: (JSONValue, Own) -> Bool = { _, _ in true },
        compare: (inout FactsComparison, JSONValue, Own) -> Void
    ) {
        var left = Array(own.indices)
        for fact in facts {
            let key = factKey(fact)
            let same = left.filter { ownKey(own[$0]) == key }
            guard let index = same.first(where: { isTwin(fact, own[$0]) }) ?? same.first else {
                differ(place, "\(kind) \(fact.name) is missing")
                continue
            }
            left.removeAll { $0 == index }
            compare(&self, fact, own[index])
        }
        for index in left { differ(place, "\(kind) \(ownName(own[index])) is not in the facts") }
    }

    static func same(_ left: String, _ right: String) -> Bool {
        DataModel.normalizedName(left) == DataModel.normalizedName(right)
    }
    static func squeezed(_ text: String?) -> String { (text ?? "").lowercased().filter { !$0.isWhitespace } }

    // MARK: - A cluster

    private mutating func compare(_ cluster: ClusterDefinition) {
        guard let stated = facts.clusters[cluster.id] else { return differ(cluster.name, "the cluster is not in the facts") }
        let fact = facts.complete(stated)
        check(cluster.name, "the id", UInt64(cluster.id.rawValue), fact.idNumber)
        checkName(cluster.name, cluster.name, fact)
        // A derived cluster's facts do not say.
        if fact["revision"]?.isNull == false {
            check(cluster.name, "the revision", Int64(cluster.revision), fact["revision"]?.integer)
        }
        check(cluster.name, "the PICS code", cluster.picsCode, fact.text("picsCode"))
        compareFeatures(fact, cluster)
        compareAttributes(fact, cluster)
        compareCommands(fact, cluster)
        compareEvents(fact, cluster)
        compareTypes(fact, cluster)
        compareSpelling(cluster)
    }

    private mutating func compareFeatures(_ fact: JSONValue, _ cluster: ClusterDefinition) {
        pair(
            fact.list("features"), with: cluster.features, cluster.name, "feature", factKey: { $0.text("code") ?? "" },
            ownKey: \.code, ownName: \.code
        ) { comparison, fact, feature in
            let place = "\(cluster.name).\(feature.code)"
            comparison.check(place, "the bit", Int64(feature.bit), fact["bit"]?.integer)
            comparison.checkName(place, feature.name, fact)
            // Where the facts state none, a feature is optional.
            comparison.checkNotation(place, "conformance", feature.conformance.text, fact.conformanceText ?? "O")
        }
    }

    /// The second source: names with the specification's spelling, and what needs a timed interaction.
    private mutating func compareSpelling(_ cluster: ClusterDefinition) {
        guard let fact = facts.spelling.list("clusters").first(where: { $0.clusterID == cluster.id }) else { return }
        for fact in fact.list("attributes") {
            for own in cluster.attributes where UInt64(own.id.rawValue) == fact.idNumber && Self.same(own.name, fact.name) {
                check("\(cluster.name).\(own.name)", "the spelling", own.name, fact.name)
            }
        }
        for fact in fact.list("commands") {
            guard let own = cluster.commands.first(where: { Self.same($0.name, fact.name) }) else { continue }
            check("\(cluster.name).\(own.name)", "the spelling", own.name, fact.name)
            check("\(cluster.name).\(own.name)", "timed, by the second source,", own.isTimed, fact.flag("timed"))
        }
    }

    private mutating func compareGlobalAttributes(_ own: [AttributeDefinition]) {
        pair(
            facts.spelling.list("globalAttributes"), with: own, "every cluster", "attribute", factKey: { "\($0.idNumber ?? 0)" },
            ownKey: { "\($0.id.rawValue)" }, ownName: \.name
        ) { comparison, fact, attribute in
            comparison.check("every cluster.\(attribute.name)", "the spelling", attribute.name, fact.name)
        }
    }
}
