/// The arguments of a command, checked against its declaration.
public struct ParsedArguments: Sendable {
    /// The names of the commands from the program down.
    public internal(set) var commandPath: [String]
    var values: [String: [String]] = [:]
    var flags: [String: Bool] = [:]
    var defaults: [String: String] = [:]

    init(commandPath: [String]) { self.commandPath = commandPath }

    /// The value of a positional or an option: the last one given, else its default, else nil.
    public func text(_ name: String) -> String? { values[name]?.last ?? defaults[name] }

    /// All values in the order given; the default alone when there are none.
    public func texts(_ name: String) -> [String] { values[name] ?? defaults[name].map { [$0] } ?? [] }

    /// The value of an argument of kind `integer`.
    public func integer(_ name: String) -> Int64? { text(name).flatMap { Numbers.signed($0) } }

    /// The value of an argument of kind `unsigned`.
    public func unsigned(_ name: String) -> UInt64? { text(name).flatMap { Numbers.unsigned($0) } }

    /// The value of an argument of kind `number`.
    public func number(_ name: String) -> Double? { text(name).flatMap { Double($0) } }

    /// True when the flag was given.
    public func flag(_ name: String) -> Bool { flags[name] ?? false }

    /// What was said about a negatable flag; nil when nothing was.
    public func choice(_ name: String) -> Bool? { flags[name] }

    /// True when a value or a flag was given, rather than left to its default.
    public func isGiven(_ name: String) -> Bool { values[name] != nil || flags[name] != nil }

    /// The value of a required argument. It throws only where the declaration says that it may be absent.
    public func required(_ name: String) throws(UsageError) -> String {
        guard let value = text(name) else { throw UsageError("\(name) is missing") }
        return value
    }
}
