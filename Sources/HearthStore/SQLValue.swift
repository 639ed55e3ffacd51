/// A value as SQLite stores it.
public enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// What can be bound to a parameter of a statement.
public protocol SQLBindable {
    var sqlValue: SQLValue { get }
}

extension SQLValue: SQLBindable {
    public var sqlValue: SQLValue { self }
}
extension Int64: SQLBindable {
    public var sqlValue: SQLValue { .integer(self) }
}
extension Int: SQLBindable {
    public var sqlValue: SQLValue { .integer(Int64(self)) }
}
extension UInt32: SQLBindable {
    public var sqlValue: SQLValue { .integer(Int64(self)) }
}
extension UInt16: SQLBindable {
    public var sqlValue: SQLValue { .integer(Int64(self)) }
}
extension UInt8: SQLBindable {
    public var sqlValue: SQLValue { .integer(Int64(self)) }
}
/// Kept bit by bit, since SQLite's integers have a sign: equality holds, the order in SQL does not beyond 2^63. Read it with
/// `Row.unsigned`.
extension UInt64: SQLBindable {
    public var sqlValue: SQLValue { .integer(Int64(bitPattern: self)) }
}
extension Bool: SQLBindable {
    public var sqlValue: SQLValue { .integer(self ? 1 : 0) }
}
extension Double: SQLBindable {
    public var sqlValue: SQLValue { .real(self) }
}
extension String: SQLBindable {
    public var sqlValue: SQLValue { .text(self) }
}
extension [UInt8]: SQLBindable {
    public var sqlValue: SQLValue { .blob(self) }
}
extension Optional: SQLBindable where Wrapped: SQLBindable {
    public var sqlValue: SQLValue { self?.sqlValue ?? .null }
}
