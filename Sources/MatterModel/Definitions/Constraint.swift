/// What values an element takes beyond its type (Matter Core, 7.6).
public struct Constraint: Sendable, Hashable {
    public var text: String
    public init(_ text: String) { self.text = text }
    public static let none = Constraint("")
}
