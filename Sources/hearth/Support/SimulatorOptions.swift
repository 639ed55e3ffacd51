import CommandLineKit
import HearthTime
import MatterSimulator

/// The options of both commands that launch devices, `simulate` and `lab`, and what they name.
enum SimulatorOptions {
    static let all: [Argument] = [
        .positional(
            "profile", help: "A profile", arity: .any, completion: .dynamic { context in candidates(context.word) }),
        .option("fleet", "FILE", help: "A fleet: devices with names and rooms", completion: .files),
        .option("count", short: "n", "N", help: "How many of each profile", kind: .unsigned(1...10_000), default: "1"),
        .option("state", "DIR", help: "Where the devices keep their state, and a lab's controller; without it they forget", kind: .folder),
        .option(
            "seed", "N", help: "What every chance derives from (default: 0, but discriminators of 'simulate' by chance)",
            kind: .unsigned(0...UInt64.max)),
        .option("speed", "X", help: "How many times as fast real time goes", kind: .number(0.001...100_000), default: "1"),
        .option(
            "control", "PATH", help: "A socket for 'hearth sim' and test programs, which you alone can use; its folder is made",
            kind: .file),
        HomeOptions.json,
    ]

    /// Real time, as fast as it is to go.
    static func realTime(_ arguments: ParsedArguments) -> Timeline.Mode { .real(speed: arguments.number("speed") ?? 1) }

    /// A device to be.
    struct Member: Sendable {
        var profile: DeviceProfile
        var name: String
        /// Where a fleet says that it is.
        var room: String?
    }

    /// Every device that can be launched. Mistakes in files are told and leave out only what they are in.
    static func members(_ arguments: ParsedArguments, _ terminal: Terminal) throws -> [Member] {
        let library = ProfileLibrary.standard()
        let count = max(1, Int(clamping: arguments.unsigned("count") ?? 1))
        var profiles: [DeviceProfile] = []
        var mistakes: [ProfileError] = []
        for reference in arguments.texts("profile") {
            do throws(ProfileErrors) {
                let profile = try library.profile(reference)
                profiles += Array(repeating: profile, count: count)
            } catch {
                mistakes += error.errors
            }
        }
        var names = DeviceNames()
        var fleetMembers: [Member] = []
        if let reference = arguments.text("fleet") {
            do throws(ProfileErrors) {
                let fleet = try library.fleet(reference)
                mistakes += fleet.errors
                // Copies of a fleet are numbered as a whole; the first keeps the names.
                for copy in 1...count {
                    fleetMembers += fleet.members.map {
                        let name = copy == 1 ? names.free($0.name) : names.numbered($0.name, from: copy)
                        return Member(profile: $0.profile, name: name, room: $0.room)
                    }
                }
            } catch {
                mistakes += error.errors
            }
        }
        // Devices of a fleet keep their names, whatever else is launched.
        let members = profiles.map { Member(profile: $0, name: names.free($0.name)) } + fleetMembers
        if members.isEmpty, mistakes.isEmpty {
            throw UsageError("say what to launch: a PROFILE or --fleet FILE", hint: "see 'hearth profiles'")
        }
        // With --json the error is a document and holds them all.
        if members.isEmpty, arguments.flag("json") { throw ProfileErrors(errors: mistakes) }
        terminal.tell(mistakes)
        if members.isEmpty { throw Quiet(exitCode: .badArguments, message: "no device is left to launch") }
        if !mistakes.isEmpty { terminal.note("note: what has a mistake is left out") }
        return members
    }

    /// How many devices that cannot start are told one by one.
    private static let toldFailures = 3

    /// Launches the devices and returns when all can be found. One that cannot start is told and leaves the others alone.
    /// - Parameter port: which port a device is to have; 0 for any.
    /// - Throws: why the last could not, when none can.
    static func launch(
        _ members: [Member], on simulator: Simulator, _ terminal: Terminal, _ stop: StopSignal,
        port: (_ index: Int) throws -> UInt16 = { _ in 0 }
    ) async throws {
        let progress = members.count > 10 ? Progress(terminal, "starting devices", total: members.count) : nil
        var failed = 0
        var lastError: SimulatorError?
        for (index, member) in members.enumerated() {
            if stop.code != nil { return }
            do {
                _ = try await simulator.add(member.profile, name: member.name, room: member.room, port: port(index))
            } catch let error as SimulatorError {
                // The last one ends the command when none has started: it is told once.
                if let lastError, failed <= toldFailures { terminal.note("\(lastError) (left out)") }
                lastError = error
                failed += 1
            }
            progress?.advance(to: index + 1)
        }
        if let lastError {
            guard failed < members.count else { throw lastError }
            if failed <= toldFailures {
                terminal.note("\(lastError) (left out)")
            } else {
                terminal.note("\(failed - toldFailures) more devices are left out")
            }
        }
        try await simulator.advertised()
        progress?.finish()
    }

    private static func candidates(_ word: String) -> [Candidate] {
        ProfileLibrary.standard().files().compactMap { file in
            let name = file.split(separator: "/").last.map(String.init) ?? file
            return Candidate(name.hasSuffix(".yaml") ? String(name.dropLast(5)) : name)
        }
    }
}
