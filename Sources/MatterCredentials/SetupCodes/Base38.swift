/// Bytes in the characters of an alphanumeric QR code (Matter Core, 5.1.3.1): three bytes in five characters, two in four, one in two, each
/// group little-endian.
enum Base38 {
    private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-.".utf8)
    /// The bytes in a group of so many characters.
    private static let bytesOfCharacters = [5: 3, 4: 2, 2: 1]
    private static let charactersOfBytes = [3: 5, 2: 4, 1: 2]

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var value = group.reversed().reduce(0) { $0 << 8 | Int($1) }
            for _ in 0..<(charactersOfBytes[group.count] ?? 0) {
                text.append(alphabet[value % 38])
                value /= 38
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func decode(_ text: some StringProtocol) throws(CredentialsError) -> [UInt8] {
        var values: [Int] = []
        for (i, character) in text.enumerated() {
            guard let ascii = character.asciiValue, let value = alphabet.firstIndex(of: ascii) else {
                throw CredentialsError(
                    .invalidCharacter,
                    "character \(i + 1) after MT: is not one of 0-9, A-Z, - and . which make up a QR code's text")
            }
            values.append(value)
        }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: values.count, by: 5) {
            let group = values[start..<min(start + 5, values.count)]
            guard let count = bytesOfCharacters[group.count] else {
                throw CredentialsError(
                    .wrongLength, "\(values.count) characters after MT: cannot be a QR code's text; part of it is missing")
            }
            let value = group.reversed().reduce(0) { $0 * 38 + $1 }
            guard value < 1 << (8 * count) else {
                throw CredentialsError(
                    .malformed, "characters \(start + 1) to \(start + group.count) after MT: stand for no bytes")
            }
            for i in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * i))) }
        }
        return bytes
    }
}
