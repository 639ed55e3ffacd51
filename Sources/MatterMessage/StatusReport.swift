/// The secure channel's report of how something ended (Matter Core, 4.11.1.3 and appendix D).
public struct StatusReport: Hashable, Sendable {
    /// What any protocol may say (Matter Core, appendix D); the rest is the protocol's own code.
    public enum GeneralCode: UInt16, Sendable {
        case success = 0
        case failure = 1
        case badPrecondition = 2
        case outOfRange = 3
        case badRequest = 4
        case unsupported = 5
        case unexpected = 6
        case resourceExhausted = 7
        case busy = 8
        case timeout = 9
        case `continue` = 10
        case aborted = 11
        case invalidArgument = 12
        case notFound = 13
        case alreadyExists = 14
        case permissionDenied = 15
        case dataLoss = 16
    }

    /// Codes of the secure channel protocol (Matter Core, 4.11.1.4).
    public enum SecureChannelCode {
        public static let sessionEstablished: UInt16 = 0
        public static let noSharedTrustRoots: UInt16 = 1
        public static let invalidParameter: UInt16 = 2
        public static let closeSession: UInt16 = 3
        public static let busy: UInt16 = 4
    }

    public var general: GeneralCode
    public var protocolID: ProtocolID
    public var code: UInt16
    public var data: [UInt8]

    public init(_ general: GeneralCode, protocolID: ProtocolID = .secureChannel, code: UInt16, data: [UInt8] = []) {
        (self.general, self.protocolID, self.code, self.data) = (general, protocolID, code, data)
    }

    public var payload: [UInt8] {
        func bytes(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)] }
        return bytes(general.rawValue) + bytes(protocolID.number) + bytes(protocolID.vendor) + bytes(code) + data
    }

    /// Nil when the payload is too short or its general code unknown.
    public init?(_ payload: UnsafeRawBufferPointer) {
        guard payload.count >= 8 else { return nil }
        func short(at place: Int) -> UInt16 { UInt16(payload[place]) | UInt16(payload[place + 1]) << 8 }
        guard let general = GeneralCode(rawValue: short(at: 0)) else { return nil }
        self.init(
            general, protocolID: ProtocolID(vendor: short(at: 4), short(at: 2)), code: short(at: 6),
            data: Array(payload.dropFirst(8)))
    }
}

/// Opcodes of the secure channel protocol (Matter Core, 4.11.1).
public enum SecureChannelOpcode {
    public static let pbkdfParamRequest: UInt8 = 0x20
    public static let pbkdfParamResponse: UInt8 = 0x21
    public static let pasePake1: UInt8 = 0x22
    public static let pasePake2: UInt8 = 0x23
    public static let pasePake3: UInt8 = 0x24
    public static let statusReport: UInt8 = 0x40
}
