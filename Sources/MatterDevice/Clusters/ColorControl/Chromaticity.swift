import Glibc

/// A colour without its brightness, as a point of the CIE 1931 diagram, and how the other ways of telling a colour lead to it and back.
///
/// Hue and saturation are those of HSV at full value, on the primaries and the white of sRGB (IEC 61966-2-1), which is what screens show;
/// colour temperatures are points of the Planckian locus (cubic approximation of Kang et al., 2002). The specification leaves true colours
/// to the device (Matter Application Clusters, 3.2.8.1).
struct Chromaticity: Hashable {
    /// Each from 0 to 1.
    var x: Double
    var y: Double

    /// The white of sRGB, D65.
    static let white = Chromaticity(x: 0.3127, y: 0.3290)

    init(x: Double, y: Double) { (self.x, self.y) = (x, y) }

    // MARK: Hue and saturation

    /// - Parameters:
    ///   - degrees: of the hue; 0 or more.
    ///   - saturation: 0 to 1.
    init(degrees: Double, saturation: Double) {
        let sector = degrees / 60
        func channel(_ offset: Double) -> Double {
            // How far the hue is from where the channel is empty, in sectors: within one it is empty, beyond two it is full.
            let away = abs((sector + offset).truncatingRemainder(dividingBy: 6) - 3)
            let share = min(max(away - 1, 0), 1)
            return Self.linear(1 - saturation * (1 - share))
        }
        let (red, green, blue) = (channel(0), channel(4), channel(2))
        let x = 0.412_456_4 * red + 0.357_576_1 * green + 0.180_437_5 * blue
        let y = 0.212_672_9 * red + 0.715_152_2 * green + 0.072_175_0 * blue
        let z = 0.019_333_9 * red + 0.119_192_0 * green + 0.950_304_1 * blue
        // One channel at least is full, so that the sum is none of nothing.
        self.init(x: x / (x + y + z), y: y / (x + y + z))
    }

    /// The nearest hue, in degrees from 0 to 360, nil for white, which has none; and the saturation from 0 to 1. What sRGB cannot show
    /// is at the edge of what it can.
    var hueAndSaturation: (degrees: Double?, saturation: Double) {
        let (x, y) = (max(self.x, 0), max(self.y, 1e-6))
        let (big, bigZ) = (x / y, max(1 - x - y, 0) / y)
        let red = 3.240_454_2 * big - 1.537_138_5 - 0.498_531_4 * bigZ
        let green = -0.969_266_0 * big + 1.876_010_8 + 0.041_556_0 * bigZ
        let blue = 0.055_643_4 * big - 0.204_025_9 + 1.057_225_2 * bigZ
        // Their weighted sum is the luminance, which is 1: not all are zero or less.
        let most = max(red, green, blue)
        guard most > 0 else { return (nil, 0) }
        let (r, g, b) = (Self.compressed(red / most), Self.compressed(green / most), Self.compressed(blue / most))
        let least = min(r, g, b)
        let chroma = 1 - least
        // Less than a thousandth is a rounding of white.
        guard chroma > 1e-3 else { return (nil, 0) }
        let sectors =
            if r >= g, r >= b {
                (g - b) / chroma
            } else if g >= b {
                2 + (b - r) / chroma
            } else {
                4 + (r - g) / chroma
            }
        return (sectors < 0 ? sectors * 60 + 360 : sectors * 60, chroma)
    }

    /// The transfer function of sRGB, 0 to 1 both.
    private static func linear(_ value: Double) -> Double { value <= 0.040_45 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4) }

    private static func compressed(_ value: Double) -> Double {
        let value = max(value, 0)
        return value <= 0.003_130_8 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
    }

    // MARK: Colour temperature

    /// Where the approximation holds, in mireds: 25000 K to 1667 K.
    static let temperatures = 40...599

    /// - Parameter mireds: beyond `temperatures`, the nearest of them counts.
    init(mireds: Int) {
        let kelvins = 1e6 / Double(min(max(mireds, Self.temperatures.lowerBound), Self.temperatures.upperBound))
        let t = 1e3 / kelvins
        let x =
            kelvins <= 4000
            ? ((-0.266_123_9 * t - 0.234_358_9) * t + 0.877_695_6) * t + 0.179_910
            : ((-3.025_846_9 * t + 2.107_037_9) * t + 0.222_634_7) * t + 0.240_390
        let y =
            if kelvins <= 2222 {
                ((-1.106_381_4 * x - 1.348_110_20) * x + 2.185_558_32) * x - 0.202_196_83
            } else if kelvins <= 4000 {
                ((-0.954_947_6 * x - 1.374_185_93) * x + 2.091_370_15) * x - 0.167_488_67
            } else {
                ((3.081_758_0 * x - 5.873_386_70) * x + 3.751_129_97) * x - 0.370_014_83
            }
        self.init(x: x, y: y)
    }

    /// The correlated colour temperature within a range of mireds: that of the nearest point of the locus, by CIE 1960.
    func mireds(within range: ClosedRange<Int>) -> Int {
        func clamped(_ bound: Int) -> Int { min(max(bound, Self.temperatures.lowerBound), Self.temperatures.upperBound) }
        var nearest = (mireds: clamped(range.lowerBound), distance: Double.infinity)
        for mireds in clamped(range.lowerBound)...clamped(range.upperBound) {
            let distance = distance(to: Chromaticity(mireds: mireds))
            if distance < nearest.distance { nearest = (mireds, distance) }
        }
        return min(max(nearest.mireds, range.lowerBound), range.upperBound)
    }

    /// Squared, in the uniform diagram of 1960.
    private func distance(to other: Chromaticity) -> Double {
        func uv(_ point: Chromaticity) -> (u: Double, v: Double) {
            // Above zero for all points of the diagram.
            let scale = max(-2 * point.x + 12 * point.y + 3, 1e-6)
            return (4 * point.x / scale, 6 * point.y / scale)
        }
        let (a, b) = (uv(self), uv(other))
        return (a.u - b.u) * (a.u - b.u) + (a.v - b.v) * (a.v - b.v)
    }
}
