import MatterTLV
import Testing

/// What holds for all elements and for all bytes, on generated ones. The seed of a case is its argument.
@Suite struct PropertyTests {
    @Test(arguments: 0..<20) func whatIsWrittenIsReadAgain(seed: Int) throws {
        var generator = ElementGenerator(seed: UInt64(seed))
        for _ in 0..<60 {
            let element = generator.element()
            let bytes = element.value.encoded(tag: element.tag)
            let limits = TLVLimits(stringLength: 1 << 20)
            #expect(bytes.count == shortestLength(element))
            #expect(try TLVElement(decoding: bytes, limits: limits) == element)
        }
    }

    @Test(arguments: 0..<10) func everyBeginningIsTruncated(seed: Int) {
        var generator = ElementGenerator(seed: 1_000 + UInt64(seed))
        for _ in 0..<10 {
            let element = generator.element()
            let bytes = element.value.encoded(tag: element.tag)
            guard bytes.count < 300 else { continue }
            for end in 0..<bytes.count {
                let error = decodingError(Array(bytes[..<end]))
                #expect(error?.code == .truncated, "\(hex(bytes)) up to \(end)")
                #expect((error?.offset ?? .max) <= end)
            }
        }
    }

    /// Walks over `bytes` in both ways and checks what must hold whatever they are.
    private func walk(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var reader = TLVReader(buffer)
            var before = -1
            var tokens = 0
            do throws(TLVError) {
                while let token = try reader.next() {
                    // Each step takes at least a byte: the work is bounded by the input.
                    #expect(token.offset > before)
                    #expect(reader.offset > token.offset && reader.offset <= bytes.count)
                    #expect((0...32).contains(reader.depth))
                    before = token.offset
                    tokens += 1
                }
                #expect(reader.isAtEnd && reader.depth == 0)
            } catch {
                #expect((0...bytes.count).contains(error.offset))
            }
            #expect(tokens <= bytes.count)
        }
        // What can be read is written as short or shorter, and means the same.
        if let element = try? TLVElement(decoding: bytes) {
            let again = element.value.encoded(tag: element.tag)
            #expect(again.count <= bytes.count)
            #expect((try? TLVElement(decoding: again)) == element)
        }
    }

    @Test(arguments: 0..<8) func randomBytesNeverTrap(seed: Int) {
        var random = Seeded(2_000 + UInt64(seed))
        for _ in 0..<1_500 {
            walk((0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        }
    }

    /// Bytes that often go deep: control bytes of containers, short numbers and ends only.
    @Test(arguments: 0..<8) func randomContainersNeverTrap(seed: Int) {
        var random = Seeded(3_000 + UInt64(seed))
        let controls: [UInt8] = [0x15, 0x16, 0x17, 0x18, 0x35, 0x36, 0x37, 0x14, 0x34, 0x08, 0x24, 0x01]
        for _ in 0..<1_500 {
            walk(
                [0x17] + (0..<Int.random(in: 0...100, using: &random)).map { _ in controls.randomElement(using: &random) ?? 0x18 }
            )
        }
    }

    @Test(arguments: 0..<8) func changedBytesNeverTrap(seed: Int) {
        var random = Seeded(4_000 + UInt64(seed))
        var generator = ElementGenerator(seed: 5_000 + UInt64(seed))
        for _ in 0..<60 {
            let element = generator.element()
            var bytes = element.value.encoded(tag: element.tag)
            guard bytes.count < 2_000 else { continue }
            for _ in 0..<4 {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
                default: if bytes.count > 1 { bytes.remove(at: index) }
                }
                walk(bytes)
            }
        }
    }

    @Test func hostileShapes() {
        walk([UInt8](repeating: 0x15, count: 100_000))
        walk([UInt8](repeating: 0x16, count: 100_000))
        walk([UInt8](repeating: 0x18, count: 100_000))
        walk([0x16] + [UInt8](repeating: 0x14, count: 200_000))
        for type: UInt8 in 0...255 { walk([type] + [UInt8](repeating: 0xFF, count: 20)) }
        #expect(decodingError([0x16] + [UInt8](repeating: 0x14, count: 200_000))?.code == .tooManyElements)
    }
}
