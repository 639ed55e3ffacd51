/// A domain name, held as it stands on the wire without compression: labels with their length before them, and a zero at the end
/// (RFC 1035, 3.1). Names compare without regard to the case of ASCII letters and keep the case they were written in.
struct DomainName: Hashable, Sendable, CustomStringConvertible {
    /// 1 to 255 bytes.
    let wire: [UInt8]

    static let root = DomainName(unchecked: [0])
    static let local = DomainName(unchecked: [5] + Array("local".utf8) + [0])
    /// Lists the types of services (RFC 6763, 9).
    static let serviceTypes = local.prefixed("_udp").prefixed("_dns-sd").prefixed("_services")

    /// `wire` must be a valid name.
    init(unchecked wire: [UInt8]) { self.wire = wire }

    /// `_matter-tls._tcp.local`.
    init(_ type: ServiceType) {
        self = type.name.split(separator: ".").reversed().reduce(DomainName.local) { $0.prefixed($1) }
    }

    /// `_L1._sub._matter-tlsc._tcp.local` (RFC 6763, 7.1).
    init(_ type: ServiceType, subtype: String) { self = DomainName(type).prefixed("_sub").prefixed(subtype) }

    init(_ name: ServiceName) { self = DomainName(name.type).prefixed(name.instance) }

    /// The name with a label before it. A label is cut to 63 bytes; a name that would exceed 255 bytes stays as it is. Neither
    /// happens with what `ServiceRecord.validate` let pass.
    func prefixed(_ label: some StringProtocol) -> DomainName {
        let bytes = label.utf8.prefix(63)
        guard !bytes.isEmpty, wire.count + bytes.count + 1 <= 255 else { return self }
        var longer: [UInt8] = []
        longer.reserveCapacity(wire.count + bytes.count + 1)
        longer.append(UInt8(bytes.count))
        longer.append(contentsOf: bytes)
        longer.append(contentsOf: wire)
        return DomainName(unchecked: longer)
    }

    /// The first label as text, nil for the root or what is not UTF-8.
    var firstLabel: String? {
        guard let length = wire.first, length > 0, wire.count > Int(length) else { return nil }
        return String(validating: wire[1...Int(length)], as: UTF8.self)
    }

    /// The name without its first label; nil for the root.
    var parent: DomainName? {
        guard let length = wire.first, length > 0, wire.count > Int(length) + 1 else { return nil }
        return DomainName(unchecked: Array(wire[(Int(length) + 1)...]))
    }

    /// Length bytes are below 64 and so never taken for letters.
    static func == (left: Self, right: Self) -> Bool {
        guard left.wire.count == right.wire.count else { return false }
        return left.wire.withUnsafeBufferPointer { left in
            right.wire.withUnsafeBufferPointer { right in
                for i in left.indices where left[i] != right[i] && lowered(left[i]) != lowered(right[i]) { return false }
                return true
            }
        }
    }

    func hash(into hasher: inout Hasher) {
        // Eight bytes at a time: names are looked up for every question and record.
        wire.withUnsafeBufferPointer { bytes in
            var word: UInt64 = 0
            for i in bytes.indices {
                word = word << 8 | UInt64(Self.lowered(bytes[i]))
                if i & 7 == 7 { hasher.combine(word) }
            }
            hasher.combine(word)
        }
    }

    @inline(__always)
    static func lowered(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// With dots, backslashes and what does not print escaped (RFC 1035, 5.1); without the final dot.
    var description: String {
        var text = ""
        var i = 0
        while i < wire.count, wire[i] > 0 {
            if !text.isEmpty { text += "." }
            let end = min(i + 1 + Int(wire[i]), wire.count)
            for scalar in String(decoding: wire[(i + 1)..<end], as: UTF8.self).unicodeScalars {
                if scalar == "." || scalar == "\\" { text += "\\" }
                if scalar.value < 0x20 || scalar.value == 0x7f {
                    text += "\\" + String(scalar.value)
                } else {
                    text.unicodeScalars.append(scalar)
                }
            }
            i = end
        }
        return text.isEmpty ? "." : text
    }
}
