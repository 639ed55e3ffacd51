import HearthTime
import MatterCredentials
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// The commissioning window, at the device and through Administrator Commissioning (Matter Core, 11.19).
@Suite struct CommissioningWindowTests {
    typealias Spec = AdministratorCommissioning

    private static func attributes(_ bench: Bench) throws -> [TLVValue] {
        try [Spec.Attributes.windowStatus, Spec.Attributes.adminFabricIndex, Spec.Attributes.adminVendorId].map {
            try bench.read(Spec.id, $0, at: 0)
        }
    }

    private static func request(
        timeout: UInt16 = 300, verifier: [UInt8]? = nil, discriminator: UInt16 = 77, iterations: UInt32 = 2000, salt: Int = 32
    ) throws -> Spec.OpenCommissioningWindow {
        let parameters = try PBKDFParameters(iterations: 2000, salt: [UInt8](repeating: 8, count: 32))
        return Spec.OpenCommissioningWindow(
            commissioningTimeout: timeout,
            pakePasscodeVerifier: try verifier
                ?? Spake2Plus.Verifier(passcode: Passcode(20_202_021), parameters: parameters).serialized,
            discriminator: discriminator, iterations: iterations, salt: [UInt8](repeating: 8, count: salt))
    }

    /// The cluster's own status that something throws.
    private static func clusterStatus(_ body: () throws -> Void) -> Spec.StatusCodeEnum? {
        do {
            try body()
        } catch let status as Status {
            return status.clusterStatus.map { Spec.StatusCodeEnum(rawValue: $0) }
        } catch { Issue.record("\(error)") }
        return nil
    }

    @Test func anUnpairedDeviceIsOpenForAsLongAsItIsUnpaired() async throws {
        try await Bench.run { bench in
            let host = try bench.makeRoot()
            let window = bench.node.commissioning.window
            #expect(window.mode == .basic && window.parameters == Bench.identity.pairing)
            #expect(host.windowChanges == 1)
            try await bench.advance(.seconds(1_000_000))
            #expect(window.isOpen)
            #expect(try Self.attributes(bench) == [.unsigned(0), .null, .null], "no administrator opened it")
        }
    }

    @Test func theInitialWindowCanEnd() async throws {
        try await Bench.run { bench in
            bench.node.commissioning.window.initialDuration = .seconds(900)
            _ = try bench.makeRoot()
            try await bench.advance(.seconds(899))
            #expect(bench.node.commissioning.window.isOpen)
            try await bench.advance(.seconds(1))
            #expect(!bench.node.commissioning.window.isOpen)
            try bench.node.commissioning.window.openBasic(for: .seconds(60))
            #expect(status { try bench.node.commissioning.window.openBasic() } == .busy)
            try await bench.advance(.seconds(60))
            #expect(!bench.node.commissioning.window.isOpen)
        }
    }

    @Test func anAdministratorOpensItWithAPasscodeOfItsOwn() async throws {
        try await Bench.run { bench in
            let host = try bench.makeRoot()
            let peer = try bench.commission(Administrator(fabric: 1))
            let before = host.windowChanges
            try bench.invoke(Self.request(), at: 0, .init(peer: peer, isTimed: true))
            let window = bench.node.commissioning.window
            #expect(window.mode == .enhanced && window.parameters?.discriminator == 77)
            #expect(window.parameters?.key.iterations == 2000)
            #expect(host.windowChanges == before + 1)
            #expect(try Self.attributes(bench) == [.unsigned(1), .unsigned(1), .unsigned(0xFFF1)])
            #expect(Self.clusterStatus { try bench.invoke(Self.request(), at: 0, .init(peer: peer, isTimed: true)) } == .busy)
            try await bench.advance(.seconds(300))
            #expect(!window.isOpen && window.parameters == nil)
            #expect(try Self.attributes(bench) == [.unsigned(0), .null, .null])
        }
    }

    @Test func parametersOutOfBoundsHaveTheirOwnStatus() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let peer = try bench.commission(Administrator(fabric: 1))
            func open(_ request: Spec.OpenCommissioningWindow) -> Spec.StatusCodeEnum? {
                Self.clusterStatus { try bench.invoke(request, at: 0, .init(peer: peer, isTimed: true)) }
            }
            #expect(open(try Self.request(iterations: 999)) == .pakeParameterError)
            #expect(open(try Self.request(iterations: 100_001)) == .pakeParameterError)
            #expect(open(try Self.request(iterations: .max)) == .pakeParameterError)
            #expect(open(try Self.request(salt: 15)) == .pakeParameterError)
            #expect(open(try Self.request(salt: 33)) == .pakeParameterError)
            #expect(open(try Self.request(verifier: [1, 2, 3])) == .pakeParameterError)
            #expect(open(try Self.request(verifier: [UInt8](repeating: 0xFF, count: 97))) == .pakeParameterError)
            #expect(open(try Self.request(discriminator: 4096)) == .pakeParameterError)
            for timeout: UInt16 in [0, 179, 901] {
                #expect(
                    status { try bench.invoke(Self.request(timeout: timeout), at: 0, .init(peer: peer, isTimed: true)) }
                        == .invalidCommand)
                #expect(
                    status {
                        try bench.invoke(
                            Spec.OpenBasicCommissioningWindow(commissioningTimeout: timeout), at: 0,
                            .init(peer: peer, isTimed: true))
                    } == .invalidCommand)
            }
            #expect(!bench.node.commissioning.window.isOpen)
        }
    }

    @Test func revokingClosesItAndSendsAwayWhoCameThrough() async throws {
        try await Bench.run { bench in
            let host = try bench.makeRoot()
            let peer = try bench.commission(Administrator(fabric: 1))
            func revoke() throws { try bench.invoke(Spec.RevokeCommissioning(), at: 0, .init(peer: peer, isTimed: true)) }
            #expect(Self.clusterStatus { try revoke() } == .windowNotOpen)
            try bench.invoke(
                Spec.OpenBasicCommissioningWindow(commissioningTimeout: 180), at: 0, .init(peer: peer, isTimed: true))
            #expect(try Self.attributes(bench).first == .unsigned(2))
            #expect(bench.node.commissioning.failSafe.pairingEstablished())
            let closed = host.pairingClosed
            try revoke()
            #expect(!bench.node.commissioning.window.isOpen && !bench.node.commissioning.failSafe.isArmed)
            #expect(host.pairingClosed == closed + 1)
        }
    }

    @Test func itIsRefusedWhileSomebodyCommissions() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let peer = try bench.commission(Administrator(fabric: 1))
            #expect(try bench.arm(peer) == .ok)
            #expect(Self.clusterStatus { try bench.invoke(Self.request(), at: 0, .init(peer: peer, isTimed: true)) } == .busy)
            #expect(status { try bench.node.commissioning.window.openBasic() } == .busy)
        }
    }

    @Test func twentyWrongPasscodesCloseIt() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let window = bench.node.commissioning.window
            for _ in 1...19 {
                #expect(window.attemptBegan())
                window.attemptFailed()
            }
            // A right one in between does not count.
            #expect(window.attemptBegan())
            window.attemptSucceeded()
            #expect(window.attempts == 19 && window.isOpen)
            #expect(window.attemptBegan())
            #expect(!window.attemptBegan(), "the twentieth is still under way")
            window.attemptFailed()
            #expect(!window.isOpen)
            #expect(!window.attemptBegan())
            try window.openBasic()
            #expect(window.attempts == 0)
        }
    }

    @Test func theOpenersFabricMayGo() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let peer = try bench.commission(Administrator(fabric: 1))
            try bench.node.commissioning.window.openBasic()
            try bench.commission(Administrator(fabric: 2))
            try bench.invoke(Self.request(), at: 0, .init(peer: peer, isTimed: true))
            bench.node.commissioning.leave(1)
            #expect(try Self.attributes(bench) == [.unsigned(1), .null, .unsigned(0xFFF1)])
        }
    }
}
