import HearthTime
import MatterCredentials
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV

// The commands that give a device credentials. All need the fail-safe, armed by whoever sends them (Matter Core, 11.18.6).
extension OperationalCredentialsCluster {
    /// The arming that the commands belong to.
    private func arming(_ context: InteractionContext) throws(Status) -> FailSafe.Arming {
        guard let arming = failSafe.arming, arming.fabric == context.fabricIndex else {
            throw Status(.failsafeRequired, "arm the fail-safe first")
        }
        return arming
    }

    func signingRequest(_ request: Spec.CSRRequest, _ context: InteractionContext) throws(Status) -> CommandOutcome {
        let isForUpdate = request.isForUpdateNOC ?? false
        guard request.csrNonce.count == 32 else { throw Status(.invalidCommand, "the nonce has 32 bytes") }
        let arming = try arming(context)
        guard !isForUpdate || context.peer.authMode == .case else {
            throw Status(.invalidCommand, "while pairing there are no credentials to update")
        }
        guard arming.credentials == nil else {
            throw Status(.constraintError, "this fail-safe has given the device its credentials already")
        }
        guard let attestor = node.commissioning.attestation else {
            throw Status(.failure, "the device has no attestation credentials")
        }
        do throws(CredentialsError) {
            let key = try PrivateKey.generate()
            let (elements, signature) = try attestor.request(
                for: key, nonce: request.csrNonce, challenge: context.peer.attestationChallenge)
            failSafe.arming?.operationalKey = (key, isForUpdate)
            return .reply(Spec.CSRResponse(nocsrElements: elements, attestationSignature: signature))
        } catch {
            throw Status(.failure, error.message)
        }
    }

    func addRoot(_ request: Spec.AddTrustedRootCertificate, _ context: InteractionContext) throws(Status) -> CommandOutcome {
        let arming = try arming(context)
        guard arming.credentials == nil, arming.root == nil else {
            throw Status(.constraintError, "this fail-safe has had its root, or its credentials, already")
        }
        do throws(CredentialsError) {
            let root = try MatterCertificate(tlv: request.rootCACertificate)
            try CertificateChain.validateRoot(root, at: table.validationTime(wall: node.environment.wall))
            table.accepted([root])
            failSafe.arming?.root = root
        } catch {
            throw Status(.invalidCommand, error.message)
        }
        rootsChanged()
        return .success
    }

    func addNOC(_ request: Spec.AddNOC, _ context: InteractionContext) throws(Status) -> CommandOutcome {
        let arming = try arming(context)
        guard arming.credentials == nil else {
            throw Status(.constraintError, "this fail-safe has given the device its credentials already")
        }
        guard request.ipkValue.count == GroupKey.length, (1...0xFFF4).contains(request.adminVendorId.rawValue) else {
            throw Status(.invalidCommand, "the identity protection key has 16 bytes, and an administrator has a vendor")
        }
        guard let operational = arming.operationalKey else { return Self.refusal(.missingCsr, "send CSRRequest first") }
        guard !operational.isForUpdate else {
            throw Status(.constraintError, "the signing request was made for UpdateNOC")
        }
        guard let root = arming.root else { return Self.refusal(.invalidNOC, "send AddTrustedRootCertificate first") }
        guard Subject.isOperationalNode(request.caseAdminSubject) || Subject.isValidTag(request.caseAdminSubject) else {
            return Self.refusal(.invalidAdminSubject, "neither a node id nor a CASE Authenticated Tag")
        }
        let certificates: Certificates
        switch accept(request.nocValue, request.icacValue, root: root, key: operational.key) {
        case .failure(let refusal): return Self.refusal(refusal.code, refusal.text)
        case .success(let accepted): certificates = accepted
        }
        guard table.fabric(certificates.chain.fabric) == nil else {
            return Self.refusal(.fabricConflict, "the device is in this fabric already")
        }
        guard let index = table.freeIndex() else { return Self.refusal(.tableFull, "the device is in too many fabrics") }

        table.accepted([root, certificates.noc] + [certificates.icac].compactMap { $0 })
        table.add(
            Fabric(
                index: index, root: root, noc: certificates.noc, icac: certificates.icac, key: operational.key,
                ipkEpochKey: request.ipkValue, vendorID: request.adminVendorId, chain: certificates.chain,
                adminSubject: request.caseAdminSubject, generation: table.nextGeneration()))
        failSafe.addedFabric(index)
        // The pairing session goes on in the name of the new fabric (Matter Core, 11.18.6.8).
        if context.peer.authMode == .pase { context.session?.context.fabricIndex = index.rawValue }
        node.cluster(GroupKeyManagementCluster.self, at: 0)?.addIdentityProtectionKey(request.ipkValue, of: index)
        node.cluster(AccessControlCluster.self, at: 0)?.addAdministrator(request.caseAdminSubject, of: index, context)
        node.commissioning.fabricsChanged()
        return .reply(Spec.NOCResponse(statusCode: .ok, fabricIndex: index))
    }

    func updateNOC(_ request: Spec.UpdateNOC, _ context: InteractionContext) throws(Status) -> CommandOutcome {
        let arming = try arming(context)
        guard arming.credentials == nil, arming.root == nil else {
            throw Status(.constraintError, "this fail-safe has had a root, or given the device its credentials, already")
        }
        guard var fabric = table[context.fabricIndex] else { return Self.refusal(.invalidFabricIndex) }
        guard let operational = arming.operationalKey else { return Self.refusal(.missingCsr, "send CSRRequest first") }
        guard operational.isForUpdate else { throw Status(.constraintError, "the signing request was not made for UpdateNOC") }
        let certificates: Certificates
        switch accept(request.nocValue, request.icacValue, root: fabric.root, key: operational.key) {
        case .failure(let refusal): return Self.refusal(refusal.code, refusal.text)
        case .success(let accepted): certificates = accepted
        }
        guard certificates.chain.fabric == fabric.identity else {
            return Self.refusal(.invalidNOC, "the certificate is another fabric's")
        }
        table.accepted([certificates.noc] + [certificates.icac].compactMap { $0 })
        (fabric.noc, fabric.icac, fabric.key) = (certificates.noc, certificates.icac, operational.key)
        (fabric.nodeID, fabric.authenticatedTags) = (certificates.chain.nodeID, certificates.chain.cats)
        fabric.generation = table.nextGeneration()
        table.update(fabric)
        failSafe.arming?.credentials = .updated
        failSafe.arming?.operationalKey = nil
        node.commissioning.fabricsChanged()
        return .reply(Spec.NOCResponse(statusCode: .ok, fabricIndex: fabric.index))
    }

    // MARK: Judging certificates

    private struct Certificates {
        var noc: MatterCertificate
        var icac: MatterCertificate?
        var chain: ValidatedChain
    }

    private struct Refusal: Error {
        var code: Code
        var text: String?
    }

    /// The node's certificates, if they are in order and for the key that was asked for.
    private func accept(
        _ nocBytes: [UInt8], _ icacBytes: [UInt8]?, root: MatterCertificate, key: PrivateKey
    ) -> Result<Certificates, Refusal> {
        do throws(CredentialsError) {
            let noc = try MatterCertificate(tlv: nocBytes)
            // An ICAC of no bytes is no ICAC.
            var icac: MatterCertificate?
            if let icacBytes, !icacBytes.isEmpty { icac = try MatterCertificate(tlv: icacBytes) }
            guard noc.publicKey == key.publicKey else {
                return .failure(
                    Refusal(code: .invalidPublicKey, text: "the certificate is not for the key of the signing request"))
            }
            if let node = noc.subject.identifiers(.nodeID).first, !Subject.isOperationalNode(node) {
                return .failure(Refusal(code: .invalidNodeOpId, text: "the node id is not operational"))
            }
            let chain = try CertificateChain.validate(
                noc: noc, icac: icac, root: root, at: table.validationTime(wall: node.environment.wall))
            return .success(Certificates(noc: noc, icac: icac, chain: chain))
        } catch {
            return .failure(Refusal(code: .invalidNOC, text: error.message))
        }
    }
}
