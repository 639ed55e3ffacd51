import HearthTime
import MatterModel

/// What a colour is made of, as attributes have it.
enum ColorQuantity: Int, CaseIterable {
    case hue, enhancedHue, saturation, x, y, temperature

    var attribute: AttributeID {
        switch self {
        case .hue: ColorControl.Attributes.currentHue
        case .enhancedHue: ColorControl.Attributes.enhancedCurrentHue
        case .saturation: ColorControl.Attributes.currentSaturation
        case .x: ColorControl.Attributes.currentX
        case .y: ColorControl.Attributes.currentY
        case .temperature: ColorControl.Attributes.colorTemperatureMireds
        }
    }

    /// Hues go round: so many values are there.
    var modulus: Int? {
        switch self {
        case .hue: 255
        case .enhancedHue: 65536
        default: nil
        }
    }
}

/// How one quantity moves.
enum ColorCourse {
    /// To a target, which for a hue may lie a turn away from the values that attributes have.
    case to(Transition)
    /// Round and round, so many values a second, until something else is asked for.
    case endless(start: Int, rate: Double, began: ModelInstant)

    /// The value at an instant; hues still unwrapped.
    func value(at now: ModelInstant) -> Int {
        switch self {
        case .to(let transition): return transition.value(at: now)
        case .endless(let start, let rate, let began):
            let seconds = Double((now - began).wholeNanoseconds) / 1e9
            return start + Int((seconds * rate).rounded(.towardZero))
        }
    }

    var end: ModelInstant? {
        if case .to(let transition) = self { return transition.end }
        return nil
    }
}

/// A number brought into 0..<modulus.
func wrapped(_ value: Int, _ modulus: Int?) -> Int {
    guard let modulus else { return value }
    let rest = value % modulus
    return rest < 0 ? rest + modulus : rest
}
