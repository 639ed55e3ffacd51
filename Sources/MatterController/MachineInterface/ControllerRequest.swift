import HearthIO
import HearthTime
import MachineInterface
import MatterModel
import MatterTLV

/// A controller verb with its members, read and named; what `ControllerVerbs` carries out.
public enum ControllerRequest: Sendable {
    case pair(code: String, name: String?, address: SocketAddress?)
    /// `force` forgets a device that cannot be reached.
    case unpair(device: String, force: Bool)
    case devices
    /// Looks for devices that wait to be paired, for so long.
    case discover(Duration)
    case read(device: String, paths: [AttributePathPattern], fabricFiltered: Bool)
    case write(device: String, path: AttributePath, value: TLVValue, timing: Timing)
    case invoke(device: String, path: CommandPath, fields: TLVValue, timing: Timing)
    case events(device: String, paths: [EventPathPattern], from: EventNumber?)
    /// Intervals in seconds; a minimum above the maximum is the device's to refuse.
    case subscribe(
        device: String, paths: [AttributePathPattern], eventPaths: [EventPathPattern], minimum: UInt16, maximum: UInt16)
    case unsubscribe(Int)
    /// Seconds.
    case openWindow(device: String, timeout: UInt16)
    case whoAmI

    /// A timed request before the action itself.
    public struct Timing: Sendable, Hashable {
        /// Milliseconds; nil sends no timed request.
        public var limit: UInt16?
        /// What passes between the two.
        public var delay: Duration

        public init(limit: UInt16? = nil, delay: Duration = .zero) { (self.limit, self.delay) = (limit, delay) }
        public static let untimed = Timing()
    }

    /// The device that it goes to, as the request names it; nil when it goes to none.
    public var device: String? {
        switch self {
        case .pair, .devices, .discover, .unsubscribe, .whoAmI: nil
        case .unpair(let device, _), .read(let device, _, _), .write(let device, _, _, _), .invoke(let device, _, _, _),
            .events(let device, _, _), .subscribe(let device, _, _, _, _), .openWindow(let device, _):
            device
        }
    }

    public static let verbs = [
        "pair", "unpair", "devices", "discover", "read", "write", "invoke", "events", "subscribe", "unsubscribe", "open-window",
        "whoami",
    ]

    /// Reads a request of the machine interface. - Throws: BAD_REQUEST.
    public init(_ json: JSONValue) throws(MachineError) {
        let reader = try RequestReader(json)
        switch try reader.text("do") {
        case "pair": self = try Self.pair(reader)
        case "unpair": self = .unpair(device: try reader.device(), force: try reader.boolean("force", default: false))
        case "devices": self = .devices
        case "discover":
            self = .discover(.milliseconds(Int64(try reader.integer("timeoutMs", as: UInt32.self) ?? 3000)))
        case "read":
            self = .read(
                device: try reader.device(), paths: try reader.required("paths", reader.attributePaths()),
                fabricFiltered: try reader.boolean("fabricFiltered", default: true))
        case "write": self = try Self.write(reader)
        case "invoke": self = try Self.invoke(reader)
        case "events":
            self = .events(
                device: try reader.device(), paths: try reader.required("paths", reader.eventPaths("paths")),
                from: try reader.integer("fromNumber", as: UInt64.self).map { EventNumber($0) })
        case "subscribe": self = try Self.subscribe(reader)
        case "unsubscribe":
            let number = try reader.required("subscription", reader.integer("subscription", as: UInt32.self))
            self = .unsubscribe(Int(number))
        case "open-window":
            self = .openWindow(
                device: try reader.device(), timeout: try reader.required("timeoutS", reader.integer("timeoutS", as: UInt16.self))
            )
        case "whoami": self = .whoAmI
        case let verb:
            throw .badRequest("unknown verb '\(verb)'" + DataModel.didYouMean(verb, among: Self.verbs))
        }
    }

    private static func pair(_ reader: RequestReader) throws(MachineError) -> ControllerRequest {
        var address: SocketAddress?
        if let text = try reader.optionalText("address") {
            guard let read = SocketAddress(text), read.port > 0 else {
                throw .badRequest("address: '\(text)' is no address: write it as 127.0.0.1:5540 or [::1]:5540")
            }
            address = read
        }
        return .pair(code: try reader.text("code"), name: try reader.optionalText("name"), address: address)
    }

    private static func timing(_ reader: RequestReader) throws(MachineError) -> Timing {
        Timing(
            limit: try reader.integer("timedMs", as: UInt16.self),
            delay: .milliseconds(Int64(try reader.integer("invokeDelayMs", as: UInt32.self) ?? 0)))
    }

    private static func write(_ reader: RequestReader) throws(MachineError) -> ControllerRequest {
        let device = try reader.device()
        let cluster = try reader.required("cluster", reader.cluster())
        let attribute = try reader.required("attribute", reader.attribute(in: cluster))
        let path = AttributePath(try reader.required("endpoint", reader.endpoint()), cluster, attribute)
        let json = try reader.required("value", reader.members["value"])
        let type = DataModel.cluster(id: cluster)?.attribute(id: attribute)?.type
        let value = try understood("value") { () throws(ValueError) in try ValueJSON.value(json, type: type) }
        return .write(device: device, path: path, value: value, timing: try timing(reader))
    }

    private static func understood<Value>(
        _ member: String, _ read: () throws(ValueError) -> Value
    ) throws(MachineError) -> Value {
        do throws(ValueError) { return try read() } catch { throw .badRequest("\(member): \(error.message)") }
    }

    private static func invoke(_ reader: RequestReader) throws(MachineError) -> ControllerRequest {
        let device = try reader.device()
        let cluster = try reader.required("cluster", reader.cluster())
        let command = try reader.required("command", reader.command(in: cluster))
        let path = CommandPath(try reader.required("endpoint", reader.endpoint()), cluster, command)
        let definition = DataModel.cluster(id: cluster)?.command(id: command)
        let timing = try timing(reader)
        guard let json = reader.members["fields"], !json.isNull else {
            return .invoke(device: device, path: path, fields: .structure([]), timing: timing)
        }
        let name = ElementNames.name(command, in: cluster, .request)
        let fields = try understood("fields") { () throws(ValueError) in
            try ValueJSON.fields(json, of: definition?.fields ?? [], in: name)
        }
        return .invoke(device: device, path: path, fields: fields, timing: timing)
    }

    private static func subscribe(_ reader: RequestReader) throws(MachineError) -> ControllerRequest {
        let minimum = try reader.required("minIntervalS", reader.integer("minIntervalS", as: UInt16.self))
        let maximum = try reader.required("maxIntervalS", reader.integer("maxIntervalS", as: UInt16.self))
        return .subscribe(
            device: try reader.device(), paths: try reader.attributePaths() ?? [],
            eventPaths: try reader.eventPaths("eventPaths") ?? [],
            minimum: minimum, maximum: maximum)
    }
}
