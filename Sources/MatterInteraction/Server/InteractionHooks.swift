import HearthTime
import MatterModel
import MatterTLV

/// Where others may look at, and change, what a node does: journal and faults use them, and nobody else. Each is nil as a rule.
public struct InteractionHooks {
    /// What a hook says of one access.
    public enum Verdict: Sendable {
        case proceed
        /// Answer with this instead.
        case refuse(Status)
    }

    /// When an answer goes out: at once, later in model time, or not at all.
    public enum AnswerVerdict: Sendable {
        case now
        case after(Duration)
        case never
    }

    /// Before an attribute is read for an answer or a report.
    public var beforeRead: ((AttributePath, InteractionContext) -> Verdict)?
    /// What a peer sees instead of an attribute's value; nil leaves it. Lists are cut to the peer's fabric afterwards.
    public var replaceValue: ((AttributePath, InteractionContext) -> TLVValue?)?
    /// Before a write, after access has been checked.
    public var beforeWrite: ((AttributePath, AttributeChange, InteractionContext) -> Verdict)?
    /// After a write, with its status.
    public var afterWrite: ((AttributePath, AttributeChange, Status, InteractionContext) -> Void)?
    /// Before a command, after access has been checked.
    public var beforeCommand: ((CommandPath, TLVValue, InteractionContext) -> Verdict)?
    /// After a command, with what it led to.
    public var afterCommand: ((CommandPath, TLVValue, CommandOutcome, InteractionContext) -> Void)?
    /// Before a message of the server's goes out: an answer, a chunk of one, or a report, which `subscription` of the context tells
    /// apart. The peer's time to acknowledge a message counts from when it has gone.
    public var beforeAnswer: ((InteractionOpcode, InteractionContext) -> AnswerVerdict)?
    /// A subscription has been made; its answer follows.
    public var subscribed: ((InteractionContext) -> Void)?
    /// Before a subscription's report: the paths that changed, which may be thinned out. False drops the report as if it had been
    /// sent and acknowledged.
    public var beforeReport: ((SubscriptionID, inout [AttributePath], InteractionContext) -> Bool)?

    public init() {}
}
