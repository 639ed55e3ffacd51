import HearthTime
import MatterDevice
import MatterInteraction
import MatterMessage
import MatterModel
import MatterNode
import MatterTLV

extension Simulator {
    /// Lets faults strike when they did in the journal.
    func follow(_ journal: [RecordedEntry]) { script = ReplayScript(journal) }

    /// Does again what a journal entry says was done. On the simulator's own timeline. `faults` maps the numbers of the journal's faults
    /// to those here.
    func carryOut(_ entry: RecordedEntry, _ faults: inout [Int: Int]) async throws {
        func complete<Part>(_ part: Part?) throws -> Part {
            guard let part else { throw SimulatorError(.badRequest, "entry \(entry.number) lacks a part of its path") }
            return part
        }
        switch entry.kind {
        case .set:
            let path = AttributePath(try complete(entry.endpoint), try complete(entry.cluster), try complete(entry.attribute))
            let value = try entry.value()
            _ = try device(entry.device)
            // What was refused then is refused now.
            try? await set(entry.device, path, value)
        case .trigger:
            let path = EventPath(try complete(entry.endpoint), try complete(entry.cluster), try complete(entry.event))
            let fields = try entry.fields()
            _ = try device(entry.device)
            _ = try? await trigger(entry.device, path, fields)
        case .invoke:
            let path = CommandPath(try complete(entry.endpoint), try complete(entry.cluster), try complete(entry.command))
            let isTimed = DataModel.cluster(id: path.cluster)?.command(id: path.command)?.isTimed ?? false
            let command = CommandData(WireCommandPath(path), try entry.fields())
            try await speak(entry) { client in _ = try await client.invoke([command], timed: isTimed ? 10_000 : nil) }
        case .write:
            let path = AttributePath(try complete(entry.endpoint), try complete(entry.cluster), try complete(entry.attribute))
            let isTimed = DataModel.cluster(id: path.cluster)?.attribute(id: path.attribute)?.isTimed ?? false
            let isAppended = entry.note == "append"
            let data = AttributeData(WireAttributePath(path, listIndex: isAppended ? .append : .whole), try entry.value())
            try await speak(entry) { client in _ = try await client.write([data], timed: isTimed ? 10_000 : nil) }
        case .control: try await control(entry, &faults)
        default: break
        }
    }

    private func control(_ entry: RecordedEntry, _ faults: inout [Int: Int]) async throws {
        let isEvery = entry.device == JournalEntry.everyDevice
        switch entry.note {
        case "stop": try await stop(entry.device)
        case "kill": try await stop(entry.device, abruptly: true)
        case "start": try await start(entry.device)
        case "reboot":
            let reason = entry.detail?["reason"]?.unsigned.flatMap { UInt8(exactly: $0) }
            try await reboot(entry.device, reason: reason.map { .init(rawValue: $0) } ?? .powerOnReboot)
        case "factory-reset": try await factoryReset(entry.device)
        case "fault":
            guard var members = entry.detail?.object else { return }
            let number = members.removeValue(forKey: "fault")?.unsigned.flatMap { Int(exactly: $0) }
            let new = try await addFault(isEvery ? nil : entry.device, members)
            if let number { faults[number] = new }
        case "clear-fault":
            guard let number = entry.detail?["fault"]?.unsigned.flatMap({ Int(exactly: $0) }) else { return try await clearFault(nil) }
            if let mine = faults.removeValue(forKey: number) { try await clearFault(mine) }
        default: break
        }
    }

    /// Lets a peer of the journal speak over a link of its own. Returns at once: an answer may take its time.
    private func speak(_ entry: RecordedEntry, _ body: @escaping @Sendable (InteractionClient) async throws -> Void) async throws {
        let host = try device(entry.device).host
        guard let host else { return }
        // The fabrics of the journal do not exist here; who was refused then is not among the inputs.
        host.node.accessControl = nil
        let context = SessionContext(authMode: .case, fabricIndex: entry.fabric ?? 0, peerNodeID: entry.node ?? 0)
        let (near, far) = MemoryLink.pair(timeline: timeline, name: "replay \(entry.number)")
        host.serve(far, as: context)
        let client = InteractionClient(
            session: Session(link: near, context: context), timeline: timeline, origin: timeline.origin("replay \(entry.number) client"))
        let speaker = Confined((client: client, links: [near, far]), on: timeline)
        timeline.spawn("replay \(entry.number)") {
            // A refusal, or silence, is what the comparison is about.
            let (client, links) = speaker.value
            try? await body(client)
            client.session.close()
            withExtendedLifetime(links) {}
        }
    }
}
