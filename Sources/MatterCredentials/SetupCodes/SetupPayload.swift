import MatterModel
import MatterTLV

/// What a device's label says to whoever wants to pair it (Matter Core, 5.1): as a QR code, or as a manual code of 11 or 21 digits, which
/// carries less.
public struct SetupPayload: Hashable, Sendable {
    /// How the device becomes ready to be paired (Matter Core, 5.1.3.1, custom flow).
    public enum CommissioningFlow: UInt8, Sendable, CaseIterable {
        /// Ready when it has power.
        case standard = 0
        /// The user has to do something at the device first.
        case userIntent = 1
        /// The maker's own instructions come first.
        case custom = 2
    }

    /// Where to look for the device (Matter Core, 5.1.3.1, discovery capabilities bitmask).
    public struct DiscoveryCapabilities: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        public static let bluetooth = DiscoveryCapabilities(rawValue: 1 << 1)
        /// Already on the IP network.
        public static let onNetwork = DiscoveryCapabilities(rawValue: 1 << 2)
        public static let wiFiPublicAction = DiscoveryCapabilities(rawValue: 1 << 3)
        public static let nearFieldCommunication = DiscoveryCapabilities(rawValue: 1 << 4)
    }

    /// Nil when the code does not say (11 digits).
    public var vendorID: VendorID?
    /// Nil when the code does not say (11 digits).
    public var productID: UInt16?
    /// A 21-digit code says only that it is not the standard flow; it is read as `custom`.
    public var flow: CommissioningFlow
    /// Nil when the code does not say (manual codes).
    public var discovery: DiscoveryCapabilities?
    public var discriminator: Discriminator
    public var passcode: Passcode
    /// A QR code's optional data: a structure, with the serial number under tag 0.
    public var additionalData: TLVValue?

    public init(
        vendorID: VendorID? = nil, productID: UInt16? = nil, flow: CommissioningFlow = .standard,
        discovery: DiscoveryCapabilities? = .onNetwork, discriminator: Discriminator, passcode: Passcode,
        additionalData: TLVValue? = nil
    ) {
        (self.vendorID, self.productID, self.flow, self.discovery) = (vendorID, productID, flow, discovery)
        (self.discriminator, self.passcode, self.additionalData) = (discriminator, passcode, additionalData)
    }

    /// Reads what a person scans or types: text that begins with `MT:`, or a manual code with or without dashes and blanks.
    /// - Throws: an error that says which part of the code is wrong.
    public init(_ code: String) throws(CredentialsError) {
        let text = code.drop(while: \.isWhitespace)
        if text.prefix(3).uppercased() == "MT:" {
            try self.init(qrCode: code)
        } else {
            try self.init(manualCode: code)
        }
    }

    /// The serial number of the optional data, as text.
    public var serialNumber: String? {
        guard let value = additionalData?[0] else { return nil }
        return value.text ?? value.unsigned.map { String($0) }
    }
}
