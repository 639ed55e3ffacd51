import MatterInteraction
import MatterModel
import MatterTLV

/// Fan Control (Matter Application Clusters, 4.4): mode, percentage and speed are three views of one setting.
///
/// Parameters of the profile: `autoPercent`, how fast the fan turns in automatic mode (50). With an On/Off cluster beside it the fan turns
/// only while that is on.
public final class FanControlCluster: Cluster {
    typealias Spec = FanControl
    private typealias Attributes = FanControl.Attributes

    private let autoPercent: Int

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        let features = Spec.Feature(rawValue: configuration.features)
        func initial(_ attribute: AttributeID, _ value: TLVValue) {
            if configuration.attributes[attribute] == nil { configuration.attributes[attribute] = value }
        }
        let sequence: Spec.FanModeSequenceEnum = features.contains(.auto) ? .offLowMedHighAuto : .offLowMedHigh
        initial(Attributes.fanModeSequence, sequence.tlv)
        if features.contains(.multiSpeed) { initial(Attributes.speedMax, .unsigned(10)) }
        if features.contains(.rocking) {
            initial(Attributes.rockSupport, ([.rockLeftRight, .rockUpDown, .rockRound] as Spec.RockBitmap).tlv)
        }
        if features.contains(.wind) { initial(Attributes.windSupport, ([.sleepWind, .naturalWind] as Spec.WindBitmap).tlv) }
        autoPercent = Int(min(configuration.parameters["autoPercent"]?.unsigned ?? 50, 100))
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    public override func start() {
        adopt(mode: mode)
        node.observe(endpoint, OnOff.id, OnOff.Attributes.onOff) { [weak self] in self?.turn() }
    }

    private func supports(_ feature: Spec.Feature) -> Bool { hasFeature(feature.rawValue) }
    private var mode: Spec.FanModeEnum { .init(rawValue: UInt8(clamping: value(Attributes.fanMode).unsigned ?? 0)) }
    private var speedMax: Int { max(1, Int(clamping: value(Attributes.speedMax).unsigned ?? 10)) }

    /// The modes of the sequence, from slow to fast, without off and automatic.
    private var steps: [Spec.FanModeEnum] {
        switch Spec.FanModeSequenceEnum(rawValue: UInt8(clamping: value(Attributes.fanModeSequence).unsigned ?? 0)) {
        case .offLowHigh, .offLowHighAuto: [.low, .high]
        case .offHigh, .offHighAuto: [.high]
        default: [.low, .medium, .high]
        }
    }

    // MARK: Writes

    public override var valueChecks: ValueChecker.Options {
        var options = ValueChecker.Options()
        options.refusesDisallowedItems = true
        return options
    }

    /// On and Smart are items of the past that still mean something (4.4.6.1).
    public override func valueChecks(of attribute: AttributeDefinition) -> ValueChecker.Options {
        var options = valueChecks
        if attribute.id == Attributes.fanMode { options.refusesDisallowedItems = false }
        return options
    }

    public override func willWrite(
        _ attribute: AttributeDefinition, _ value: TLVValue, _ context: InteractionContext
    ) throws(Status) -> TLVValue { try accepted(attribute.id, value) }

    private func accepted(_ attribute: AttributeID, _ value: TLVValue) throws(Status) -> TLVValue {
        switch attribute {
        case Attributes.fanMode:
            let wanted = try Spec.FanModeEnum(tlv: value)
            switch wanted {
            case .on: return Spec.FanModeEnum.high.tlv
            case .smart: return (supports(.auto) ? Spec.FanModeEnum.auto : .high).tlv
            case .auto where supports(.auto): return value
            case .off: return value
            default:
                guard steps.contains(wanted) else { throw Status(.constraintError, "the fan has no such mode") }
                return value
            }
        case Attributes.percentSetting, Attributes.speedSetting:
            // Null is what automatic mode shows; it cannot be asked for.
            return value.isNull ? self.value(attribute) : value
        case Attributes.rockSetting: try check(value, within: Attributes.rockSupport)
        case Attributes.windSetting: try check(value, within: Attributes.windSupport)
        default: break
        }
        return value
    }

    private func check(_ value: TLVValue, within support: AttributeID) throws(Status) {
        guard (value.unsigned ?? 0) & ~(self.value(support).unsigned ?? 0) == 0 else {
            throw Status(.constraintError, "the fan cannot do that")
        }
    }

    public override func didWrite(
        _ attribute: AttributeDefinition, from old: TLVValue, to new: TLVValue, _ context: InteractionContext
    ) { if old != new || attribute.id == Attributes.fanMode { adopt(attribute.id, new) } }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        set(attribute.id, try accepted(attribute.id, value))
        adopt(attribute.id, self.value(attribute.id))
    }

    // MARK: One setting in three views

    private func adopt(_ attribute: AttributeID, _ value: TLVValue) {
        switch attribute {
        case Attributes.fanMode: adopt(mode: mode)
        case Attributes.percentSetting: if let percent = value.unsigned { adopt(percent: Int(clamping: percent)) }
        case Attributes.speedSetting: if let speed = value.unsigned { adopt(speed: Int(clamping: speed)) }
        default: break
        }
    }

    private func adopt(mode: Spec.FanModeEnum) {
        switch mode {
        case .off: show(percent: 0, speed: 0)
        case .auto: show(percent: nil, speed: nil)
        default:
            // A setting that is of this mode already may stay.
            if let percent = value(Attributes.percentSetting).unsigned, self.mode(ofPercent: Int(clamping: percent)) == mode {
                return turn()
            }
            let steps = steps
            let place = (steps.firstIndex(of: mode) ?? steps.count - 1) + 1
            let percent = 100 * place / steps.count
            show(percent: percent, speed: speed(ofPercent: percent))
        }
    }

    private func adopt(percent: Int) {
        set(Attributes.fanMode, mode(ofPercent: percent).tlv)
        show(percent: percent, speed: speed(ofPercent: percent))
    }

    private func adopt(speed: Int) {
        let percent = speed * 100 / speedMax
        set(Attributes.fanMode, mode(ofPercent: percent).tlv)
        show(percent: percent, speed: speed)
    }

    private func speed(ofPercent percent: Int) -> Int { (speedMax * percent + 99) / 100 }

    private func mode(ofPercent percent: Int) -> Spec.FanModeEnum {
        guard percent > 0 else { return .off }
        let steps = steps
        for (index, step) in steps.enumerated() where percent <= 100 * (index + 1) / steps.count { return step }
        return steps.last ?? .high
    }

    private func show(percent: Int?, speed: Int?) {
        set(Attributes.percentSetting, percent.map { .unsigned(UInt64($0)) } ?? .null)
        set(Attributes.speedSetting, speed.map { .unsigned(UInt64($0)) } ?? .null)
        turn()
    }

    /// What the fan does now.
    private func turn() {
        let isOn = node.cluster(OnOffCluster.self, at: endpoint)?.isOn ?? true
        let percent = isOn ? value(Attributes.percentSetting).unsigned.map { Int(clamping: $0) } ?? autoPercent : 0
        let speed = isOn ? value(Attributes.speedSetting).unsigned.map { Int(clamping: $0) } ?? speed(ofPercent: autoPercent) : 0
        set(Attributes.percentCurrent, .unsigned(UInt64(percent)))
        set(Attributes.speedCurrent, .unsigned(UInt64(speed)))
    }

    // MARK: Step

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        guard command.id == Spec.Commands.step else { throw Status(.unsupportedCommand) }
        let request = try Spec.Step(tlv: fields)
        step(up: request.direction == .increase, wrap: request.wrap ?? false, lowestOff: request.lowestOff ?? true)
        return .success
    }

    /// One speed up or down, in tenths without the feature for speeds (4.4.7.1).
    private func step(up: Bool, wrap: Bool, lowestOff: Bool) {
        let highest = supports(.multiSpeed) ? speedMax : 10
        let lowest = lowestOff ? 0 : 1
        let now =
            supports(.multiSpeed)
            ? Int(clamping: value(Attributes.speedCurrent).unsigned ?? 0)
            : (Int(clamping: value(Attributes.percentCurrent).unsigned ?? 0) + 9) / 10
        var next = now + (up ? 1 : -1)
        if next > highest { next = wrap ? lowest : highest }
        if next < lowest { next = wrap ? highest : lowest }
        if supports(.multiSpeed) { adopt(speed: next) } else { adopt(percent: next * 10) }
    }
}
