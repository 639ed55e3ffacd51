/// What an instance of a cluster consists of, by its features and by which optional elements it chooses.
public struct ClusterElements: Sendable, Hashable {
    /// Without the global ones.
    public var attributes: Set<AttributeID>
    /// Requests that it accepts.
    public var acceptedCommands: Set<CommandID>
    /// Responses that it generates.
    public var generatedCommands: Set<CommandID>
    public var events: Set<EventID>

    public init(
        attributes: Set<AttributeID> = [], acceptedCommands: Set<CommandID> = [], generatedCommands: Set<CommandID> = [],
        events: Set<EventID> = []
    ) {
        (self.attributes, self.acceptedCommands) = (attributes, acceptedCommands)
        (self.generatedCommands, self.events) = (generatedCommands, events)
    }
}

extension ClusterDefinition {
    /// The elements of an instance with that FeatureMap: those that are mandatory, and of the others those named in `optional`
    /// unless they are disallowed. Responses come with the requests that they answer.
    public func elements(features: UInt32, optional: Set<String> = []) -> ClusterElements {
        var elements = ClusterElements()
        // Conditions may name elements, so what is found may bring in more. It settles, as nothing is taken away.
        while true {
            let before = elements
            func has(_ name: String) -> Bool { contains(name, in: before) }
            func belongs(_ conformance: Conformance, _ name: String) -> Bool {
                let outcome = conformance.evaluate(features: features, of: self, has: has)
                return outcome == .mandatory || (outcome.allowsPresence && optional.contains(name))
            }
            for attribute in attributes where belongs(attribute.conformance, attribute.name) {
                elements.attributes.insert(attribute.id)
            }
            for event in events where belongs(event.conformance, event.name) { elements.events.insert(event.id) }
            for command in commands where command.direction == .request && belongs(command.conformance, command.name) {
                elements.acceptedCommands.insert(command.id)
                if case .command(let id) = command.response { elements.generatedCommands.insert(id) }
            }
            if elements == before { return elements }
        }
    }

    /// What is wrong with an instance that has those features and elements; empty when it conforms.
    public func conformanceProblems(features map: UInt32, elements: ClusterElements) -> [String] {
        var problems: [String] = []
        var choices: [String: (choice: Conformance.Choice, count: Int)] = [:]
        func judge(_ kind: String, _ name: String, _ conformance: Conformance, _ isPresent: Bool) {
            let outcome = conformance.evaluate(features: map, of: self, has: { contains($0, in: elements) })
            if outcome == .mandatory, !isPresent {
                problems.append("\(self.name): \(kind) \(name) is missing (\(conformance.text))")
            }
            if outcome == .disallowed, isPresent {
                problems.append("\(self.name): \(kind) \(name) is disallowed (\(conformance.text))")
            }
            // Whoever is mandatory counts among those to choose from, but nobody must choose because of a disallowed one.
            if outcome.allowsPresence, let choice = conformance.choice {
                choices[kind + choice.letter, default: (choice, 0)].count += isPresent ? 1 : 0
            }
        }
        for feature in features { judge("feature", feature.code, feature.conformance, map >> UInt32(feature.bit) & 1 == 1) }
        for (id, definitions) in Dictionary(grouping: attributes, by: \.id).sorted(by: { $0.key < $1.key }) {
            // One that is defined twice conforms when one of the definitions does.
            guard let attribute = attribute(id: id, features: map), let name = definitions.first?.name else { continue }
            judge("attribute", name, attribute.conformance, elements.attributes.contains(id))
        }
        for command in commands where command.direction == .request {
            judge("command", command.name, command.conformance, elements.acceptedCommands.contains(command.id))
        }
        for event in events { judge("event", event.name, event.conformance, elements.events.contains(event.id)) }
        for (_, group) in choices.sorted(by: { $0.key < $1.key }) {
            let most = group.choice.maximum.map { group.count > $0 } ?? false
            if group.count < group.choice.minimum || most {
                problems.append("\(name): \(group.count) of the elements with choice \(group.choice.letter)")
            }
        }
        return problems
    }

    /// What is wrong with a FeatureMap by itself, whatever elements an instance has: `OFFONLY is disallowed beside LT, DF ([!(LT | DF)])`.
    public func featureProblems(of map: UInt32) -> [String] {
        var problems: [String] = []
        var hasDisallowed = false
        var choices: [String: (choice: Conformance.Choice, codes: [String], count: Int)] = [:]
        for feature in features {
            let isPresent = map >> UInt32(feature.bit) & 1 == 1
            let outcome = feature.conformance.evaluate(features: map, of: self)
            let others = featureCodes(of: map & ~(1 << UInt32(feature.bit)))
            let beside = others.isEmpty ? "by itself" : "beside \(others.joined(separator: ", "))"
            if outcome == .mandatory, !isPresent {
                problems.append("the feature \(feature.code) is missing \(beside) (\(feature.conformance.text))")
            }
            // Of two that exclude each other it is enough to name one.
            if outcome == .disallowed, isPresent, !hasDisallowed {
                hasDisallowed = true
                problems.append("the feature \(feature.code) is disallowed \(beside) (\(feature.conformance.text))")
            }
            if outcome.allowsPresence, let choice = feature.conformance.choice {
                choices[choice.letter, default: (choice, [], 0)].codes.append(feature.code)
                if isPresent { choices[choice.letter]?.count += 1 }
            }
        }
        for (_, group) in choices.sorted(by: { $0.key < $1.key }) {
            let most = group.choice.maximum
            guard group.count < group.choice.minimum || most.map({ group.count > $0 }) ?? false else { continue }
            let wanted = most == group.choice.minimum ? "\(group.choice.minimum)" : "at least \(group.choice.minimum)"
            problems.append("of the features \(group.codes.joined(separator: ", ")) \(wanted) is expected, not \(group.count)")
        }
        return problems
    }

    private func contains(_ name: String, in elements: ClusterElements) -> Bool {
        attributes.contains { $0.name == name && elements.attributes.contains($0.id) }
            || commands.contains { $0.name == name && $0.direction == .request && elements.acceptedCommands.contains($0.id) }
            || events.contains { $0.name == name && elements.events.contains($0.id) }
    }

    /// The codes of the features in a FeatureMap; unknown bits as `bit 9`.
    public func featureCodes(of map: UInt32) -> [String] {
        (0..<32).filter { map >> $0 & 1 == 1 }.map { bit in features.first { $0.bit == bit }?.code ?? "bit \(bit)" }
    }
}
