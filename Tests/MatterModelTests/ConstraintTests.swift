import MatterModel
import Testing

@Suite struct ConstraintTests {
    /// text, allowed, not allowed
    @Test(arguments: [
        ("1 to 254", [1, 254], [0, 255]), ("min 1", [1, 1000], [0, -1]), ("max 254", [0, 254], [255]), ("1", [1], [0, 2]),
        ("-10000 to 10000", [-10000, 10000], [-10001, 10001]), ("1 to 8, 254", [1, 8, 254], [0, 9, 253, 255]),
        ("desc", [0, 77], []), ("", [0, -5], []), ("1 to Max", [1, 9], [0, 10]), ("Min + 1 to 100", [4, 100], [3, 101]),
        ("max Max - 1", [8], [9]), ("Add, Modify", [0, 2], [1]), ("min Min & min 10", [10, 50], [9, 3]), ("in Some", [0, 9], []),
        ("max Unknown", [1000], []), ("1 to Unknown", [1000], [0]), ("max 32[max 35]", [32], [33]), ("all[min 1]", [0, 100], []),
        ("max 128{32}", [128], [129]), ("0x10 to 0x20", [16, 32], [15, 33]),
    ])
    func valuesAreAllowedOrNot(text: String, allowed: [Int64], refused: [Int64]) {
        let values: [String: Int64] = ["Min": 3, "Max": 9, "Add": 0, "Modify": 2]
        let constraint = Constraint(text)
        #expect(constraint.parseError == nil)
        for value in allowed { #expect(constraint.check(value, resolve: { values[$0] }), "\(value)") }
        for value in refused { #expect(!constraint.check(value, resolve: { values[$0] }), "\(value)") }
    }

    @Test func unitsFollowTheType() {
        #expect(Constraint("0 to 12.7°C").check(127, decimals: 1))
        #expect(!Constraint("0 to 12.7°C").check(128, decimals: 1))
        #expect(Constraint("max 25.4°C").check(2540, decimals: 2))
        #expect(!Constraint("max 25.4°C").check(2541, decimals: 2))
        #expect(Constraint("0% to 100%").check(100))
        #expect(!Constraint("0% to 100%").check(101))
        #expect(Constraint("0% to 100%").check(10000, decimals: 2))
    }

    @Test func limitsAreTheWidestOfAlternatives() {
        #expect(Constraint("1 to 8, 254").limits().minimum == 1)
        #expect(Constraint("1 to 8, 254").limits().maximum == 254)
        #expect(Constraint("min 3 & min 10").limits().minimum == 10)
        #expect(Constraint("min 3 & min 10").limits().maximum == nil)
        #expect(Constraint("desc").limits().minimum == nil)
    }

    @Test func listsAndStringsHaveMore() {
        #expect(Constraint("max 32[max 35]").entry == Constraint("max 35"))
        #expect(Constraint("max 128{32}").maximumCharacters == 32)
        #expect(Constraint("max 128").maximumCharacters == nil)
    }

    @Test(arguments: ["to 5", "1 to", "min", "max 5]", "max {3}", "1 to 2 3", "A + B", "~", "in 5"])
    func whatIsNoConstraintIsToldApart(text: String) { #expect(Constraint(text).parseError != nil) }

    @Test func aSumThatOverflowsIsNoBound() {
        #expect(Constraint("min A + 1").check(0, resolve: { _ in Int64.max }))
    }

    @Test func theWholeModelParses() {
        for (place, constraint) in ModelWalk.constraints() {
            #expect(constraint.parseError == nil, "\(place): \(constraint.text)")
        }
    }

    @Test func namesInBoundsExist() {
        for cluster in DataModel.index.map(\.definition) {
            for attribute in cluster.attributes {
                expectKnown(attribute.constraint, cluster, [], attribute.type, "\(cluster.name).\(attribute.name)")
            }
            for group in cluster.commands.map(\.fields) + cluster.structs.map(\.fields) + cluster.events.map(\.fields) {
                for field in group { expectKnown(field.constraint, cluster, group, field.type, "\(cluster.name).\(field.name)") }
            }
        }
    }

    private func expectKnown(
        _ constraint: Constraint, _ cluster: ClusterDefinition, _ siblings: [FieldDefinition], _ type: TypeReference,
        _ place: String
    ) {
        _ = constraint.limits { name in
            var isKnown = cluster.attributes.contains { $0.name == name } || siblings.contains { $0.name == name }
            if case .enumeration(let definition) = type.base {
                isKnown = isKnown || definition.items.contains { $0.name == name }
            }
            #expect(isKnown, "\(place): \(name) in \(constraint.text)")
            return nil
        }
    }

    @Test(arguments: [
        ("1 to 254", "1% to 254%"), ("max 100", "at most 100%"), ("MinLevel to MaxLevel", "MinLevel = 10% to MaxLevel = 200%"),
        ("min MinLevel + 1", "at least MinLevel + 1 = 11%"), ("max MaxLevel - 1", "at most MaxLevel - 1 = 199%"),
        ("0, MinLevel to MaxLevel", "0% or MinLevel = 10% to MaxLevel = 200%"), ("Nothing to MaxLevel", "at most MaxLevel = 200%"),
        ("in List", "an entry of List"), ("desc", ""), ("all", ""), ("Nothing to Nowhere", ""), ("7", "7%"),
    ]) func aConstraintIsToldInWords(_ text: String, _ words: String) {
        let known: [String: Int64] = ["MinLevel": 10, "MaxLevel": 200]
        #expect(Constraint(text).words(resolve: { known[$0] }, format: { "\($0)%" }) == words)
    }

    @Test func aConstraintKnowsWhatItRefersTo() {
        #expect(Constraint("0, MinLevel + 1 to MaxLevel").names == ["MinLevel", "MaxLevel"])
        #expect(Constraint("max NumberOfPresets[max Length]").names == ["NumberOfPresets", "Length"])
        #expect(Constraint("in SupportedLocales").names == ["SupportedLocales"])
        #expect(Constraint("1 to 254").names.isEmpty)
    }
}
