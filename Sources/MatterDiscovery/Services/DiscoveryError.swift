/// What can go wrong with discovery.
public struct DiscoveryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller can act on.
    public enum Code: Hashable, Sendable {
        /// A name, type or host that DNS cannot hold.
        case invalidName
        /// The TXT record is too long.
        case textTooLong
        /// Another host has this name and no other was offered.
        case nameTaken
        /// The Avahi daemon does not answer or has gone.
        case daemonUnavailable
        /// A limit of the Avahi daemon: too many objects or entries.
        case tooManyServices
        /// There is no such interface, or none that can multicast.
        case noInterface
        /// A socket could not be made.
        case socket
        /// Discovery was turned off.
        case off
        /// Nothing was found within the time given.
        case notFound
        /// A field of a record that has no legal value.
        case invalidField
        /// An answer of the Avahi library that fits nothing else.
        case backEnd
    }

    public let code: Code
    /// Says what happened and, where one can, what to do.
    public let message: String
    /// What was underneath, in its own words.
    public let cause: String?

    public init(_ code: Code, _ message: String, cause: String? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}
