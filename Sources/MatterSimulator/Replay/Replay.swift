import HearthIO
import HearthTime
import MatterDiscovery
import MatterModel
import MatterTLV
import MatterTransport

/// Feeds what was done to the devices of one journal to a fresh simulator, at the same instants, and compares what came of it.
///
/// What is fed: hands on devices, events raised there, faults, power, and the writes and commands of peers. What is not: how devices were
/// taken into fabrics, since keys and certificates stand in no journal. So the clusters of commissioning and access are left out of the
/// comparison, every peer of the journal may do everything, and faults of messages on their way have nothing to strike.
public enum Replay {
    /// Where the fresh devices did otherwise than the journal says.
    public struct Difference: Sendable {
        public var device: String
        /// In nanoseconds of model time.
        public var time: Int64
        /// What the journal has; nil when it has nothing more.
        public var expected: JSONValue?
        /// What the fresh simulator did; nil when it did nothing more.
        public var actual: JSONValue?
    }

    /// What a replay came to.
    public struct Outcome: Sendable {
        /// Inputs that were fed.
        public var inputs: Int
        /// Entries that were compared.
        public var compared: Int
        /// The first one; nil when both did the same.
        public var difference: Difference?

        public var json: [String: JSONValue] {
            var object: [String: JSONValue] = [
                "same": .boolean(difference == nil), "inputs": .integer(Int64(inputs)), "compared": .integer(Int64(compared)),
            ]
            if let difference {
                object["difference"] = [
                    "device": .string(difference.device), "atNs": JSONValue(difference.time), "expected": difference.expected ?? .null,
                    "actual": difference.actual ?? .null,
                ]
            }
            return object
        }
    }

    /// A device of the journal.
    public struct Member: Sendable {
        public var profile: DeviceProfile
        public var name: String
        public init(_ profile: DeviceProfile, name: String) { (self.profile, self.name) = (profile, name) }
    }

    /// Replays in virtual time, in memory, on a thread of its own.
    /// - Throws: `SimulatorError` with the line, `TimelineError`, `CancellationError` when its caller has been cancelled.
    public static func run(_ journal: [RecordedEntry], members: [Member], seed: UInt64) async throws -> Outcome {
        try await run(members: members, seed: seed) { journal }
    }

    /// The same with a journal that is still to be read: `journal` is called on that thread, because a large one takes a while.
    public static func run(
        members: [Member], seed: UInt64, journal: @escaping @Sendable () throws -> [RecordedEntry]
    ) async throws -> Outcome {
        let runtime = try Runtime(mode: .manual, seed: seed)
        let result: Result<Outcome, any Error>
        do {
            // In a task of that timeline: every call below is then a call from inside.
            let body = { @Sendable in try await feed(try journal(), members, seed, runtime) }
            let replay = runtime.timeline.spawn("replay", body)
            // Years of model time are not passed for somebody who has gone.
            result = .success(
                try await withTaskCancellationHandler {
                    try await replay.value
                } onCancel: {
                    runtime.shutdown()
                })
        } catch {
            result = .failure(Task.isCancelled ? CancellationError() : error)
        }
        runtime.shutdown()
        await runtime.ended()
        return try result.get()
    }

    private static func feed(
        _ journal: [RecordedEntry], _ members: [Member], _ seed: UInt64, _ runtime: Runtime
    ) async throws -> Outcome {
        let timeline = runtime.timeline
        let discovery = SharedDiscovery(timeline: timeline) { Discovery.memory(MemoryRegistry(timeline: timeline)) }
        var configuration = Simulator.Configuration()
        configuration.seed = seed
        configuration.journalCapacity = journal.count * 4 + 10_000
        configuration.listenAddress = { .memory(MemoryAddress("replay", port: $0)) }
        let simulator = try await Simulator.open(configuration, transport: TLSTransport(runtime), discovery: discovery)
        await simulator.follow(journal)
        var inputs = 0
        var present: Set<String> = []
        var faults: [Int: Int] = [:]
        for entry in journal {
            let isNew = entry.kind == .start && !present.contains(entry.device)
            guard isNew || entry.isInput else { continue }
            if entry.time > timeline.now { try await timeline.advance(to: entry.time) }
            do {
                if isNew {
                    guard let member = members.first(where: { $0.name == entry.device }) else {
                        throw SimulatorError(.badRequest, "no profile is given for the journal's device '\(entry.device)'")
                    }
                    present.insert(entry.device)
                    _ = try await simulator.add(member.profile, name: member.name)
                } else {
                    inputs += 1
                    try await simulator.carryOut(entry, &faults)
                }
            } catch let error as SimulatorError {
                throw SimulatorError(error.code, "\(entry.place): \(error.message)", status: error.status)
            } catch let error as ValueError {
                throw SimulatorError(.badRequest, "\(entry.place): \(error.message)")
            }
            // What follows from it at once belongs before the next.
            try await timeline.advance(by: .zero)
        }
        if let last = journal.last, last.time > timeline.now { try await timeline.advance(to: last.time) }
        let done = try await simulator.journal(limit: .max).map { try RecordedEntry($0.json()) }
        await simulator.close()
        discovery.shutdown()
        return compare(journal, done, inputs)
    }

    // MARK: Comparing

    /// Device by device: between devices the order within an instant is of no interest.
    private static func compare(_ expected: [RecordedEntry], _ actual: [RecordedEntry], _ inputs: Int) -> Outcome {
        let (expected, actual) = (byDevice(expected), byDevice(actual))
        var outcome = Outcome(inputs: inputs, compared: expected.values.reduce(0) { $0 + $1.count })
        for device in Set(expected.keys).union(actual.keys).sorted() {
            let (one, other) = (expected[device] ?? [], actual[device] ?? [])
            for index in 0..<max(one.count, other.count) {
                let (left, right) = (index < one.count ? one[index] : nil, index < other.count ? other[index] : nil)
                if let left, let right, left.text == right.text { continue }
                let time = min(left?.time ?? .max, right?.time ?? .max)
                if time < outcome.difference?.time ?? .max {
                    outcome.difference = Difference(device: device, time: time, expected: left?.json, actual: right?.json)
                }
                break
            }
        }
        return outcome
    }

    private typealias Line = (time: Int64, text: String, json: JSONValue)

    private static func byDevice(_ entries: [RecordedEntry]) -> [String: [Line]] {
        var lines: [String: [Line]] = [:]
        for entry in entries where entry.isCompared {
            let json = entry.comparable
            lines[entry.device, default: []].append((entry.time.nanoseconds, json.text(), json))
        }
        // Within an instant a device may do things in another order when its input came from another side.
        return lines.mapValues { $0.sorted { ($0.time, $0.text) < ($1.time, $1.text) } }
    }
}
