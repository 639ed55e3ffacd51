import MatterModel

/// A device that can be paired, as it stands in DNS-SD (Matter Core, 4.3.1): what goes into the TXT record and the subtypes, and
/// what is read from them.
public struct CommissionableService: Hashable, Sendable {
    /// CM (Matter Core, 4.3.1.7).
    public enum CommissioningMode: UInt8, Hashable, Sendable {
        /// No window is open; the device is listed all the same.
        case closed = 0
        /// Open with the device's own passcode.
        case basic = 1
        /// Open with a passcode made for the occasion.
        case enhanced = 2
    }

    /// D: all 12 bits of the discriminator, 0 to 4095.
    public var discriminator: UInt16
    /// VP, first half.
    public var vendor: VendorID?
    /// VP, second half; only with a vendor.
    public var product: UInt16?
    /// CM.
    public var mode: CommissioningMode
    /// DT: the device type that describes the device best.
    public var deviceType: DeviceTypeID?
    /// DN: at most 32 bytes of UTF-8.
    public var deviceName: String?
    /// RI: at most 50 bytes.
    public var rotatingID: [UInt8]?
    /// PH: how to open the window, as a bitmap; not 0.
    public var pairingHint: UInt32?
    /// PI: what goes with the hint, at most 128 bytes of UTF-8.
    public var pairingInstruction: String?
    /// SII, SAI, SAT, T.
    public var session: SessionParameters

    public init(
        discriminator: UInt16, vendor: VendorID? = nil, product: UInt16? = nil, mode: CommissioningMode = .basic,
        deviceType: DeviceTypeID? = nil, deviceName: String? = nil, rotatingID: [UInt8]? = nil, pairingHint: UInt32? = nil,
        pairingInstruction: String? = nil, session: SessionParameters = SessionParameters()
    ) {
        self.discriminator = discriminator
        self.vendor = vendor
        self.product = product
        self.mode = mode
        self.deviceType = deviceType
        self.deviceName = deviceName
        self.rotatingID = rotatingID
        self.pairingHint = pairingHint
        self.pairingInstruction = pairingInstruction
        self.session = session
    }

    /// The upper 4 bits of the discriminator, all that a manual code of 11 digits has.
    public var shortDiscriminator: UInt8 { UInt8(truncatingIfNeeded: discriminator >> 8) & 0xf }

    /// A name for an instance: 64 random bits in upper-case hexadecimal (Matter Core, 4.3.1.1). From the system's generator, since
    /// it must differ between processes that share a seed.
    public static func randomInstance() -> String { HexField.format(UInt64.random(in: .min ... .max)) }

    /// - Throws: `DiscoveryError.invalidField` when a field is outside its range.
    public func text() throws(DiscoveryError) -> TextRecord {
        try check()
        var pairs: [(key: String, value: String)] = [("D", String(discriminator))]
        if let vendor { pairs.append(("VP", product.map { "\(vendor.rawValue)+\($0)" } ?? String(vendor.rawValue))) }
        pairs.append(("CM", String(mode.rawValue)))
        if let deviceType { pairs.append(("DT", String(deviceType.rawValue))) }
        if let deviceName { pairs.append(("DN", deviceName)) }
        if let rotatingID { pairs.append(("RI", rotatingID.map(Self.hexadecimal).joined())) }
        if let pairingHint { pairs.append(("PH", String(pairingHint))) }
        if let pairingInstruction { pairs.append(("PI", pairingInstruction)) }
        return TextRecord(pairs + session.pairs)
    }

    private func check() throws(DiscoveryError) {
        func require(_ condition: Bool, _ message: @autoclosure () -> String) throws(DiscoveryError) {
            if !condition { throw DiscoveryError(.invalidField, message()) }
        }
        try require(discriminator <= 0xfff, "a discriminator has 12 bits, 0 to 4095, not \(discriminator)")
        try require(product == nil || vendor != nil, "a product id needs a vendor id")
        try require((deviceName ?? "").utf8.count <= 32, "a device name has at most 32 bytes: '\(deviceName ?? "")'")
        try require((1...50).contains(rotatingID?.count ?? 1), "a rotating id has 1 to 50 bytes")
        try require(pairingHint != 0, "a pairing hint has at least one bit")
        try require((pairingInstruction ?? "").utf8.count <= 128, "a pairing instruction has at most 128 bytes")
    }

    /// `_S<short>`, `_L<long>`, then `_V`, `_T` and `_CM` where they apply (Matter Core, 4.3.1.3).
    public var subtypes: [String] {
        var subtypes = [Self.subtype(shortDiscriminator: shortDiscriminator), Self.subtype(discriminator: discriminator)]
        if let vendor { subtypes.append(Self.subtype(vendor: vendor)) }
        if let deviceType { subtypes.append(Self.subtype(deviceType: deviceType)) }
        if mode != .closed { subtypes.append(Self.subtypeOpen) }
        return subtypes
    }

    /// Devices with this long discriminator, 0 to 4095 (Matter Core, 4.3.1).
    public static func subtype(discriminator: UInt16) -> String { "_L\(discriminator)" }
    /// Devices whose discriminator begins with these four bits, 0 to 15.
    public static func subtype(shortDiscriminator: UInt8) -> String { "_S\(shortDiscriminator)" }
    /// Devices of this vendor that say so.
    public static func subtype(vendor: VendorID) -> String { "_V\(vendor.rawValue)" }
    /// Devices of this primary type that say so.
    public static func subtype(deviceType: DeviceTypeID) -> String { "_T\(deviceType.rawValue)" }
    /// Devices whose window is open.
    public static let subtypeOpen = "_CM"

    /// The record to advertise. - Throws: `DiscoveryError.invalidField`.
    public func record(instance: String, port: UInt16, host: ServiceHost? = nil) throws(DiscoveryError) -> ServiceRecord {
        ServiceRecord(
            name: ServiceName(instance, .commissionable), subtypes: subtypes, host: host, port: port, text: try text())
    }

    /// Reads a TXT record. Optional fields with an illegal value are left out.
    /// - Throws: `DiscoveryError.invalidField` when there is no legal D, or CM has a value that nobody knows.
    public init(text: TextRecord) throws(DiscoveryError) {
        guard let discriminator = text["D"].flatMap({ DecimalField.parse($0, digits: 4, to: UInt16(0xfff)) }) else {
            throw DiscoveryError(.invalidField, "a commissionable service needs D, 0 to 4095, not '\(text["D"] ?? "")'")
        }
        // No CM means that no window is open (Matter Core, 4.3.1.7).
        guard let mode = DecimalField.parse(text["CM"] ?? "0", digits: 1, to: UInt8(2)).flatMap(CommissioningMode.init) else {
            throw DiscoveryError(.invalidField, "CM is 0, 1 or 2, not '\(text["CM"] ?? "")'")
        }
        self.init(discriminator: discriminator, mode: mode, session: SessionParameters(text: text))
        if let parts = text["VP"]?.split(separator: "+", omittingEmptySubsequences: false), parts.count <= 2 {
            vendor = parts.first.flatMap { DecimalField.parse($0, digits: 5, to: UInt16.max) }.map { VendorID($0) }
            if vendor != nil, parts.count == 2 { product = DecimalField.parse(parts[1], digits: 5, to: UInt16.max) }
        }
        deviceType = text["DT"].flatMap { DecimalField.parse($0, digits: 10, to: UInt32.max) }.map { DeviceTypeID($0) }
        deviceName = text["DN"].flatMap { $0.utf8.count <= 32 ? $0 : nil }
        rotatingID = text["RI"].flatMap(Self.bytes)
        pairingHint = text["PH"].flatMap { DecimalField.parse($0, digits: 10, to: UInt32.max) }.flatMap { $0 == 0 ? nil : $0 }
        pairingInstruction = text["PI"].flatMap { $0.utf8.count <= 128 ? $0 : nil }
    }

    private static func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }

    private static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard (2...100).contains(digits.count), digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for i in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[i], let low = digits[i + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

/// What a setup code says about the device to look for.
public enum CommissionableFilter: Hashable, Sendable {
    case any
    /// From a QR code or a manual code with vendor: 12 bits.
    case discriminator(UInt16)
    /// From a manual code: the upper 4 bits.
    case shortDiscriminator(UInt8)

    /// The subtype to browse.
    public var subtype: String? {
        switch self {
        case .any: nil
        case .discriminator(let value): CommissionableService.subtype(discriminator: value)
        case .shortDiscriminator(let value): CommissionableService.subtype(shortDiscriminator: value)
        }
    }

    /// Whether a device fits. To be asked also after browsing by subtype: somebody may advertise what is not true.
    public func matches(_ service: CommissionableService) -> Bool {
        switch self {
        case .any: true
        case .discriminator(let value): service.discriminator == value
        case .shortDiscriminator(let value): service.shortDiscriminator == value
        }
    }
}
