/// Octets and numbers in hexadecimal.
public enum Hexadecimal {
    /// Two lower-case digits a byte.
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in bytes { text += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        return text
    }

    /// As many upper-case digits as the number's type has.
    public static func text<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, Number.bitWidth / 4 - digits.count)) + digits
    }

    /// The bytes of an even number of digits; spaces and colons between bytes are ignored.
    public static func bytes(_ text: String) throws(ValueError) -> [UInt8] {
        let digits = Array(text.utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ":") })
        guard digits.count.isMultiple(of: 2) else { throw ValueError("an odd number of hexadecimal digits") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = nibble(digits[index]), let low = nibble(digits[index + 1]) else {
                throw ValueError("not hexadecimal: \(String(decoding: digits[index...(index + 1)], as: UTF8.self))")
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// A number with `0x` before it or without; nil when it is none or does not fit.
    public static func number(_ text: some StringProtocol) -> UInt64? {
        let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? String(text.dropFirst(2)) : String(text)
        guard !digits.isEmpty, digits.allSatisfy(\.isHexDigit) else { return nil }
        return UInt64(digits, radix: 16)
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}
