import MatterModel

/// Something in a cluster's configuration that the cluster cannot be. Whoever reads configurations from files knows where it stands.
public struct ConfigurationProblem: Sendable, Hashable {
    /// A step into the value of a parameter.
    public enum Step: Sendable, Hashable {
        case member(String)
        /// From 0.
        case entry(Int)
    }

    /// What of the configuration is to blame.
    public enum Subject: Sendable, Hashable {
        case features
        case attribute(AttributeID)
        /// An optional command.
        case command(CommandID)
        /// A parameter, or something in its value.
        case parameter([Step])
    }

    public var subject: Subject
    /// What is wrong and what was expected.
    public var message: String

    /// The attributes whose values are the limits: where one of them is wrong itself, nothing can be said.
    public var limits: Set<AttributeID>

    public init(_ subject: Subject, _ message: String, limits: Set<AttributeID> = []) {
        (self.subject, self.message, self.limits) = (subject, message, limits)
    }
}
