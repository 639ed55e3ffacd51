import HearthTime
import MatterCredentials
import MatterInteraction
import MatterModel
import MatterTLV

/// Operational Credentials (Matter Core, 11.18): how a device proves its origin, gets into a fabric and out of it. Its state is the node's
/// fabric table and fail-safe.
public final class OperationalCredentialsCluster: Cluster {
    typealias Spec = OperationalCredentials
    typealias Code = OperationalCredentials.NodeOperationalCertStatusEnum

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(Spec.definition, endpoint: endpoint, node: node, configuration: configuration)
    }

    var table: FabricTable { node.commissioning.fabrics }
    var failSafe: FailSafe { node.commissioning.failSafe }

    // MARK: Attributes

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        switch attribute {
        case Spec.Attributes.nocs:
            table.fabrics.map {
                Spec.NOCStruct(noc: $0.noc.tlv, icac: Nullable($0.icac?.tlv), fabricIndex: $0.index)
            }.tlv
        case Spec.Attributes.fabrics:
            table.fabrics.map {
                Spec.FabricDescriptorStruct(
                    rootPublicKey: $0.identity.rootPublicKey, vendorID: $0.vendorID, fabricID: $0.fabricID, nodeID: $0.nodeID,
                    label: $0.label, fabricIndex: $0.index)
            }.tlv
        case Spec.Attributes.supportedFabrics: .unsigned(UInt64(FabricTable.capacity))
        case Spec.Attributes.commissionedFabrics: .unsigned(UInt64(table.fabrics.count))
        case Spec.Attributes.trustedRootCertificates: .array(roots.map { .octets($0.tlv) })
        case Spec.Attributes.currentFabricIndex: context.fabricIndex.tlv
        default: nil
        }
    }

    /// The roots of all fabrics and the one that waits for its AddNOC.
    private var roots: [MatterCertificate] {
        var roots: [MatterCertificate] = []
        for root in table.fabrics.map(\.root) + [failSafe.arming?.root].compactMap({ $0 }) where !roots.contains(root) {
            roots.append(root)
        }
        return roots
    }

    func fabricsChanged() {
        for attribute in [
            Spec.Attributes.nocs, Spec.Attributes.fabrics, Spec.Attributes.commissionedFabrics,
            Spec.Attributes.trustedRootCertificates,
        ] { touch(attribute) }
    }

    func rootsChanged() { touch(Spec.Attributes.trustedRootCertificates) }

    // MARK: Commands

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        switch command.id {
        case Spec.Commands.attestationRequest: try attestation(Spec.AttestationRequest(tlv: fields), context)
        case Spec.Commands.certificateChainRequest: try certificate(Spec.CertificateChainRequest(tlv: fields))
        case Spec.Commands.csrRequest: try signingRequest(Spec.CSRRequest(tlv: fields), context)
        case Spec.Commands.addTrustedRootCertificate: try addRoot(Spec.AddTrustedRootCertificate(tlv: fields), context)
        case Spec.Commands.addNOC: try addNOC(Spec.AddNOC(tlv: fields), context)
        case Spec.Commands.updateNOC: try updateNOC(Spec.UpdateNOC(tlv: fields), context)
        case Spec.Commands.updateFabricLabel: try updateLabel(Spec.UpdateFabricLabel(tlv: fields), context)
        case Spec.Commands.removeFabric: try removeFabric(Spec.RemoveFabric(tlv: fields), context)
        default: throw Status(.unsupportedCommand)
        }
    }

    // MARK: Attestation

    private func attestor() throws(Status) -> DeviceAttestation {
        guard let attestation = node.commissioning.attestation else {
            throw Status(.failure, "the device has no attestation credentials")
        }
        return attestation
    }

    private func attestation(_ request: Spec.AttestationRequest, _ context: InteractionContext) throws(Status) -> CommandOutcome {
        guard request.attestationNonce.count == 32 else { throw Status(.invalidCommand, "the nonce has 32 bytes") }
        let attestor = try attestor()
        do throws(CredentialsError) {
            let time = MatterTime(unix: node.environment.wall.components.seconds)?.seconds ?? 0
            let (elements, signature) = try attestor.attest(
                nonce: request.attestationNonce, challenge: context.peer.attestationChallenge, timestamp: time)
            return .reply(Spec.AttestationResponse(attestationElements: elements, attestationSignature: signature))
        } catch {
            throw Status(.failure, error.message)
        }
    }

    private func certificate(_ request: Spec.CertificateChainRequest) throws(Status) -> CommandOutcome {
        let attestor = try attestor()
        switch request.certificateType {
        case .dacCertificate: return .reply(Spec.CertificateChainResponse(certificate: attestor.dac))
        case .paiCertificate: return .reply(Spec.CertificateChainResponse(certificate: attestor.pai))
        default: throw Status(.invalidCommand, "there is no certificate of type \(request.certificateType)")
        }
    }

    // MARK: Fabrics

    private func updateLabel(_ request: Spec.UpdateFabricLabel, _ context: InteractionContext) throws(Status) -> CommandOutcome {
        guard table[context.fabricIndex] != nil else { return Self.refusal(.invalidFabricIndex) }
        let isTaken = table.fabrics.contains {
            $0.index != context.fabricIndex && !request.label.isEmpty && $0.label == request.label
        }
        if isTaken { return Self.refusal(.labelConflict, "another fabric has this label") }
        table.setLabel(request.label, of: context.fabricIndex)
        touch(Spec.Attributes.fabrics)
        return .reply(Spec.NOCResponse(statusCode: .ok, fabricIndex: context.fabricIndex))
    }

    private func removeFabric(_ request: Spec.RemoveFabric, _ context: InteractionContext) throws(Status) -> CommandOutcome {
        guard table[request.fabricIndex] != nil else { return Self.refusal(.invalidFabricIndex, "there is no such fabric") }
        node.commissioning.leave(request.fabricIndex, answering: context)
        return .reply(Spec.NOCResponse(statusCode: .ok, fabricIndex: request.fabricIndex))
    }

    static func refusal(_ code: Code, _ text: String? = nil) -> CommandOutcome {
        .reply(Spec.NOCResponse(statusCode: code, debugText: text.map { String($0.prefix(96)) }))
    }
}
