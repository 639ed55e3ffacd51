import HearthTime
import MatterCredentials
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// A host that only remembers what it was told.
final class RecordingHost: DeviceHost {
    var fabricChanges = 0
    var windowChanges = 0
    var closed: [FabricIndex] = []
    var spared: Session?
    var pairingClosed = 0
    func fabricsChanged() { fabricChanges += 1 }
    func commissioningWindowChanged() { windowChanges += 1 }
    func closeSessions(of fabric: FabricIndex, sparing spared: Session?) {
        closed.append(fabric)
        self.spared = spared
    }
    func closePairingSession() { pairingClosed += 1 }
}

/// A commissioner's side of one fabric.
struct Administrator {
    let authority: FabricAuthority
    let node: UInt64
    var vendor: VendorID = 0xFFF1
    var ipk: [UInt8] = [UInt8](repeating: 3, count: 16)

    init(fabric: FabricID, node: UInt64 = 0x1_0001, withIntermediate: Bool = false) throws {
        // A day before the timeline's default epoch of 2026-01-01.
        authority = try FabricAuthority(
            fabricID: fabric, withIntermediate: withIntermediate, notBefore: try #require(MatterTime(unix: 1_767_139_200)))
        self.node = node
    }

    var now: MatterTime { MatterTime(unix: 1_767_225_600) ?? .never }
}

extension Bench {
    static let identity: DeviceIdentity = {
        // The vectors of the setup codes in the specification: passcode 20202021, discriminator 3840.
        do {
            let pairing = try PairingParameters(
                passcode: Passcode(20_202_021), discriminator: 3840,
                key: PBKDFParameters(iterations: 1000, salt: [UInt8](repeating: 5, count: 16)))
            return DeviceIdentity(
                productName: "Bench", serialNumber: "B-1", uniqueID: "bench-1", nodeLabel: "", pairing: pairing)
        } catch { preconditionFailure("\(error)") }
    }()

    /// Makes the root endpoint and a host; starts unless told otherwise.
    func makeRoot(start: Bool = true) throws -> RecordingHost {
        node.addRootEndpoint(
            identity: Self.identity, attestation: try DevelopmentAttestation.credentials(vendorID: 0xFFF1, productID: 0x8000))
        let host = RecordingHost()
        node.host = host
        if start { node.start() }
        return host
    }

    // MARK: Commissioning, step by step

    func arm(_ peer: SessionContext, seconds: UInt16 = 60, breadcrumb: UInt64 = 1) throws
        -> GeneralCommissioning.CommissioningErrorEnum
    {
        try invoke(
            GeneralCommissioning.ArmFailSafe(expiryLengthSeconds: seconds, breadcrumb: breadcrumb), at: 0, .init(peer: peer)
        ).errorCode
    }

    func requestKey(update: Bool? = nil, _ peer: SessionContext) throws -> [UInt8] {
        let nonce = [UInt8](repeating: 1, count: 32)
        let answer = try invoke(
            OperationalCredentials.CSRRequest(csrNonce: nonce, isForUpdateNOC: update), at: 0, .init(peer: peer))
        let dac = try AttestationCertificate(der: DevelopmentAttestation.credentials(vendorID: 0xFFF1, productID: 0x8000).dac)
        let request = try NOCSRElements.verify(
            answer.nocsrElements, signature: answer.attestationSignature, challenge: peer.attestationChallenge, nonce: nonce,
            key: PublicKey(point: dac.publicKey))
        return request.publicKey
    }

    func addRoot(_ admin: Administrator, _ peer: SessionContext) throws {
        try invoke(
            OperationalCredentials.AddTrustedRootCertificate(rootCACertificate: admin.authority.root.tlv), at: 0,
            .init(peer: peer))
    }

    func addNOC(
        _ admin: Administrator, node: NodeID = 0x2_0001, key: [UInt8], subject: UInt64? = nil, _ peer: SessionContext
    ) throws -> OperationalCredentials.NOCResponse {
        let noc = try admin.authority.issueNode(node, publicKey: key, now: admin.now)
        return try invoke(
            OperationalCredentials.AddNOC(
                nocValue: noc.tlv, icacValue: admin.authority.intermediate?.tlv, ipkValue: admin.ipk,
                caseAdminSubject: subject ?? admin.node, adminVendorId: admin.vendor), at: 0, .init(peer: peer))
    }

    func complete(_ peer: SessionContext) throws -> GeneralCommissioning.CommissioningErrorEnum {
        try invoke(GeneralCommissioning.CommissioningComplete(), at: 0, .init(peer: peer)).errorCode
    }

    /// Everything from the proof of the passcode to the end. - Returns: the administrator's peer on the new fabric.
    @discardableResult
    func commission(_ admin: Administrator, node id: NodeID = 0x2_0001) throws -> SessionContext {
        #expect(node.commissioning.failSafe.pairingEstablished())
        #expect(try arm(.pairing()) == .ok)
        let key = try requestKey(.pairing())
        try addRoot(admin, .pairing())
        let answer = try addNOC(admin, node: id, key: key, .pairing())
        #expect(answer.statusCode == .ok)
        let index = try #require(answer.fabricIndex)
        let peer = SessionContext.node(admin.node, fabric: index.rawValue)
        #expect(try complete(peer) == .ok)
        return peer
    }
}
