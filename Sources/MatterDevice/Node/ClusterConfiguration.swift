import MatterModel
import MatterTLV

/// What a profile says of one cluster: its features, first values, and what its behaviour needs to know beyond the data model.
public struct ClusterConfiguration: Sendable {
    /// The value of FeatureMap.
    public var features: UInt32
    /// First values. An optional attribute that stands here exists.
    public var attributes: [AttributeID: TLVValue]
    /// Optional attributes that exist without a first value of their own.
    public var optionalAttributes: Set<AttributeID>
    /// Optional commands that are accepted.
    public var optionalCommands: Set<CommandID>
    /// What the data model does not know, by name: `travelTime`, `users`, `heatLoss`. Each cluster documents its own.
    public var parameters: [String: TLVValue]

    public init(
        features: UInt32 = 0, attributes: [AttributeID: TLVValue] = [:], optionalAttributes: Set<AttributeID> = [],
        optionalCommands: Set<CommandID> = [], parameters: [String: TLVValue] = [:]
    ) {
        (self.features, self.attributes, self.optionalAttributes) = (features, attributes, optionalAttributes)
        (self.optionalCommands, self.parameters) = (optionalCommands, parameters)
    }
}
