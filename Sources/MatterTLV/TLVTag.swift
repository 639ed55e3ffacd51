/// An element's tag (Matter Core, appendix A.2).
public enum TLVTag: Hashable, Sendable {
    /// No tag; the only form in an array.
    case anonymous
    /// A number whose meaning the enclosing structure or list gives.
    case context(UInt8)
    /// A tag of Matter's common profile, written in 2 or 4 bytes.
    case commonProfile(UInt32)
    /// A tag of the profile that the context implies, written in 2 or 4 bytes.
    case implicitProfile(UInt32)
    /// A tag with its vendor and profile, written in 6 or 8 bytes.
    case fullyQualified(vendor: UInt16, profile: UInt16, tag: UInt32)
}

extension TLVTag: ExpressibleByIntegerLiteral {
    /// A literal is a context tag, by far the most frequent form.
    public init(integerLiteral value: UInt8) { self = .context(value) }
}
