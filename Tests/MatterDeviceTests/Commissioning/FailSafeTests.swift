import HearthTime
import MatterCredentials
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// The fail-safe in virtual time (Matter Core, 11.10.7.2).
@Suite struct FailSafeTests {
    typealias Spec = GeneralCommissioning

    private static func breadcrumb(_ bench: Bench) throws -> TLVValue {
        try bench.read(Spec.id, Spec.Attributes.breadcrumb, at: 0)
    }

    @Test func pairingArmsItForAMinute() async throws {
        try await Bench.run { bench in
            let host = try bench.makeRoot()
            let failSafe = bench.node.commissioning.failSafe
            #expect(failSafe.pairingEstablished())
            #expect(failSafe.fabricIndex == 0)
            try await bench.advance(.milliseconds(59_999))
            #expect(failSafe.isArmed)
            try await bench.advance(.milliseconds(1))
            #expect(!failSafe.isArmed)
            #expect(host.pairingClosed == 1)
            #expect(bench.node.commissioning.window.isOpen, "an unpaired device can be paired again")
        }
    }

    @Test func armingAgainMovesTheEndButNotBeyondTheLimit() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let failSafe = bench.node.commissioning.failSafe
            #expect(try bench.arm(.pairing(), seconds: 600, breadcrumb: 7) == .ok)
            #expect(try Self.breadcrumb(bench) == .unsigned(7))
            try await bench.advance(.seconds(599))
            #expect(try bench.arm(.pairing(), seconds: 600, breadcrumb: 8) == .ok)
            #expect(try Self.breadcrumb(bench) == .unsigned(8))
            try await bench.advance(.seconds(300))
            #expect(failSafe.isArmed, "899 s")
            try await bench.advance(.seconds(1))
            #expect(!failSafe.isArmed, "900 s in all")
            #expect(try Self.breadcrumb(bench) == .unsigned(0))
        }
    }

    @Test func zeroSecondsEndsIt() async throws {
        try await Bench.run { bench in
            let host = try bench.makeRoot()
            #expect(try bench.arm(.pairing(), seconds: 0, breadcrumb: 9) == .ok, "not armed: nothing happens")
            #expect(try Self.breadcrumb(bench) == .unsigned(0))
            #expect(host.pairingClosed == 0)
            #expect(try bench.arm(.pairing()) == .ok)
            #expect(try bench.arm(.pairing(), seconds: 0) == .ok)
            #expect(!bench.node.commissioning.failSafe.isArmed)
            #expect(host.pairingClosed == 1, "after the answer")
        }
    }

    @Test func expiryTakesTheFabricBack() async throws {
        try await Bench.run { bench in
            let host = try bench.makeRoot()
            let before = bench.store.values
            let admin = try Administrator(fabric: 1)
            #expect(bench.node.commissioning.failSafe.pairingEstablished())
            let key = try bench.requestKey(.pairing())
            try bench.addRoot(admin, .pairing())
            #expect(try bench.addNOC(admin, key: key, .pairing()).statusCode == .ok)
            #expect(bench.node.commissioning.fabrics.pendingFabric == 1)
            #expect(bench.store.keys(withPrefix: "fabrics/record/").isEmpty, "pending is not stored")

            // After AddNOC a lost connection changes nothing; the timer decides.
            bench.node.commissioning.failSafe.pairingEnded()
            #expect(bench.node.commissioning.fabrics[1] != nil)
            try await bench.advance(.seconds(60))
            #expect(bench.node.commissioning.fabrics.fabrics.isEmpty)
            #expect(host.closed == [1])
            #expect(host.fabricChanges == 2)
            let acl = try bench.read(AccessControl.id, AccessControl.Attributes.acl, at: 0)
            #expect(acl == .array([]))
            #expect(
                try bench.read(OperationalCredentials.id, OperationalCredentials.Attributes.trustedRootCertificates, at: 0)
                    == .array([]))
            // The device is as before, but for numbers that only grow and events.
            let growing = ["fabrics/last-index", "fabrics/last-generation", "event-boundary"]
            let empty = TLVValue.array([]).encoded()
            let after = bench.store.values.filter { !growing.contains($0.key) && $0.value != empty }
            #expect(after == before.filter { !growing.contains($0.key) && $0.value != empty })
            // And can be paired.
            #expect(try bench.commission(admin).fabricIndex == 2)
        }
    }

    @Test func aConnectionLostBeforeAddNOCEndsItAtOnce() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let admin = try Administrator(fabric: 1)
            #expect(bench.node.commissioning.failSafe.pairingEstablished())
            _ = try bench.requestKey(.pairing())
            try bench.addRoot(admin, .pairing())
            let roots = OperationalCredentials.Attributes.trustedRootCertificates
            #expect(try bench.read(OperationalCredentials.id, roots, at: 0) == .array([.octets(admin.authority.root.tlv)]))
            bench.node.commissioning.failSafe.pairingEnded()
            #expect(!bench.node.commissioning.failSafe.isArmed)
            #expect(try bench.read(OperationalCredentials.id, roots, at: 0) == .array([]))
        }
    }

    @Test func itBelongsToWhoArmedIt() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            let first = try bench.commission(Administrator(fabric: 1))
            try bench.node.commissioning.window.openBasic()
            // While the window is open it is kept for whoever comes through.
            #expect(try bench.arm(first) == .busyWithOtherAdmin)
            let second = try bench.commission(Administrator(fabric: 2))

            #expect(try bench.arm(first) == .ok)
            #expect(try bench.arm(second) == .busyWithOtherAdmin)
            #expect(!bench.node.commissioning.failSafe.pairingEstablished())
            #expect(status { _ = try bench.requestKey(second) } == .failsafeRequired)
            #expect(try bench.complete(second) == .invalidAuthentication)
            #expect(try bench.complete(first) == .ok)
            #expect(try bench.arm(second) == .ok)
        }
    }

    @Test func theRegionIsSetWithinWhatTheDeviceIsMadeFor() async throws {
        try await Bench.run { bench in
            _ = try bench.makeRoot()
            func set(_ place: Spec.RegulatoryLocationTypeEnum, _ country: String) throws -> Spec.CommissioningErrorEnum {
                try bench.invoke(
                    Spec.SetRegulatoryConfig(newRegulatoryConfig: place, countryCode: country, breadcrumb: 3), at: 0,
                    .init(peer: .pairing())
                ).errorCode
            }
            #expect(try bench.read(Spec.id, Spec.Attributes.regulatoryConfig, at: 0) == .unsigned(2))
            #expect(try set(.indoor, "DE") == .ok)
            #expect(try bench.read(Spec.id, Spec.Attributes.regulatoryConfig, at: 0) == .unsigned(0))
            #expect(try bench.read(BasicInformation.id, BasicInformation.Attributes.location, at: 0) == .utf8("DE"))
            #expect(try Self.breadcrumb(bench) == .unsigned(3))
            #expect(try set(.indoor, "d1") == .valueOutsideRange)
            #expect(status { _ = try set(.indoor, "DEU") } == .constraintError)
            #expect(status { _ = try set(.init(rawValue: 7), "DE") } == .constraintError)
        }
    }
}
