import HearthTime
import HomeTestKit
import MatterController
import MatterInteraction
import MatterModel
import MatterSimulator
import MatterTLV

/// The apartment of the ready profiles, in two fabrics, with faults that strike by chance.
enum Day {
    /// - Parameter isDirect: what follows the pairings goes over links in memory, message by message, without TLS.
    static func run(
        _ link: VirtualHome.Link, isDirect: Bool = false, seed: UInt64, profiles folder: String
    ) async throws -> [String] {
        let fleet = try ProfileLibrary(folders: [folder]).fleet("apartment")
        var options = VirtualHome.Options()
        (options.link, options.seed) = (link, seed)
        return try await VirtualHome.run(fleet: fleet, options: options) { home in
            let names = fleet.members.map(\.name)
            try await home.pairAll()
            let other = try await home.addController("other")
            for name in names {
                let window = try await home.controller.openWindow(name, timeout: 600)
                try await other.pair(window.qrCode, name: name)
            }
            try await faults(home)
            let mine = try await Voice(home, home.controller, 1, isDirect ? names : [])
            let others = try await Voice(home, other, 2, isDirect ? names : [])
            for name in names {
                // Not every device answers now: that is part of the day.
                try? await mine.subscribe(name, everything(60))
                try? await others.subscribe(name, everything(300))
            }
            for round in 0..<6 { await hour(home, mine, others, names, round) }
            await other.close()
            try await home.advance(by: .seconds(600))
            return try await home.simulator.journal(limit: .max).map { $0.json().text() }
        }
    }

    static func replay(_ lines: [String], seed: UInt64, profiles folder: String) async throws -> [String: JSONValue] {
        let fleet = try ProfileLibrary(folders: [folder]).fleet("apartment")
        let journal = try Replay.read(Array(lines.joined(separator: "\n").utf8), file: "day")
        return try await Replay.run(journal, members: fleet.members.map { Replay.Member($0.profile, name: $0.name) }, seed: seed).json
    }

    private static func everything(_ maximum: UInt16) -> SubscribeRequest {
        SubscribeRequest(
            ReadSelection(attributes: [AttributePathPattern()], events: [EventPathPattern()]), minimumInterval: 0, maximumInterval: maximum)
    }

    private static func faults(_ home: VirtualHome) async throws {
        let every: [[String: JSONValue]] = [
            ["kind": "delay", "delayMs": 5, "jitterMs": 400, "probability": .number(0.3)],
            ["kind": "drop-reports", "probability": .number(0.2)],
            ["kind": "reset", "probability": .number(0.05)],
            ["kind": "half-open", "probability": .number(0.01)],
            ["kind": "slow-answer", "delayMs": 1500, "probability": .number(0.1)],
            ["kind": "wrong-status", "status": "BUSY", "probability": .number(0.05), "cluster": "OnOff"],
        ]
        for members in every { _ = try await home.simulator.addFault(nil, members) }
        _ = try await home.simulator.addFault("front-door", ["kind": "jammed-lock", "probability": .number(0.8)])
        _ = try await home.simulator.addFault("hall-light", ["kind": "reboot", "downMs": 3000, "probability": .number(0.3)])
        _ = try await home.simulator.addFault(
            "bedroom-blind", ["kind": "missed-last-report", "cluster": "WindowCovering", "probability": .number(0.5)])
    }

    /// Calls of both controllers at the same time, hands on devices, and time. What fails is part of the journal.
    private static func hour(_ home: VirtualHome, _ mine: Voice, _ others: Voice, _ names: [String], _ round: Int) async {
        for name in names {
            async let first: Void? = try? mine.invoke(name, OnOff.Toggle())
            async let second: Void? = try? others.read(name, ReadSelection(attributes: [AttributePathPattern()]))
            _ = await (first, second)
        }
        async let blind: Void? = try? mine.invoke("living-room-blind", WindowCovering.DownOrClose())
        async let lock: Void? = try? mine.invoke("front-door", DoorLock.LockDoor(pinCode: Array("1234".utf8)))
        async let lamp: Void? = try? mine.invoke(
            "floor-lamp",
            LevelControl.MoveToLevelWithOnOff(
                level: UInt8(40 * (round + 1)), transitionTime: 100, optionsMask: LevelControl.OptionsBitmap(),
                optionsOverride: LevelControl.OptionsBitmap()))
        _ = await (blind, lock, lamp)
        try? await home.device("bathroom-light").set(OnOff.id, OnOff.Attributes.onOff, to: .boolean(round % 2 == 0))
        try? await home.device("heating").set(
            Thermostat.id, Thermostat.Attributes.localTemperature, to: .signed(Int64(1800 + 50 * round)))
        try? await home.advance(by: .seconds(3600))
    }
}

/// A controller of the day, over its own connections or over links in memory.
struct Voice: Sendable {
    private let home: VirtualHome
    private let controller: Controller
    private var direct: [String: DirectPeer] = [:]

    /// - Parameter direct: the devices that it speaks to without TLS.
    init(_ home: VirtualHome, _ controller: Controller, _ fabric: FabricIndex, _ direct: [String]) async throws {
        (self.home, self.controller) = (home, controller)
        let node = try await controller.whoAmI().nodeID
        for name in direct { self.direct[name] = home.simulator.peer(of: name, fabric: fabric, node: node) }
    }

    func invoke<Request: CommandRequest>(_ device: String, _ request: Request) async throws {
        let command = CommandData(WireCommandPath(CommandPath(1, Request.cluster, Request.id)), request.tlv)
        let timed: UInt16? = Request.isTimed ? 10_000 : nil
        if let peer = direct[device] {
            _ = try await peer.invoke([command], timed: timed)
        } else {
            _ = try await controller.invoke(device, [command], timed: timed)
        }
    }

    func read(_ device: String, _ selection: ReadSelection) async throws {
        if let peer = direct[device] { _ = try await peer.read(selection) } else { _ = try await controller.read(device, selection) }
    }

    func subscribe(_ device: String, _ request: SubscribeRequest) async throws {
        if let peer = direct[device] {
            try await peer.subscribe(request) { _ in }
        } else {
            _ = try await controller.subscribe(device, request) { _ in }
        }
    }
}
