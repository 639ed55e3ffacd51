import MatterModel
import Testing

@testable import MatterDiscovery

@Suite("Matter's services in DNS-SD")
struct MatterServiceTests {
    @Test("a commissionable service has the keys and subtypes of Matter Core, 4.3.1")
    func commissionable() throws {
        let service = CommissionableService(
            discriminator: 3840, vendor: 0xfff1, product: 0x8000, mode: .enhanced, deviceType: 0x0100, deviceName: "Lamp",
            rotatingID: [0x0a, 0xff], pairingHint: 33, pairingInstruction: "5",
            session: SessionParameters(idleInterval: 500, activeInterval: 300, activeThreshold: 4000, tcp: .server))
        let text = try service.text()
        let strings = text.entries.map { "\($0.key)=\(String(decoding: $0.value ?? [], as: UTF8.self))" }
        #expect(
            strings == [
                "D=3840", "VP=65521+32768", "CM=2", "DT=256", "DN=Lamp", "RI=0AFF", "PH=33", "PI=5", "SII=500", "SAI=300",
                "SAT=4000",
                "T=4",
            ])
        #expect(service.subtypes == ["_S15", "_L3840", "_V65521", "_T256", "_CM"])
        #expect(try CommissionableService(text: TextRecord(encoded: text.encoded)) == service)
    }

    @Test("a closed window has no _CM, and a missing CM means closed")
    func closed() throws {
        let service = CommissionableService(discriminator: 7, mode: .closed)
        #expect(service.subtypes == ["_S0", "_L7"])
        #expect(try CommissionableService(text: TextRecord([("D", "7")])) == service)
    }

    @Test(
        "what has no legal discriminator or mode is refused",
        arguments: [
            [("D", "")], [("D", "4096")], [("D", "03840")], [("D", "+1")], [("D", " 1")], [("CM", "1")],
            [("D", "1"), ("CM", "3")],
            [("D", "1"), ("CM", "x")], [("D", "99999999999999999999")],
        ])
    func refused(pairs: [(String, String)]) {
        let text = TextRecord(pairs.map { (key: $0.0, value: $0.1) })
        #expect(throws: DiscoveryError.self) { try CommissionableService(text: text) }
    }

    @Test("optional fields that are not legal are left out")
    func lenient() throws {
        let text = TextRecord([
            ("D", "1"), ("VP", "70000+1"), ("DT", "-1"), ("DN", String(repeating: "x", count: 33)), ("RI", "ABC"), ("PH", "0"),
            ("PI", String(repeating: "x", count: 129)), ("SII", "3600001"), ("SAI", "1e3"), ("SAT", "65536"), ("T", "8"),
        ])
        #expect(try CommissionableService(text: text) == CommissionableService(discriminator: 1, mode: .closed))
    }

    @Test("fields outside their range are refused before they are advertised")
    func ranges() {
        let wrong = [
            CommissionableService(discriminator: 4096), CommissionableService(discriminator: 1, product: 1),
            CommissionableService(discriminator: 1, deviceName: String(repeating: "é", count: 17)),
            CommissionableService(discriminator: 1, rotatingID: []), CommissionableService(discriminator: 1, pairingHint: 0),
            CommissionableService(discriminator: 1, pairingInstruction: String(repeating: "x", count: 129)),
        ]
        for service in wrong { #expect(throws: DiscoveryError.self) { try service.text() } }
    }

    @Test("an operational service is named after fabric and node")
    func operational() throws {
        let service = OperationalService(compressedFabric: 0x2906_C908_D115_D362, node: 0x8FC7_7724_01CD_0696)
        #expect(service.instance == "2906C908D115D362-8FC7772401CD0696")
        #expect(service.subtypes == ["_I2906C908D115D362"])
        #expect(try OperationalService(instance: service.instance.lowercased()) == service)
        #expect(OperationalService(compressedFabric: 1, node: 2).instance == "0000000000000001-0000000000000002")
    }

    @Test(
        "other names are no operational nodes",
        arguments: ["", "-", "1-2", "+906C908D115D362-8FC7772401CD0696", "2906C908D115D362"])
    func notOperational(name: String) {
        #expect(throws: DiscoveryError.self) { try OperationalService(instance: name) }
    }

    @Test("a random instance is 16 upper-case digits, and not the same twice")
    func randomInstance() {
        let names = (0..<100).map { _ in CommissionableService.randomInstance() }
        #expect(Set(names).count == 100)
        #expect(names.allSatisfy { name in name.count == 16 && name.allSatisfy { "0123456789ABCDEF".contains($0) } })
    }

    @Test("filters name their subtype and check what came")
    func filters() {
        let service = CommissionableService(discriminator: 0xf00)
        #expect(CommissionableFilter.discriminator(0xf00).matches(service))
        #expect(!CommissionableFilter.discriminator(0xf01).matches(service))
        #expect(CommissionableFilter.shortDiscriminator(15).matches(service))
        #expect(!CommissionableFilter.shortDiscriminator(14).matches(service))
        #expect(CommissionableFilter.discriminator(0xf00).subtype == "_L3840")
        #expect(CommissionableFilter.shortDiscriminator(15).subtype == "_S15")
        #expect(CommissionableFilter.any.subtype == nil && CommissionableFilter.any.matches(service))
    }
}

@Suite("TXT records and names")
struct RecordTests {
    @Test("strings, keys without value, and bytes that are no text")
    func text() {
        var text = TextRecord()
        text.append("a", [0xff, 0])
        text.append("flag", nil)
        text.append("A", [1])  // the first counts, in either case
        text.append("", [1])
        text.append("x=y", [1])
        text.append("long", [UInt8](repeating: 1, count: 251))
        #expect(text.entries == [.init(key: "a", value: [0xff, 0]), .init(key: "flag", value: nil)])
        #expect(text.encoded == [4, 0x61, 0x3d, 0xff, 0, 4] + Array("flag".utf8))
        #expect(TextRecord(encoded: text.encoded) == text)
        #expect(text["a"] == nil && text["flag"] == nil)
        #expect(TextRecord().encoded == [0] && TextRecord(encoded: [0]) == TextRecord())
    }

    @Test("a string that runs over the end is not read")
    func truncated() {
        #expect(TextRecord(encoded: [3, 0x61, 0x3d, 0x62, 200, 1]) == TextRecord([("a", "b")]))
        #expect(TextRecord(encoded: []) == TextRecord())
    }

    @Test("hostile TXT data is read without a trap and survives a round trip")
    func hostile() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) & 0x7f
            }
            let text = TextRecord(encoded: bytes)
            #expect(TextRecord(encoded: text.encoded) == text)
        }
    }

    @Test(
        "service types are checked", arguments: ["", "_x", "x._tcp", "_._tcp", "_a b._tcp", "_x._sctp", "_abcdefghijklmnop._tcp"])
    func badType(name: String) {
        #expect(throws: DiscoveryError.self) { try ServiceType(name) }
    }

    @Test("a name that is taken is numbered and stays within 63 bytes")
    func numbering() {
        #expect(NameConflict.next("Lamp", .number) == "Lamp (2)")
        #expect(NameConflict.next("Lamp (2)", .number) == "Lamp (3)")
        #expect(NameConflict.next("Lamp (x)", .number) == "Lamp (x) (2)")
        #expect(NameConflict.next("(3)", .number) == "(3) (2)")
        let long = String(repeating: "é", count: 31)
        #expect(NameConflict.next(long, .number) == String(repeating: "é", count: 29) + " (2)")
        #expect(NameConflict.next("A", .fail) == nil)
        #expect(NameConflict.next("A", .replace { $0 + "B" }) == "AB")
        #expect(NameConflict.next("A", .replace { $0 }) == nil)
    }

    @Test("records that no wire can hold are refused")
    func validation() throws {
        let name = ServiceName("A", .operational)
        try ServiceRecord(name: name, port: 1).validate()
        var text = TextRecord()
        for i in 0..<5 { text.append("k\(i)", [UInt8](repeating: 1, count: 250)) }
        let wrong = [
            ServiceRecord(name: name, port: 0), ServiceRecord(name: ServiceName("", .operational), port: 1),
            ServiceRecord(name: ServiceName(String(repeating: "x", count: 64), .operational), port: 1),
            ServiceRecord(name: name, subtypes: [""], port: 1), ServiceRecord(name: name, port: 1, text: text),
            ServiceRecord(name: name, host: ServiceHost(name: "a.b", addresses: [.loopback4]), port: 1),
            ServiceRecord(name: name, host: ServiceHost(name: "a", addresses: []), port: 1),
        ]
        for record in wrong { #expect(throws: DiscoveryError.self) { try record.validate() } }
    }
}
