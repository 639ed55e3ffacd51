import MachineInterface
import MatterInteraction
import MatterModel
import MatterTLV

/// What devices answer, as the machine interface writes it: names beside ids.
enum ReportJSON {
    static func json(_ reports: [AttributeReport]) -> JSONValue { .array(reports.map(json)) }

    static func json(_ report: AttributeReport) -> JSONValue {
        let path = report.path.pattern
        var members = place(path.endpoint, path.cluster)
        if let attribute = path.attribute {
            members["attribute"] = .string(path.cluster.map { ElementNames.name(attribute, in: $0) } ?? attribute.description)
            members["attributeId"] = .integer(Int64(attribute.rawValue))
        }
        switch report.path.listIndex {
        case .whole: break
        case .append: members["listIndex"] = .null
        case .entry(let index): members["listIndex"] = .integer(Int64(index))
        }
        switch report.outcome {
        case .value(_, let value):
            var type = path.cluster.flatMap { DataModel.cluster(id: $0) }?.attribute(id: path.attribute ?? 0)?.type
            if path.attribute == nil { type = nil }
            // One entry of a list has the entry's type.
            if report.path.listIndex != .whole { type = type?.entry }
            members["value"] = ValueJSON.json(value, type: type)
        case .status(let status): members["error"] = MachineError(status).json
        }
        return .object(members)
    }

    static func json(_ reports: [EventReport]) -> JSONValue { .array(reports.map(json)) }

    static func json(_ report: EventReport) -> JSONValue {
        let path = report.path
        var members = place(path.endpoint, path.cluster)
        if let event = path.event {
            members["event"] = .string(path.cluster.map { ElementNames.name(event, in: $0) } ?? event.description)
            members["eventId"] = .integer(Int64(event.rawValue))
        }
        switch report.outcome {
        case .event(let number, let priority, let timestamp, let fields):
            members["number"] = JSONValue(number.rawValue)
            members["priority"] = .integer(Int64(priority.rawValue))
            switch timestamp {
            case .epoch(let milliseconds): members["timestamp"] = ["epochMs": JSONValue(milliseconds)]
            case .system(let milliseconds): members["timestamp"] = ["systemMs": JSONValue(milliseconds)]
            }
            let definition = path.cluster.flatMap { DataModel.cluster(id: $0) }?.event(id: path.event ?? 0)
            members["fields"] = ValueJSON.json(fields: fields, of: path.event == nil ? [] : definition?.fields ?? [])
        case .status(let status): members["error"] = MachineError(status).json
        }
        return .object(members)
    }

    private static func place(_ endpoint: EndpointID?, _ cluster: ClusterID?) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if let endpoint { members["endpoint"] = .integer(Int64(endpoint.rawValue)) }
        if let cluster {
            members["cluster"] = .string(ElementNames.name(cluster))
            members["clusterId"] = .integer(Int64(cluster.rawValue))
        }
        return members
    }

    static func json(_ endpoints: [PairedDevice.Endpoint]) -> JSONValue {
        .array(
            endpoints.map { endpoint in
                [
                    "endpoint": .integer(Int64(endpoint.id.rawValue)),
                    "deviceTypes": .array(
                        endpoint.deviceTypes.map { type in
                            [
                                "id": .integer(Int64(type.rawValue)),
                                "name": .string(DataModel.deviceType(id: type)?.name ?? type.description),
                            ]
                        }),
                    "clusters": .array(endpoint.clusters.map { .integer(Int64($0.rawValue)) }),
                ]
            })
    }
}
