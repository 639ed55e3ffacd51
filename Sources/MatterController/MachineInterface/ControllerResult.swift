import HearthIO
import MachineInterface
import MatterCredentials
import MatterDiscovery
import MatterInteraction
import MatterModel
import MatterTLV

/// What a verb came to; `json` is the answer of the machine interface.
public enum ControllerResult: Sendable {
    case done
    case paired(PairedDevice)
    case devices([(device: PairedDevice, isReachable: Bool)])
    case discovered([FoundDevice])
    case values([AttributeReport])
    /// Nil when the device answered with success and no response command.
    case response(Response?)
    case events([EventReport])
    case subscribed(Int, values: [AttributeReport], events: [EventReport])
    case window(SetupPayload)
    case identity(Controller.Identity)

    /// A response command that answered an invocation.
    public struct Response: Sendable, Hashable {
        public var cluster: ClusterID
        public var command: CommandID
        public var fields: TLVValue
        public init(cluster: ClusterID, command: CommandID, fields: TLVValue) {
            (self.cluster, self.command, self.fields) = (cluster, command, fields)
        }
    }

    /// The answer, `ok` included.
    public var json: JSONValue {
        var members = members
        members["ok"] = true
        return .object(members)
    }

    private var members: [String: JSONValue] {
        switch self {
        case .done: [:]
        case .paired(let device): describe(device)
        case .devices(let devices):
            [
                "devices": .array(
                    devices.map { entry in
                        var members = describe(entry.device)
                        members["reachable"] = .boolean(entry.isReachable)
                        return .object(members)
                    })
            ]
        case .discovered(let devices): ["devices": .array(devices.map(\.json))]
        case .values(let reports): ["values": ReportJSON.json(reports)]
        case .response(nil): ["response": .null]
        case .response(let response?): ["response": describe(response)]
        case .events(let reports): ["events": ReportJSON.json(reports)]
        case .subscribed(let number, let values, let events):
            ["subscription": .integer(Int64(number)), "values": ReportJSON.json(values), "events": ReportJSON.json(events)]
        case .window(let payload): ["code": .string(payload.manualCode), "qr": .string(payload.qrCode)]
        case .identity(let identity):
            [
                "nodeId": JSONValue(identity.nodeID.rawValue), "fabricId": JSONValue(identity.fabricID.rawValue),
                "compressedFabricId": JSONValue(identity.compressedFabricID),
                "rootKey": ["hex": .string(Hexadecimal.text(identity.rootPublicKey))],
            ]
        }
    }

    private func describe(_ device: PairedDevice) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "device": .string(device.name), "nodeId": JSONValue(device.nodeID.rawValue),
            "endpoints": ReportJSON.json(device.endpoints),
        ]
        if device.isIncomplete { members["incomplete"] = true }
        return members
    }

    private func describe(_ response: Response) -> JSONValue {
        let definition = DataModel.cluster(id: response.cluster)?.command(id: response.command, direction: .response)
        return [
            "command": .string(ElementNames.name(response.command, in: response.cluster, .response)),
            "commandId": .integer(Int64(response.command.rawValue)),
            "fields": ValueJSON.json(fields: response.fields, of: definition?.fields ?? []),
        ]
    }
}

/// A device that waits to be paired, as it advertises itself.
public struct FoundDevice: Sendable, Hashable {
    /// What it calls itself; its instance name when it does not say.
    public var name: String
    public var service: CommissionableService
    public var addresses: [SocketAddress]

    public var json: JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(name), "discriminator": .integer(Int64(service.discriminator)),
            "mode": .integer(Int64(service.mode.rawValue)), "addresses": .array(addresses.map { .string($0.description) }),
        ]
        if let vendor = service.vendor { members["vendorId"] = .integer(Int64(vendor.rawValue)) }
        if let product = service.product { members["productId"] = .integer(Int64(product)) }
        if let type = service.deviceType {
            members["deviceType"] = [
                "id": .integer(Int64(type.rawValue)), "name": .string(DataModel.deviceType(id: type)?.name ?? type.description),
            ]
        }
        return .object(members)
    }
}
