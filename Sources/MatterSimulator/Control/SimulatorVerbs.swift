import HearthTime
import MachineInterface
import MatterModel
import MatterTLV

/// The simulator's verbs of the machine interface: a request object in, the members of its answer out.
public struct SimulatorVerbs: Sendable {
    let simulator: Simulator
    /// Where scenarios and profiles are looked for.
    let library: ProfileLibrary

    public init(_ simulator: Simulator, library: ProfileLibrary = .standard()) {
        (self.simulator, self.library) = (simulator, library)
    }

    public static let verbs = [
        "devices", "clock", "reboot", "factory-reset", "stop", "start", "set", "trigger", "fault", "faults", "clear-fault", "open-window",
        "journal", "play", "replay",
    ]

    /// Those that change nothing which devices keep.
    private static let readers: Set<String> = ["devices", "fault", "faults", "clear-fault", "journal", "replay"]

    /// Carries a request out, and returns when what it has changed is stored.
    /// - Throws: `MachineError`, BAD_REQUEST for what is no request, STORE_UNUSABLE when it is done but not stored.
    public func perform(_ json: JSONValue) async throws(MachineError) -> [String: JSONValue] {
        let reader = try RequestReader(json)
        let verb = try reader.text("do")
        let answer = try await carryOut(verb, reader)
        guard !Self.readers.contains(verb) else { return answer }
        do { try await simulator.stored(reader.present("device")?.string) } catch { throw MachineError(simulator: error) }
        return answer
    }

    private func carryOut(_ verb: String, _ reader: RequestReader) async throws(MachineError) -> [String: JSONValue] {
        do {
            switch verb {
            case "devices": return ["devices": .array(try await simulator.allDevices().map(\.json))]
            case "clock": return try await clock(reader)
            case "reboot": try await simulator.reboot(reader.device(), reason: bootReason(reader))
            case "factory-reset": try await simulator.factoryReset(reader.device())
            case "stop": try await simulator.stop(reader.device())
            case "start": try await simulator.start(reader.device())
            case "set": try await set(reader)
            case "trigger": return ["number": JSONValue(try await trigger(reader).rawValue)]
            case "fault":
                let device = reader.present("device") == nil ? nil : try reader.device()
                return ["fault": JSONValue(try await simulator.addFault(device, reader.members))]
            case "faults": return ["faults": .array(try await simulator.allFaults().map(\.json))]
            case "clear-fault": try await clearFault(reader)
            case "open-window":
                let seconds = try reader.integer("timeoutS", as: UInt16.self) ?? 900
                let info = try await simulator.openWindow(reader.device(), timeout: .seconds(Int64(seconds)))
                return ["code": .string(info.setupCode), "qr": .string(info.qrCode)]
            case "play":
                let outcomes = try await simulator.play(ScenarioReader.read(reader.text("file"), library: library))
                return ["steps": .array(outcomes.map(\.json))]
            case "replay": return try await replay(reader).json
            case "journal": return try await journal(reader)
            default: throw MachineError.badRequest("unknown verb '\(verb)'" + DataModel.didYouMean(verb, among: Self.verbs))
            }
            return [:]
        } catch {
            throw MachineError(simulator: error)
        }
    }

    /// Milliseconds that the clock is moved on at a time, at most.
    private static let maximumAdvance: Int64 = 1_000_000_000_000

    private func clock(_ reader: RequestReader) async throws -> [String: JSONValue] {
        let timeline = simulator.timeline
        if let json = reader.present("advanceMs") {
            if case .real = timeline.mode {
                throw MachineError.badRequest("the clock is the real one and cannot be advanced: start with --clock virtual")
            }
            guard let span = json.unsigned.flatMap({ Int64(exactly: $0) }), span <= Self.maximumAdvance else {
                throw MachineError.badRequest("advanceMs: an integer from 0 to \(Self.maximumAdvance) is wanted")
            }
            try await timeline.advance(by: .milliseconds(span))
        }
        var speed = JSONValue.integer(0)
        var mode = "virtual"
        if case .real(let factor) = timeline.mode { (mode, speed) = ("real", .number(factor)) }
        return ["nowMs": JSONValue(timeline.now.nanoseconds / 1_000_000), "mode": .string(mode), "speed": speed]
    }

    private func set(_ reader: RequestReader) async throws {
        let cluster = try reader.required("cluster", reader.cluster())
        let attribute = try reader.required("attribute", reader.attribute(in: cluster))
        let endpoint = try await endpoint(reader, cluster)
        guard let json = reader.members["value"] else { throw MachineError.badRequest("value is missing") }
        let type = DataModel.cluster(id: cluster)?.attribute(id: attribute)?.type
        try await simulator.set(reader.device(), AttributePath(endpoint, cluster, attribute), ValueJSON.value(json, type: type))
    }

    private func trigger(_ reader: RequestReader) async throws -> EventNumber {
        let cluster = try reader.required("cluster", reader.cluster())
        let event = try reader.required("event", reader.event(in: cluster))
        let endpoint = try await endpoint(reader, cluster)
        let definition = DataModel.cluster(id: cluster)?.event(id: event)
        let fields = try ValueJSON.fields(
            reader.present("fields") ?? .object([:]), of: definition?.fields ?? [], in: definition?.name ?? "the event")
        return try await simulator.trigger(reader.device(), EventPath(endpoint, cluster, event), fields)
    }

    /// The endpoint that is named, or the only one that has the cluster.
    private func endpoint(_ reader: RequestReader, _ cluster: ClusterID) async throws -> EndpointID {
        if let endpoint = try reader.endpoint() { return endpoint }
        return try await simulator.onlyEndpoint(reader.device(), with: cluster)
    }

    /// By its name in the data model, or its number.
    private func bootReason(_ reader: RequestReader) throws(MachineError) -> GeneralDiagnostics.BootReasonEnum {
        guard let json = reader.present("reason") else { return .powerOnReboot }
        let items = GeneralDiagnostics.BootReasonEnum.definition.items
        let item = items.first { $0.name.lowercased() == json.string?.lowercased() || UInt64($0.value) == json.unsigned }
        guard let item, let value = UInt8(exactly: item.value)
        else { throw .badRequest("reason: it is one of \(items.map(\.name).joined(separator: ", "))") }
        return GeneralDiagnostics.BootReasonEnum(rawValue: value)
    }

    private func clearFault(_ reader: RequestReader) async throws {
        if let number = try reader.integer("fault", as: UInt32.self) {
            try await simulator.clearFault(Int(number))
        } else if try reader.boolean("all", default: false) {
            try await simulator.clearFault(nil)
        } else {
            throw MachineError.badRequest("clear-fault needs a 'fault' or 'all': true")
        }
    }

    /// `profiles` is the name of a fleet, or a list of `{device, profile}`; without it this simulator's own devices are meant.
    private func replay(_ reader: RequestReader) async throws -> Replay.Outcome {
        let file = try reader.text("journal")
        var members: [Replay.Member] = []
        switch reader.present("profiles") {
        case nil: members = try await simulator.members()
        case .string(let fleet):
            let read = try library.fleet(fleet)
            if !read.errors.isEmpty { throw ProfileErrors(errors: read.errors) }
            members = read.members.map { Replay.Member($0.profile, name: $0.name) }
        case .array(let items):
            for item in items {
                guard let reference = (item["profile"] ?? item).string else {
                    throw MachineError.badRequest("profiles: a fleet, or a list of {device, profile} is wanted")
                }
                let profile = try library.profile(reference)
                members.append(Replay.Member(profile, name: item["device"]?.string ?? profile.name))
            }
        default: throw MachineError.badRequest("profiles: a fleet, or a list of {device, profile} is wanted")
        }
        return try await Replay.run(members: members, seed: reader.integer("seed", as: UInt64.self) ?? simulator.seed) {
            try Replay.read(ProfileLibrary.contents(of: file, most: Replay.maximumSize), file: file)
        }
    }

    private func journal(_ reader: RequestReader) async throws -> [String: JSONValue] {
        var kinds: Set<JournalEntry.Kind>?
        if let json = reader.present("kinds") {
            guard let names = json.array else { throw MachineError.badRequest("kinds: a list is wanted") }
            kinds = []
            for name in names {
                let known = JournalEntry.Kind.allCases.map(\.rawValue)
                guard let text = name.string, let kind = JournalEntry.Kind(rawValue: text) else {
                    throw MachineError.badRequest(
                        "kinds: there is no '\(name.string ?? "")'; known are \(known.joined(separator: ", "))")
                }
                kinds?.insert(kind)
            }
        }
        let (cluster, limit) = (try reader.cluster(), Int(try reader.integer("limit", as: UInt32.self) ?? 1000))
        let last = try reader.integer("last", as: UInt32.self).map { Int($0) }
        let command = try reader.present("command") == nil ? nil : reader.command(in: reader.required("cluster", cluster))
        // Before the entries: what comes between is looked at again.
        let end = try await simulator.lastJournalNumber()
        let entries = try await simulator.journal(
            device: reader.present("device") == nil ? nil : reader.device(), kinds: kinds, endpoint: reader.endpoint(), cluster: cluster,
            attribute: reader.attribute(in: cluster), command: command, event: reader.event(in: cluster),
            from: reader.integer("fromNumber", as: UInt64.self), limit: limit, last: last)
        let isRedacted = try !reader.boolean("secrets", default: false)
        let seen = try entries.last?.number ?? max(1, reader.integer("fromNumber", as: UInt64.self) ?? 1) - 1
        // Where to go on: also after entries that the filter did not take.
        let next = last == nil && entries.count == limit ? seen : max(seen, end)
        return ["entries": .array(entries.map { $0.json(redacted: isRedacted) }), "next": JSONValue(next == .max ? next : next + 1)]
    }
}

extension MachineError {
    /// What any part of the simulator threw.
    public init(simulator error: any Error) {
        switch error {
        case let error as MachineError: self = error
        case let error as SimulatorError:
            if let status = error.status {
                self.init(status, error.message)
                return
            }
            let status =
                switch error.code {
                case .unknownDevice: Self.unknownDeviceStatus
                case .badRequest: Self.badRequestStatus
                case .network: Self.networkStatus
                case .store: Self.storeStatus
                case .refused: Self.refusedStatus
                case .gone: Self.goneStatus
                }
            self.init(status, error.message)
        case let error as Status: self.init(error)
        case let error as ValueError: self = .badRequest(error.message)
        case let error as ProfileErrors: self = .badRequest(error.description)
        case let error as TimelineError: self.init(Self.noResponseStatus, "\(error)")
        default: self.init(Self.internalStatus, "\(error)")
        }
    }
}

extension DeviceInfo {
    /// As the machine interface shows it.
    public var json: JSONValue {
        var object: [String: JSONValue] = [
            "device": .string(name), "profile": .string(profile), "port": JSONValue(port), "setupCode": .string(setupCode),
            "qr": .string(qrCode), "paired": .boolean(isPaired), "running": .boolean(isRunning),
            "endpoints": .array(endpoints.map { JSONValue($0.rawValue) }),
        ]
        if let room { object["room"] = .string(room) }
        return .object(object)
    }
}

extension FaultInfo {
    public var json: JSONValue {
        var object = members.filter { $0.key != "id" && $0.key != "do" }
        object["fault"] = JSONValue(number)
        object["device"] = device.map { .string($0) }
        return .object(object)
    }
}
