import MatterModel

/// Something that a cluster's behaviour needs to know and the data model has no word for: how long a shade travels, how well a room is
/// insulated. Profiles give it under the cluster; the profile reader and its schema know the names from here.
public struct ClusterParameter: Sendable {
    /// What values the parameter takes.
    public indirect enum Kind: Sendable {
        case boolean
        case unsigned(ClosedRange<UInt64>)
        case signed(ClosedRange<Int64>)
        /// A number with a fraction; TLV double.
        case number(ClosedRange<Double>)
        /// A span of time as people write it (`20`, `1.5`, in seconds); TLV unsigned, in milliseconds.
        case seconds(ClosedRange<Double>)
        case text
        /// Hexadecimal digits; TLV octets.
        case octets
        case list(Kind)
        /// A mapping; the members' tags are their places in the array, from 0.
        case structure([ClusterParameter])
    }

    public var name: String
    public var kind: Kind
    /// For editors and `hearth profiles --help`: what it means, with its default.
    public var summary: String

    public init(_ name: String, _ kind: Kind, _ summary: String) { (self.name, self.kind, self.summary) = (name, kind, summary) }
}

extension ClusterFactory {
    /// The parameters of a cluster's behaviour.
    public static func parameters(of cluster: ClusterID) -> [ClusterParameter] {
        utilityParameters[cluster] ?? lightingParameters[cluster] ?? closureParameters[cluster] ?? climateParameters[cluster] ?? []
    }
}
