/// Why bytes are not Matter TLV, or exceed a limit.
public struct TLVError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller can act on.
    public enum Code: Hashable, Sendable {
        /// The bytes end inside an element, or a container is not closed.
        case truncated
        /// A control byte of no known element type.
        case unknownElementType
        /// A tag form that its place forbids, such as a context tag in an array.
        case tagNotAllowed
        /// An end of container where none is open.
        case unexpectedEnd
        /// More containers within each other than the limit allows.
        case tooDeep
        /// More elements than the limit allows.
        case tooManyElements
        /// A string longer than the limit, or than the bytes that are left.
        case tooLong
        /// A UTF-8 string with other bytes in it.
        case invalidUTF8
        /// Bytes after the end of the only element.
        case trailingBytes
        /// An element of another type, or with another tag, than its reader wants.
        case unexpectedElement
    }

    public let code: Code
    /// Where, in bytes from the start of the input.
    public let offset: Int
    /// What was found or expected there; empty when the code says it all.
    public let detail: String

    public init(_ code: Code, at offset: Int, _ detail: String = "") {
        self.code = code
        self.offset = offset
        self.detail = detail
    }

    public var description: String {
        let what =
            switch code {
            case .truncated: "the TLV ends too early"
            case .unknownElementType: "unknown element type"
            case .tagNotAllowed: "a tag of this form is not allowed here"
            case .unexpectedEnd: "an end of container without a container"
            case .tooDeep: "containers are nested too deep"
            case .tooManyElements: "too many elements"
            case .tooLong: "a string is too long"
            case .invalidUTF8: "a string is not UTF-8"
            case .trailingBytes: "bytes follow the end of the element"
            case .unexpectedElement: "not the expected element"
            }
        return "\(what) at byte \(offset)" + (detail.isEmpty ? "" : ": \(detail)")
    }
}

/// What a reader accepts of input that it does not trust.
public struct TLVLimits: Hashable, Sendable {
    /// Containers within each other. Matter's own data needs 8.
    public var depth: Int
    /// Elements in all, containers and their ends included.
    public var elements: Int
    /// Bytes of one string.
    public var stringLength: Int

    public init(depth: Int = 32, elements: Int = 65_536, stringLength: Int = 65_536) {
        self.depth = depth
        self.elements = elements
        self.stringLength = stringLength
    }

    public static let standard = TLVLimits()
}
