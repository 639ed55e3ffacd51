import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Level Control (Matter Application Clusters, 1.6): brightness of a light, as a rule, and its ties with On/Off on the same endpoint.
///
/// CurrentLevel and RemainingTime of a transition are computed from the time that has passed.
/// A hand on the dimmer (`setLocally` of CurrentLevel) changes the level at once.
public final class LevelControlCluster: Cluster {
    typealias Spec = LevelControl

    /// What happens when a transition has reached its end.
    enum Completion: Hashable {
        case none
        /// A command with On/Off: at the minimum the device goes off.
        case switchOffAtMinimum
        /// The device went off: its level is this again, so that it comes back with it (1.6.4.1.1).
        case restore(UInt8)
    }

    private struct Running {
        var transition: Transition
        var completion: Completion
        /// The device is going on or off, so that the level on the way is nobody's wish.
        var isSwitching: Bool
        /// The colour temperature follows the level.
        var couplesColor: Bool
    }

    private var running: Running?
    private var endTimer: Token?
    /// Runs while a transition does: CurrentLevel is reported once a second at most (quality Q).
    private var reportTimer: Token?
    private var reportedLevel: UInt8?
    /// What RemainingTime was when subscribers last heard of it.
    private var reportedRemaining: UInt16 = 0

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        if configuration.attributes[Spec.Attributes.defaultMoveRate] == nil {
            // The whole range in some five seconds.
            configuration.attributes[Spec.Attributes.defaultMoveRate] = UInt8(50).tlv
        }
        if configuration.attributes[Spec.Attributes.currentFrequency] == nil {
            configuration.attributes[Spec.Attributes.currentFrequency] = configuration.attributes[Spec.Attributes.minFrequency]
        }
        super.init(
            Spec.definition, endpoint: endpoint, node: node, configuration: configuration,
            alsoSupported: (
                [
                    Spec.Attributes.minLevel, Spec.Attributes.maxLevel, Spec.Attributes.onOffTransitionTime,
                    Spec.Attributes.onTransitionTime, Spec.Attributes.offTransitionTime, Spec.Attributes.defaultMoveRate,
                ], []
            ))
    }

    // MARK: What is

    var minimum: UInt8 {
        let least: UInt8 = hasFeature(Spec.Feature.lighting.rawValue) ? 1 : 0
        return max(byte(Spec.Attributes.minLevel) ?? 0, least)
    }
    var maximum: UInt8 { max(byte(Spec.Attributes.maxLevel) ?? 254, minimum) }
    private var now: ModelInstant { node.environment.now }
    private var onOff: OnOffCluster? {
        hasFeature(Spec.Feature.onOff.rawValue) ? node.cluster(OnOffCluster.self, at: endpoint) : nil
    }

    private func byte(_ attribute: AttributeID) -> UInt8? { value(attribute).unsigned.map { UInt8(clamping: $0) } }
    private func word(_ attribute: AttributeID) -> UInt16? { value(attribute).unsigned.map { UInt16(clamping: $0) } }

    /// The level at this moment.
    public var level: UInt8 {
        if let running { return UInt8(clamping: running.transition.value(at: now)) }
        return byte(Spec.Attributes.currentLevel) ?? maximum
    }

    /// Under which the level is kept that a device going on or off will come to rest at: a power cut in between must not leave it dim.
    private static let settled = "settled"

    /// The level that will be when all is quiet.
    private var settledLevel: UInt8 {
        guard let running, running.isSwitching else { return level }
        if case .restore(let level) = running.completion { return level }
        return UInt8(clamping: running.transition.target)
    }

    private var remaining: UInt16 { running?.transition.remaining(at: now) ?? 0 }

    public override func start() {
        running = nil
        (reportedRemaining, endTimer, reportTimer) = (0, nil, nil)
        var level = clamped(kept(Self.settled)?.first ?? byte(Spec.Attributes.currentLevel) ?? maximum)
        keep(nil, as: Self.settled)
        // 0 stands for the least the device can do, null for what it was (1.6.6.14).
        if node.appliesStartUpValues, let startUp = byte(Spec.Attributes.startUpCurrentLevel) { level = clamped(startUp) }
        set(Spec.Attributes.currentLevel, level.tlv)
        reportedLevel = level
    }

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        switch attribute {
        case Spec.Attributes.currentLevel where running != nil:
            let level = level
            // Whoever has seen a value must be able to tell from the data version that it is another now.
            set(Spec.Attributes.currentLevel, level.tlv, .quiet)
            return level.tlv
        case Spec.Attributes.remainingTime where running != nil:
            let remaining = remaining
            set(Spec.Attributes.remainingTime, remaining.tlv, .quiet)
            return remaining.tlv
        default: return nil
        }
    }

    // MARK: Moving

    /// Goes to a level over a time, instead of where it was going.
    func go(
        from start: UInt8? = nil, to target: UInt8, over duration: Duration, then completion: Completion = .none,
        isSwitching: Bool = false, couplesColor: Bool? = nil
    ) {
        let couples = couplesColor ?? options.contains(.coupleColorTempToLevel)
        let transition = Transition(start: Int(start ?? level), target: Int(target), began: now, duration: duration)
        cancel(endTimer)
        endTimer = nil
        if running?.isSwitching == true { keep(nil, as: Self.settled) }
        running = Running(transition: transition, completion: completion, isSwitching: isSwitching, couplesColor: couples)
        guard duration > .zero, transition.start != transition.target else { return finish() }
        if isSwitching { keep([settledLevel], as: Self.settled) }
        endTimer = after(duration) { [weak self] in self?.finish() }
        if reportTimer == nil { scheduleReport() }
        remainingChanged()
        levelMoved()
    }

    /// The transition has reached its target.
    private func finish() {
        guard let ended = running else { return }
        cancel(endTimer)
        cancel(reportTimer)
        (endTimer, reportTimer) = (nil, nil)
        let target = UInt8(clamping: ended.transition.target)
        settle(at: target)
        colorFollows(ended)
        switch ended.completion {
        case .none: break
        case .switchOffAtMinimum: if target <= minimum { onOff?.set(on: false, by: .level) }
        case .restore(let level): settle(at: level)
        }
    }

    /// Stops where it is.
    func halt() {
        guard running != nil else { return }
        cancel(endTimer)
        cancel(reportTimer)
        (endTimer, reportTimer) = (nil, nil)
        settle(at: level)
    }

    /// Stands still at a level, which is reported as the end of a movement always is.
    private func settle(at level: UInt8) {
        if running?.isSwitching == true { keep(nil, as: Self.settled) }
        running = nil
        set(Spec.Attributes.currentLevel, level.tlv, .quiet)
        if reportedLevel != level {
            reportedLevel = level
            report(Spec.Attributes.currentLevel)
        }
        set(Spec.Attributes.remainingTime, UInt16(0).tlv, .quiet)
        if reportedRemaining != 0 {
            reportedRemaining = 0
            report(Spec.Attributes.remainingTime)
        }
    }

    private func scheduleReport() {
        reportTimer = after(.seconds(1)) { [weak self] in
            guard let self else { return }
            reportTimer = nil
            guard running != nil else { return }
            scheduleReport()
            let level = level
            set(Spec.Attributes.currentLevel, level.tlv, .quiet)
            if reportedLevel != level {
                reportedLevel = level
                report(Spec.Attributes.currentLevel)
            }
            levelMoved()
        }
    }

    /// RemainingTime is reported when a command makes it leave zero for more than a second, or changes it by more than one (1.6.6.3).
    private func remainingChanged() {
        let remaining = remaining
        set(Spec.Attributes.remainingTime, remaining.tlv, .quiet)
        guard abs(Int(remaining) - Int(reportedRemaining)) > 10 else { return }
        reportedRemaining = remaining
        report(Spec.Attributes.remainingTime)
    }

    private func levelMoved() { if let running { colorFollows(running) } }

    /// The colour temperature goes with the level, when the options couple them (Color Control, 3.2.6).
    private func colorFollows(_ running: Running) {
        guard running.couplesColor else { return }
        let level = UInt8(clamping: running.transition.value(at: now))
        node.cluster(ColorControlCluster.self, at: endpoint)?.follow(level: level)
    }

    /// The level while it moves and takes the colour temperature along; else nil.
    var coupledLevel: UInt8? { running.flatMap { $0.couplesColor ? UInt8(clamping: $0.transition.value(at: now)) : nil } }

    // MARK: With On/Off

    /// The device was switched by On/Off: the level follows (1.6.4.1.1).
    func switched(on: Bool) {
        guard hasFeature(Spec.Feature.onOff.rawValue) else { return }
        let stored = settledLevel
        let onLevel = byte(Spec.Attributes.onLevel)
        let own = word(on ? Spec.Attributes.onTransitionTime : Spec.Attributes.offTransitionTime)
        let duration = Duration.tenths(own ?? word(Spec.Attributes.onOffTransitionTime) ?? 0)
        if on {
            go(from: minimum, to: onLevel.map(clamped) ?? stored, over: duration, isSwitching: true)
        } else {
            go(to: minimum, over: duration, then: onLevel == nil ? .restore(stored) : .none, isSwitching: true)
        }
    }

    func clamped(_ level: UInt8) -> UInt8 { min(max(level, minimum), maximum) }

    var options: Spec.OptionsBitmap { Spec.OptionsBitmap(rawValue: byte(Spec.Attributes.options) ?? 0) }

    /// The options that count for one command (1.6.6.9).
    func options(_ mask: Spec.OptionsBitmap, _ override: Spec.OptionsBitmap) -> Spec.OptionsBitmap {
        options.subtracting(mask).union(override.intersection(mask))
    }

    var isOff: Bool { onOff.map { !$0.isOn } ?? false }

    func switchOnBefore() { onOff?.set(on: true, by: .level) }

    // MARK: From outside

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        try run(command, fields)
        return .success
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        guard attribute.id == Spec.Attributes.currentLevel else { return set(attribute.id, value) }
        go(to: clamped(value.unsigned.map { UInt8(clamping: $0) } ?? maximum), over: .zero)
        node.sceneableChanged(at: endpoint)
    }
}

extension LevelControlCluster: SceneableCluster {
    public func sceneValues() -> [(attribute: AttributeID, value: TLVValue)] {
        var values = [(attribute: Spec.Attributes.currentLevel, value: settledLevel.tlv)]
        if has(Spec.Attributes.currentFrequency) {
            values.append((Spec.Attributes.currentFrequency, value(Spec.Attributes.currentFrequency)))
        }
        return values
    }

    public func recall(_ values: [(attribute: AttributeID, value: TLVValue)], over transition: Duration) {
        for entry in values {
            switch entry.attribute {
            case Spec.Attributes.currentLevel:
                if let level = entry.value.unsigned { go(to: clamped(UInt8(clamping: level)), over: transition) }
            case Spec.Attributes.currentFrequency: set(entry.attribute, entry.value)
            default: break
            }
        }
    }
}
