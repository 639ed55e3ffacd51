import MatterInteraction
import MatterModel
import MatterTLV

/// General Commissioning (Matter Core, 11.10): the fail-safe, the regulatory region, the end of commissioning.
public final class GeneralCommissioningCluster: Cluster {
    typealias Spec = GeneralCommissioning
    typealias Code = GeneralCommissioning.CommissioningErrorEnum

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    public override func start() {
        set(Spec.Attributes.breadcrumb, .unsigned(0))
        // RegulatoryConfig has no default of its own: it is what the device is capable of until somebody says where it stands.
        if let place = kept(Self.regulatoryConfig).flatMap({ try? TLVValue(decoding: $0) }) {
            set(Spec.Attributes.regulatoryConfig, place)
        } else {
            set(Spec.Attributes.regulatoryConfig, value(Spec.Attributes.locationCapability))
        }
        node.commissioning.start()
    }

    private static let regulatoryConfig = "regulatory-config"

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        guard attribute == Spec.Attributes.basicCommissioningInfo else { return nil }
        return Spec.BasicCommissioningInfo(
            failSafeExpiryLengthSeconds: FailSafe.standardLength, maxCumulativeFailsafeSeconds: FailSafe.cumulativeLength
        ).tlv
    }

    /// The fail-safe has expired: nothing of what a commissioner noted here holds.
    func failSafeExpired() { set(Spec.Attributes.breadcrumb, .unsigned(0)) }

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        switch command.id {
        case Spec.Commands.armFailSafe: arm(try Spec.ArmFailSafe(tlv: fields), context)
        case Spec.Commands.setRegulatoryConfig: setRegion(try Spec.SetRegulatoryConfig(tlv: fields))
        case Spec.Commands.commissioningComplete: complete(context)
        default: throw Status(.unsupportedCommand)
        }
    }

    private func arm(_ request: Spec.ArmFailSafe, _ context: InteractionContext) -> CommandOutcome {
        func answer(_ code: Code, _ text: String = "") -> CommandOutcome {
            .reply(Spec.ArmFailSafeResponse(errorCode: code, debugText: text))
        }
        let failSafe = node.commissioning.failSafe
        if let owner = failSafe.fabricIndex, owner != context.fabricIndex {
            return answer(.busyWithOtherAdmin, "another administrator has armed the fail-safe")
        }
        // While the window is open, the fail-safe is kept for whoever comes through it (Matter Core, 11.10.7.2).
        if !failSafe.isArmed, node.commissioning.window.isOpen, context.peer.authMode == .case {
            return answer(.busyWithOtherAdmin, "the commissioning window is open")
        }
        if request.expiryLengthSeconds == 0 {
            failSafe.expire(answering: context)
        } else {
            failSafe.arm(for: request.expiryLengthSeconds, fabric: context.fabricIndex)
            set(Spec.Attributes.breadcrumb, .unsigned(request.breadcrumb))
        }
        return answer(.ok)
    }

    private func setRegion(_ request: Spec.SetRegulatoryConfig) -> CommandOutcome {
        func answer(_ code: Code, _ text: String = "") -> CommandOutcome {
            .reply(Spec.SetRegulatoryConfigResponse(errorCode: code, debugText: text))
        }
        let wanted = request.newRegulatoryConfig
        let capability = value(Spec.Attributes.locationCapability).unsigned
        guard wanted.isDefined,
            capability == UInt64(Spec.RegulatoryLocationTypeEnum.indoorOutdoor.rawValue)
                || capability == UInt64(wanted.rawValue)
        else { return answer(.valueOutsideRange, "the device is not made for such a place") }
        guard BasicInformationCluster.isCountry(request.countryCode) else {
            return answer(.valueOutsideRange, "a country code is two letters")
        }
        set(Spec.Attributes.regulatoryConfig, wanted.tlv)
        keep(wanted.tlv.encoded(), as: Self.regulatoryConfig)
        node.cluster(BasicInformationCluster.self, at: 0)?
            .set(BasicInformation.Attributes.location, .utf8(request.countryCode))
        set(Spec.Attributes.breadcrumb, .unsigned(request.breadcrumb))
        return answer(.ok)
    }

    private func complete(_ context: InteractionContext) -> CommandOutcome {
        func answer(_ code: Code, _ text: String = "") -> CommandOutcome {
            .reply(Spec.CommissioningCompleteResponse(errorCode: code, debugText: text))
        }
        let failSafe = node.commissioning.failSafe
        guard failSafe.isArmed else { return answer(.noFailSafe, "the fail-safe is not armed") }
        guard context.peer.authMode == .case, failSafe.fabricIndex == context.fabricIndex else {
            return answer(.invalidAuthentication, "the fail-safe is not this fabric's, or this is no operational session")
        }
        failSafe.complete()
        set(Spec.Attributes.breadcrumb, .unsigned(0))
        node.commissioning.window.close()
        context.afterAnswering { [weak host = node.host] in host?.closePairingSession() }
        return answer(.ok)
    }
}
