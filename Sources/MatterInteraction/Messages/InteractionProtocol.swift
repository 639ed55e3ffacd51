import MatterTLV

/// Opcodes of the interaction model (Matter Core, 10.2.1).
public enum InteractionOpcode: UInt8, Sendable {
    case statusResponse = 1
    case readRequest = 2
    case subscribeRequest = 3
    case subscribeResponse = 4
    case reportData = 5
    case writeRequest = 6
    case writeResponse = 7
    case invokeRequest = 8
    case invokeResponse = 9
    case timedRequest = 10
}

/// What all messages of the interaction model share.
public enum InteractionModel {
    /// InteractionModelRevision of Matter 1.4 (Matter Core, 8.1.1).
    public static let revision: UInt8 = 12
    /// The tag of the revision in every message.
    static let revisionTag: TLVTag = .context(0xFF)
}

extension TLVReader {
    /// Opens the outermost structure of a message.
    mutating func openMessage() throws(TLVError) {
        guard let token = try next(), case .structure = token.kind else {
            throw TLVError(.unexpectedElement, at: 0, "a message is a structure")
        }
    }

    /// Checks that the token opens a structure.
    func expectStructure(_ token: TLVToken, _ what: String) throws(TLVError) {
        guard case .structure = token.kind else { throw TLVError(.unexpectedElement, at: token.offset, "\(what) is a structure") }
    }

    func expectList(_ token: TLVToken, _ what: String) throws(TLVError) {
        guard case .list = token.kind else { throw TLVError(.unexpectedElement, at: token.offset, "\(what) is a list") }
    }

    func expectArray(_ token: TLVToken, _ what: String) throws(TLVError) {
        guard case .array = token.kind else { throw TLVError(.unexpectedElement, at: token.offset, "\(what) is an array") }
    }

    /// The end of the outermost structure must be the end of the message.
    func expectEnd() throws(TLVError) {
        if !isAtEnd { throw TLVError(.trailingBytes, at: offset) }
    }
}

extension TLVToken {
    func boolean(_ what: String) throws(TLVError) -> Bool {
        guard case .boolean(let value) = kind else { throw TLVError(.unexpectedElement, at: offset, "\(what) is a boolean") }
        return value
    }

    /// An unsigned integer that fits into `Number`.
    func number<Number: FixedWidthInteger>(_ what: String, as: Number.Type = Number.self) throws(TLVError) -> Number {
        guard case .unsigned(let value) = kind, let number = Number(exactly: value) else {
            throw TLVError(.unexpectedElement, at: offset, "\(what) is an unsigned integer of \(Number.bitWidth) bits")
        }
        return number
    }
}

extension Optional {
    /// The value of a member that every message of its kind has.
    func required(_ what: String, at offset: Int = 0) throws(TLVError) -> Wrapped {
        guard let self else { throw TLVError(.unexpectedElement, at: offset, "\(what) is missing") }
        return self
    }
}

/// Reads a message with a throwing reader; for callers that hold bytes in place.
func decode<Message>(
    _ bytes: UnsafeRawBufferPointer, _ body: (inout TLVReader) throws(TLVError) -> Message
) throws(TLVError) -> Message {
    var reader = TLVReader(bytes)
    try reader.openMessage()
    let message = try body(&reader)
    try reader.expectEnd()
    return message
}

func decodeArray<Item>(
    _ reader: inout TLVReader, _ token: TLVToken, _ what: String, _ item: (inout TLVReader, TLVToken) throws(TLVError) -> Item
) throws(TLVError) -> [Item] {
    try reader.expectArray(token, what)
    var items: [Item] = []
    while let token = try reader.nextMember() { items.append(try item(&reader, token)) }
    return items
}
