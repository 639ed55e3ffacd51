import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// A cluster that does something for a test event trigger (Matter Core, 11.12.7.1).
public protocol TestEventHandler: AnyObject {
    /// - Returns: false when the trigger is not this cluster's.
    func testEvent(_ trigger: UInt64) -> Bool
}

/// General Diagnostics (Matter Core, 11.12).
///
/// Parameters of the profile: `enableKey` (16 bytes) turns test event triggers on.
public final class GeneralDiagnosticsCluster: Cluster {
    typealias Spec = GeneralDiagnostics

    /// The node's interfaces as the host knows them; one Ethernet interface of the device's own until it does.
    public var interfaces: [GeneralDiagnostics.NetworkInterface] {
        didSet { if interfaces != oldValue { touch(Spec.Attributes.networkInterfaces) } }
    }

    private let enableKey: [UInt8]?
    /// Seconds that the node had run before this start.
    private var secondsBefore: UInt64 = 0
    private var hourly: Token?

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        let key = configuration.parameters["enableKey"]?.octets
        // A key of zeros means that there is none (Matter Core, 11.12.7.1.1).
        enableKey = key?.count == 16 && key?.contains { $0 != 0 } == true ? key : nil
        var random = node.environment.random("hardware-address")
        // Locally administered, unicast.
        let address = [0x02] + (0..<5).map { _ in UInt8(truncatingIfNeeded: random.bits()) }
        interfaces = [
            .init(
                name: "eth0", isOperational: true, offPremiseServicesReachableIPv4: .null, offPremiseServicesReachableIPv6: .null,
                hardwareAddress: address, iPv4Addresses: [], iPv6Addresses: [], type: .ethernet)
        ]
        super.init(
            Spec.definition, endpoint: endpoint, node: node, configuration: configuration,
            alsoSupported: (
                [
                    Spec.Attributes.totalOperationalHours, Spec.Attributes.bootReason, Spec.Attributes.activeHardwareFaults,
                    Spec.Attributes.activeRadioFaults, Spec.Attributes.activeNetworkFaults,
                ], []
            ))
    }

    // MARK: Running

    public override func start() {
        if kept(Self.hasRun) != nil {
            let count = value(Spec.Attributes.rebootCount).unsigned ?? 0
            set(Spec.Attributes.rebootCount, .unsigned(min(count + 1, UInt64(UInt16.max))))
        } else {
            keep([1], as: Self.hasRun)
        }
        secondsBefore = kept(Self.seconds).flatMap { try? TLVValue(decoding: $0) }?.unsigned ?? 0
        set(Spec.Attributes.bootReason, node.bootReason.tlv)
        emit(Spec.Events.bootReason, Spec.BootReason(bootReason: node.bootReason).tlv)
        keepHours()
    }

    public override func stop() { storeSeconds() }

    private static let hasRun = "has-run"
    private static let seconds = "operational-seconds"

    /// Once an hour, so that a device whose power is cut loses no more.
    private func keepHours() {
        hourly = after(.seconds(3600)) { [weak self] in
            guard let self else { return }
            storeSeconds()
            keepHours()
        }
    }

    private func storeSeconds() { keep(TLVValue.unsigned(secondsBefore + upTime).encoded(), as: Self.seconds) }

    /// Seconds since the node started.
    private var upTime: UInt64 { UInt64(max(0, (node.environment.now - node.started).components.seconds)) }

    // MARK: Attributes

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        switch attribute {
        case Spec.Attributes.networkInterfaces: interfaces.tlv
        case Spec.Attributes.upTime: .unsigned(upTime)
        case Spec.Attributes.totalOperationalHours: .unsigned(min((secondsBefore + upTime) / 3600, UInt64(UInt32.max)))
        case Spec.Attributes.testEventTriggersEnabled: .boolean(enableKey != nil)
        default: nil
        }
    }

    /// The faults that are there, and the event that tells of their change.
    private static let faults: [(attribute: AttributeID, event: EventID)] = [
        (Spec.Attributes.activeHardwareFaults, Spec.Events.hardwareFaultChange),
        (Spec.Attributes.activeRadioFaults, Spec.Events.radioFaultChange),
        (Spec.Attributes.activeNetworkFaults, Spec.Events.networkFaultChange),
    ]

    /// Faults come and go at the device; each change is an event.
    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        guard let event = Self.faults.first(where: { $0.attribute == attribute.id })?.event else {
            return try super.setLocally(attribute, value)
        }
        change(attribute.id, to: value, event)
    }

    /// The event that is raised says what faults there are now, so they are there; what there were before is known here.
    public override func triggerLocally(_ event: EventDefinition, _ fields: TLVValue) throws(Status) -> EventNumber {
        guard let attribute = Self.faults.first(where: { $0.event == event.id })?.attribute else {
            return try super.triggerLocally(event, fields)
        }
        let current = fields[0] ?? .array([])
        guard change(attribute, to: current, event.id) else { return emit(event.id, fields) }
        return EventNumber(node.events.nextNumber.rawValue &- 1)
    }

    /// Whether it was a change.
    @discardableResult
    private func change(_ attribute: AttributeID, to value: TLVValue, _ event: EventID) -> Bool {
        let old = self.value(attribute)
        guard old != value else { return false }
        set(attribute, value)
        emit(event, .structure([.init(.context(0), value), .init(.context(1), old)]))
        return true
    }

    // MARK: Commands

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        switch command.id {
        case Spec.Commands.timeSnapshot:
            let milliseconds = (node.environment.now - node.started).wholeNanoseconds / 1_000_000
            let wall = node.environment.wall.wholeNanoseconds / 1_000_000
            return .reply(
                Spec.TimeSnapshotResponse(
                    systemTimeMs: UInt64(max(0, milliseconds)), posixTimeMs: Nullable(wall > 0 ? UInt64(wall) : nil)))
        case Spec.Commands.testEventTrigger:
            let request = try Spec.TestEventTrigger(tlv: fields)
            try checkKey(request.enableKey)
            for handler in node.clusters((any TestEventHandler).self) where handler.testEvent(request.eventTrigger) {
                return .success
            }
            throw Status(.invalidCommand, "nobody knows this trigger")
        case Spec.Commands.payloadTestRequest:
            let request = try Spec.PayloadTestRequest(tlv: fields)
            try checkKey(request.enableKey)
            // The answer has to fit into one message, with some room for what surrounds it.
            guard Int(request.count) <= context.peer.maximumMessageSize - 128 else { throw Status(.resourceExhausted) }
            return .reply(Spec.PayloadTestResponse(payload: [UInt8](repeating: request.value, count: Int(request.count))))
        default: throw Status(.unsupportedCommand)
        }
    }

    private func checkKey(_ key: [UInt8]) throws(Status) {
        guard let enableKey, key == enableKey else { throw Status(.constraintError, "not the device's enable key") }
    }
}
