/// What both kinds of Matter service say about a node's sessions (Matter Core, 4.3.4). All optional.
public struct SessionParameters: Hashable, Sendable {
    /// SII: how often an idle node listens, in milliseconds, 0 to 3,600,000.
    public var idleInterval: UInt32?
    /// SAI: how often an active node listens, in milliseconds, 0 to 3,600,000.
    public var activeInterval: UInt32?
    /// SAT: how long a node stays active after a message, in milliseconds.
    public var activeThreshold: UInt16?
    /// T: bit 1 TCP client, bit 2 TCP server.
    public var tcp: TCPSupport?

    /// Values of the key T. Bit 0 is reserved.
    public struct TCPSupport: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        public static let client = TCPSupport(rawValue: 1 << 1)
        public static let server = TCPSupport(rawValue: 1 << 2)
    }

    public static let maximumInterval: UInt32 = 3_600_000

    public init(
        idleInterval: UInt32? = nil, activeInterval: UInt32? = nil, activeThreshold: UInt16? = nil, tcp: TCPSupport? = nil
    ) {
        self.idleInterval = idleInterval
        self.activeInterval = activeInterval
        self.activeThreshold = activeThreshold
        self.tcp = tcp
    }

    var pairs: [(key: String, value: String)] {
        var pairs: [(String, String)] = []
        if let idleInterval { pairs.append(("SII", String(min(idleInterval, Self.maximumInterval)))) }
        if let activeInterval { pairs.append(("SAI", String(min(activeInterval, Self.maximumInterval)))) }
        if let activeThreshold { pairs.append(("SAT", String(activeThreshold))) }
        if let tcp { pairs.append(("T", String(tcp.rawValue))) }
        return pairs
    }

    /// A value that is not legal is left out: a peer with a strange hint can still be reached (Matter Core, 4.3.4 tells readers to
    /// ignore what they do not understand).
    init(text: TextRecord) {
        idleInterval = text["SII"].flatMap { DecimalField.parse($0, digits: 7, to: Self.maximumInterval) }
        activeInterval = text["SAI"].flatMap { DecimalField.parse($0, digits: 7, to: Self.maximumInterval) }
        activeThreshold = text["SAT"].flatMap { DecimalField.parse($0, digits: 5, to: UInt16.max) }
        tcp = text["T"].flatMap { DecimalField.parse($0, digits: 1, to: UInt8(7)) }.map(TCPSupport.init(rawValue:))
    }
}

/// Decimal numbers as Matter's TXT records have them: digits only, no sign, no leading zero (Matter Core, 4.3.1).
enum DecimalField {
    static func parse<Number: FixedWidthInteger>(_ text: some StringProtocol, digits: Int, to maximum: Number) -> Number? {
        let bytes = text.utf8
        guard (1...digits).contains(bytes.count), bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        guard bytes.count == 1 || bytes.first != 0x30, let number = Number(text), number <= maximum else { return nil }
        return number
    }
}

/// 64-bit numbers as 16 hexadecimal digits.
enum HexField {
    static func format(_ number: UInt64) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Lower case is accepted: DNS names compare without regard to case.
    static func parse(_ text: some StringProtocol) -> UInt64? {
        guard text.utf8.count == 16, text.utf8.allSatisfy(isDigit) else { return nil }
        return UInt64(text, radix: 16)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }
}
