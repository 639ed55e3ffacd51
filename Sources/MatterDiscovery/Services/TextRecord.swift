/// The strings of a TXT record (RFC 6763, 6): `key=value` each, in the order given.
public struct TextRecord: Hashable, Sendable {
    /// What the whole record may take. Far below a packet, because 1000 devices share few packets; Matter's own keys need 150.
    public static let maximumLength = 1_000

    /// A key and its value; a key without a value has nil, which is not the same as an empty one.
    public struct Entry: Hashable, Sendable {
        public var key: String
        public var value: [UInt8]?

        public init(key: String, value: [UInt8]?) {
            self.key = key
            self.value = value
        }
    }

    /// The record's data as it stands on the wire, empty when there are no strings. Kept in this form, because a fleet has many.
    private var strings: [UInt8] = []

    public init() {}

    /// Keeps the order. Of two entries with the same key the first counts.
    public init(_ pairs: [(key: String, value: String)]) {
        for (key, value) in pairs { append(key, Array(value.utf8)) }
    }

    /// Leaves out what RFC 6763, 6.4 does not allow: empty keys, keys with `=` or outside printable ASCII, keys that were there
    /// before, and what does not fit into a string of 255 bytes.
    public mutating func append(_ key: String, _ value: [UInt8]?) {
        let allowed = key.utf8.allSatisfy { (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "=") }
        let length = key.utf8.count + (value.map { $0.count + 1 } ?? 0)
        guard !key.isEmpty, allowed, length <= 255, !entries.contains(where: { Self.same($0.key, key) }) else { return }
        strings.append(UInt8(length))
        strings.append(contentsOf: key.utf8)
        if let value {
            strings.append(UInt8(ascii: "="))
            strings.append(contentsOf: value)
        }
    }

    /// The entries in their order.
    public var entries: [Entry] { Self.split(strings[...]) }

    /// Keys are compared without regard to case (RFC 6763, 6.4).
    private static func same(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && left.lowercased() == right.lowercased()
    }

    /// The value as text; nil when the key is absent, has no value, or is not UTF-8.
    public subscript(key: String) -> String? {
        guard let value = entries.first(where: { Self.same($0.key, key) })?.value else { return nil }
        return String(validating: value, as: UTF8.self)
    }

    /// The record's data as it stands on the wire: length-prefixed strings, a single empty one when there are none.
    public var encoded: [UInt8] { strings.isEmpty ? [0] : strings }

    /// Reads a record's data. Strings that are no entries are passed over, as RFC 6763, 6.4 asks; a string that runs over the end
    /// ends the reading.
    public init(encoded bytes: some Collection<UInt8>) {
        for entry in Self.split(Array(bytes)[...]) { append(entry.key, entry.value) }
    }

    private static func split(_ bytes: ArraySlice<UInt8>) -> [Entry] {
        var entries: [Entry] = []
        var rest = bytes
        while let length = rest.popFirst(), Int(length) <= rest.count {
            let string = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            let separator = string.firstIndex(of: UInt8(ascii: "="))
            guard let key = String(validating: string[..<(separator ?? string.endIndex)], as: UTF8.self) else { continue }
            entries.append(Entry(key: key, value: separator.map { Array(string[string.index(after: $0)...]) }))
        }
        return entries
    }
}
