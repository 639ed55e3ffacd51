import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Switch (Matter Application Clusters, 1.13): a switch that stays where it is put, or a button.
///
/// A hand on it is `setLocally` of CurrentPosition: 0 is the rest of a button, anything else is pressed; the events follow from when this
/// happens. A whole press can be asked for with `triggerLocally`: InitialPress presses, ShortRelease and LongRelease release, LongPress
/// presses until it is long and releases, MultiPressComplete presses as often as TotalNumberOfPressesCounted says.
///
/// Parameters of the profile: `longPress`, what a press has to last to be long (0.8 s), and `multiPressWindow`, how long after a release
/// another press counts to the same sequence (0.4 s).
public final class SwitchCluster: Cluster {
    typealias Spec = Switch
    private typealias Attributes = Switch.Attributes
    private typealias Events = Switch.Events

    private let longPress: Duration
    private let window: Duration
    /// How long a simulated short press takes, and the pause after it.
    private static var shortPress: Duration { .milliseconds(100) }

    private var longPressTimer: Token?
    private var windowTimer: Token?
    private var isLong = false
    /// Presses in the sequence that goes on.
    private var presses = 0

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        func milliseconds(_ name: String, _ fallback: UInt64) -> Duration {
            .milliseconds(Int64(min(configuration.parameters[name]?.unsigned ?? fallback, 3_600_000)))
        }
        (longPress, window) = (milliseconds("longPress", 800), milliseconds("multiPressWindow", 400))
        var configuration = configuration
        var features = Spec.Feature(rawValue: configuration.features)
        if features.isEmpty {
            features = [.momentarySwitch, .momentarySwitchRelease, .momentarySwitchLongPress, .momentarySwitchMultiPress]
        }
        if features.contains(.actionSwitch) { features.insert(.momentarySwitchMultiPress) }
        if !features.contains(.latchingSwitch) { features.insert(.momentarySwitch) }
        configuration.features = features.rawValue
        if features.contains(.momentarySwitchMultiPress), configuration.attributes[Attributes.multiPressMax] == nil {
            configuration.attributes[Attributes.multiPressMax] = .unsigned(3)
        }
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    private func supports(_ feature: Spec.Feature) -> Bool { hasFeature(feature.rawValue) }
    private var position: UInt64 { value(Attributes.currentPosition).unsigned ?? 0 }

    public override func start() {
        (longPressTimer, windowTimer, isLong, presses) = (nil, nil, false, 0)
        // Nobody's finger stays on a button over a power cut.
        if !supports(.latchingSwitch) { set(Attributes.currentPosition, .unsigned(0)) }
    }

    // MARK: A hand

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        guard attribute.id == Attributes.currentPosition else { return set(attribute.id, value) }
        guard let wanted = value.unsigned, wanted < self.value(Attributes.numberOfPositions).unsigned ?? 2 else {
            throw Status(.constraintError, "the switch has no such position")
        }
        move(to: wanted)
    }

    /// Moves the switch; gives the first event that came of it.
    @discardableResult
    private func move(to wanted: UInt64) -> EventNumber? {
        let old = position
        guard wanted != old else { return nil }
        if supports(.latchingSwitch) {
            set(Attributes.currentPosition, .unsigned(wanted))
            return emit(Events.switchLatched, Self.fields(wanted))
        }
        // From one pressed position to another is a release between.
        var first: EventNumber?
        if old != 0 { first = release(from: old) }
        if wanted != 0 {
            let pressed = press(wanted)
            first = first ?? pressed
        }
        return first
    }

    private func press(_ wanted: UInt64) -> EventNumber? {
        cancel(windowTimer)
        windowTimer = nil
        set(Attributes.currentPosition, .unsigned(wanted))
        presses += 1
        var number: EventNumber?
        // An action switch tells of a sequence's beginning and end only (1.13.4).
        if presses == 1 || (isToldOf && !supports(.actionSwitch)) { number = emit(Events.initialPress, Self.fields(wanted)) }
        if presses >= 2, isToldOf, supports(.momentarySwitchMultiPress), !supports(.actionSwitch) {
            emit(Events.multiPressOngoing, Self.fields(wanted, UInt64(presses)))
        }
        // A press is long only by itself: within a sequence it counts as one of it.
        if supports(.momentarySwitchLongPress), presses == 1 {
            longPressTimer = after(longPress) { [weak self] in
                guard let self else { return }
                (longPressTimer, isLong) = (nil, true)
                emit(Events.longPress, Self.fields(wanted))
            }
        }
        return number
    }

    private func release(from old: UInt64) -> EventNumber? {
        cancel(longPressTimer)
        longPressTimer = nil
        set(Attributes.currentPosition, .unsigned(0))
        if isLong {
            (isLong, presses) = (false, 0)
            return emit(Events.longRelease, Self.fields(old))
        }
        let number = isToldOf && supports(.momentarySwitchRelease) ? emit(Events.shortRelease, Self.fields(old)) : nil
        guard supports(.momentarySwitchMultiPress) else {
            presses = 0
            return number
        }
        windowTimer = after(window) { [weak self] in
            guard let self else { return }
            let count = presses
            (windowTimer, presses) = (nil, 0)
            // More presses than the switch can tell are none (1.13.6.7).
            emit(Events.multiPressComplete, Self.fields(old, UInt64(count > maximumPresses ? 0 : count)))
        }
        return number
    }

    /// False for a press beyond those that the switch can tell: until it is idle again nothing more is heard of it, so that nobody takes a
    /// long sequence for several short ones (1.13.5.3, since revision 2). The specification names InitialPress and MultiPressOngoing; a
    /// ShortRelease without its InitialPress would say nothing.
    private var isToldOf: Bool { presses <= maximumPresses }
    private var maximumPresses: Int { Int(clamping: value(Attributes.multiPressMax).unsigned ?? 2) }

    private static func fields(_ position: UInt64, _ count: UInt64? = nil) -> TLVValue {
        var members = [TLVElement(.context(0), .unsigned(position))]
        if let count { members.append(TLVElement(.context(1), .unsigned(count))) }
        return .structure(members)
    }

    // MARK: Whole presses

    public override func triggerLocally(_ event: EventDefinition, _ fields: TLVValue) throws(Status) -> EventNumber {
        let target = fields[0]?.unsigned ?? 1
        guard target < value(Attributes.numberOfPositions).unsigned ?? 2 else {
            throw Status(.constraintError, "the switch has no such position")
        }
        let number: EventNumber?
        switch event.id {
        case Events.switchLatched, Events.initialPress: number = move(to: target)
        case Events.shortRelease, Events.longRelease: number = move(to: 0)
        case Events.longPress:
            number = move(to: target)
            after(longPress + Self.shortPress) { [weak self] in self?.move(to: 0) }
        case Events.multiPressComplete:
            let count = Int(clamping: min(fields[1]?.unsigned ?? 1, 255))
            guard count > 0 else { throw Status(.constraintError, "a sequence has at least one press") }
            number = move(to: target)
            for step in 1..<(2 * count) {
                let pressed = step % 2 == 0
                after(Self.shortPress * step) { [weak self] in self?.move(to: pressed ? target : 0) }
            }
        default: throw Status(.invalidAction, "\(event.name) follows from presses")
        }
        guard let number else { throw Status(.invalidInState, "the switch is there already, or does not tell of it") }
        return number
    }
}
