/// Puts and deletes of many namespaces, collected to be committed in one transaction. The last word on a key counts.
public struct WriteBatch: Sendable {
    struct Place: Hashable, Sendable {
        let namespace: String
        let key: String
    }

    /// Values to write; nil deletes.
    private(set) var values: [Place: [UInt8]?] = [:]
    /// Namespaces to empty before that.
    private(set) var cleared: Set<String> = []

    public init() {}

    public var isEmpty: Bool { values.isEmpty && cleared.isEmpty }
    /// Changes that a commit makes.
    public var count: Int { values.count + cleared.count }

    public mutating func put(_ namespace: String, _ key: String, _ value: [UInt8]) {
        values[Place(namespace: namespace, key: key)] = .some(value)
    }

    public mutating func delete(_ namespace: String, _ key: String) {
        values[Place(namespace: namespace, key: key)] = .some(nil)
    }

    /// Deletes what `namespace` holds so far: a device's factory reset.
    public mutating func deleteAll(_ namespace: String) {
        values = values.filter { $0.key.namespace != namespace }
        cleared.insert(namespace)
    }

    public mutating func removeAll() {
        values.removeAll(keepingCapacity: true)
        cleared.removeAll(keepingCapacity: true)
    }
}
