import MatterCredentials
import MatterModel

/// What the maker of a device has put into it: the fixed part of Basic Information, and how it is paired.
public struct DeviceIdentity: Sendable {
    public var vendorID: VendorID
    /// At most 32 bytes, as are `productName`, `serialNumber`, `uniqueID`, `partNumber` and `nodeLabel`.
    public var vendorName: String
    public var productID: UInt16
    public var productName: String
    public var hardwareVersion: UInt16
    public var hardwareVersionString: String
    public var softwareVersion: UInt32
    public var softwareVersionString: String
    /// `YYYYMMDD` and up to eight characters of the maker's.
    public var manufacturingDate: String?
    public var partNumber: String?
    public var productURL: String?
    public var productLabel: String?
    public var serialNumber: String?
    public var uniqueID: String
    /// NodeLabel of a device that nobody has named yet.
    public var nodeLabel: String
    /// Location of a fresh device: an ISO 3166-1 country code, or `XX`.
    public var location: String
    public var pairing: PairingParameters
    /// Names the device type that the commissionable service advertises; nil advertises none.
    public var primaryDeviceType: DeviceTypeID?

    public init(
        vendorID: VendorID = 0xFFF1, vendorName: String = "Hearth", productID: UInt16 = 0x8000,
        productName: String = "Virtual Device", hardwareVersion: UInt16 = 1, hardwareVersionString: String = "1",
        softwareVersion: UInt32 = 1, softwareVersionString: String = "1.0", manufacturingDate: String? = nil,
        partNumber: String? = nil, productURL: String? = nil, productLabel: String? = nil, serialNumber: String? = nil,
        uniqueID: String, nodeLabel: String = "", location: String = "XX", pairing: PairingParameters,
        primaryDeviceType: DeviceTypeID? = nil
    ) {
        (self.vendorID, self.vendorName, self.productID, self.productName) = (vendorID, vendorName, productID, productName)
        (self.hardwareVersion, self.hardwareVersionString) = (hardwareVersion, hardwareVersionString)
        (self.softwareVersion, self.softwareVersionString) = (softwareVersion, softwareVersionString)
        (self.manufacturingDate, self.partNumber, self.productURL) = (manufacturingDate, partNumber, productURL)
        (self.productLabel, self.serialNumber, self.uniqueID) = (productLabel, serialNumber, uniqueID)
        (self.nodeLabel, self.location, self.pairing) = (nodeLabel, location, pairing)
        self.primaryDeviceType = primaryDeviceType
    }
}

/// What a device proves with that it was meant to be paired: a verifier of the passcode, never the passcode.
public struct PairingParameters: Sendable, Equatable {
    public var verifier: Spake2Plus.Verifier
    public var key: PBKDFParameters
    /// 12 bits.
    public var discriminator: UInt16

    public init(verifier: Spake2Plus.Verifier, key: PBKDFParameters, discriminator: UInt16) {
        (self.verifier, self.key, self.discriminator) = (verifier, key, discriminator & 0xFFF)
    }

    /// Computes the verifier: 0.9 ms per 1,000 iterations.
    public init(passcode: Passcode, discriminator: UInt16, key: PBKDFParameters) throws(CredentialsError) {
        self.init(verifier: try Spake2Plus.Verifier(passcode: passcode, parameters: key), key: key, discriminator: discriminator)
    }
}
