import HearthTime
import MatterMessage
import Testing

@Suite struct ProtocolHeaderTests {
    @Test func theBytesAreTheSpecifications() throws {
        // Matter Core, 4.4.3: flags, opcode, exchange id, protocol id, vendor, acknowledged counter, all little-endian.
        var bytes: [UInt8] = []
        ProtocolHeader(isInitiator: true, opcode: 0x08, exchangeID: 0x1234, protocolID: .interactionModel).write(to: &bytes)
        #expect(bytes == [0x01, 0x08, 0x34, 0x12, 0x01, 0x00])
        bytes = []
        ProtocolHeader(
            isInitiator: false, opcode: 0x20, exchangeID: 0xBEEF, protocolID: ProtocolID(vendor: 0xFFF1, 0x0102),
            acknowledged: 0xA1B2_C3D4,
            needsAcknowledgement: true
        ).write(to: &bytes)
        #expect(bytes == [0x16, 0x20, 0xEF, 0xBE, 0x02, 0x01, 0xF1, 0xFF, 0xD4, 0xC3, 0xB2, 0xA1])
    }

    @Test func extensionsArePassedOver() throws {
        let (header, payload) = try #require(
            ([0x0B, 0x01, 1, 0, 1, 0, 9, 0, 0, 0, 3, 0, 0xAA, 0xBB, 0xCC, 0x15, 0x18] as [UInt8]).split())
        #expect(header.acknowledged == 9)
        #expect(header.isInitiator)
        #expect(payload == [0x15, 0x18])
    }

    @Test(
        arguments: [
            [], [1], [1, 2, 3, 4, 5],
            [0x11, 1, 1, 0, 1, 0, 7],  // half a vendor
            [0x03, 1, 1, 0, 1, 0, 7, 7, 7],  // three bytes of a counter
            [0x09, 1, 1, 0, 1, 0, 1],  // half a length
            [0x09, 1, 1, 0, 1, 0, 0xFF, 0xFF, 1],  // an extension longer than the message
        ] as [[UInt8]])
    func whatIsTooShortHasNoHeader(_ bytes: [UInt8]) { #expect(bytes.split() == nil) }

    @Test func everyHeaderComesBack() {
        var random = RandomStream(seed: 1, owner: "header", purpose: "test")
        for _ in 0..<2_000 {
            let header = ProtocolHeader(
                isInitiator: random.chance(permille: 500), opcode: UInt8(random.below(256)),
                exchangeID: UInt16(random.below(65_536)),
                protocolID: ProtocolID(
                    vendor: random.chance(permille: 300) ? UInt16(random.below(65_536)) : 0, UInt16(random.below(65_536))),
                acknowledged: random.chance(permille: 300) ? UInt32(random.below(1 << 32)) : nil,
                needsAcknowledgement: random.chance(permille: 300))
            let payload = (0..<random.below(20)).map { _ in UInt8(random.below(256)) }
            var bytes: [UInt8] = []
            header.write(to: &bytes)
            let back = (bytes + payload).split()
            #expect(back?.0 == header)
            #expect(back?.1 == payload)
        }
    }

    @Test func noBytesTrap() {
        var random = RandomStream(seed: 2, owner: "header", purpose: "noise")
        var parsed = 0
        for _ in 0..<20_000 {
            let bytes = (0..<random.below(24)).map { _ in UInt8(random.below(256)) }
            if bytes.split() != nil { parsed += 1 }
        }
        #expect(parsed > 1_000 && parsed < 19_000)
    }
}

@Suite struct StatusReportTests {
    @Test func theBytesAreTheSpecifications() throws {
        let report = StatusReport(.busy, code: StatusReport.SecureChannelCode.busy, data: [0xF4, 0x01])
        #expect(report.payload == [8, 0, 0, 0, 0, 0, 4, 0, 0xF4, 0x01])
        #expect(report.payload.withUnsafeBytes { StatusReport($0) } == report)
        let vendor = StatusReport(.failure, protocolID: ProtocolID(vendor: 0xFFF1, 2), code: 7)
        #expect(vendor.payload == [1, 0, 2, 0, 0xF1, 0xFF, 7, 0])
        #expect(vendor.payload.withUnsafeBytes { StatusReport($0) } == vendor)
    }

    @Test(arguments: [[], [0, 0, 0, 0, 0, 0, 0], [17, 0, 0, 0, 0, 0, 0, 0]] as [[UInt8]])
    func whatIsNoReportIsNone(_ bytes: [UInt8]) { #expect(bytes.withUnsafeBytes { StatusReport($0) } == nil) }
}
