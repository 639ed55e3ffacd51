import MachineInterface
import MatterInteraction
import MatterModel
import MatterTLV

/// What devices answer, for people: names and units.
public enum ReportText {
    /// The global attribute whose bits are the cluster's features (Matter Core, 7.13).
    private static let featureMap: AttributeID = 0xFFFC

    /// The parts of a line about an attribute. `failure` is set in place of `value` when there is none.
    public struct Line: Sendable, Hashable {
        public var endpoint: String
        public var cluster: String
        public var element: String
        public var value: String
        public var isFailure: Bool
    }

    /// Without the lists that every cluster has of itself (AttributeList, FeatureMap …), unless they were asked for by name.
    public static func ofInterest(_ reports: [AttributeReport], asked: [AttributePathPattern]) -> [AttributeReport] {
        let named = Set(asked.compactMap(\.attribute))
        let ofEveryCluster = Set(DataModel.globalAttributes.map(\.id)).subtracting(named)
        return reports.filter { report in report.path.pattern.attribute.map { !ofEveryCluster.contains($0) } ?? true }
    }

    public static func line(_ report: AttributeReport) -> Line {
        let path = report.path.pattern
        let definition = path.cluster.flatMap { DataModel.cluster(id: $0) }?.attribute(id: path.attribute ?? 0)
        var line = Line(
            endpoint: path.endpoint?.description ?? "*", cluster: path.cluster.map { ElementNames.name($0) } ?? "*",
            element: path.attribute.map { attribute in
                path.cluster.map { ElementNames.name(attribute, in: $0) } ?? attribute.description
            } ?? "*", value: "", isFailure: false)
        switch report.outcome {
        case .value(_, let value):
            let text = definition.flatMap { definition in path.cluster.map { ValueText(definition, in: $0) } } ?? anything
            line.value = text.format(value)
            if path.attribute == featureMap, let map = value.unsigned.flatMap({ UInt32(exactly: $0) }),
                let cluster = path.cluster.flatMap({ DataModel.cluster(id: $0) }), map != 0
            {
                line.value = cluster.featureCodes(of: map).joined(separator: ", ")
            }
        case .status(let status): (line.value, line.isFailure) = (status.description, true)
        }
        return line
    }

    /// The parts of a line about an event: its name, and its fields as the value.
    public static func line(_ report: EventReport) -> Line {
        let path = report.path
        var line = Line(
            endpoint: path.endpoint?.description ?? "*", cluster: path.cluster.map { ElementNames.name($0) } ?? "*",
            element: path.event.map { event in path.cluster.map { ElementNames.name(event, in: $0) } ?? event.description }
                ?? "*",
            value: "", isFailure: false)
        switch report.outcome {
        case .event(_, _, _, let fields):
            let definitions = path.cluster.flatMap { DataModel.cluster(id: $0) }?.event(id: path.event ?? 0)?.fields ?? []
            line.value = self.fields(fields, definitions, path.cluster)
        case .status(let status): (line.value, line.isFailure) = (status.description, true)
        }
        return line
    }

    /// `Name: value, …` of a command's or event's fields.
    public static func fields(_ value: TLVValue, _ definitions: [FieldDefinition], _ cluster: ClusterID?) -> String {
        let structure = StructDefinition("fields", fields: definitions)
        return ValueText("", TypeReference("fields", .structure(structure)), in: cluster).format(value)
    }

    /// A response command: its name and fields.
    public static func response(_ response: ControllerResult.Response) -> String {
        let definition = DataModel.cluster(id: response.cluster)?.command(id: response.command, direction: .response)
        let name = ElementNames.name(response.command, in: response.cluster, .response)
        return name + " " + fields(response.fields, definition?.fields ?? [], response.cluster)
    }

    private static var anything: ValueText { ValueText("", TypeReference("any", .any)) }
}
