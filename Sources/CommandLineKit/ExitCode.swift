/// What the process tells its caller. `docs/cli.md` lists the same numbers.
public struct ExitCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int32

    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Everything was done.
    public static let ok = ExitCode(rawValue: 0)
    /// Something failed that has no number of its own.
    public static let failure = ExitCode(rawValue: 1)
    /// The arguments are wrong; nothing was done.
    public static let badArguments = ExitCode(rawValue: 2)
    /// No device of this name or number.
    public static let unknownDevice = ExitCode(rawValue: 3)
    /// The device does not answer on the network.
    public static let unreachable = ExitCode(rawValue: 4)
    /// The device answered with an error status.
    public static let refused = ExitCode(rawValue: 5)
    /// The device could not be paired.
    public static let pairingFailed = ExitCode(rawValue: 6)
    /// No answer, or not what was waited for, in the time allowed.
    public static let timedOut = ExitCode(rawValue: 7)
    /// The state or home folder cannot be used: in use, damaged, full, of a newer version.
    public static let store = ExitCode(rawValue: 8)
    /// Stopped by SIGINT (Ctrl-C).
    public static let interrupted = ExitCode(rawValue: 130)
    /// Stopped by SIGTERM.
    public static let terminated = ExitCode(rawValue: 143)

    /// All of the above with what they mean, for help and documentation.
    public static let all: [(code: ExitCode, meaning: String)] = [
        (.ok, "done"),
        (.failure, "failed for another reason"),
        (.badArguments, "bad arguments"),
        (.unknownDevice, "unknown device"),
        (.unreachable, "device unreachable"),
        (.refused, "refused by the device"),
        (.pairingFailed, "pairing failed"),
        (.timedOut, "timed out"),
        (.store, "state folder unusable"),
        (.interrupted, "interrupted"),
        (.terminated, "terminated"),
    ]
}

/// An error that knows how the command line tells it.
public protocol CommandLineError: Error, Sendable {
    var exitCode: ExitCode { get }
    /// What went wrong, in one line, without "error:".
    var message: String { get }
    /// What the user can do about it; nil when the message says it.
    var hint: String? { get }
}

/// Any failure with its exit code.
public struct Failure: CommandLineError, Hashable {
    public let exitCode: ExitCode
    public let message: String
    public let hint: String?

    public init(_ exitCode: ExitCode, _ message: String, hint: String? = nil) {
        self.exitCode = exitCode
        self.message = message
        self.hint = hint
    }
}

/// Arguments that are not accepted. The hint names the help of the command they were given to.
public struct UsageError: CommandLineError, Hashable {
    public let message: String
    public let hint: String?
    public var exitCode: ExitCode { .badArguments }

    public init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }
}
