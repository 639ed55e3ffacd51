import MatterTLV
import Testing

/// Encodings that Matter Core 1.4, appendix A.12 lists, and some made by other programs.
@Suite struct VectorTests {
    static let listedValues: [(String, TLVValue)] = [
        ("08", .boolean(false)),
        ("09", .boolean(true)),
        ("00 2a", .signed(42)),
        ("00 ef", .signed(-17)),
        ("04 2a", .unsigned(42)),
        ("02 f0 67 fd ff", .signed(-170_000)),
        ("03 00 90 2f 50 09 00 00 00", .signed(40_000_000_000)),
        ("0c 06 48 65 6c 6c 6f 21", .utf8("Hello!")),
        ("0c 07 54 73 63 68 c3 bc 73", .utf8("Tschüs")),
        ("10 05 00 01 02 03 04", .octets([0, 1, 2, 3, 4])),
        ("14", .null),
        ("0a 00 00 00 00", .float(0)),
        ("0a ab aa aa 3e", .float(1 / 3)),
        ("0a 33 33 8f 41", .float(17.9)),
        ("0a 00 00 80 7f", .float(.infinity)),
        ("0a 00 00 80 ff", .float(-.infinity)),
        ("0b 00 00 00 00 00 00 00 00", .double(0)),
        ("0b 55 55 55 55 55 55 d5 3f", .double(1 / 3)),
        ("0b 66 66 66 66 66 e6 31 40", .double(17.9)),
        ("0b 00 00 00 00 00 00 f0 7f", .double(.infinity)),
        ("0b 00 00 00 00 00 00 f0 ff", .double(-.infinity)),
        ("15 18", .structure([])),
        ("16 18", .array([])),
        ("17 18", .list([])),
        ("15 20 00 2a 20 01 ef 18", .structure([.init(0, .signed(42)), .init(1, .signed(-17))])),
        ("16 00 00 00 01 00 02 00 03 00 04 18", .array((0..<5).map { .signed($0) })),
        (
            "17 00 01 20 00 2a 00 02 00 03 20 00 ef 18",
            .list([
                .init(.anonymous, .signed(1)), .init(0, .signed(42)), .init(.anonymous, .signed(2)),
                .init(.anonymous, .signed(3)), .init(0, .signed(-17)),
            ])
        ),
        (
            "16 00 2a 02 f0 67 fd ff 15 18 0a 33 33 8f 41 0c 06 48 65 6c 6c 6f 21 18",
            .array([.signed(42), .signed(-170_000), .structure([]), .float(17.9), .utf8("Hello!")])
        ),
        // Not of the appendix: command fields as another implementation encodes them.
        (
            "15 24 00 80 24 01 0a 24 02 00 24 03 00 18",
            .structure([.init(0, .unsigned(128)), .init(1, .unsigned(10)), .init(2, .unsigned(0)), .init(3, .unsigned(0))])
        ),
        ("15 30 00 04 31 32 33 34 18", .structure([.init(0, .octets(Array("1234".utf8)))])),
        ("15 24 00 00 20 01 fb 18", .structure([.init(0, .unsigned(0)), .init(1, .signed(-5))])),
        ("15 25 00 88 13 18", .structure([.init(0, .unsigned(5_000))])),
    ]

    @Test(arguments: listedValues) func values(bytes: String, value: TLVValue) throws {
        #expect(try TLVValue(decoding: hex(bytes)) == value)
        #expect(hex(value.encoded()) == hex(hex(bytes)))
    }

    static let listedTags: [(String, TLVElement)] = [
        ("04 2a", .init(.anonymous, .unsigned(42))),
        ("44 01 00 2a", .init(.commonProfile(1), .unsigned(42))),
        ("64 a0 86 01 00 2a", .init(.commonProfile(100_000), .unsigned(42))),
        ("c4 f1 ff ed de 01 00 2a", .init(.fullyQualified(vendor: 65_521, profile: 57_069, tag: 1), .unsigned(42))),
        (
            "e4 f1 ff ed de ed fe 55 aa 2a",
            .init(.fullyQualified(vendor: 65_521, profile: 57_069, tag: 0xAA55_FEED), .unsigned(42))
        ),
        (
            "d5 f1 ff ed de 01 00 c4 f1 ff ed de aa 00 2a 18",
            .init(
                .fullyQualified(vendor: 65_521, profile: 57_069, tag: 1),
                .structure([.init(.fullyQualified(vendor: 65_521, profile: 57_069, tag: 0xAA), .unsigned(42))]))
        ),
        // The appendix has no example of an implicit profile (A.2.3: forms 4 and 5).
        ("84 01 00 2a", .init(.implicitProfile(1), .unsigned(42))),
        ("a4 a0 86 01 00 2a", .init(.implicitProfile(100_000), .unsigned(42))),
    ]

    @Test(arguments: listedTags) func tags(bytes: String, element: TLVElement) throws {
        #expect(try TLVElement(decoding: hex(bytes)) == element)
        #expect(hex(element.value.encoded(tag: element.tag)) == hex(hex(bytes)))
    }

    /// The appendix writes a context tag by itself as `24 01 2a`; in a message it stands in a structure or a list only.
    @Test func contextTagsNeedAContainer() throws {
        #expect(TLVValue.unsigned(42).encoded(tag: .context(1)) == hex("24 01 2a"))
        #expect(decodingError(hex("24 01 2a")) == TLVError(.tagNotAllowed, at: 0, "a context tag needs a container"))
        #expect(try TLVValue(decoding: hex("15 24 01 2a 18"))[1] == .unsigned(42))
        #expect(try TLVValue(decoding: hex("17 24 01 2a 18"))[1] == .unsigned(42))
    }

    @Test(arguments: [
        ("01 2a 00", TLVValue.signed(42)), ("02 ef ff ff ff", .signed(-17)), ("03 2a 00 00 00 00 00 00 00", .signed(42)),
        ("05 2a 00", .unsigned(42)), ("06 2a 00 00 00", .unsigned(42)), ("07 2a 00 00 00 00 00 00 00", .unsigned(42)),
        ("0d 01 00 61", .utf8("a")), ("0e 01 00 00 00 61", .utf8("a")), ("0f 01 00 00 00 00 00 00 00 61", .utf8("a")),
        ("11 01 00 61", .octets([0x61])), ("12 01 00 00 00 61", .octets([0x61])),
        ("13 01 00 00 00 00 00 00 00 61", .octets([0x61])), ("0c 00", .utf8("")), ("10 00", .octets([])),
        ("07 ff ff ff ff ff ff ff ff", .unsigned(.max)), ("03 00 00 00 00 00 00 00 80", .signed(.min)),
    ]) func everyWidthIsRead(bytes: String, value: TLVValue) throws {
        #expect(try TLVValue(decoding: hex(bytes)) == value)
    }

    @Test(arguments: [
        ("64 01 00 00 00 14", TLVTag.commonProfile(1)), ("a4 01 00 00 00 14", .implicitProfile(1)),
        ("e4 f1 ff ed de 01 00 00 00 14", .fullyQualified(vendor: 65_521, profile: 57_069, tag: 1)),
    ]) func wideTagsAreRead(bytes: String, tag: TLVTag) throws {
        #expect(try TLVElement(decoding: hex(bytes)).tag == tag)
    }

    @Test(arguments: [
        (UInt64(0), "0400"), (0xFF, "04ff"), (0x100, "050001"), (0xFFFF, "05ffff"), (0x1_0000, "0600000100"),
        (0xFFFF_FFFF, "06ffffffff"), (0x1_0000_0000, "070000000001000000"), (.max, "07ffffffffffffffff"),
    ]) func unsignedTakesItsShortestWidth(number: UInt64, bytes: String) {
        #expect(hex(TLVValue.unsigned(number).encoded()) == bytes)
    }

    @Test(arguments: [
        (Int64(127), "007f"), (128, "018000"), (-128, "0080"), (-129, "017fff"), (32_767, "01ff7f"), (32_768, "0200800000"),
        (-32_769, "02ff7fffff"), (2_147_483_647, "02ffffff7f"), (2_147_483_648, "030000008000000000"),
        (-2_147_483_649, "03ffffff7fffffffff"), (.min, "030000000000000080"),
    ]) func signedTakesItsShortestWidth(number: Int64, bytes: String) {
        #expect(hex(TLVValue.signed(number).encoded()) == bytes)
    }

    @Test func stringsTakeTheirShortestLength() throws {
        for (count, head) in [(255, "10ff"), (256, "110001"), (65_535, "11ffff"), (65_536, "1200000100")] {
            let bytes = TLVValue.octets([UInt8](repeating: 7, count: count)).encoded()
            #expect(hex(bytes).hasPrefix(head))
            #expect(bytes.count == count + head.count / 2)
        }
        #expect(hex(TLVValue.utf8(String(repeating: "é", count: 128)).encoded()).hasPrefix("0d0001c3a9"))
    }
}
