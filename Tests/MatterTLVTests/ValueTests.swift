import MatterTLV
import Testing

@Suite struct ValueTests {
    @Test func equalityIsOfTheElement() {
        #expect(TLVValue.signed(1) != .unsigned(1))
        #expect(TLVValue.float(1) != .double(1))
        #expect(TLVValue.float(.nan) == .float(.nan))
        #expect(TLVValue.double(0) != .double(-0.0))
        // Composed and decomposed are different bytes, though Swift's strings are equal.
        #expect(TLVValue.utf8("é") != .utf8("e\u{301}"))
        #expect(TLVValue.structure([]) != .list([]))
        let values: [TLVValue] = [
            .signed(1), .unsigned(1), .float(1), .double(1), .utf8("1"), .octets([1]), .null, .boolean(true), .array([]),
            .structure([]), .list([]), .structure([.init(0, .null)]), .structure([.init(1, .null)]), .utf8("é"),
            .utf8("e\u{301}"),
        ]
        #expect(Set(values).count == values.count)
        #expect(Set(values + values).count == values.count)
    }

    @Test func numbersThatFit() {
        #expect(TLVValue.signed(5).unsigned == 5)
        #expect(TLVValue.signed(-5).unsigned == nil)
        #expect(TLVValue.unsigned(.max).signed == nil)
        #expect(TLVValue.unsigned(7).signed == 7)
        #expect(TLVValue.double(7).signed == nil)
        #expect(TLVValue.boolean(true).boolean == true)
        #expect(TLVValue.null.isNull)
        #expect(TLVValue.utf8("x").text == "x")
        #expect(TLVValue.utf8("x").octets == nil)
        #expect(TLVValue.octets([1]).octets == [1])
    }

    @Test func members() {
        let value = TLVValue.structure([.init(1, .unsigned(7)), .init(.commonProfile(2), .null), .init(1, .unsigned(8))])
        #expect(value[1] == .unsigned(7))
        #expect(value[2] == nil)
        #expect(value.members?.count == 3)
        #expect(value.array == nil)
        #expect(TLVValue.array([.null])[0] == nil)
        #expect(TLVValue.array([.null]).array == [.null])
    }

    @Test func aWriterIsReusedAndTakenBack() {
        var writer = TLVWriter()
        writer.structure(.anonymous) { writer in
            writer.unsigned(0, 1)
            let before = writer.count
            writer.octets(1, [UInt8](repeating: 0, count: 100))
            writer.truncate(to: before)
            writer.boolean(2, true)
        }
        #expect(hex(writer.bytes) == "152400012902" + "18")
        writer.truncate(to: 1_000)
        #expect(writer.count == 7)
        writer.removeAll()
        writer.array(.context(3)) { writer in writer.null(.anonymous) }
        writer.list(.commonProfile(1)) { _ in }
        writer.raw(hex("0405"))
        #expect(hex(writer.bytes) == "36031418" + "57010018" + "0405")
        writer.truncate(to: -1)
        #expect(writer.bytes.isEmpty)
    }

    @Test func anErrorInABodyPassesThrough() {
        struct Stop: Error, Equatable {}
        var writer = TLVWriter()
        #expect(throws: Stop()) { try writer.structure(.anonymous) { _ in throw Stop() } }
    }
}
