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

    /// Whether the batch changes anything of a namespace. Looks at all of it.
    public func concerns(_ namespace: String) -> Bool {
        cleared.contains(namespace) || values.keys.contains { $0.namespace == namespace }
    }

    /// The namespaces that it changes.
    public var namespaces: Set<String> { cleared.union(values.keys.map(\.namespace)) }

    /// What the batch will do to a key: the outer value is nil when it says nothing, the inner one when it deletes.
    public func pending(_ namespace: String, _ key: String) -> [UInt8]?? {
        if let change = values[Place(namespace: namespace, key: key)] { return .some(change) }
        return cleared.contains(namespace) ? .some(nil) : nil
    }

    /// Whether the batch empties a namespace before it puts anything there.
    public func clears(_ namespace: String) -> Bool { cleared.contains(namespace) }

    /// The keys of a namespace that the batch puts (true) or deletes (false).
    public func pendingKeys(_ namespace: String) -> [(key: String, isPut: Bool)] {
        values.compactMap { place, value in place.namespace == namespace ? (place.key, value != nil) : nil }
    }

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
