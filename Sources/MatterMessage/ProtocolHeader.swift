import MatterTLV

/// A protocol within the exchange layer (Matter Core, 4.4.3.4).
public struct ProtocolID: Hashable, Sendable {
    public var vendor: UInt16
    public var number: UInt16
    public init(vendor: UInt16 = 0, _ number: UInt16) { (self.vendor, self.number) = (vendor, number) }

    public static let secureChannel = ProtocolID(0)
    public static let interactionModel = ProtocolID(1)
}

/// The protocol header in front of every payload (Matter Core, 4.4.3).
///
/// What MRP adds (acknowledgements) is read and written for the sake of a later UDP transport; over a reliable link it is absent.
public struct ProtocolHeader: Hashable, Sendable {
    /// The sender began the exchange.
    public var isInitiator: Bool
    public var opcode: UInt8
    public var exchangeID: UInt16
    public var protocolID: ProtocolID
    /// The message counter that this message acknowledges.
    public var acknowledged: UInt32?
    /// The sender wants an acknowledgement.
    public var needsAcknowledgement: Bool

    public init(
        isInitiator: Bool, opcode: UInt8, exchangeID: UInt16, protocolID: ProtocolID, acknowledged: UInt32? = nil,
        needsAcknowledgement: Bool = false
    ) {
        (self.isInitiator, self.opcode, self.exchangeID, self.protocolID) = (isInitiator, opcode, exchangeID, protocolID)
        (self.acknowledged, self.needsAcknowledgement) = (acknowledged, needsAcknowledgement)
    }

    private enum Flag {
        static let initiator: UInt8 = 0x01
        static let acknowledgement: UInt8 = 0x02
        static let reliability: UInt8 = 0x04
        static let extensions: UInt8 = 0x08
        static let vendor: UInt8 = 0x10
    }

    /// Splits a message into header and payload. Nil when it is too short.
    public static func split(_ message: UnsafeRawBufferPointer) -> (header: ProtocolHeader, payload: UnsafeRawBufferPointer)? {
        guard message.count >= 6 else { return nil }
        var offset = 6
        func short(at place: Int) -> UInt16 { UInt16(message[place]) | UInt16(message[place + 1]) << 8 }
        let flags = message[0]
        var header = ProtocolHeader(
            isInitiator: flags & Flag.initiator != 0, opcode: message[1], exchangeID: short(at: 2),
            protocolID: ProtocolID(short(at: 4)), needsAcknowledgement: flags & Flag.reliability != 0)
        if flags & Flag.vendor != 0 {
            guard message.count >= offset + 2 else { return nil }
            header.protocolID.vendor = short(at: offset)
            offset += 2
        }
        if flags & Flag.acknowledgement != 0 {
            guard message.count >= offset + 4 else { return nil }
            header.acknowledged = UInt32(short(at: offset)) | UInt32(short(at: offset + 2)) << 16
            offset += 4
        }
        if flags & Flag.extensions != 0 {
            guard message.count >= offset + 2 else { return nil }
            let length = Int(short(at: offset))
            guard message.count - offset - 2 >= length else { return nil }
            offset += 2 + length
        }
        return (header, UnsafeRawBufferPointer(rebasing: message[offset...]))
    }

    /// Appends the header's bytes.
    public func write(to bytes: inout [UInt8]) {
        func append(_ number: UInt16) {
            bytes.append(UInt8(truncatingIfNeeded: number))
            bytes.append(UInt8(truncatingIfNeeded: number >> 8))
        }
        var flags: UInt8 = isInitiator ? Flag.initiator : 0
        if acknowledged != nil { flags |= Flag.acknowledgement }
        if needsAcknowledgement { flags |= Flag.reliability }
        if protocolID.vendor != 0 { flags |= Flag.vendor }
        bytes.append(flags)
        bytes.append(opcode)
        append(exchangeID)
        append(protocolID.number)
        if protocolID.vendor != 0 { append(protocolID.vendor) }
        if let acknowledged {
            append(UInt16(truncatingIfNeeded: acknowledged))
            append(UInt16(truncatingIfNeeded: acknowledged >> 16))
        }
    }
}
