import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Color Control (Matter Application Clusters, 3.2): hue and saturation, enhanced hue, colour loop, XY, colour temperature.
///
/// Whatever moves is computed from the time that has passed. The attributes of a colour mode that is not the present one keep the values
/// they had: ColorMode says which of them tell the colour. When a command works in another mode, the attributes of that mode first become
/// what the colour is then (`enter`, by `Chromaticity`), and so a step or a slow movement starts at the colour that people see. Where the
/// new mode has no such colour, a colour temperature for a saturated green, it starts at the nearest one.
///
/// Hue and saturation move each for itself. While a colour loop has the hue, commands that would change it have no effect; saturation
/// still moves. A hand on the device (`setLocally` of a colour attribute) changes the colour at once, and with it the mode, and ends the
/// loop; so does a recalled scene without one.
public final class ColorControlCluster: Cluster {
    typealias Spec = ColorControl

    private var courses: [ColorQuantity: ColorCourse] = [:]
    private var loop: ColorCourse?
    /// Until then the loop has not changed the hue yet.
    private var loopShows = ModelInstant.zero
    private var endTimer: Token?
    /// Runs while anything moves: colours are reported once a second at most (quality Q).
    private var reportTimer: Token?
    private var reported: [ColorQuantity: Int] = [:]
    private var reportedRemaining: UInt16 = 0

    public init(endpoint: EndpointID, node: DeviceNode, configuration: ClusterConfiguration = .init()) {
        super.init(
            Spec.definition, endpoint: endpoint, node: node, configuration: Self.completed(configuration),
            alsoSupported: (
                [
                    Spec.Attributes.remainingTime, Spec.Attributes.colorTemperatureMireds,
                    Spec.Attributes.coupleColorTempToLevelMinMireds, Spec.Attributes.startUpColorTemperatureMireds,
                ], []
            ))
    }

    /// First values where neither profile nor specification has any: white from 2000 K to 6500 K, and the mode that the features allow.
    private static func completed(_ configuration: ClusterConfiguration) -> ClusterConfiguration {
        var configuration = configuration
        let features = Spec.Feature(rawValue: configuration.features)
        func suggest(_ attribute: AttributeID, _ value: some TLVConvertible) {
            if configuration.attributes[attribute] == nil { configuration.attributes[attribute] = value.tlv }
        }
        if features.contains(.colorTemperature) {
            suggest(Spec.Attributes.colorTempPhysicalMinMireds, UInt16(153))
            suggest(Spec.Attributes.colorTempPhysicalMaxMireds, UInt16(500))
            suggest(
                Spec.Attributes.coupleColorTempToLevelMinMireds,
                configuration.attributes[Spec.Attributes.colorTempPhysicalMinMireds] ?? .null)
            // The usual 250 mireds, within what the device can and what the coupling with the level asks for.
            func mireds(_ attribute: AttributeID) -> UInt64 { configuration.attributes[attribute]?.unsigned ?? 250 }
            let least = max(mireds(Spec.Attributes.colorTempPhysicalMinMireds), mireds(Spec.Attributes.coupleColorTempToLevelMinMireds))
            suggest(
                Spec.Attributes.colorTemperatureMireds,
                TLVValue.unsigned(max(least, min(250, mireds(Spec.Attributes.colorTempPhysicalMaxMireds)))))
        }
        let mode: Spec.ColorModeEnum =
            features.contains(.colorTemperature)
            ? .colorTemperatureMireds : features.contains(.xy) ? .currentXAndCurrentY : .currentHueAndCurrentSaturation
        suggest(Spec.Attributes.colorMode, mode)
        suggest(Spec.Attributes.enhancedColorMode, configuration.attributes[Spec.Attributes.colorMode] ?? mode.tlv)
        suggest(Spec.Attributes.numberOfPrimaries, UInt8(0))
        return configuration
    }

    // MARK: What is

    var now: ModelInstant { node.environment.now }
    private var hasEnhancedHue: Bool { hasFeature(Spec.Feature.enhancedHue.rawValue) }
    private var isMoving: Bool { !courses.isEmpty || loop != nil }
    func number(_ attribute: AttributeID) -> Int { Int(clamping: value(attribute).unsigned ?? 0) }
    var mode: Spec.EnhancedColorModeEnum {
        Spec.EnhancedColorModeEnum(rawValue: UInt8(clamping: number(Spec.Attributes.enhancedColorMode)))
    }
    var isLooping: Bool { loop != nil }
    var coolest: Int { number(Spec.Attributes.colorTempPhysicalMinMireds) }
    var warmest: Int { max(coolest, number(Spec.Attributes.colorTempPhysicalMaxMireds)) }

    /// The value at this moment.
    func current(_ quantity: ColorQuantity) -> Int {
        if let course = courses[quantity] { return wrapped(course.value(at: now), quantity.modulus) }
        switch quantity {
        case .hue where hasEnhancedHue && (courses[.enhancedHue] != nil || loop != nil): return min(current(.enhancedHue) >> 8, 254)
        case .enhancedHue:
            if let loop, now >= loopShows { return wrapped(loop.value(at: now), quantity.modulus) }
            if courses[.hue] != nil { return current(.hue) << 8 }
        case .temperature:
            if let level = node.cluster(LevelControlCluster.self, at: endpoint)?.coupledLevel, let coupled = temperature(at: level) {
                return coupled
            }
        default: break
        }
        return number(quantity.attribute)
    }

    private var remaining: UInt16 {
        guard !courses.isEmpty else { return 0 }
        var most: UInt16 = 0
        for course in courses.values {
            guard let end = course.end else { return 0xFFFF }
            most = max(most, tenths(until: end, from: now))
        }
        return most
    }

    public override func computedValue(of attribute: AttributeID, _ context: InteractionContext) -> TLVValue? {
        if attribute == Spec.Attributes.colorCapabilities { return UInt16(truncatingIfNeeded: features & 0x1F).tlv }
        if attribute == Spec.Attributes.remainingTime {
            guard isMoving else { return nil }
            set(attribute, remaining.tlv, .quiet)
            return remaining.tlv
        }
        guard let quantity = ColorQuantity.allCases.first(where: { $0.attribute == attribute }) else { return nil }
        let value = TLVValue.unsigned(UInt64(clamping: current(quantity)))
        // Whoever has seen a value must be able to tell from the data version that it is another now.
        set(attribute, value, .quiet)
        return value
    }

    public override func start() {
        courses = [:]
        (loop, endTimer, reportTimer, reportedRemaining) = (nil, nil, nil, 0)
        if has(Spec.Attributes.colorTemperatureMireds) {
            let startUp = node.appliesStartUpValues ? value(Spec.Attributes.startUpColorTemperatureMireds).unsigned : nil
            let temperature = startUp.map { Int(clamping: $0) } ?? number(Spec.Attributes.colorTemperatureMireds)
            store(.temperature, min(max(temperature, coolest), warmest))
            if startUp != nil {
                // A light that shall start white does not go on looping.
                set(mode: .colorTemperatureMireds)
                set(Spec.Attributes.colorLoopActive, UInt16(0).tlv)
            }
        }
        for quantity in ColorQuantity.allCases { reported[quantity] = number(quantity.attribute) }
        if number(Spec.Attributes.colorLoopActive) == 1 { runLoop(from: current(.enhancedHue)) }
    }

    // MARK: Moving

    /// Goes on with new courses, instead of those of the same quantities; hue and saturation move each for itself (3.2.5).
    func move(_ new: [ColorQuantity: ColorCourse], mode: Spec.EnhancedColorModeEnum) {
        let before = ColorQuantity.allCases.filter { courses[$0] != nil }
        keep()
        if new[.hue] != nil || new[.enhancedHue] != nil { (courses[.hue], courses[.enhancedHue]) = (nil, nil) }
        courses.merge(new) { $1 }
        // While the loop has the hue, its mode stays.
        if loop == nil { set(mode: mode) }
        for quantity in before where courses[quantity] == nil { tell(quantity) }
        arrange()
    }

    /// Makes a colour mode the present one. If it tells colours in another way than the one before, its attributes become what the colour
    /// is at this moment, from where a command then goes on (3.2.8.2).
    func enter(_ new: Spec.EnhancedColorModeEnum) {
        let old = Space(mode)
        guard Space(new) != old else { return }
        let moving = ColorQuantity.allCases.filter { courses[$0] != nil }
        let color = chromaticity
        for (quantity, value) in ColorQuantity.allCases.map({ ($0, current($0)) }) { store(quantity, value) }
        courses = [:]
        for (quantity, value) in values(of: color, in: new) { store(quantity, value) }
        set(mode: new)
        for quantity in moving { tell(quantity) }
    }

    /// What tells the colour, whether the hue is enhanced or not.
    private enum Space {
        case hueAndSaturation, xy, temperature

        init(_ mode: Spec.EnhancedColorModeEnum) {
            switch mode {
            case .currentXAndCurrentY: self = .xy
            case .colorTemperatureMireds: self = .temperature
            default: self = .hueAndSaturation
            }
        }
    }

    /// The colour at this moment.
    var chromaticity: Chromaticity {
        switch Space(mode) {
        case .xy: Chromaticity(x: Double(current(.x)) / 65536, y: Double(current(.y)) / 65536)
        case .temperature: Chromaticity(mireds: current(.temperature))
        case .hueAndSaturation:
            Chromaticity(
                degrees: mode == .enhancedCurrentHueAndCurrentSaturation
                    ? Double(current(.enhancedHue)) * 360 / 65024 : Double(current(.hue)) * 360 / 254,
                saturation: Double(current(.saturation)) / 254)
        }
    }

    /// A colour as the attributes of a mode tell it. Of white, which has no hue, they tell none.
    func values(of color: Chromaticity, in mode: Spec.EnhancedColorModeEnum) -> [(ColorQuantity, Int)] {
        func rounded(_ value: Double, _ most: Int) -> Int { Int(min(max(value, 0), Double(most)).rounded()) }
        switch Space(mode) {
        case .xy: return [(.x, rounded(color.x * 65536, 0xFEFF)), (.y, rounded(color.y * 65536, 0xFEFF))]
        case .temperature: return [(.temperature, color.mireds(within: coolest...warmest))]
        case .hueAndSaturation:
            let (degrees, share) = color.hueAndSaturation
            let saturation = (ColorQuantity.saturation, rounded(share * 254, 254))
            guard let degrees else { return [saturation] }
            // 254 is as many degrees as 0. A hue is a 256th of an enhanced one, whichever of them counts.
            guard mode == .enhancedCurrentHueAndCurrentSaturation else {
                let hue = wrapped(rounded(degrees * 254 / 360, 254), 254)
                return [(.hue, hue), (.enhancedHue, hue << 8), saturation]
            }
            let hue = wrapped(rounded(degrees * 65024 / 360, 65024), 65024)
            return [(.hue, hue >> 8), (.enhancedHue, hue), saturation]
        }
    }

    private func set(mode: Spec.EnhancedColorModeEnum) {
        let plain = mode == .enhancedCurrentHueAndCurrentSaturation ? .currentHueAndCurrentSaturation : mode
        set(Spec.Attributes.colorMode, plain.tlv)
        set(Spec.Attributes.enhancedColorMode, mode.tlv)
    }

    /// Stops where it is; the loop goes on.
    func halt() {
        guard !courses.isEmpty else { return }
        finish()
    }

    private func arrange() {
        settle()
        guard !courses.isEmpty else { return }
        let remaining = remaining
        set(Spec.Attributes.remainingTime, remaining.tlv, .quiet)
        guard abs(Int(remaining) - Int(reportedRemaining)) > 10 || (remaining == 0 && reportedRemaining != 0) else { return }
        reportedRemaining = remaining
        report(Spec.Attributes.remainingTime)
    }

    /// Ends the courses that are over, and waits for the next one to be.
    private func settle() {
        cancel(endTimer)
        endTimer = nil
        let over = ColorQuantity.allCases.filter { courses[$0]?.end.map { $0 <= now } ?? false }
        guard over.count < courses.count else { return finish() }
        if !over.isEmpty {
            keep()
            for quantity in over { courses[quantity] = nil }
            // The two hues are one.
            let isHue = over.contains { $0 == .hue || $0 == .enhancedHue }
            for quantity in ColorQuantity.allCases
            where over.contains(quantity) || (isHue && (quantity == .hue || quantity == .enhancedHue)) { tell(quantity) }
        }
        if let next = courses.values.compactMap(\.end).min() { endTimer = after(next - now) { [weak self] in self?.settle() } }
        if reportTimer == nil { scheduleReport() }
    }

    /// Keeps the values as they are now, and what stood still is told.
    private func finish() {
        cancel(endTimer)
        endTimer = nil
        keep()
        courses = [:]
        if !isMoving {
            cancel(reportTimer)
            reportTimer = nil
        }
        for quantity in ColorQuantity.allCases { tell(quantity) }
        set(Spec.Attributes.remainingTime, UInt16(0).tlv, .quiet)
        if reportedRemaining != 0 {
            reportedRemaining = 0
            report(Spec.Attributes.remainingTime)
        }
    }

    /// Stores the present values of everything that moves.
    private func keep() {
        guard isMoving else { return }
        let values = ColorQuantity.allCases.map { ($0, current($0)) }
        for (quantity, value) in values { store(quantity, value) }
    }

    private func store(_ quantity: ColorQuantity, _ value: Int) {
        set(quantity.attribute, .unsigned(UInt64(clamping: value)), .quiet)
    }

    /// Tells subscribers of a value that they do not know yet.
    private func tell(_ quantity: ColorQuantity) {
        let value = current(quantity)
        store(quantity, value)
        guard has(quantity.attribute), reported[quantity] != value else { return }
        reported[quantity] = value
        report(quantity.attribute)
    }

    private func scheduleReport() {
        reportTimer = after(.seconds(1)) { [weak self] in
            guard let self else { return }
            reportTimer = nil
            guard isMoving else { return }
            scheduleReport()
            for quantity in ColorQuantity.allCases { tell(quantity) }
        }
    }

    // MARK: The loop

    /// Runs the loop from a hue with the present direction and time (3.2.8.19); the old hue stays for the first tenth of a second.
    func runLoop(from hue: Int, showingAfter delay: Duration = .zero) {
        let seconds = max(1, number(Spec.Attributes.colorLoopTime))
        let isUp = number(Spec.Attributes.colorLoopDirection) == Int(Spec.ColorLoopDirectionEnum.increment.rawValue)
        loop = .endless(start: hue, rate: (isUp ? 65536 : -65536) / Double(seconds), began: now)
        loopShows = now + delay
        set(mode: .enhancedCurrentHueAndCurrentSaturation)
        if reportTimer == nil { scheduleReport() }
    }

    /// Direction or time have changed: on from where it is.
    func turnLoop() { if let loop { runLoop(from: wrapped(loop.value(at: now), 65536)) } }

    /// The loop is over, by a hand on the device or a scene in which there is none; the colour stays for now.
    func leaveLoop() {
        guard loop != nil else { return }
        keep()
        loop = nil
        set(Spec.Attributes.colorLoopActive, UInt16(0).tlv)
    }

    func endLoop(at hue: Int) {
        loop = nil
        store(.enhancedHue, hue)
        store(.hue, min(hue >> 8, 254))
        finish()
    }

    // MARK: With the level

    /// The colour temperature that goes with a level: the warmest at the least, 2700 K or what the device says at the most (3.2.6).
    /// Nil when the present colour is no temperature.
    private func temperature(at level: UInt8) -> Int? {
        guard has(Spec.Attributes.colorTemperatureMireds), mode == .colorTemperatureMireds, courses[.temperature] == nil else { return nil }
        let least = min(max(number(Spec.Attributes.coupleColorTempToLevelMinMireds), coolest), warmest)
        return warmest - (warmest - least) * max(0, Int(level) - 1) / 253
    }

    /// The level is here, and the options couple the colour temperature to it.
    func follow(level: UInt8) {
        guard let temperature = temperature(at: level) else { return }
        store(.temperature, temperature)
        tell(.temperature)
    }

    // MARK: From outside

    public override func handle(
        _ command: CommandDefinition, _ fields: TLVValue, _ context: InteractionContext
    ) throws(Status) -> CommandOutcome {
        if try run(command, fields) { node.sceneableChanged(at: endpoint) }
        return .success
    }

    /// Whether a command with these options is carried out: a device that is off ignores it unless the options say otherwise (3.2.7.10).
    func mayExecute(_ mask: Spec.OptionsBitmap, _ override: Spec.OptionsBitmap) -> Bool {
        guard let onOff = node.cluster(OnOffCluster.self, at: endpoint), !onOff.isOn else { return true }
        let options = Spec.OptionsBitmap(rawValue: UInt8(clamping: number(Spec.Attributes.options)))
        return options.subtracting(mask).union(override.intersection(mask)).contains(.executeIfOff)
    }

    public override func setLocally(_ attribute: AttributeDefinition, _ value: TLVValue) throws(Status) {
        guard let quantity = ColorQuantity.allCases.first(where: { $0.attribute == attribute.id }) else {
            return set(attribute.id, value)
        }
        let mode: Spec.EnhancedColorModeEnum =
            switch quantity {
            case .hue, .saturation: .currentHueAndCurrentSaturation
            case .enhancedHue: .enhancedCurrentHueAndCurrentSaturation
            case .x, .y: .currentXAndCurrentY
            case .temperature: .colorTemperatureMireds
            }
        if quantity != .saturation { leaveLoop() }
        enter(mode)
        move([quantity: course(quantity, to: Int(clamping: value.unsigned ?? 0), over: .zero)], mode: mode)
        node.sceneableChanged(at: endpoint)
    }

    /// The course of a quantity from where it is.
    func course(_ quantity: ColorQuantity, to target: Int, over duration: Duration) -> ColorCourse {
        .to(Transition(start: current(quantity), target: target, began: now, duration: duration))
    }
}
