import MatterCredentials
import MatterInteraction
import MatterModel
import MatterTLV

/// Administrator Commissioning (Matter Core, 11.19): an administrator opens the commissioning window for another one.
public final class AdministratorCommissioningCluster: Cluster {
    typealias Spec = AdministratorCommissioning

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    private var window: CommissioningWindow { node.commissioning.window }

    /// The window opened or closed.
    func windowChanged() {
        for attribute in [Spec.Attributes.windowStatus, Spec.Attributes.adminFabricIndex, Spec.Attributes.adminVendorId] {
            touch(attribute)
        }
    }

    /// Only a window that an administrator opened is shown here; one that was opened at the device itself is not.
    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        let opener = window.opener
        switch attribute {
        case Spec.Attributes.windowStatus:
            guard opener != nil else { return Spec.CommissioningWindowStatusEnum.windowNotOpen.tlv }
            return switch window.mode {
            case .closed: Spec.CommissioningWindowStatusEnum.windowNotOpen.tlv
            case .basic: Spec.CommissioningWindowStatusEnum.basicWindowOpen.tlv
            case .enhanced: Spec.CommissioningWindowStatusEnum.enhancedWindowOpen.tlv
            }
        case Spec.Attributes.adminFabricIndex:
            // The fabric may have gone since.
            guard let fabric = opener?.fabric, fabric != 0 else { return .null }
            return fabric.tlv
        case Spec.Attributes.adminVendorId: return opener?.vendor.tlv ?? .null
        default: return nil
        }
    }

    /// Parameters out of bounds have a status of this cluster's own.
    public override func checksFields(of command: CommandDefinition) -> Bool {
        command.id != Spec.Commands.openCommissioningWindow
    }

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        switch command.id {
        case Spec.Commands.openCommissioningWindow: try open(Spec.OpenCommissioningWindow(tlv: fields), context)
        case Spec.Commands.openBasicCommissioningWindow: try openBasic(Spec.OpenBasicCommissioningWindow(tlv: fields), context)
        case Spec.Commands.revokeCommissioning: try revoke(context)
        default: throw Status(.unsupportedCommand)
        }
        return .success
    }

    private func open(_ request: Spec.OpenCommissioningWindow, _ context: InteractionContext) throws(Status) {
        try checkFree()
        let parameters: PairingParameters
        do throws(CredentialsError) {
            guard let iterations = Int(exactly: request.iterations), request.discriminator <= 0xFFF else {
                throw CredentialsError(.outOfRange, "a discriminator has 12 bits")
            }
            parameters = PairingParameters(
                verifier: try Spake2Plus.Verifier(serialized: request.pakePasscodeVerifier),
                key: try PBKDFParameters(iterations: iterations, salt: request.salt), discriminator: request.discriminator)
        } catch {
            throw Self.failure(.pakeParameterError, error.message)
        }
        let timeout = try Self.timeout(request.commissioningTimeout)
        try window.openEnhanced(parameters, for: timeout, opener: opener(context))
    }

    private func openBasic(_ request: Spec.OpenBasicCommissioningWindow, _ context: InteractionContext) throws(Status) {
        try checkFree()
        try window.openBasic(for: Self.timeout(request.commissioningTimeout), opener: opener(context))
    }

    private func revoke(_ context: InteractionContext) throws(Status) {
        guard window.isOpen else { throw Self.failure(.windowNotOpen, "there is no commissioning window to close") }
        // Whoever came through the window is sent away, too.
        if node.commissioning.failSafe.fabricIndex == 0 || node.commissioning.failSafe.hasAddedFabric {
            node.commissioning.failSafe.expire(answering: context)
        }
        window.close()
    }

    private func opener(_ context: InteractionContext) -> (fabric: FabricIndex, vendor: VendorID) {
        (context.fabricIndex, node.commissioning.fabrics[context.fabricIndex]?.vendorID ?? 0)
    }

    private func checkFree() throws(Status) {
        guard !window.isOpen else { throw Self.failure(.busy, "the commissioning window is open already") }
        guard !node.commissioning.failSafe.isArmed else { throw Self.failure(.busy, "somebody is commissioning the device") }
    }

    private static func timeout(_ seconds: UInt16) throws(Status) -> Duration {
        guard CommissioningWindow.timeouts.contains(seconds) else {
            throw Status(.invalidCommand, "a commissioning window is open for 180 to 900 seconds")
        }
        return .seconds(Int64(seconds))
    }

    private static func failure(_ code: Spec.StatusCodeEnum, _ reason: String) -> Status {
        Status(.failure, clusterStatus: code.rawValue, reason)
    }
}
