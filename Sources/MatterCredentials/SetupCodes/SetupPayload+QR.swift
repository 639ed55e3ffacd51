import MatterModel
import MatterTLV

extension SetupPayload {
    /// The text of the QR code (Matter Core, 5.1.3). A short discriminator is written with zeros below it, a missing vendor or product as
    /// 0, missing discovery capabilities as none.
    public var qrCode: String {
        var bits = BitWriter()
        bits.append(0, 3)
        bits.append(UInt32(vendorID?.rawValue ?? 0), 16)
        bits.append(UInt32(productID ?? 0), 16)
        bits.append(UInt32(flow.rawValue), 2)
        bits.append(UInt32(discovery?.rawValue ?? 0), 8)
        bits.append(UInt32(discriminator.all ?? UInt16(discriminator.upper) << 8), 12)
        bits.append(passcode.value, 27)
        bits.append(0, 4)
        return "MT:" + Base38.encode(bits.bytes + (additionalData?.encoded() ?? []))
    }

    /// Reads the text of a QR code; `MT:` and letters may be in either case.
    public init(qrCode code: String) throws(CredentialsError) {
        let text = code.filter { !$0.isWhitespace }.uppercased()
        guard text.hasPrefix("MT:") else {
            throw CredentialsError(.malformed, "the text of a Matter QR code begins with MT:")
        }
        let body = text.dropFirst(3)
        guard !body.contains("*") else {
            throw CredentialsError(.unsupported, "the QR code holds several devices: pair each with the code of its own")
        }
        let bytes = try Base38.decode(body)
        guard bytes.count >= 11 else {
            throw CredentialsError(
                .wrongLength, "a Matter QR code has at least 19 characters after MT:, and this one has \(body.count)")
        }
        var bits = BitReader(bytes)
        let version = bits.next(3)
        guard version == 0 else {
            throw CredentialsError(.unsupported, "the QR code is of version \(version), and only version 0 is known here")
        }
        let (vendor, product) = (bits.next(16), bits.next(16))
        let flowNumber = bits.next(2)
        guard let flow = CommissioningFlow(rawValue: UInt8(truncatingIfNeeded: flowNumber)) else {
            throw CredentialsError(
                .unsupported, "the QR code asks for commissioning flow \(flowNumber), which Matter does not define")
        }
        let (discovery, discriminator, number, padding) = (bits.next(8), bits.next(12), bits.next(27), bits.next(4))
        guard padding == 0 else { throw CredentialsError(.malformed, "the QR code's padding is not zero: it was misread") }
        var data: TLVValue?
        if bytes.count > 11 {
            do {
                data = try TLVValue(decoding: Array(bytes[11...]), limits: TLVLimits(depth: 8, elements: 256, stringLength: 1024))
            } catch {
                throw CredentialsError(.malformed, "the QR code's additional data: \(error)")
            }
            guard case .structure = data else {
                throw CredentialsError(.malformed, "the QR code's additional data is not a structure")
            }
        }
        self.init(
            vendorID: VendorID(UInt16(truncatingIfNeeded: vendor)), productID: UInt16(truncatingIfNeeded: product), flow: flow,
            discovery: DiscoveryCapabilities(rawValue: UInt8(truncatingIfNeeded: discovery)),
            discriminator: .long(UInt16(truncatingIfNeeded: discriminator)), passcode: try Passcode(number), additionalData: data)
    }
}

/// Packs numbers from the least significant bit of the first byte on.
private struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var count = 0

    mutating func append(_ value: UInt32, _ width: Int) {
        for bit in 0..<width {
            if count % 8 == 0 { bytes.append(0) }
            if value >> UInt32(bit) & 1 == 1 { bytes[count / 8] |= 1 << UInt8(count % 8) }
            count += 1
        }
    }
}

/// The reverse; beyond the end all bits are 0.
private struct BitReader {
    private let bytes: [UInt8]
    private var position = 0
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next(_ width: Int) -> UInt32 {
        var value: UInt32 = 0
        for bit in 0..<width {
            if position / 8 < bytes.count, bytes[position / 8] >> UInt8(position % 8) & 1 == 1 { value |= 1 << UInt32(bit) }
            position += 1
        }
        return value
    }
}
