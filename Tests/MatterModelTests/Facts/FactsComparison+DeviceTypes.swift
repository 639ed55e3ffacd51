import MatterModel

/// Device types: their clusters, and what they say of the clusters' elements.
extension FactsComparison {
    mutating func compare(_ device: DeviceTypeDefinition) {
        guard let fact = facts.deviceTypes.first(where: { $0.idNumber == UInt64(device.id.rawValue) }) else {
            return differ(device.name, "the device type is not in the facts")
        }
        checkName(device.name, device.name, fact)
        check(device.name, "the revision", Int64(device.revision), fact["revision"]?.integer)
        check(device.name, "classification", "\(device.classification)", fact.text("classification"))
        check(device.name, "the superset", device.superset, fact.text("superset"))
        pair(
            facts.requirements(fact), with: device.clusters, device.name, "cluster",
            factKey: { "\($0.text("element") ?? "") \($0.idNumber ?? .max)" }, ownKey: { "\($0.side)Cluster \($0.id.rawValue)" },
            ownName: { "\($0.name) (\($0.side))" }
        ) { comparison, fact, requirement in
            let place = "\(device.name).\(requirement.name) (\(requirement.side))"
            comparison.checkName(place, requirement.name, fact)
            // A cluster that is mentioned without a conformance is described by the text.
            comparison.checkNotation(place, "conformance", requirement.conformance.text, fact.text("conformance") ?? "desc")
            let letters = (fact.text("quality") ?? "").split(separator: " ").map(String.init).sorted()
            comparison.check(
                place, "quality", Self.letters(requirement.quality).joined(separator: " "), letters.joined(separator: " "))
            comparison.compareElements(fact, requirement, place)
        }
    }

    private mutating func compareElements(_ fact: JSONValue, _ requirement: ClusterRequirement, _ place: String) {
        // The facts call features by name, this package by code.
        let features = facts.clusters[requirement.id]?.list("features") ?? []
        func featureCode(_ name: String) -> String {
            features.first { $0.text("code") == name }?.text("code")
                ?? features.first { Self.same($0.name, name) }?.text("code") ?? name
        }
        pair(
            fact.statedElements, with: requirement.elements, place, "element",
            factKey: { fact in
                let kind = fact.text("element") ?? ""
                return "\(kind) \(DataModel.normalizedName(kind == "feature" ? featureCode(fact.name) : fact.name))"
            },
            ownKey: { "\($0.kind) \(DataModel.normalizedName($0.name))" }, ownName: { "\($0.kind) \($0.name)" }
        ) { comparison, fact, element in
            let place = "\(place).\(element.name)"
            comparison.checkNotation(place, "conformance", element.conformance?.text, fact.text("conformance"))
            comparison.checkNotation(place, "constraint", element.constraint?.text, fact.text("constraint"))
            comparison.checkNotation(place, "access", element.access, fact.text("access"))
        }
    }
}
