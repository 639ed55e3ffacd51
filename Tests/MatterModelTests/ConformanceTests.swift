import MatterModel
import Testing

@Suite struct ConformanceTests {
    /// text, what is there, the outcome
    @Test(arguments: [
        ("M", "", Conformance.Outcome.mandatory), ("O", "", .optional), ("P, M", "", .provisional), ("D", "", .deprecated),
        ("X", "", .disallowed), ("desc", "", .described), ("LT", "LT", .mandatory), ("LT", "", .disallowed),
        ("[LT]", "LT", .optional),
        ("[LT]", "", .disallowed), ("LT, O", "", .optional), ("LT, O", "LT", .mandatory), ("!OFFONLY", "", .mandatory),
        ("!OFFONLY", "OFFONLY", .disallowed), ("[!LT | DF]", "LT", .disallowed), ("[!LT | DF]", "LT DF", .optional),
        ("LF & PA_LF, [LF]", "LF", .optional), ("LF & PA_LF, [LF]", "LF PA_LF", .mandatory),
        ("LF & PA_LF, [LF]", "PA_LF", .disallowed),
        ("!USR & (PIN | RID | FGP)", "PIN", .mandatory), ("!USR & (PIN | RID | FGP)", "PIN USR", .disallowed),
        ("!USR & (PIN | RID | FGP)", "", .disallowed), ("M, D", "", .mandatory), ("[HoldTime & US], D", "US", .deprecated),
        ("A | B & C", "A", .mandatory), ("A | B & C", "B", .disallowed), ("AUTO, O.a+", "", .optional),
        ("(((A)))", "A", .mandatory),
        ("D & P", "D P", .mandatory),
    ])
    func theFirstTermThatAppliesDecides(text: String, present: String, outcome: Conformance.Outcome) {
        let names = Set(present.split(separator: " ").map(String.init))
        let conformance = Conformance(text)
        #expect(conformance.parseError == nil)
        #expect(conformance.evaluate { names.contains($0) } == outcome)
    }

    @Test func numbersAreCompared() {
        let conformance = Conformance("NumberOfPrimaries > 4")
        #expect(conformance.evaluate(isTrue: { _ in true }, value: { $0 == "NumberOfPrimaries" ? 5 : nil }) == .mandatory)
        #expect(conformance.evaluate(isTrue: { _ in true }, value: { _ in 4 }) == .disallowed)
        #expect(conformance.evaluate(isTrue: { _ in true }, value: { _ in nil }) == .described)
        #expect(Conformance("Rev >= v2").evaluate(isTrue: { _ in nil }, value: { _ in 2 }) == .mandatory)
        #expect(Conformance("Rev >= v2").evaluate(isTrue: { _ in nil }, value: { _ in 1 }) == .disallowed)
        #expect(Conformance("Status == Success").evaluate(isTrue: { _ in nil }, value: { _ in 0 }) == .mandatory)
    }

    @Test func whatIsNotKnownMattersOnlyWhenItDecides() {
        #expect(Conformance("A & Unknown").evaluate { $0 == "A" ? false : nil } == .disallowed)
        #expect(Conformance("A | Unknown").evaluate { $0 == "A" ? true : nil } == .mandatory)
        #expect(Conformance("A & Unknown").evaluate { $0 == "A" ? true : nil } == .described)
    }

    @Test(arguments: [
        ("O.a", "a", 1, 1 as Int?), ("O.a+", "a", 1, nil), ("O.b2+", "b", 2, nil), ("O.a2", "a", 2, 2), ("O.a2-", "a", 0, 2),
        ("[PIR].a", "a", 1, 1), ("AUTO, O.a+", "a", 1, nil),
    ])
    func choicesCount(text: String, letter: String, minimum: Int, maximum: Int?) {
        #expect(Conformance(text).choice == Conformance.Choice(letter: letter, minimum: minimum, maximum: maximum))
    }

    @Test(arguments: ["", "LT &", "(LT", "LT)", "[LT", "O.", "O.ab", "LT OO", ", M", "M,", "5", "LT ~ OO", "!"])
    func whatIsNoConformanceIsToldApart(text: String) {
        #expect(Conformance(text).parseError != nil)
        #expect(Conformance(text).evaluate { _ in true } == .described)
    }

    @Test func theWholeModelParses() {
        var count = 0
        for (place, conformance) in ModelWalk.conformances() {
            #expect(conformance.parseError == nil, "\(place): \(conformance.text)")
            count += 1
        }
        #expect(count > 2000)
    }

    @Test func namesInConditionsExist() {
        for entry in DataModel.index {
            let cluster = entry.definition
            var known = Set(cluster.features.map(\.code)).union(cluster.attributes.map(\.name)).union(
                cluster.commands.map(\.name))
            known.formUnion(["Matter"])
            for attribute in cluster.attributes { expectKnown(attribute.conformance, known, "\(cluster.name).\(attribute.name)") }
            for command in cluster.commands {
                expectKnown(command.conformance, known, "\(cluster.name).\(command.name)")
                let fields = known.union(command.fields.map(\.name))
                for field in command.fields {
                    expectKnown(field.conformance, fields, "\(cluster.name).\(command.name).\(field.name)")
                }
            }
            for structure in cluster.structs {
                let fields = known.union(structure.fields.map(\.name))
                for field in structure.fields {
                    expectKnown(field.conformance, fields, "\(cluster.name).\(structure.name).\(field.name)")
                }
            }
        }
    }

    private func expectKnown(_ conformance: Conformance, _ known: Set<String>, _ place: String) {
        _ = conformance.evaluate { name in
            #expect(known.contains(name), "\(place): \(name) in \(conformance.text)")
            return nil
        }
    }

    @Test func lightingTurnsElementsOn() throws {
        let cluster = try #require(DataModel.cluster(named: "OnOff"))
        let onTime = try #require(cluster.attribute(named: "OnTime"))
        #expect(onTime.conformance.evaluate(features: 0, of: cluster) == .disallowed)
        #expect(onTime.conformance.evaluate(features: 1, of: cluster) == .mandatory)
        let level = try #require(DataModel.cluster(named: "LevelControl"))
        #expect(level.attribute(id: 2, features: 2)?.constraint.text == "1 to 254")
        #expect(level.attribute(id: 2, features: 0)?.constraint.text == "max 254")
    }
}

/// Every place of the model that has a conformance or a constraint.
enum ModelWalk {
    static func conformances() -> [(String, Conformance)] {
        var list: [(String, Conformance)] = []
        for cluster in DataModel.index.map(\.definition) {
            list += cluster.features.map { ("\(cluster.name).\($0.code)", $0.conformance) }
            list += cluster.attributes.map { ("\(cluster.name).\($0.name)", $0.conformance) }
            list += cluster.commands.map { ("\(cluster.name).\($0.name)", $0.conformance) }
            list += cluster.events.map { ("\(cluster.name).\($0.name)", $0.conformance) }
            list += fields(of: cluster).map { ($0, $1.conformance) }
            for type in cluster.enums { list += type.items.map { ("\(cluster.name).\(type.name).\($0.name)", $0.conformance) } }
            for type in cluster.bitmaps {
                list += type.fields.map { ("\(cluster.name).\(type.name).\($0.name)", $0.conformance) }
            }
        }
        for device in DataModel.deviceTypes {
            for requirement in device.clusters {
                list.append(("\(device.name).\(requirement.name)", requirement.conformance))
                list += requirement.elements.compactMap { element in
                    element.conformance.map { ("\(device.name).\(requirement.name).\(element.name)", $0) }
                }
            }
        }
        return list
    }

    static func constraints() -> [(String, Constraint)] {
        var list: [(String, Constraint)] = []
        for cluster in DataModel.index.map(\.definition) {
            list += cluster.attributes.map { ("\(cluster.name).\($0.name)", $0.constraint) }
            list += fields(of: cluster).map { ($0, $1.constraint) }
        }
        for device in DataModel.deviceTypes {
            for requirement in device.clusters {
                list += requirement.elements.compactMap { element in
                    element.constraint.map { ("\(device.name).\(element.name)", $0) }
                }
            }
        }
        return list
    }

    static func fields(of cluster: ClusterDefinition) -> [(String, FieldDefinition)] {
        let commands = cluster.commands.flatMap { command in
            command.fields.map { ("\(cluster.name).\(command.name).\($0.name)", $0) }
        }
        let events = cluster.events.flatMap { event in event.fields.map { ("\(cluster.name).\(event.name).\($0.name)", $0) } }
        let structs = cluster.structs.flatMap { type in type.fields.map { ("\(cluster.name).\(type.name).\($0.name)", $0) } }
        return commands + events + structs
    }
}
