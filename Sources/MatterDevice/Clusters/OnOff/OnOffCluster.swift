import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// On/Off (Matter Application Clusters, 1.5): whether the device is on, with the timer and the global scene of lights.
///
/// A hand on the device (`setLocally` of OnOff) switches it as a command does, also where only Off can be commanded.
///
/// DeadFrontBehavior (1.5.4.2) permits a device that is off to refuse what is asked of its other clusters, with INVALID_IN_STATE, and to
/// give them best-effort values; it obliges it to neither, and a virtual device knows all its values while it is off. So nothing changes
/// here but the feature's bit, and reports and events go on as they must.
public final class OnOffCluster: Cluster {
    typealias Spec = OnOff

    /// Who switches, which says what else follows.
    public enum Cause: Sendable {
        /// A command of this cluster, or a hand on the device: the level follows.
        case switching
        /// Level Control, whose business the level is.
        case level
        /// A recalled scene, in which every cluster has its own values.
        case scene
    }

    /// The effect that the last OffWithEffect asked for.
    public private(set) var effect: (identifier: OnOff.EffectIdentifierEnum, variant: UInt8)?

    /// Whether OnTime and OffWaitTime are counting: after OnWithTimedOff, or once on with an OnTime.
    private var isTiming = false
    private var onEnd: ModelInstant?
    private var offWaitEnd: ModelInstant?
    private var timer: Token?
    /// A recalled scene switches off at the end of its transition.
    private var sceneTimer: Token?

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    public var isOn: Bool { value(Spec.Attributes.onOff) == .boolean(true) }
    private var isLighting: Bool { hasFeature(Spec.Feature.lighting.rawValue) }
    private var onTime: UInt16 { time(Spec.Attributes.onTime, onEnd) }
    private var offWaitTime: UInt16 { time(Spec.Attributes.offWaitTime, offWaitEnd) }

    /// The stored time, or what is left of it while it counts.
    private func time(_ attribute: AttributeID, _ end: ModelInstant?) -> UInt16 {
        if let end { return tenths(until: end, from: node.environment.now) }
        return UInt16(clamping: value(attribute).unsigned ?? 0)
    }

    public override func start() {
        guard isLighting, node.appliesStartUpValues, let startUp = value(Spec.Attributes.startUpOnOff).unsigned else { return }
        switch Spec.StartUpOnOffEnum(rawValue: UInt8(clamping: startUp)) {
        case .off: set(Spec.Attributes.onOff, .boolean(false))
        case .on: set(Spec.Attributes.onOff, .boolean(true))
        case .toggle: set(Spec.Attributes.onOff, .boolean(!isOn))
        default: break
        }
    }

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        switch attribute {
        case Spec.Attributes.onTime: onTime.tlv
        case Spec.Attributes.offWaitTime: offWaitTime.tlv
        default: nil
        }
    }

    // MARK: Switching

    /// Switches on or off, with what the specification ties to it.
    public func set(on: Bool, by cause: Cause) {
        cancel(sceneTimer)
        sceneTimer = nil
        if on { turnOn(cause) } else { turnOff(cause) }
    }

    private func turnOn(_ cause: Cause) {
        freeze()
        let wasOn = isOn
        if isLighting {
            set(Spec.Attributes.globalSceneControl, .boolean(true))
            if onTime == 0 { set(Spec.Attributes.offWaitTime, UInt16(0).tlv) } else { isTiming = true }
        }
        set(Spec.Attributes.onOff, .boolean(true))
        count()
        if !wasOn { follow(cause) }
    }

    private func turnOff(_ cause: Cause) {
        freeze()
        let wasOn = isOn
        if isLighting { set(Spec.Attributes.onTime, UInt16(0).tlv) }
        set(Spec.Attributes.onOff, .boolean(false))
        count()
        if wasOn { follow(cause) }
    }

    private func follow(_ cause: Cause) {
        if case .switching = cause { node.cluster(LevelControlCluster.self, at: endpoint)?.switched(on: isOn) }
    }

    // MARK: The timer

    /// Stores the times as they stand now and stops counting.
    private func freeze() {
        cancel(timer)
        timer = nil
        if onEnd != nil {
            set(Spec.Attributes.onTime, onTime.tlv, .quiet)
            onEnd = nil
        }
        if offWaitEnd != nil {
            set(Spec.Attributes.offWaitTime, offWaitTime.tlv, .quiet)
            offWaitEnd = nil
        }
    }

    /// Counts down what is to be counted: OnTime while on, OffWaitTime while off (1.5.7.6). 0xFFFF in either stands for ever.
    private func count() {
        guard isTiming else { return }
        let (onTime, offWaitTime) = (onTime, offWaitTime)
        guard onTime != 0xFFFF, offWaitTime != 0xFFFF else { return }
        let now = node.environment.now
        if isOn, onTime > 0 {
            onEnd = now + .tenths(onTime)
            timer = after(.tenths(onTime)) { [weak self] in self?.onTimeIsOver() }
        } else if !isOn, offWaitTime > 0 {
            offWaitEnd = now + .tenths(offWaitTime)
            timer = after(.tenths(offWaitTime)) { [weak self] in self?.offWaitIsOver() }
        } else if onTime == 0, offWaitTime == 0 {
            isTiming = false
        }
    }

    private func onTimeIsOver() {
        freeze()
        report(Spec.Attributes.onTime)
        set(Spec.Attributes.offWaitTime, UInt16(0).tlv)
        turnOff(.switching)
        node.sceneableChanged(at: endpoint)
    }

    private func offWaitIsOver() {
        freeze()
        report(Spec.Attributes.offWaitTime)
        isTiming = false
    }

    // MARK: From outside

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) -> TLVValue {
        if attribute.id == Spec.Attributes.onTime || attribute.id == Spec.Attributes.offWaitTime { freeze() }
        return value
    }

    public override func didWrite(
        _ attribute: AttributeDefinition, from old: TLVValue, to new: TLVValue, _ context: InteractionContext
    ) {
        if attribute.id == Spec.Attributes.onTime || attribute.id == Spec.Attributes.offWaitTime { count() }
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        switch attribute.id {
        case Spec.Attributes.onOff:
            set(on: value == .boolean(true), by: .switching)
            node.sceneableChanged(at: endpoint)
        case Spec.Attributes.onTime, Spec.Attributes.offWaitTime:
            freeze()
            set(attribute.id, value)
            count()
        default: set(attribute.id, value)
        }
    }

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        switch command.id {
        case Spec.Commands.off: switchByCommand(on: false)
        case Spec.Commands.on: switchByCommand(on: true)
        case Spec.Commands.toggle: switchByCommand(on: !isOn)
        case Spec.Commands.offWithEffect: turnOff(with: try Spec.OffWithEffect(tlv: fields), context)
        case Spec.Commands.onWithRecallGlobalScene: recallGlobalScene(context)
        case Spec.Commands.onWithTimedOff: turnOnForATime(try Spec.OnWithTimedOff(tlv: fields))
        default: throw Status(.unsupportedCommand)
        }
        return .success
    }

    private func switchByCommand(on: Bool) {
        let changes = on != isOn
        set(on: on, by: .switching)
        if changes { node.sceneableChanged(at: endpoint) }
    }

    /// OffWithEffect (1.5.7.4).
    private func turnOff(with request: Spec.OffWithEffect, _ context: InteractionContext) {
        if value(Spec.Attributes.globalSceneControl) == .boolean(true) {
            node.globalScenes(at: endpoint)?.storeGlobalScene(of: context.fabricIndex)
            set(Spec.Attributes.globalSceneControl, .boolean(false))
        }
        effect = (request.effectIdentifier, request.effectVariant)
        switchByCommand(on: false)
    }

    /// OnWithRecallGlobalScene (1.5.7.5).
    private func recallGlobalScene(_ context: InteractionContext) {
        guard value(Spec.Attributes.globalSceneControl) == .boolean(false) else { return }
        if node.globalScenes(at: endpoint)?.recallGlobalScene(of: context.fabricIndex) != true {
            // No scene was kept. The command is one to switch on, and that is what a user expects of it.
            set(on: true, by: .switching)
        }
        freeze()
        set(Spec.Attributes.globalSceneControl, .boolean(true))
        if onTime == 0 { set(Spec.Attributes.offWaitTime, UInt16(0).tlv) }
        count()
    }

    /// OnWithTimedOff (1.5.7.6).
    private func turnOnForATime(_ request: Spec.OnWithTimedOff) {
        if request.onOffControl.contains(.acceptOnlyWhenOn), !isOn { return }
        if !isOn, offWaitTime > 0 {
            freeze()
            set(Spec.Attributes.offWaitTime, min(offWaitTime, request.offWaitTime).tlv)
        } else {
            switchByCommand(on: true)
            freeze()
            set(Spec.Attributes.onTime, max(onTime, request.onTime).tlv)
            set(Spec.Attributes.offWaitTime, request.offWaitTime.tlv)
        }
        isTiming = true
        count()
    }
}

extension OnOffCluster: SceneableCluster {
    public func sceneValues() -> [(attribute: AttributeID, value: TLVValue)] {
        [(Spec.Attributes.onOff, value(Spec.Attributes.onOff))]
    }

    public func recall(_ values: [(attribute: AttributeID, value: TLVValue)], over transition: Duration) {
        for entry in values where entry.attribute == Spec.Attributes.onOff {
            let on = entry.value == .boolean(true)
            if on || transition == .zero || !isOn {
                set(on: on, by: .scene)
            } else {
                // Off at the end, so that the fading can be seen.
                cancel(sceneTimer)
                sceneTimer = after(transition) { [weak self] in self?.set(on: false, by: .scene) }
            }
        }
    }
}
