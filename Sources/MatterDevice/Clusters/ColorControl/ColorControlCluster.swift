import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Color Control (Matter Application Clusters, 3.2): hue and saturation, enhanced hue, colour loop, XY, colour temperature.
///
/// Whatever moves is computed from the time that has passed. The attributes of a colour mode that is not the present one keep the values
/// they had. A hand on the device (`setLocally` of a colour attribute) changes the colour at once, and with it the mode.
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

    /// Goes on with new courses instead of what moved before.
    func move(_ new: [ColorQuantity: ColorCourse], mode: Spec.EnhancedColorModeEnum) {
        let isSaturationOnly = new.keys.allSatisfy { $0 == .saturation }
        let before = ColorQuantity.allCases.filter { courses[$0] != nil }
        keep()
        if !isSaturationOnly, loop != nil {
            loop = nil
            set(Spec.Attributes.colorLoopActive, UInt16(0).tlv)
        }
        courses = new
        if !(isSaturationOnly && loop != nil) { set(mode: mode) }
        for quantity in before where new[quantity] == nil { tell(quantity) }
        arrange()
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
        cancel(endTimer)
        endTimer = nil
        let ends = courses.values.compactMap(\.end)
        if !courses.isEmpty, ends.count == courses.count, let last = ends.max() {
            guard last > now else { return finish() }
            endTimer = after(last - now) { [weak self] in self?.finish() }
        }
        if isMoving, reportTimer == nil { scheduleReport() }
        let remaining = remaining
        set(Spec.Attributes.remainingTime, remaining.tlv, .quiet)
        guard abs(Int(remaining) - Int(reportedRemaining)) > 10 || (remaining == 0 && reportedRemaining != 0) else { return }
        reportedRemaining = remaining
        report(Spec.Attributes.remainingTime)
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
        move([quantity: course(quantity, to: Int(clamping: value.unsigned ?? 0), over: .zero)], mode: mode)
        node.sceneableChanged(at: endpoint)
    }

    /// The course of a quantity from where it is.
    func course(_ quantity: ColorQuantity, to target: Int, over duration: Duration) -> ColorCourse {
        .to(Transition(start: current(quantity), target: target, began: now, duration: duration))
    }
}
