/// Where a device keeps what must survive a restart. Keys are paths of short words, such as `attribute/1/0006/0000`.
///
/// Puts take effect for the device at once and become durable before the answer that acknowledges them goes out; the host sees to that.
public protocol DeviceStore: AnyObject {
    func value(for key: String) -> [UInt8]?
    func put(_ bytes: [UInt8], for key: String)
    func remove(_ key: String)
    /// The keys that begin with `prefix`, sorted.
    func keys(withPrefix prefix: String) -> [String]
}

/// A store that forgets everything with the process: for tests, and for devices that nobody wants to keep.
public final class MemoryDeviceStore: DeviceStore {
    public private(set) var values: [String: [UInt8]]

    public init(_ values: [String: [UInt8]] = [:]) { self.values = values }

    public func value(for key: String) -> [UInt8]? { values[key] }
    public func put(_ bytes: [UInt8], for key: String) { values[key] = bytes }
    public func remove(_ key: String) { values[key] = nil }
    public func keys(withPrefix prefix: String) -> [String] { values.keys.filter { $0.hasPrefix(prefix) }.sorted() }
}
