extension ClusterDefinition {
    /// The cluster's own attribute or a global one. Of an attribute that is defined twice, under different conformance, the first;
    /// see `attribute(id:features:)`.
    public func attribute(id: AttributeID) -> AttributeDefinition? {
        attributes.first { $0.id == id } ?? DataModel.globalAttributes.first { $0.id == id }
    }

    /// Of an attribute that is defined twice, the one that goes with the features.
    public func attribute(id: AttributeID, features: UInt32) -> AttributeDefinition? {
        attributes.first { $0.id == id && $0.conformance.evaluate(features: features, of: self).allowsPresence }
            ?? attribute(id: id)
    }

    /// By name, compared as `DataModel` says; the cluster's own or a global one.
    public func attribute(named name: String) -> AttributeDefinition? {
        let wanted = DataModel.normalizedName(name)
        return attributes.first { DataModel.normalizedName($0.name) == wanted }
            ?? DataModel.globalAttributes.first { DataModel.normalizedName($0.name) == wanted }
    }

    /// Requests and responses have separate ids.
    public func command(id: CommandID, direction: CommandDefinition.Direction = .request) -> CommandDefinition? {
        commands.first { $0.id == id && $0.direction == direction }
    }

    /// By name, compared as `DataModel` says; a request and its response may share one.
    public func command(named name: String, direction: CommandDefinition.Direction = .request) -> CommandDefinition? {
        let wanted = DataModel.normalizedName(name)
        return commands.first { $0.direction == direction && DataModel.normalizedName($0.name) == wanted }
    }

    /// The response that answers `request`; nil when a status does.
    public func response(to request: CommandDefinition) -> CommandDefinition? {
        guard case .command(let id) = request.response else { return nil }
        return command(id: id, direction: .response)
    }

    /// Nil when the cluster defines no such event.
    public func event(id: EventID) -> EventDefinition? { events.first { $0.id == id } }

    /// By name, compared as `DataModel` says.
    public func event(named name: String) -> EventDefinition? {
        let wanted = DataModel.normalizedName(name)
        return events.first { DataModel.normalizedName($0.name) == wanted }
    }

    /// By code (`LT`) or name (`Lighting`).
    public func feature(named name: String) -> FeatureDefinition? {
        let wanted = DataModel.normalizedName(name)
        return features.first { DataModel.normalizedName($0.code) == wanted }
            ?? features.first { DataModel.normalizedName($0.name) == wanted }
    }

    /// The FeatureMap of features by code.
    public func featureMap(_ codes: some Sequence<String>) -> UInt32 {
        codes.reduce(0) { map, code in map | (features.first { $0.code == code }.map { UInt32(1) << UInt32($0.bit) } ?? 0) }
    }
}

extension Array where Element == FieldDefinition {
    /// Nil when there is no field of that tag.
    public func field(id: FieldID) -> FieldDefinition? { first { $0.id == id } }
    /// By name, compared as `DataModel` says.
    public func field(named name: String) -> FieldDefinition? {
        let wanted = DataModel.normalizedName(name)
        return first { DataModel.normalizedName($0.name) == wanted }
    }
}

extension EnumDefinition {
    /// Nil for a value that is not defined, which a device of a later revision may send.
    public func item(value: UInt64) -> Item? { items.first { UInt64($0.value) == value } }
    /// By name, compared as `DataModel` says.
    public func item(named name: String) -> Item? {
        let wanted = DataModel.normalizedName(name)
        return items.first { DataModel.normalizedName($0.name) == wanted }
    }
}

extension BitmapDefinition {
    /// By name, compared as `DataModel` says.
    public func field(named name: String) -> Field? {
        let wanted = DataModel.normalizedName(name)
        return fields.first { DataModel.normalizedName($0.name) == wanted }
    }
}
