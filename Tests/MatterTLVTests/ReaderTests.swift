import MatterTLV
import Testing

@Suite struct ReaderTests {
    /// Bytes, what is wrong with them, and where.
    static let wrong: [(String, TLVError.Code, Int)] = [
        ("", .truncated, 0),
        ("00", .truncated, 1),
        ("01 2a", .truncated, 1),
        ("03 01 02 03", .truncated, 1),
        ("0a 00 00 00", .truncated, 1),
        ("0b 00 00 00 00", .truncated, 1),
        ("44 01", .truncated, 1),
        ("c4 f1 ff ed", .truncated, 3),
        ("c4 f1 ff ed de 01", .truncated, 5),
        ("0c", .truncated, 1),
        ("0d 01", .truncated, 1),
        ("0c 02 61", .truncated, 0),
        ("10 ff", .truncated, 0),
        ("13 ff ff ff ff ff ff ff ff", .truncated, 0),
        ("0f ff ff ff ff ff ff ff 7f 61", .truncated, 0),
        ("15", .truncated, 1),
        ("15 24 00 2a", .truncated, 4),
        ("16 15 18", .truncated, 3),
        ("15 36 00 04 2a", .truncated, 5),
        ("19", .unknownElementType, 0),
        ("1f", .unknownElementType, 0),
        ("15 39 00 18", .unknownElementType, 1),
        ("18", .unexpectedEnd, 0),
        ("38 00", .tagNotAllowed, 0),
        ("15 38 00 18", .tagNotAllowed, 1),
        ("24 00 2a", .tagNotAllowed, 0),
        ("15 04 2a 18", .tagNotAllowed, 1),
        ("16 24 00 2a 18", .tagNotAllowed, 1),
        ("16 44 01 00 2a 18", .tagNotAllowed, 1),
        ("15 36 00 16 24 00 2a 18 18 18", .tagNotAllowed, 4),
        // A tag rule holds again when the inner container is closed.
        ("16 15 24 00 2a 18 24 00 2a 18", .tagNotAllowed, 6),
        ("15 36 00 04 2a 18 04 2a 18", .tagNotAllowed, 6),
        ("0c 01 ff", .invalidUTF8, 0),
        ("0c 02 c0 80", .invalidUTF8, 0),
        ("0c 03 ed a0 80", .invalidUTF8, 0),
        ("0c 01 c3", .invalidUTF8, 0),
        ("15 2c 00 01 80 18", .invalidUTF8, 1),
        ("04 2a 04", .trailingBytes, 2),
        ("15 18 18", .trailingBytes, 2),
    ]

    @Test(arguments: wrong) func whatIsWrongAndWhere(bytes: String, code: TLVError.Code, offset: Int) {
        let error = decodingError(hex(bytes))
        #expect(error?.code == code)
        #expect(error?.offset == offset)
        #expect(error?.description.contains("byte \(offset)") == true)
    }

    private func nested(_ depth: Int) -> [UInt8] {
        [UInt8](repeating: 0x16, count: depth) + [UInt8](repeating: 0x18, count: depth)
    }

    @Test func theDepthIsLimited() {
        #expect(decodingError(nested(32)) == nil)
        #expect(decodingError(nested(33)) == TLVError(.tooDeep, at: 32, "the limit is 32"))
        #expect(decodingError(nested(3), limits: TLVLimits(depth: 3)) == nil)
        #expect(decodingError(nested(4), limits: TLVLimits(depth: 3))?.code == .tooDeep)
        #expect(decodingError([0x16, 0x18], limits: TLVLimits(depth: 0))?.code == .tooDeep)
        #expect(decodingError([0x16, 0x18], limits: TLVLimits(depth: -1))?.code == .tooDeep)
        #expect(decodingError([0x14], limits: TLVLimits(depth: 0)) == nil)
        // More than the reader can keep track of is not granted.
        #expect(decodingError(nested(63), limits: TLVLimits(depth: 1_000)) == nil)
        #expect(decodingError(nested(64), limits: TLVLimits(depth: 1_000))?.code == .tooDeep)
    }

    @Test func theNumberOfElementsIsLimited() {
        let bytes = [0x16] + [UInt8](repeating: 0x14, count: 10) + [0x18]
        #expect(decodingError(bytes, limits: TLVLimits(elements: 12)) == nil)
        #expect(decodingError(bytes, limits: TLVLimits(elements: 11)) == TLVError(.tooManyElements, at: 11))
        #expect(decodingError(bytes, limits: TLVLimits(elements: 0)) == TLVError(.tooManyElements, at: 0))
    }

    @Test func theLengthOfAStringIsLimited() {
        #expect(decodingError(hex("10 03 01 02 03"), limits: TLVLimits(stringLength: 3)) == nil)
        #expect(decodingError(hex("10 03 01 02 03"), limits: TLVLimits(stringLength: 2))?.code == .tooLong)
        #expect(decodingError(hex("0c 03 61 62 63"), limits: TLVLimits(stringLength: 2))?.code == .tooLong)
        #expect(decodingError(hex("10 00"), limits: TLVLimits(stringLength: -1)) == nil)
        let long = TLVValue.octets([UInt8](repeating: 0, count: 65_537)).encoded()
        #expect(decodingError(long)?.code == .tooLong)
    }

    @Test func tokensSayWhereTheyStand() throws {
        let bytes = hex("15 24 00 2a 36 01 09 08 18 2c 02 02 68 69 18")
        var seen: [String] = []
        try bytes.withUnsafeBytes { buffer in
            var reader = TLVReader(buffer)
            while let token = try reader.next() {
                let tag = token.contextTag.map { "\($0)" } ?? "-"
                switch token.kind {
                case .unsigned(let value): seen.append("\(token.offset) \(tag) \(value)")
                case .boolean(let value): seen.append("\(token.offset) \(tag) \(value)")
                case .utf8(let text): seen.append("\(token.offset) \(tag) \(String(decoding: text, as: UTF8.self))")
                case .structure: seen.append("\(token.offset) \(tag) {")
                case .array: seen.append("\(token.offset) \(tag) [")
                case .endOfContainer: seen.append("\(token.offset) \(tag) end \(reader.depth)")
                default: seen.append("?")
                }
            }
            #expect(reader.isAtEnd)
            #expect(try reader.next() == nil)
        }
        #expect(
            seen == ["0 - {", "1 0 42", "4 1 [", "6 - true", "7 - false", "8 - end 1", "9 2 hi", "14 - end 0"])
    }

    @Test func skippingAndSlices() throws {
        let bytes = hex("15 35 01 36 02 09 08 18 24 03 01 18 24 04 2a 18")
        try bytes.withUnsafeBytes { buffer in
            var reader = TLVReader(buffer)
            _ = try reader.next()
            let inner = try #require(try reader.nextMember())
            #expect(inner.isContainer)
            try reader.skip(inner)
            #expect(Array(reader.slice(from: inner.offset)) == hex("35 01 36 02 09 08 18 24 03 01 18"))
            // Out of range is cut, not trapped.
            #expect(reader.slice(from: -5).count == 12)
            #expect(reader.slice(from: 1_000).isEmpty)
            let number = try #require(try reader.nextMember())
            #expect(!number.isContainer)
            try reader.skip(number)
            #expect(try reader.value(of: number) == .unsigned(42))
            #expect(try reader.nextMember() == nil)
            #expect(reader.depth == 0)
            #expect(throws: TLVError(.truncated, at: 16)) { try reader.nextMember() }
        }
        let open = hex("15 36 00 09")
        open.withUnsafeBytes { buffer in
            var reader = TLVReader(buffer)
            #expect(throws: TLVError(.truncated, at: 4, "2 containers are open")) {
                if let token = try reader.next() { try reader.skip(token) }
            }
        }
    }

    @Test func severalElementsInARow() throws {
        let bytes = hex("04 01 04 02 15 18")
        let count = try bytes.withUnsafeBytes { buffer in
            var reader = TLVReader(buffer)
            var values: [TLVValue] = []
            while let token = try reader.next() { values.append(try reader.value(of: token)) }
            return values
        }
        #expect(count == [.unsigned(1), .unsigned(2), .structure([])])
        #expect(decodingError(bytes) == TLVError(.trailingBytes, at: 2))
    }
}
