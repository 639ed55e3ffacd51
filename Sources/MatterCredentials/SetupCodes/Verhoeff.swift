/// Verhoeff's check digit over the dihedral group of order 10 (Matter Core, 5.1.4.1.5): finds every single wrong digit and every swap of
/// neighbours.
enum Verhoeff {
    /// Multiplication in the group: 0 to 4 are rotations, 5 to 9 reflections.
    private static func multiply(_ a: Int, _ b: Int) -> Int {
        switch (a < 5, b < 5) {
        case (true, true): (a + b) % 5
        case (true, false): (a + b - 5) % 5 + 5
        case (false, true): (a - b + 5) % 5 + 5
        case (false, false): (a - b + 5) % 5
        }
    }

    private static func inverse(_ a: Int) -> Int { a < 5 ? (5 - a) % 5 : a }

    /// The permutation that is applied once more at each place.
    private static let permutation = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]

    /// The sum over `digits`, the rightmost of which stands at `place`.
    private static func sum(_ digits: some BidirectionalCollection<UInt8>, from place: Int) -> Int {
        var sum = 0
        for (i, digit) in digits.reversed().enumerated() {
            var value = Int(digit) % 10
            for _ in 0..<((i + place) % 8) { value = permutation[value] }
            sum = multiply(sum, value)
        }
        return sum
    }

    /// The digit to append to `digits` (each 0 to 9).
    static func checkDigit(_ digits: some BidirectionalCollection<UInt8>) -> UInt8 {
        UInt8(truncatingIfNeeded: inverse(sum(digits, from: 1)))
    }

    /// Whether the last of `digits` is the check digit of the others.
    static func isValid(_ digits: some BidirectionalCollection<UInt8>) -> Bool { sum(digits, from: 0) == 0 }
}
