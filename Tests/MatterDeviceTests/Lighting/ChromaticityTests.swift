import Testing

@testable import MatterDevice

@Suite struct ChromaticityTests {
    private static func distance(_ a: Chromaticity, _ b: Chromaticity) -> Double { max(abs(a.x - b.x), abs(a.y - b.y)) }

    /// The primaries and the white of sRGB, and mixtures of two full primaries.
    @Test(arguments: [
        (0.0, 1.0, 0.6400, 0.3300), (120, 1, 0.3000, 0.6000), (240, 1, 0.1500, 0.0600), (0, 0, 0.3127, 0.3290), (77, 0, 0.3127, 0.3290),
        (60, 1, 0.4193, 0.5053), (180, 1, 0.2247, 0.3287), (300, 1, 0.3209, 0.1542), (360, 1, 0.6400, 0.3300),
    ])
    func knownHues(_ degrees: Double, _ saturation: Double, _ x: Double, _ y: Double) {
        let color = Chromaticity(degrees: degrees, saturation: saturation)
        #expect(Self.distance(color, Chromaticity(x: x, y: y)) < 2e-4, "\(color)")
    }

    /// Black bodies by CIE 15: A is 2856 K; the others of common lamps.
    @Test(arguments: [(500, 0.5267, 0.4133), (370, 0.4599, 0.4106), (350, 0.4476, 0.4074), (250, 0.3804, 0.3768), (154, 0.3135, 0.3237)])
    func knownTemperatures(_ mireds: Int, _ x: Double, _ y: Double) {
        let color = Chromaticity(mireds: mireds)
        #expect(Self.distance(color, Chromaticity(x: x, y: y)) < 2e-3, "\(color)")
    }

    /// The locus has no step where one polynomial follows another.
    @Test func theLocusIsContinuous() {
        for mireds in Chromaticity.temperatures.dropLast() {
            #expect(Self.distance(Chromaticity(mireds: mireds), Chromaticity(mireds: mireds + 1)) < 2e-3, "\(mireds)")
        }
    }

    /// Every hue and saturation that attributes can have comes back from the sixteen bits of X and Y.
    @Test func huesComeBack() {
        for hue in 0..<254 {
            for saturation in 0...254 {
                let exact = Chromaticity(degrees: Double(hue) * 360 / 254, saturation: Double(saturation) / 254)
                let rounded = Chromaticity(x: (exact.x * 65536).rounded() / 65536, y: (exact.y * 65536).rounded() / 65536)
                let found = rounded.hueAndSaturation
                #expect(abs(found.saturation * 254 - Double(saturation)) < 0.5, "\(hue) \(saturation)")
                guard saturation >= 8 else { continue }
                let away = abs((found.degrees ?? 999) * 254 / 360 - Double(hue))
                #expect(min(away, 254 - away) < 0.5, "\(hue) \(saturation)")
            }
        }
    }

    @Test func temperaturesComeBack() {
        for mireds in 100...599 {
            let exact = Chromaticity(mireds: mireds)
            let rounded = Chromaticity(x: (exact.x * 65536).rounded() / 65536, y: (exact.y * 65536).rounded() / 65536)
            #expect(rounded.mireds(within: 1...0xFEFF) == mireds)
            #expect((200...300).contains(rounded.mireds(within: 200...300)))
        }
    }

    /// Points outside of every gamut, and of the diagram, have values in range all the same.
    @Test func everyPointIsSomeColour() {
        for x in stride(from: 0, through: 0xFEFF, by: 0x101) {
            for y in stride(from: 0, through: 0xFEFF, by: 0x101) {
                let color = Chromaticity(x: Double(x) / 65536, y: Double(y) / 65536)
                let (degrees, saturation) = color.hueAndSaturation
                #expect((0...1).contains(saturation), "\(x) \(y)")
                #expect(degrees.map { (0...360).contains($0) } ?? true, "\(x) \(y)")
            }
        }
        for (x, y) in [(0, 0), (0xFEFF, 0xFEFF), (0xFEFF, 0), (0, 0xFEFF)] {
            let color = Chromaticity(x: Double(x) / 65536, y: Double(y) / 65536)
            #expect((153...500).contains(color.mireds(within: 153...500)))
            #expect(color.mireds(within: 0...0) == 0)
            #expect(color.mireds(within: 1000...2000) == 1000)
        }
    }
}
