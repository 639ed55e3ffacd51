import HearthTime
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV

/// A device of a virtual home, as a tester handles it: its knobs, its power, what goes wrong with it.
public struct VirtualDevice: Sendable {
    public let name: String
    let simulator: Simulator

    /// The value of an attribute as the device has it now, whoever may read it.
    public func value(_ cluster: ClusterID, _ attribute: AttributeID, endpoint: EndpointID = 1) async throws -> TLVValue {
        try await simulator.value(name, AttributePath(endpoint, cluster, attribute))
    }

    /// Changes an attribute at the device itself: a hand on the switch, a warmer room.
    public func set(_ cluster: ClusterID, _ attribute: AttributeID, to value: TLVValue, endpoint: EndpointID = 1) async throws {
        try await simulator.set(name, AttributePath(endpoint, cluster, attribute), value)
    }

    /// Raises an event at the device itself: a press, a jam.
    @discardableResult
    public func trigger(
        _ cluster: ClusterID, _ event: EventID, _ fields: TLVValue = .structure([]), endpoint: EndpointID = 1
    ) async throws -> EventNumber {
        try await simulator.trigger(name, EventPath(endpoint, cluster, event), fields)
    }

    /// Lets something go wrong. `parameters` are the fault's own, and `skip`, `count`, `probability` (`docs/adding-a-fault.md`).
    /// - Returns: the fault's number, for `clearFault`.
    @discardableResult
    public func fault(_ kind: String, _ parameters: [String: JSONValue] = [:]) async throws -> Int {
        try await simulator.addFault(name, parameters.merging(["kind": .string(kind)]) { $1 })
    }
    /// - Throws: `SimulatorError.badRequest` when there is no such fault.
    public func clearFault(_ number: Int) async throws { try await simulator.clearFault(number) }
    /// The same with the usual faults as functions: `device.faults.add(.delay(.milliseconds(300)).once)`.
    public var faults: DeviceFaults { DeviceFaults(device: name, simulator: simulator) }

    /// Switches the device off in order.
    public func stop() async throws { try await simulator.stop(name) }
    /// Cuts the power: nobody is told, and what had not been acknowledged is lost.
    public func kill() async throws { try await simulator.stop(name, abruptly: true) }
    /// Gives the device power again, with the state it kept.
    public func start() async throws { try await simulator.start(name) }
    /// Cuts the power and gives it back.
    /// - Parameter reason: what the device says of it. After a software update it ignores StartUpOnOff and the other values for a start.
    public func reboot(reason: GeneralDiagnostics.BootReasonEnum = .powerOnReboot) async throws {
        try await simulator.reboot(name, reason: reason)
    }
    public func factoryReset() async throws { try await simulator.factoryReset(name) }

    /// What happened to the device, oldest first, at most `limit` entries of the last.
    public func journal(last limit: Int = 20) async throws -> [JournalEntry] {
        try await simulator.journal(device: name, last: limit)
    }
}

/// An expectation that did not come true, with what happened to the device last.
public struct ExpectationFailure: Error, Sendable, CustomStringConvertible {
    public let message: String
    /// Where it was expected: `AppTests/LampTests.swift:25`.
    public let place: String
    /// The journal's last lines for the device, as JSON.
    public let journal: [String]

    public var description: String {
        (["\(place): \(message)", "the device's last journal entries:"] + journal.map { "  \($0)" }).joined(separator: "\n")
    }
}

extension VirtualHome {
    /// The device of that name. Whether it exists shows when it is first used.
    public func device(_ name: String) -> VirtualDevice { VirtualDevice(name: name, simulator: simulator) }

    /// Returns when the controller reads `value` of the attribute; time moves on for at most `limit` until it does.
    /// - Throws: `ExpectationFailure` with the place of this call and the journal's last lines.
    public func expect(
        _ device: String, _ cluster: ClusterID, _ attribute: AttributeID, endpoint: EndpointID = 1, equals value: TLVValue,
        within limit: Duration = .zero, file: String = #fileID, line: Int = #line
    ) async throws {
        let end = timeline.now + limit
        let path = AttributePath(endpoint, cluster, attribute)
        var last: TLVValue?
        while true {
            last = try await read(device, path)
            if last == value { return }
            guard timeline.now < end else { break }
            // Small steps: whoever reads sees what a controller would see.
            try await timeline.advance(by: min(.milliseconds(100), end - timeline.now))
        }
        let definition = DataModel.cluster(id: cluster)
        let name = "\(definition?.name ?? cluster.description).\(definition?.attribute(id: attribute)?.name ?? attribute.description)"
        let found = last.map { "\(ValueJSON.json($0).text())" } ?? "nothing"
        throw ExpectationFailure(
            message: "\(device)/\(endpoint) \(name) is \(found), not \(ValueJSON.json(value).text()), after \(limit)",
            place: "\(file):\(line)", journal: try await self.device(device).journal().map { $0.json(redacted: true).text() })
    }

    /// Reads one attribute through the controller. - Throws: `Status` when the device refuses, `ControllerError`.
    public func read(_ device: String, _ path: AttributePath) async throws -> TLVValue {
        let report = try await controller.read(device, ReadSelection(attributes: [AttributePathPattern(path)]))
        switch report.attributes.first?.outcome {
        case .value(_, let value)?: return value
        case .status(let status)?: throw status
        case nil: throw Status(.failure, "an empty report")
        }
    }

    /// Invokes a command through the controller, with a timed request where the data model asks for one.
    /// - Returns: the response, or `StatusOnly`. - Throws: `Status` when the device refuses, `ControllerError`.
    @discardableResult
    public func invoke<Request: CommandRequest>(
        _ device: String, _ request: Request, endpoint: EndpointID = 1
    ) async throws -> TLVValue? {
        let path = WireCommandPath(CommandPath(endpoint, Request.cluster, Request.id))
        let answers = try await controller.invoke(
            device, [CommandData(path, request.tlv)], timed: Request.isTimed ? 10_000 : nil)
        switch answers.first?.outcome {
        case .response(let fields)?: return fields
        case .status(let status)?:
            if !status.isSuccess { throw status }
            return nil
        case nil: throw Status(.failure, "an empty answer")
        }
    }
}

extension VirtualHome {
    /// Invokes a command that has a response, and gives it typed. - Throws: `Status` when the device refuses, `ControllerError`.
    public func ask<Request: CommandRequest>(
        _ device: String, _ request: Request, endpoint: EndpointID = 1
    ) async throws -> Request.Response where Request.Response: CommandPayload {
        guard let fields = try await invoke(device, request, endpoint: endpoint) else {
            throw Status(.failure, "\(device) answered \(Request.self) without a response")
        }
        return try Request.Response(tlv: fields)
    }

    /// Writes an attribute through the controller, with a timed request where the data model asks for one.
    /// - Throws: `Status` when the device refuses, `ControllerError`.
    public func write<Value>(_ device: String, _ key: AttributeKey<Value>, _ value: Value, endpoint: EndpointID = 1) async throws {
        let isTimed = DataModel.cluster(id: key.cluster)?.attribute(id: key.attribute)?.isTimed ?? false
        let items = try await controller.write(
            device, [AttributeData(WireAttributePath(key.path(endpoint)), value.tlv)], timed: isTimed ? 10_000 : nil)
        if let refused = items.first(where: { !$0.status.isSuccess }) { throw refused.status }
    }
}
