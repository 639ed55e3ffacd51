import MatterModel
import MatterTLV

/// "This product is certified", as the Alliance, or for development anybody, signs it (Matter Core, 6.3).
public struct CertificationDeclaration: Hashable, Sendable {
    /// How far certification has come (CertificationType, Matter Core, 6.3.1).
    public enum Kind: UInt8, Sendable {
        case developmentAndTest = 0
        case provisional, official
    }

    public var vendorID: VendorID
    /// 1 to 100 products.
    public var productIDs: [UInt16]
    public var deviceTypeID: DeviceTypeID
    /// 19 characters.
    public var certificateID: String
    public var securityLevel: UInt8
    public var securityInformation: UInt16
    public var versionNumber: UInt16
    public var kind: Kind
    /// Vendor and product of the attestation certificate where they differ from the product's own.
    public var dacOrigin: Origin?
    /// Subject key ids (20 bytes each) of the only authorities that may attest; nil for any.
    public var authorizedPAAs: [[UInt8]]?

    /// Whose attestation certificate the product carries when it is another vendor's.
    public struct Origin: Hashable, Sendable {
        public var vendorID: VendorID
        public var productID: UInt16
        public init(vendorID: VendorID, productID: UInt16) { (self.vendorID, self.productID) = (vendorID, productID) }
    }

    public init(
        vendorID: VendorID, productIDs: [UInt16], deviceTypeID: DeviceTypeID, certificateID: String = "CSA00000SWC00000-00",
        securityLevel: UInt8 = 0, securityInformation: UInt16 = 0, versionNumber: UInt16 = 1, kind: Kind = .developmentAndTest,
        dacOrigin: Origin? = nil, authorizedPAAs: [[UInt8]]? = nil
    ) {
        (self.vendorID, self.productIDs, self.deviceTypeID) = (vendorID, productIDs, deviceTypeID)
        (self.certificateID, self.securityLevel, self.securityInformation) = (certificateID, securityLevel, securityInformation)
        (self.versionNumber, self.kind, self.dacOrigin, self.authorizedPAAs) = (versionNumber, kind, dacOrigin, authorizedPAAs)
    }

    public var tlv: [UInt8] {
        var writer = TLVWriter(reservingCapacity: 128)
        writer.structure(.anonymous) { w in
            w.unsigned(0, 1)
            w.unsigned(1, vendorID.unsigned)
            w.array(2) { w in for product in productIDs { w.unsigned(.anonymous, UInt64(product)) } }
            w.unsigned(3, deviceTypeID.unsigned)
            w.utf8(4, certificateID)
            w.unsigned(5, UInt64(securityLevel))
            w.unsigned(6, UInt64(securityInformation))
            w.unsigned(7, UInt64(versionNumber))
            w.unsigned(8, UInt64(kind.rawValue))
            if let dacOrigin {
                w.unsigned(9, dacOrigin.vendorID.unsigned)
                w.unsigned(10, UInt64(dacOrigin.productID))
            }
            if let authorizedPAAs { w.array(11) { w in for id in authorizedPAAs { w.octets(.anonymous, id) } } }
        }
        return writer.bytes
    }

    public init(tlv bytes: [UInt8]) throws(CredentialsError) {
        let value = try TLVValue(credentials: bytes, "a certification declaration")
        func number<Number: FixedWidthInteger>(_ tag: UInt8, _ what: String) throws(CredentialsError) -> Number {
            guard let number = value[tag]?.unsigned, let fitting = Number(exactly: number) else {
                throw CredentialsError(.malformed, "a certification declaration has no valid \(what)")
            }
            return fitting
        }
        guard try number(0, "format version") as UInt16 == 1 else {
            throw CredentialsError(.unsupported, "a certification declaration of an unknown format version")
        }
        vendorID = VendorID(try number(1, "vendor id"))
        productIDs = []
        for product in value[2]?.array ?? [] {
            guard let product = product.unsigned.flatMap({ UInt16(exactly: $0) }) else {
                throw CredentialsError(.malformed, "a certification declaration has an invalid product id")
            }
            productIDs.append(product)
        }
        guard (1...100).contains(productIDs.count) else {
            throw CredentialsError(.malformed, "a certification declaration is for 1 to 100 products, not \(productIDs.count)")
        }
        deviceTypeID = DeviceTypeID(try number(3, "device type"))
        guard let id = value[4]?.text, id.utf8.count == 19 else {
            throw CredentialsError(.malformed, "a certification declaration's certificate id has not 19 characters")
        }
        certificateID = id
        securityLevel = try number(5, "security level")
        securityInformation = try number(6, "security information")
        versionNumber = try number(7, "version number")
        guard let kind = Kind(rawValue: try number(8, "certification type")) else {
            throw CredentialsError(.unsupported, "a certification declaration of an unknown type")
        }
        self.kind = kind
        guard (value[9] == nil) == (value[10] == nil) else {
            throw CredentialsError(.malformed, "a certification declaration names half of the attestation's origin")
        }
        dacOrigin =
            value[9] == nil
            ? nil
            : Origin(vendorID: VendorID(try number(9, "origin's vendor id")), productID: try number(10, "origin's product id"))
        authorizedPAAs = nil
        guard let list = value[11] else { return }
        var ids: [[UInt8]] = []
        for id in list.array ?? [] {
            guard let id = id.octets, id.count == 20 else {
                throw CredentialsError(
                    .malformed, "a certification declaration names an authority by a key id that has not 20 bytes")
            }
            ids.append(id)
        }
        guard (1...10).contains(ids.count) else {
            throw CredentialsError(.malformed, "a certification declaration names 1 to 10 authorities, not \(ids.count)")
        }
        authorizedPAAs = ids
    }
}
