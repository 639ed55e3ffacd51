import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Identify (Matter Application Clusters, 1.2): the device shows which one it is. IdentifyTime counts down in whole seconds and is computed,
/// never counted.
public final class IdentifyCluster: Cluster {
    typealias Spec = Identify

    private var end: ModelInstant?
    private var timer: Token?
    /// The effect of the last TriggerEffect.
    public private(set) var effect: (identifier: Identify.EffectIdentifierEnum, variant: Identify.EffectVariantEnum)?

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        var configuration = configuration
        if configuration.attributes[Spec.Attributes.identifyType] == nil {
            configuration.attributes[Spec.Attributes.identifyType] = Spec.IdentifyTypeEnum.visibleIndicator.tlv
        }
        super.init(
            Spec.definition, endpoint: endpoint, node: node, configuration: configuration,
            alsoSupported: ([], [Spec.Commands.triggerEffect]))
    }

    public var isIdentifying: Bool { remaining > 0 }

    /// Whole seconds that are left, counted up.
    private var remaining: UInt16 {
        guard let end, end > node.environment.now else { return 0 }
        let nanoseconds = (end - node.environment.now).wholeNanoseconds
        return UInt16(clamping: (nanoseconds - 1) / 1_000_000_000 + 1)
    }

    public override func start() { (end, timer) = (nil, nil) }

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        attribute == Spec.Attributes.identifyTime ? remaining.tlv : nil
    }

    public override func didWrite(
        _ attribute: AttributeDefinition, from old: TLVValue, to new: TLVValue, _ context: InteractionContext
    ) {
        if attribute.id == Spec.Attributes.identifyTime { identify(for: UInt16(clamping: new.unsigned ?? 0)) }
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        guard attribute.id == Spec.Attributes.identifyTime else { return set(attribute.id, value) }
        identify(for: UInt16(clamping: value.unsigned ?? 0))
    }

    /// A variant that is not known is no mistake, so that the effect's fields are checked here.
    public override func checksFields(of command: CommandDefinition) -> Bool { command.id != Spec.Commands.triggerEffect }

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        switch command.id {
        case Spec.Commands.identify: identify(for: try Spec.Identify(tlv: fields).identifyTime)
        case Spec.Commands.triggerEffect:
            let request = try Spec.TriggerEffect(tlv: fields)
            guard request.effectIdentifier.isDefined else { throw Status(.constraintError, "an unknown effect") }
            // A variant that is not known looks like the default (Matter Application Clusters, 1.2.6.3.2).
            let variant = request.effectVariant.isDefined ? request.effectVariant : .default
            effect = (request.effectIdentifier, variant)
        default: throw Status(.unsupportedCommand)
        }
        return .success
    }

    private func identify(for seconds: UInt16) {
        cancel(timer)
        timer = nil
        guard seconds > 0 else {
            guard end != nil else { return }
            end = nil
            return touch(Spec.Attributes.identifyTime)
        }
        end = node.environment.now + .seconds(Int64(seconds))
        touch(Spec.Attributes.identifyTime)
        timer = after(.seconds(Int64(seconds))) { [weak self] in
            guard let self else { return }
            (end, timer) = (nil, nil)
            touch(Spec.Attributes.identifyTime)
        }
    }
}
