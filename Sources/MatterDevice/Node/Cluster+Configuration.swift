import MatterInteraction
import MatterModel
import MatterTLV

/// What is wrong with a cluster's first values as a whole. Each by itself may be right, and still be out of the limits that others set.
extension Cluster {
    /// What somebody said of the cluster, of whose mistakes they want to know.
    public struct Said {
        /// Attributes whose first value was given.
        public var attributes: Set<AttributeID>
        /// Attributes whose first value was given and could not be read: nothing is known of them.
        public var unread: Set<AttributeID>
        /// False while it is not known which features the cluster will have: then what depends on them is not looked at.
        public var knowsFeatures: Bool

        public init(attributes: Set<AttributeID>, unread: Set<AttributeID> = [], knowsFeatures: Bool = true) {
            (self.attributes, self.unread, self.knowsFeatures) = (attributes, unread, knowsFeatures)
        }
    }

    /// What the cluster cannot be, of a configuration of which `said` was given; the cluster has not started yet.
    ///
    /// First values that nobody gave are brought into line when the cluster starts, so there is nothing to tell of them.
    public final func configurationProblems(_ said: Said) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        var broken = said.unread
        // A value that no limit of others could make right is no limit for others either.
        for id in said.attributes.sorted() {
            guard let attribute = elements.attributes[id] else { continue }
            guard let message = complaint(attribute, resolve: { _ in nil }) else { continue }
            problems.append(ConfigurationProblem(.attribute(id), message))
            broken.insert(id)
        }
        let dependent = dependentProblems(said.attributes.subtracting(broken), broken)
        problems += dependent
        guard said.knowsFeatures else { return problems }
        problems += absences(said.attributes) + featureProblems()
        for case .attribute(let id) in dependent.map(\.subject) { broken.insert(id) }
        let own = ownConfigurationProblems(said.attributes.subtracting(broken)).filter { $0.limits.isDisjoint(with: broken) }
        return problems + (own.isEmpty && broken.isEmpty ? refusals(said.attributes) : own)
    }

    /// The first value of an attribute, before the cluster has done anything with it.
    final func firstValue(_ attribute: AttributeID) -> TLVValue { configuration.attributes[attribute] ?? value(attribute) }

    /// What the data model says of attributes that limit each other.
    private func dependentProblems(_ given: Set<AttributeID>, _ broken: Set<AttributeID>) -> [ConfigurationProblem] {
        let resolve: (String) -> TLVValue? = { [unowned self] name in
            guard let attribute = definition.attribute(named: name), has(attribute.id), !broken.contains(attribute.id) else { return nil }
            return firstValue(attribute.id)
        }
        let dependent = elements.storedIDs.compactMap { elements.attributes[$0] }.filter { !broken.contains($0.id) }
            .map { (attribute: $0, limits: limits(of: $0)) }.filter { !$0.limits.isEmpty }
        let bounds = Set(dependent.flatMap(\.limits))
        var problems: [ConfigurationProblem] = []
        var blamed: Set<AttributeID> = []
        // The limits first: where they are wrong, nothing can be said of what lies between them.
        for (attribute, limits) in dependent.filter({ bounds.contains($0.attribute.id) })
            + dependent.filter({ !bounds.contains($0.attribute.id) })
        {
            let isGiven = given.contains(attribute.id)
            // Of a range whose ends do not go together one end is to blame, be it the other one that was given.
            // What moves, such as a colour temperature, follows its limits.
            let isLimit =
                bounds.contains(attribute.id) && attribute.quality.isDisjoint(with: [.nonVolatile, .reportable, .scene, .quieter])
            guard let culprit = isGiven ? attribute.id : isLimit ? limits.first(where: given.contains) : nil,
                !limits.contains(where: { $0 != culprit && blamed.contains($0) }),
                let message = complaint(attribute, resolve: resolve), blamed.insert(culprit).inserted
            else { continue }
            problems.append(
                ConfigurationProblem(
                    .attribute(culprit), isGiven ? message : "\(text(of: culprit)) does not go with what the device has: \(message)"))
        }
        return problems
    }

    /// The attributes that the constraint of another one refers to.
    private func limits(of attribute: AttributeDefinition) -> [AttributeID] {
        attribute.constraint.names.sorted().compactMap { name in
            definition.attribute(named: name).flatMap { $0.id != attribute.id && has($0.id) ? $0.id : nil }
        }
    }

    /// What is wrong with the value of an attribute, with what is expected; nil when it is right.
    private func complaint(_ attribute: AttributeDefinition, resolve: @escaping (String) -> TLVValue?) -> String? {
        var options = valueChecks(of: attribute)
        options.checksConstraints = true
        let value = firstValue(attribute.id)
        let checker = ValueChecker(cluster: definition, features: features, options: options, value: resolve)
        do throws(Status) { try checker.check(value, of: attribute) } catch {
            guard let measure = value.signed ?? value.array.map({ Int64($0.count) }) else { return error.reason ?? "\(error)" }
            let isCount = value.signed == nil
            let words = attribute.constraint.words(decimals: attribute.type.unit?.decimals ?? 0, resolve: { resolve($0)?.signed }) {
                bound in
                guard !isCount else { return String(bound) }
                return text(bound < 0 || value.isSigned ? .signed(bound) : .unsigned(UInt64(bound)), of: attribute, withName: false)
            }
            guard !words.isEmpty,
                !attribute.constraint.check(measure, decimals: attribute.type.unit?.decimals ?? 0, resolve: { resolve($0)?.signed })
            else { return error.reason ?? "\(error)" }
            let found = isCount ? "\(attribute.name) has \(measure) entries" : text(value, of: attribute)
            return "\(found) is not allowed: \(words) is expected"
        }
        for case .entry(let list) in attribute.constraint.requirements.joined() where !value.isNull {
            guard let entries = resolve(list)?.array, !entries.contains(value) else { continue }
            return "\(text(value, of: attribute)) is not allowed: an entry of \(list) is expected"
        }
        return nil
    }

    /// `OnLevel 20 (8 %)`.
    final func text(_ value: TLVValue, of attribute: AttributeDefinition, withName: Bool = true) -> String {
        let text = ValueText(attribute, in: definition.id).format(value)
        return withName ? "\(attribute.name) \(text)" : text
    }

    final func text(of attribute: AttributeID) -> String {
        elements.attributes[attribute].map { text(firstValue(attribute), of: $0) } ?? ""
    }

    /// What was given and does not exist with these features.
    private func absences(_ given: Set<AttributeID>) -> [ConfigurationProblem] {
        let wanted = given.union(configuration.optionalAttributes).filter { elements.attributes[$0] == nil }
        let attributes = wanted.sorted().compactMap { id in
            definition.attribute(id: id).map { ConfigurationProblem(.attribute(id), absence($0.name, $0.conformance)) }
        }
        let commands = configuration.optionalCommands.filter { elements.acceptedCommands[$0] == nil }.sorted().compactMap { id in
            definition.command(id: id).map { ConfigurationProblem(.command(id), absence($0.name, $0.conformance)) }
        }
        return attributes + commands
    }

    private func absence(_ name: String, _ conformance: Conformance) -> String {
        let codes = definition.featureCodes(of: features)
        let have = codes.isEmpty ? "none" : codes.joined(separator: ", ")
        return "\(definition.name) has no \(name) with these features (\(have)): its conformance is \(conformance.text)"
    }

    /// Features that exclude each other, or of which too few or too many are there.
    private func featureProblems() -> [ConfigurationProblem] {
        definition.featureProblems(of: features).map { ConfigurationProblem(.features, $0) }
    }

    /// What the cluster would refuse as a write.
    private func refusals(_ given: Set<AttributeID>) -> [ConfigurationProblem] {
        given.sorted().compactMap { id in
            guard let attribute = elements.attributes[id], attribute.writePrivilege != nil else { return nil }
            do throws(Status) { _ = try willWrite(attribute, firstValue(id), .local()) } catch {
                guard error.code == .constraintError, let reason = error.reason else { return nil }
                return ConfigurationProblem(.attribute(id), "\(text(of: id)) is not allowed: \(reason)")
            }
            return nil
        }
    }
}

extension TLVValue {
    fileprivate var isSigned: Bool { if case .signed = self { true } else { false } }
}
