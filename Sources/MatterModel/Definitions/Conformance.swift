/// When an element exists (Matter Core, 7.3).
public struct Conformance: Sendable, Hashable {
    /// In the specification's notation, such as `LT & OO`.
    public var text: String
    public init(_ text: String) { self.text = text }
    public static let mandatory = Conformance("M")
    public static let optional = Conformance("O")
}
