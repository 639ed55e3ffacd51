/// Names of devices that are launched together, each once.
public struct DeviceNames: Sendable {
    private var taken: Set<String> = []
    /// Where to go on looking: many devices may be made of one profile.
    private var next: [String: Int] = [:]

    public init() {}

    public func contains(_ name: String) -> Bool { taken.contains(name) }

    public mutating func insert(_ name: String) { taken.insert(name) }

    /// `base` while it is free, else `base-2` and so on; and takes it.
    public mutating func free(_ base: String) -> String {
        if taken.insert(base).inserted { return base }
        return numbered(base, from: 2)
    }

    /// `base-NUMBER`, or the next number that is free; and takes it.
    public mutating func numbered(_ base: String, from number: Int) -> String {
        var number = max(number, next[base] ?? number)
        while !taken.insert("\(base)-\(number)").inserted { number += 1 }
        next[base] = number + 1
        return "\(base)-\(number)"
    }
}
