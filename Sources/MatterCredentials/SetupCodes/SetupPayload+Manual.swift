import MatterModel

extension SetupPayload {
    /// The manual code: 11 digits, or 21 with vendor and product when the flow is not the standard one (Matter Core, 5.1.4.1).
    public var manualCode: String {
        let isLong = flow != .standard
        let upper = UInt32(discriminator.upper)
        var digits: [UInt8] = []
        func append(_ value: UInt32, _ width: Int) {
            var place: UInt32 = 1
            for _ in 1..<width { place *= 10 }
            while place > 0 {
                digits.append(UInt8(truncatingIfNeeded: value / place % 10))
                place /= 10
            }
        }
        append((isLong ? 4 : 0) | upper >> 2, 1)
        append((upper & 0x3) << 14 | passcode.value & 0x3FFF, 5)
        append(passcode.value >> 14, 4)
        if isLong {
            append(UInt32(vendorID?.rawValue ?? 0), 5)
            append(UInt32(productID ?? 0), 5)
        }
        digits.append(Verhoeff.checkDigit(digits))
        return String(decoding: digits.map { $0 + 0x30 }, as: UTF8.self)
    }

    /// The manual code with dashes, as a label shows it: 0000-000-0000, or 0000-000-0000-00000-00000-0 for 21 digits.
    public var manualCodeWithDashes: String {
        var rest = manualCode[...]
        var parts: [Substring] = []
        for width in [4, 3, 4, 5, 5, 1] where !rest.isEmpty {
            parts.append(rest.prefix(width))
            rest = rest.dropFirst(width)
        }
        return parts.joined(separator: "-")
    }

    /// Reads a manual code; dashes and blanks may stand anywhere.
    public init(manualCode code: String) throws(CredentialsError) {
        var digits: [UInt8] = []
        for character in code where character != "-" && !character.isWhitespace {
            guard let ascii = character.asciiValue, (0x30...0x39).contains(ascii) else {
                throw CredentialsError(
                    .invalidCharacter, "a manual code has only digits and dashes; character \(digits.count + 1) is neither")
            }
            digits.append(ascii - 0x30)
        }
        guard digits.count == 11 || digits.count == 21 else {
            throw CredentialsError(.wrongLength, "a manual code has 11 or 21 digits, and this one has \(digits.count)")
        }
        guard digits[0] < 8 else {
            throw CredentialsError(
                .unsupported, "the code begins with \(digits[0]): a later version of Matter, which is not known here")
        }
        let isLong = digits[0] & 4 != 0
        guard isLong == (digits.count == 21) else {
            throw CredentialsError(
                .wrongLength,
                "the first digit \(digits[0]) announces \(isLong ? 21 : 11) digits, and there are \(digits.count); is a digit wrong or missing?"
            )
        }
        guard Verhoeff.isValid(digits) else {
            throw CredentialsError(
                .wrongCheckDigit, "the code's last digit does not fit the others: a digit is wrong, or two are swapped")
        }
        func number(_ range: Range<Int>) -> UInt32 { digits[range].reduce(0) { $0 * 10 + UInt32($1) } }
        let (middle, high) = (number(1..<6), number(6..<10))
        guard middle <= 0xFFFF, high <= 0x1FFF else {
            throw CredentialsError(
                .outOfRange, "digits 2 to 10 of the code stand for no passcode; it was not made by a Matter device")
        }
        let passcode = try Passcode(high << 14 | middle & 0x3FFF)
        let short = UInt8(truncatingIfNeeded: UInt32(digits[0] & 0x3) << 2 | middle >> 14)
        guard isLong else {
            self.init(discovery: nil, discriminator: .short(short), passcode: passcode)
            return
        }
        guard let vendor = UInt16(exactly: number(10..<15)), let product = UInt16(exactly: number(15..<20)) else {
            throw CredentialsError(.outOfRange, "digits 11 to 20 of the code stand for no vendor and product (0 to 65535 each)")
        }
        self.init(
            vendorID: VendorID(vendor), productID: product, flow: .custom, discovery: nil, discriminator: .short(short),
            passcode: passcode)
    }
}
