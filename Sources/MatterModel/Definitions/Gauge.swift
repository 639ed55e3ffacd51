/// What an encoded number means on a scale that is no decimal one: a level of 127 is 50 %, 250 mireds are 4000 K.
///
/// People read the number as it is encoded and the meaning after it, `127 (50 %)`, because several numbers share a rounded meaning,
/// and the specification, constraints and other controllers speak of the number. Both forms, and the whole text, may be written.
public struct Gauge: Sendable, Hashable {
    enum Scale: Hashable {
        /// The meaning is number × numerator ÷ denominator.
        case linear(numerator: Int64, denominator: Int64)
        /// The meaning is numerator ÷ number, as 1 000 000 ÷ mireds is kelvin.
        case reciprocal(Int64)
    }

    /// Such as `%`, `°`, `K`; empty for a mere fraction.
    public let symbol: String
    let scale: Scale
    /// In what parts of one the meaning is shown.
    let steps: Int64

    private init(_ symbol: String, _ scale: Scale, steps: Int64 = 1) { (self.symbol, self.scale, self.steps) = (symbol, scale, steps) }

    /// Of 254, the highest level and saturation (Matter Application Clusters, 1.6.6.2 and 3.2.7.3).
    static let percentOf254 = Gauge("%", .linear(numerator: 100, denominator: 254))
    static let percentOf254PerSecond = Gauge("%/s", .linear(numerator: 100, denominator: 254))
    /// 254 steps of a circle (CurrentHue), and 65536 (EnhancedCurrentHue).
    static let hue = Gauge("°", .linear(numerator: 360, denominator: 254))
    static let enhancedHue = Gauge("°", .linear(numerator: 360, denominator: 65536))
    /// A coordinate of the CIE 1931 colour space.
    static let chromaticity = Gauge("", .linear(numerator: 1, denominator: 65536), steps: 10000)
    static let kelvin = Gauge("K", .reciprocal(1_000_000))

    /// What the number means, with its unit; nil where it means nothing, as 0 mireds.
    func text(_ number: UInt64) -> String? {
        guard let number = Int64(exactly: number), number <= Int64(UInt32.max) else { return nil }
        let fraction: (numerator: Int64, denominator: Int64)
        switch scale {
        case .linear(let numerator, let denominator): fraction = (number * numerator, denominator)
        case .reciprocal(let numerator):
            guard number > 0 else { return nil }
            fraction = (numerator, number)
        }
        guard let rounded = Decimal.scaled(fraction, by: steps) else { return nil }
        let unit = symbol.isEmpty ? "" : " " + symbol
        if symbol.hasPrefix("%"), let tenths = Decimal.scaled(fraction, by: 10), isBlurred(rounded, fraction) {
            return Decimal.text(tenths, steps: 10) + unit
        }
        return Decimal.text(rounded, steps: steps) + unit
    }

    /// Nearly nothing is not 0 %, and nearly full not 100 %.
    private func isBlurred(_ rounded: Int64, _ fraction: (numerator: Int64, denominator: Int64)) -> Bool {
        (rounded == 0 || rounded == 100) && rounded * fraction.denominator != fraction.numerator
    }

    /// The number that comes nearest to a meaning; nil when none does.
    func number(_ meaning: (numerator: Int64, denominator: Int64)) -> Int64? {
        switch scale {
        case .linear(let numerator, let denominator):
            let (product, overflow) = meaning.denominator.multipliedReportingOverflow(by: numerator)
            return overflow ? nil : Decimal.scaled((meaning.numerator, product), by: denominator)
        case .reciprocal(let numerator):
            guard meaning.numerator > 0 else { return nil }
            return Decimal.scaled((numerator, meaning.numerator), by: meaning.denominator)
        }
    }
}

extension TypeReference {
    /// The scale of an element that has one: levels, colours.
    public func gauge(of element: String, in cluster: ClusterID?) -> Gauge? {
        guard case .unsigned(let bytes) = base else { return nil }
        if cluster == LevelControl.id {
            if element.hasSuffix("Level") || element == "StepSize" { return .percentOf254 }
            return bytes == 1 && ["Rate", "DefaultMoveRate"].contains(element) ? .percentOf254PerSecond : nil
        }
        guard cluster == ColorControl.id else { return nil }
        if element.hasSuffix("Mireds") { return .kelvin }
        if element.hasSuffix("Saturation") { return .percentOf254 }
        if element.hasSuffix("Hue") { return bytes == 1 ? .hue : .enhancedHue }
        let isCoordinate = element.hasSuffix("X") || element.hasSuffix("Y")
        return bytes == 2 && isCoordinate ? .chromaticity : nil
    }
}
