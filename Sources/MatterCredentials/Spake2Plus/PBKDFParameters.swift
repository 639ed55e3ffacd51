/// How a passcode becomes a key: the iteration count and the salt (Matter Core, 3.9). Both sides enforce the bounds: with fewer rounds a
/// false device could find the passcode cheaply, with more it could keep a controller busy for hours.
public struct PBKDFParameters: Hashable, Sendable {
    /// 1,000 to 100,000.
    public let iterations: Int
    /// 16 to 32 bytes.
    public let salt: [UInt8]

    public static let iterationRange = 1_000...100_000
    public static let saltLengthRange = 16...32

    /// - Throws: `outOfRange`.
    public init(iterations: Int, salt: [UInt8]) throws(CredentialsError) {
        guard Self.iterationRange.contains(iterations) else {
            throw CredentialsError(.outOfRange, "PBKDF2 takes 1,000 to 100,000 iterations in Matter, not \(iterations)")
        }
        guard Self.saltLengthRange.contains(salt.count) else {
            throw CredentialsError(.outOfRange, "PBKDF2 takes a salt of 16 to 32 bytes in Matter, not \(salt.count)")
        }
        self.iterations = iterations
        self.salt = salt
    }

    /// Parameters with a fresh 32-byte salt.
    public static func random(iterations: Int = 1_000) throws(CredentialsError) -> PBKDFParameters {
        try PBKDFParameters(iterations: iterations, salt: Crypto.random(32))
    }
}
