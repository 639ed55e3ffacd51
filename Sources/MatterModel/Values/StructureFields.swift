import MatterTLV

/// Reads the fields of a structure. Fields that nobody asks for are ignored, as a later revision may add some.
public struct StructureReader {
    private let members: [TLVElement]
    /// The status for what is malformed.
    private let failure: StatusCode

    public init(_ value: TLVValue, failure: StatusCode = .invalidDataType) throws(Status) {
        guard case .structure(let members) = value else { throw Status(failure, "a structure is wanted, not \(value.kindName)") }
        (self.members, self.failure) = (members, failure)
    }

    /// A field that must be there.
    public func required<Value: TLVConvertible>(_ tag: UInt8, _ name: String) throws(Status) -> Value {
        guard let value: Value = try optional(tag, name) else { throw Status(failure, "field \(name) is missing") }
        return value
    }

    /// Nil when the field is absent.
    public func optional<Value: TLVConvertible>(_ tag: UInt8, _ name: String) throws(Status) -> Value? {
        guard let member = members.first(where: { $0.tag == .context(tag) }) else { return nil }
        do throws(Status) {
            return try Value(tlv: member.value)
        } catch {
            let code = error.code == .invalidDataType ? failure : error.code
            throw Status(code, "field \(name): \(error.reason ?? error.code.name)")
        }
    }
}

/// Collects the fields of a structure.
public struct StructureBuilder {
    private var members: [TLVElement] = []

    public init() {}
    /// Adds a field; fields must come in the order of their tags.
    public mutating func add(_ tag: UInt8, _ value: some TLVConvertible) { members.append(TLVElement(.context(tag), value.tlv)) }
    /// Nil leaves the field out.
    public mutating func add(_ tag: UInt8, ifPresent value: (some TLVConvertible)?) { if let value { add(tag, value) } }
    public var structure: TLVValue { .structure(members) }
}
