/// A device's setup passcode: 27 bits, 1 to 99999998, not one of the twelve that anybody would guess (Matter Core, 5.1.7).
///
/// Its description hides it, so that a passcode does not reach a log by accident; `digits` is for showing it on purpose.
public struct Passcode: Hashable, Sendable {
    public let value: UInt32

    /// The passcodes that Matter forbids (Matter Core, 5.1.7.1).
    public static let forbidden: Set<UInt32> = [
        0, 11_111_111, 22_222_222, 33_333_333, 44_444_444, 55_555_555, 66_666_666, 77_777_777, 88_888_888, 99_999_999, 12_345_678,
        87_654_321,
    ]
    public static let range: ClosedRange<UInt32> = 1...99_999_998

    /// - Throws: `forbiddenPasscode`, or `outOfRange` beyond 99999998.
    public init(_ value: UInt32) throws(CredentialsError) {
        guard !Self.forbidden.contains(value) else {
            throw CredentialsError(
                .forbiddenPasscode, "Matter forbids the passcode \(Self.digits(value)): choose one that nobody would guess")
        }
        guard Self.range.contains(value) else {
            throw CredentialsError(.outOfRange, "a passcode lies between 00000001 and 99999998, and this one is \(value)")
        }
        self.value = value
    }

    /// A fresh passcode, uniform over all that are allowed, from OpenSSL's random source.
    public static func random() -> Passcode {
        while true {
            let number = Crypto.random(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FF_FFFF
            if let passcode = try? Passcode(number) { return passcode }
        }
    }

    /// The eight digits, with leading zeros. Never log them.
    public var digits: String { Self.digits(value) }

    private static func digits(_ value: UInt32) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, 8 - text.count)) + text
    }
}

extension Passcode: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "passcode (hidden)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
