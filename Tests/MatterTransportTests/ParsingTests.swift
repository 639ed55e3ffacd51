import Testing

@testable import MatterTransport

@Suite struct ParsingTests {
    @Test func clientHelloExtensions() {
        #expect(ClientHello.parseALPN([0, 9, 8] + Array("hearth/1".utf8)) == ["hearth/1"])
        #expect(ClientHello.parseALPN([0, 4, 1, 0x61, 1, 0x62]) == ["a", "b"])
        for bad in [[], [0], [0, 1], [0, 1, 0], [0, 2, 5, 0x61], [0, 3, 1, 0x61]] as [[UInt8]] {
            #expect(ClientHello.parseALPN(bad) == [])
        }
        #expect(ClientHello.parseServerName([0, 4, 0, 0, 1, 0x61]) == "a")
        for bad in [[], [0, 4, 1, 0, 1, 0x61], [0, 4, 0, 0, 2, 0x61], [0, 8, 0, 0, 1, 0x61, 0, 0, 1, 0x62]] as [[UInt8]] {
            #expect(ClientHello.parseServerName(bad) == nil)
        }
    }

    @Test func framesAreCutAtAnyBoundary() throws {
        var stream: [UInt8] = []
        var expected: [[UInt8]] = []
        for size in [0, 1, 60, 300, 5000, 64_000, 3] {
            let message = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) }
            expected.append(message)
            stream += (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) } + message
        }
        for step in [1, 2, 3, 5, 64, 1000, 16_384, stream.count] {
            var decoder = FrameDecoder()
            var got: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: step) {
                try stream[start..<min(start + step, stream.count)].withUnsafeBytes { bytes in
                    try decoder.push(bytes) {
                        got.append(Array($0))
                        return .next
                    }
                }
            }
            #expect(got == expected)
        }
    }
}
