import CommandLineKit
import HearthStore
import MachineInterface
import MatterController
import MatterModel
import MatterSimulator

/// An error of the libraries as the command line tells it: exit code, message, and with `--json` the object of the machine interface.
struct Failures: CommandLineError {
    let error: MachineError

    init(_ error: MachineError) { self.error = error }
    init(_ error: any Error) { self.error = MachineError(from: error) }

    var message: String { error.message }
    var hint: String? { nil }

    var exitCode: ExitCode { Self.exitCode(error) }

    /// The exit code of a failure, also of one that is part of an answer.
    static func exitCode(_ error: MachineError) -> ExitCode {
        if error.stage != nil { return .pairingFailed }
        if error.code != nil { return .refused }
        switch error.status {
        case MachineError.badRequestStatus: return .badArguments
        case MachineError.unknownDeviceStatus: return .unknownDevice
        case MachineError.unreachableStatus: return .unreachable
        case MachineError.noResponseStatus: return .timedOut
        case MachineError.refusedStatus: return .refused
        case MachineError.pairingFailedStatus: return .pairingFailed
        case MachineError.storeStatus: return .store
        default: return .failure
        }
    }

    @Sendable static func translate(_ error: any Error) -> (any CommandLineError)? {
        if let error = error as? ProfileErrors { return Mistakes(errors: error.errors) }
        if error is SimulatorError { return Failures(MachineError(simulator: error)) }
        return Failures(error)
    }

    /// With `--json` an error is a JSON document on standard output, like everything else.
    @Sendable static func report(_ error: any CommandLineError, _ words: [String], _ terminal: Terminal) -> Bool {
        // Whoever pressed Ctrl-C knows why the command ended.
        if error is Quiet, error.message.isEmpty { return true }
        guard words.prefix(while: { $0 != "--" }).contains("--json") else { return tellMistakes(error, terminal) }
        if error is Quiet { return true }
        terminal.line(json(error).text())
        return true
    }

    /// The mistakes of a file that was asked for, of which a simulator tells as well, have a line each.
    private static func tellMistakes(_ error: any CommandLineError, _ terminal: Terminal) -> Bool {
        guard error is Mistakes || (error as? Failures)?.error.status == MachineError.badRequestStatus else { return false }
        let lines = error.message.split(separator: "\n")
        guard lines.count > 1 else { return false }
        for line in lines { terminal.note(TextWidth.harmless(String(line))) }
        terminal.note("error: there are \(lines.count) mistakes")
        return true
    }

    static func json(_ error: any CommandLineError) -> JSONValue {
        if let failure = error as? Failures { return ["ok": false, "error": failure.error.json] }
        if let mistakes = error as? Mistakes {
            var members = MachineError.badRequest(mistakes.message).json.object ?? [:]
            members["mistakes"] = .array(mistakes.errors.map(\.json))
            return ["ok": false, "error": .object(members)]
        }
        let status = error.exitCode == .badArguments ? MachineError.badRequestStatus : "FAILED"
        return ["ok": false, "error": MachineError(status, error.message).json]
    }
}

/// Mistakes in files that were asked for.
struct Mistakes: CommandLineError {
    let errors: [ProfileError]
    var exitCode: ExitCode { .badArguments }
    var message: String { ProfileErrors(errors: errors).description }
    var hint: String? { nil }
}

extension ProfileError {
    /// Members that say nothing are left out.
    var json: JSONValue {
        var members: [String: JSONValue] = ["message": .string(message)]
        if !file.isEmpty { members["file"] = .string(file) }
        if line > 0 { members["line"] = JSONValue(line) }
        if column > 0 { members["column"] = JSONValue(column) }
        if !path.isEmpty { members["path"] = .string(path) }
        return .object(members)
    }
}

/// Ends a command with an exit code when everything has been said.
struct Quiet: CommandLineError {
    let exitCode: ExitCode
    /// What a person reads, if anything; with `--json` the document has said it.
    let message: String
    var hint: String? { nil }
}

extension Terminal {
    /// Mistakes in files: a line for each, with its place.
    func tell(_ mistakes: [ProfileError]) {
        for mistake in mistakes { note(TextWidth.harmless(mistake.description)) }
    }
}
