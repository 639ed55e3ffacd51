import MatterInteraction
import MatterModel
import MatterTLV

/// What scenes keep of a colour (Matter Application Clusters, 3.2.7.1).
///
/// CurrentHue is none of it: the hue of a scene is EnhancedCurrentHue, in whichever of its two modes the colour is. A device with X and Y
/// but without enhanced hue keeps the point of its hue and saturation there, and finds its hue again by it. With neither, a scene brings
/// back the saturation only.
extension ColorControlCluster: SceneableCluster {
    /// In the order in which controllers are used to see them in a scene.
    private static let sceneable = [
        Spec.Attributes.currentX, Spec.Attributes.currentY, Spec.Attributes.enhancedCurrentHue, Spec.Attributes.currentSaturation,
        Spec.Attributes.colorLoopActive, Spec.Attributes.colorLoopDirection, Spec.Attributes.colorLoopTime,
        Spec.Attributes.colorTemperatureMireds, Spec.Attributes.enhancedColorMode,
    ]

    public func sceneValues() -> [(attribute: AttributeID, value: TLVValue)] {
        let context = InteractionContext.local()
        let point =
            mode == .currentHueAndCurrentSaturation && !has(Spec.Attributes.enhancedCurrentHue)
            ? values(of: chromaticity, in: .currentXAndCurrentY) : []
        return Self.sceneable.filter { has($0) }.map { attribute in
            if let (_, value) = point.first(where: { $0.0.attribute == attribute }) {
                return (attribute, .unsigned(UInt64(clamping: value)))
            }
            return (attribute, computedValue(of: attribute, context) ?? value(attribute))
        }
    }

    public func recall(_ values: [(attribute: AttributeID, value: TLVValue)], over transition: Duration) {
        func stored(_ attribute: AttributeID) -> Int? {
            values.last { $0.attribute == attribute }?.value.unsigned.map { Int(clamping: $0) }
        }
        let attributes = Spec.Attributes.self
        if let direction = stored(attributes.colorLoopDirection) { set(attributes.colorLoopDirection, UInt8(clamping: direction).tlv) }
        if let time = stored(attributes.colorLoopTime) { set(attributes.colorLoopTime, UInt16(clamping: time).tlv) }
        // Of values for several modes only those of the scene's own mode count.
        let mode = stored(attributes.enhancedColorMode).map { Spec.EnhancedColorModeEnum(rawValue: UInt8(clamping: $0)) } ?? self.mode
        var targets: [ColorQuantity: Int] = [:]
        func add(_ quantity: ColorQuantity, _ limits: ClosedRange<Int>) {
            guard has(quantity.attribute), let target = stored(quantity.attribute) else { return }
            targets[quantity] = min(max(target, limits.lowerBound), limits.upperBound)
        }
        switch mode {
        case .currentXAndCurrentY:
            add(.x, 0...0xFEFF)
            add(.y, 0...0xFEFF)
        case .colorTemperatureMireds: add(.temperature, coolest...warmest)
        default:
            add(.enhancedHue, 0...0xFFFF)
            add(.saturation, 0...254)
            if !has(attributes.enhancedCurrentHue), has(attributes.currentX), let x = stored(attributes.currentX),
                let y = stored(attributes.currentY), y > 0
            {
                let color = Chromaticity(x: Double(x) / 65536, y: Double(y) / 65536)
                for case (.hue, let hue) in self.values(of: color, in: .currentHueAndCurrentSaturation) { targets[.hue] = hue }
            }
        }
        let loops = stored(attributes.colorLoopActive) == 1 && has(attributes.colorLoopActive)
        if !targets.isEmpty {
            leaveLoop()
            halt()
            enter(mode)
            var courses: [ColorQuantity: ColorCourse] = [:]
            for (quantity, target) in targets {
                let isHue = quantity.modulus != nil
                courses[quantity] = course(quantity, to: isHue ? self.target(of: quantity, target, .shortest) : target, over: transition)
            }
            move(courses, mode: mode)
        }
        if loops { startLoop(from: stored(attributes.enhancedCurrentHue) ?? current(.enhancedHue)) }
    }
}
