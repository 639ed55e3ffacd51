import MatterCredentials
import MatterInteraction
import MatterModel
import MatterTLV

/// The commands of a commissioning, each with its own kind of refusal turned into an error that people understand.
struct DeviceUnderPairing {
    let client: InteractionClient

    /// What the device says of itself before it is taken in.
    struct Information {
        var failSafe: UInt16
        var location: UInt8
        var vendorID: VendorID
        var productID: UInt16
        /// The label, or else the product's name.
        var name: String?
    }

    func information() async throws -> Information {
        let report = try await client.read(
            ReadSelection(attributes: [
                AttributePathPattern(0, GeneralCommissioning.id), AttributePathPattern(0, BasicInformation.id),
            ]))
        func value(_ cluster: ClusterID, _ attribute: AttributeID) -> TLVValue? {
            for item in report.attributes where item.path.pattern == AttributePathPattern(0, cluster, attribute) {
                if case .value(_, let value) = item.outcome { return value }
            }
            return nil
        }
        let info = value(GeneralCommissioning.id, GeneralCommissioning.Attributes.basicCommissioningInfo)
        let label = value(BasicInformation.id, BasicInformation.Attributes.nodeLabel)?.text ?? ""
        let product = value(BasicInformation.id, BasicInformation.Attributes.productName)?.text
        return Information(
            failSafe: info?[0]?.unsigned.flatMap { UInt16(exactly: $0) } ?? 60,
            location: value(GeneralCommissioning.id, GeneralCommissioning.Attributes.regulatoryConfig)?.unsigned
                .flatMap { UInt8(exactly: $0) } ?? 0,
            vendorID: value(BasicInformation.id, BasicInformation.Attributes.vendorID)?.unsigned.flatMap { VendorID(exactly: $0) } ?? 0,
            productID: value(BasicInformation.id, BasicInformation.Attributes.productID)?.unsigned.flatMap { UInt16(exactly: $0) } ?? 0,
            name: label.isEmpty ? product : label)
    }

    func armFailSafe(seconds: UInt16, breadcrumb: UInt64) async throws {
        let response = try await invoke(GeneralCommissioning.ArmFailSafe(expiryLengthSeconds: seconds, breadcrumb: breadcrumb))
        try check(response.errorCode, response.debugText)
    }

    func setRegulatoryConfig(_ location: UInt8, breadcrumb: UInt64) async throws {
        let response = try await invoke(
            GeneralCommissioning.SetRegulatoryConfig(
                newRegulatoryConfig: GeneralCommissioning.RegulatoryLocationTypeEnum(rawValue: location), countryCode: "XX",
                breadcrumb: breadcrumb))
        try check(response.errorCode, response.debugText)
    }

    /// Asks for the device's certificates and a signature that binds them to this session, and judges them (Matter Core, 6.2.3).
    func attest(
        vendorID: VendorID, productID: UInt16, challenge: [UInt8], trust: AttestationTrust
    ) async throws -> AttestationTrust.Verdict {
        let intermediate = try await invoke(OperationalCredentials.CertificateChainRequest(certificateType: .paiCertificate)).certificate
        let certificate = try await invoke(OperationalCredentials.CertificateChainRequest(certificateType: .dacCertificate)).certificate
        let nonce = Crypto.random(32)
        let response = try await invoke(OperationalCredentials.AttestationRequest(attestationNonce: nonce))
        return try trust.verify(
            dac: certificate, pai: intermediate, elements: response.attestationElements, signature: response.attestationSignature,
            challenge: challenge, nonce: nonce, vendorID: vendorID, productID: productID)
    }

    /// Asks for a certificate signing request and checks that the attested device made it for this session.
    /// - Returns: the public key to certify.
    func certificateRequest(_ verdict: AttestationTrust.Verdict, challenge: [UInt8]) async throws -> [UInt8] {
        let nonce = Crypto.random(32)
        let response = try await invoke(OperationalCredentials.CSRRequest(csrNonce: nonce))
        return try NOCSRElements.verify(
            response.nocsrElements, signature: response.attestationSignature, challenge: challenge, nonce: nonce, key: verdict.deviceKey
        ).publicKey
    }

    func addTrustedRoot(_ certificate: [UInt8]) async throws {
        try await invokeForStatus(OperationalCredentials.AddTrustedRootCertificate(rootCACertificate: certificate))
    }

    func addCertificate(
        _ certificate: [UInt8], intermediate: [UInt8]?, identityProtectionKey: [UInt8], administrator: NodeID
    ) async throws {
        let response = try await invoke(
            OperationalCredentials.AddNOC(
                nocValue: certificate, icacValue: intermediate, ipkValue: identityProtectionKey,
                caseAdminSubject: administrator.rawValue, adminVendorId: DevelopmentVendor.id))
        guard response.statusCode == .ok else {
            let detail = response.debugText.map { " (\($0))" } ?? ""
            throw ControllerError(.refused, "the device refused its certificate: \(response.statusCode)\(detail)")
        }
    }

    /// A device that has no fail-safe any more and still knows the session's fabric has completed before: an answer was lost.
    func complete() async throws {
        let response = try await invoke(GeneralCommissioning.CommissioningComplete())
        if response.errorCode == .noFailSafe { return }
        try check(response.errorCode, response.debugText)
    }

    private func check(_ code: GeneralCommissioning.CommissioningErrorEnum, _ text: String) throws {
        guard code != .ok else { return }
        if code == .busyWithOtherAdmin {
            throw ControllerError(.refused, "the device is being commissioned by another administrator: try again when that is over")
        }
        let detail = text.isEmpty ? "" : " (\(text))"
        throw ControllerError(.refused, "the device refused: \(code)\(detail)")
    }

    // MARK: Typed commands

    func invoke<Request: CommandRequest>(_ request: Request) async throws -> Request.Response where Request.Response: CommandPayload {
        let answer = try await answer(to: request)
        guard case .response(let fields) = answer.outcome else {
            if case .status(let status) = answer.outcome { throw ControllerError.refused(status, "\(Request.self)") }
            throw InteractionError.malformed("no response")
        }
        return try Request.Response(tlv: fields)
    }

    private func invokeForStatus<Request: CommandRequest>(_ request: Request) async throws {
        guard case .status(let status) = try await answer(to: request).outcome else { return }
        if !status.isSuccess { throw ControllerError.refused(status, "\(Request.self)") }
    }

    private func answer<Request: CommandRequest>(to request: Request) async throws -> CommandAnswer {
        let path = WireCommandPath(CommandPath(0, Request.cluster, Request.id))
        guard let answer = try await client.invoke([CommandData(path, request.tlv)]).first else {
            throw InteractionError.malformed("an empty invoke response")
        }
        return answer
    }
}

/// The vendor id under which this controller administers: one of those that are set aside for tests (Matter Core, 2.5.2).
enum DevelopmentVendor {
    static let id: VendorID = 0xFFF1
}
