import CSQLite

/// The row at which a statement stands. It cannot be copied, so it cannot leave the closure that it is lent to; what its
/// functions return are copies.
public struct Row: ~Copyable {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { self.statement = statement }

    /// The number of columns.
    public var count: Int { Int(sqlite3_column_count(statement)) }

    /// Whether the column, counted from 0, holds NULL.
    public func isNull(_ column: Int) -> Bool { type(column) == SQLITE_NULL }

    /// The integer in `column` (from 0).
    /// - Throws: `unexpectedValue` when there is no such column or it holds something else.
    public func integer(_ column: Int) throws(StoreError) -> Int64 {
        try expect(SQLITE_INTEGER, column)
        return sqlite3_column_int64(statement, Int32(truncatingIfNeeded: column))
    }

    /// An integer that was bound as `UInt64`.
    public func unsigned(_ column: Int) throws(StoreError) -> UInt64 { UInt64(bitPattern: try integer(column)) }

    /// An integer column; anything but 0 is true. - Throws: `StoreError` when it is no integer.
    public func boolean(_ column: Int) throws(StoreError) -> Bool { try integer(column) != 0 }

    /// - Throws: `StoreError` when the column is no number.
    public func real(_ column: Int) throws(StoreError) -> Double {
        try expect(SQLITE_FLOAT, column)
        return sqlite3_column_double(statement, Int32(truncatingIfNeeded: column))
    }

    /// - Throws: `StoreError` when the column is no text.
    public func text(_ column: Int) throws(StoreError) -> String {
        try expect(SQLITE_TEXT, column)
        let index = Int32(truncatingIfNeeded: column)
        guard let start = sqlite3_column_text(statement, index) else { return "" }
        return String(
            decoding: UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))), as: UTF8.self)
    }

    /// A copy of the octets. - Throws: `StoreError` when the column is no blob.
    public func blob(_ column: Int) throws(StoreError) -> [UInt8] {
        try expect(SQLITE_BLOB, column)
        let index = Int32(truncatingIfNeeded: column)
        guard let start = sqlite3_column_blob(statement, index) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))))
    }

    /// As `integer`, nil for NULL.
    public func optionalInteger(_ column: Int) throws(StoreError) -> Int64? { isNull(column) ? nil : try integer(column) }
    /// As `unsigned`, nil for NULL.
    public func optionalUnsigned(_ column: Int) throws(StoreError) -> UInt64? { isNull(column) ? nil : try unsigned(column) }
    /// As `real`, nil for NULL.
    public func optionalReal(_ column: Int) throws(StoreError) -> Double? { isNull(column) ? nil : try real(column) }
    /// As `text`, nil for NULL.
    public func optionalText(_ column: Int) throws(StoreError) -> String? { isNull(column) ? nil : try text(column) }
    /// As `blob`, nil for NULL.
    public func optionalBlob(_ column: Int) throws(StoreError) -> [UInt8]? { isNull(column) ? nil : try blob(column) }

    /// Whatever `column` holds; null when there is no such column.
    public func value(_ column: Int) throws(StoreError) -> SQLValue {
        switch type(column) {
        case SQLITE_INTEGER: .integer(try integer(column))
        case SQLITE_FLOAT: .real(try real(column))
        case SQLITE_TEXT: .text(try text(column))
        case SQLITE_BLOB: .blob(try blob(column))
        default: .null
        }
    }

    private func type(_ column: Int) -> Int32 {
        column >= 0 && column < count ? sqlite3_column_type(statement, Int32(truncatingIfNeeded: column)) : SQLITE_NULL
    }

    private func expect(_ wanted: Int32, _ column: Int) throws(StoreError) {
        let found = type(column)
        guard found != wanted else { return }
        func name(_ type: Int32) -> String {
            switch type {
            case SQLITE_INTEGER: "an integer"
            case SQLITE_FLOAT: "a real number"
            case SQLITE_TEXT: "text"
            case SQLITE_BLOB: "a blob"
            default: "null"
            }
        }
        throw StoreError(.unexpectedValue, "column \(column) holds \(name(found)) where \(name(wanted)) was expected")
    }
}
