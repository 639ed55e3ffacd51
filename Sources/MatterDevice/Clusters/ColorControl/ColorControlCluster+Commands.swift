import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

/// Up, down, or an end of it: what the moving and stepping commands have in common.
private enum Way {
    case up, down, stop
    var sign: Int { self == .down ? -1 : 1 }
}

extension ColorControlCluster {
    /// Runs a command. Returns whether it was carried out: the options may forbid it.
    func run(_ command: CommandDefinition, _ fields: TLVValue) throws(Status) -> Bool {
        if let done = try runHue(command, fields) { return done }
        if let done = try runSaturation(command, fields) { return done }
        if let done = try runEnhancedHue(command, fields) { return done }
        if let done = try runColor(command, fields) { return done }
        return try runOthers(command, fields)
    }

    private func runHue(_ command: CommandDefinition, _ fields: TLVValue) throws(Status) -> Bool? {
        let mode = Spec.EnhancedColorModeEnum.currentHueAndCurrentSaturation
        switch command.id {
        case Spec.Commands.moveToHue:
            let request = try Spec.MoveToHue(tlv: fields)
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            let target = target(of: .hue, Int(request.hue), request.direction)
            move([.hue: course(.hue, to: target, over: .tenths(request.transitionTime))], mode: mode)
        case Spec.Commands.moveHue:
            let request = try Spec.MoveHue(tlv: fields)
            let way = try way(request.moveMode, rate: Int(request.rate))
            guard way != .stop else { return stop(request.optionsMask, request.optionsOverride) }
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            turn(.hue, way, rate: Int(request.rate), mode: mode)
        case Spec.Commands.stepHue:
            let request = try Spec.StepHue(tlv: fields)
            let way = try way(request.stepMode, size: Int(request.stepSize))
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            let target = current(.hue) + way.sign * Int(request.stepSize)
            move([.hue: course(.hue, to: target, over: .tenths(UInt16(request.transitionTime)))], mode: mode)
        case Spec.Commands.moveToHueAndSaturation:
            let request = try Spec.MoveToHueAndSaturation(tlv: fields)
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            let duration = Duration.tenths(request.transitionTime)
            move(
                [
                    .hue: course(.hue, to: target(of: .hue, Int(request.hue), .shortest), over: duration),
                    .saturation: course(.saturation, to: Int(request.saturation), over: duration),
                ], mode: mode)
        default: return nil
        }
        return true
    }

    /// The commands that leave the hue alone, so that a colour loop is nothing to them.
    private func runSaturation(_ command: CommandDefinition, _ fields: TLVValue) throws(Status) -> Bool? {
        let mode = Spec.EnhancedColorModeEnum.currentHueAndCurrentSaturation
        switch command.id {
        case Spec.Commands.moveToSaturation:
            let request = try Spec.MoveToSaturation(tlv: fields)
            guard begins(mode, request.optionsMask, request.optionsOverride, changesHue: false) else { return false }
            move([.saturation: course(.saturation, to: Int(request.saturation), over: .tenths(request.transitionTime))], mode: mode)
        case Spec.Commands.moveSaturation:
            let request = try Spec.MoveSaturation(tlv: fields)
            let way = try way(request.moveMode, rate: Int(request.rate))
            guard way != .stop else { return stop(request.optionsMask, request.optionsOverride) }
            guard begins(mode, request.optionsMask, request.optionsOverride, changesHue: false) else { return false }
            move([.saturation: course(.saturation, at: way.sign * Int(request.rate), within: 0...254)], mode: mode)
        case Spec.Commands.stepSaturation:
            let request = try Spec.StepSaturation(tlv: fields)
            let way = try way(request.stepMode, size: Int(request.stepSize))
            guard begins(mode, request.optionsMask, request.optionsOverride, changesHue: false) else { return false }
            let target = min(max(current(.saturation) + way.sign * Int(request.stepSize), 0), 254)
            move([.saturation: course(.saturation, to: target, over: .tenths(UInt16(request.transitionTime)))], mode: mode)
        default: return nil
        }
        return true
    }

    private func runEnhancedHue(_ command: CommandDefinition, _ fields: TLVValue) throws(Status) -> Bool? {
        let mode = Spec.EnhancedColorModeEnum.enhancedCurrentHueAndCurrentSaturation
        switch command.id {
        case Spec.Commands.enhancedMoveToHue:
            let request = try Spec.EnhancedMoveToHue(tlv: fields)
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            let target = target(of: .enhancedHue, Int(request.enhancedHue), request.direction)
            move([.enhancedHue: course(.enhancedHue, to: target, over: .tenths(request.transitionTime))], mode: mode)
        case Spec.Commands.enhancedMoveHue:
            let request = try Spec.EnhancedMoveHue(tlv: fields)
            let way = try way(request.moveMode, rate: Int(request.rate))
            guard way != .stop else { return stop(request.optionsMask, request.optionsOverride) }
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            turn(.enhancedHue, way, rate: Int(request.rate), mode: mode)
        case Spec.Commands.enhancedStepHue:
            let request = try Spec.EnhancedStepHue(tlv: fields)
            let way = try way(request.stepMode, size: Int(request.stepSize))
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            let target = current(.enhancedHue) + way.sign * Int(request.stepSize)
            move([.enhancedHue: course(.enhancedHue, to: target, over: .tenths(request.transitionTime))], mode: mode)
        case Spec.Commands.enhancedMoveToHueAndSaturation:
            let request = try Spec.EnhancedMoveToHueAndSaturation(tlv: fields)
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            let duration = Duration.tenths(request.transitionTime)
            let target = target(of: .enhancedHue, Int(request.enhancedHue), .shortest)
            move(
                [
                    .enhancedHue: course(.enhancedHue, to: target, over: duration),
                    .saturation: course(.saturation, to: Int(request.saturation), over: duration),
                ], mode: mode)
        case Spec.Commands.colorLoopSet: return setLoop(try Spec.ColorLoopSet(tlv: fields))
        default: return nil
        }
        return true
    }

    private func runColor(_ command: CommandDefinition, _ fields: TLVValue) throws(Status) -> Bool? {
        let mode = Spec.EnhancedColorModeEnum.currentXAndCurrentY
        switch command.id {
        case Spec.Commands.moveToColor:
            let request = try Spec.MoveToColor(tlv: fields)
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            xy(to: Int(request.colorX), Int(request.colorY), over: .tenths(request.transitionTime))
        case Spec.Commands.moveColor:
            let request = try Spec.MoveColor(tlv: fields)
            // No rate in either direction stops (3.2.8.12).
            guard request.rateX != 0 || request.rateY != 0 else { return stop(request.optionsMask, request.optionsOverride) }
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            move(
                [
                    .x: course(.x, at: Int(request.rateX), within: 0...0xFEFF), .y: course(.y, at: Int(request.rateY), within: 0...0xFEFF),
                ], mode: mode)
        case Spec.Commands.stepColor:
            let request = try Spec.StepColor(tlv: fields)
            guard request.stepX != 0 || request.stepY != 0 else { throw Status(.invalidCommand, "a step of 0") }
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            xy(to: current(.x) + Int(request.stepX), current(.y) + Int(request.stepY), over: .tenths(request.transitionTime))
        default: return nil
        }
        return true
    }

    private func runOthers(_ command: CommandDefinition, _ fields: TLVValue) throws(Status) -> Bool {
        let mode = Spec.EnhancedColorModeEnum.colorTemperatureMireds
        switch command.id {
        case Spec.Commands.moveToColorTemperature:
            let request = try Spec.MoveToColorTemperature(tlv: fields)
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            temperature(to: Int(request.colorTemperatureMireds), within: coolest...warmest, over: .tenths(request.transitionTime))
        case Spec.Commands.moveColorTemperature:
            let request = try Spec.MoveColorTemperature(tlv: fields)
            let way = try way(request.moveMode, rate: Int(request.rate))
            guard way != .stop else { return stop(request.optionsMask, request.optionsOverride) }
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            let range = range(request.colorTemperatureMinimumMireds, request.colorTemperatureMaximumMireds)
            move([.temperature: course(.temperature, at: way.sign * Int(request.rate), within: range)], mode: mode)
        case Spec.Commands.stepColorTemperature:
            let request = try Spec.StepColorTemperature(tlv: fields)
            let way = try way(request.stepMode, size: Int(request.stepSize))
            guard begins(mode, request.optionsMask, request.optionsOverride) else { return false }
            temperature(
                to: current(.temperature) + way.sign * Int(request.stepSize),
                within: range(request.colorTemperatureMinimumMireds, request.colorTemperatureMaximumMireds),
                over: .tenths(request.transitionTime))
        case Spec.Commands.stopMoveStep:
            let request = try Spec.StopMoveStep(tlv: fields)
            return stop(request.optionsMask, request.optionsOverride)
        default: throw Status(.unsupportedCommand)
        }
        return true
    }

    // MARK: Parts

    /// Whether a command is carried out. If so, its colour mode is the present one from here on.
    ///
    /// A loop ends by ColorLoopSet only, and a device may ignore what would change the hue meanwhile (3.2.8.1): this one does. What it
    /// could do otherwise, a colour that the loop takes away with its next step, would be of no use to anybody.
    private func begins(
        _ mode: Spec.EnhancedColorModeEnum, _ mask: Spec.OptionsBitmap, _ override: Spec.OptionsBitmap, changesHue: Bool = true
    ) -> Bool {
        guard mayExecute(mask, override), !(changesHue && isLooping) else { return false }
        enter(mode)
        return true
    }

    /// What stops one movement stops them all, but no loop (3.2.8.5.4, 3.2.8.1).
    private func stop(_ mask: Spec.OptionsBitmap, _ override: Spec.OptionsBitmap) -> Bool {
        guard mayExecute(mask, override) else { return false }
        halt()
        return true
    }

    private func way(_ mode: Spec.MoveModeEnum, rate: Int) throws(Status) -> Way {
        switch mode {
        case .stop: return .stop
        case .up, .down:
            guard rate != 0 else { throw Status(.invalidCommand, "a rate of 0") }
            return mode == .up ? .up : .down
        default: throw Status(.invalidCommand, "an unknown mode")
        }
    }

    private func way(_ mode: Spec.StepModeEnum, size: Int) throws(Status) -> Way {
        guard size != 0 else { throw Status(.invalidCommand, "a step of 0") }
        switch mode {
        case .up: return .up
        case .down: return .down
        default: throw Status(.invalidCommand, "an unknown mode")
        }
    }

    /// A target hue as far away as the direction says, perhaps beyond the turn.
    func target(of quantity: ColorQuantity, _ hue: Int, _ direction: Spec.DirectionEnum) -> Int {
        let turn = quantity.modulus ?? 1
        let start = current(quantity)
        let up = wrapped(hue - start, turn)
        guard up != 0 else { return start }
        let goesUp =
            switch direction {
            case .up: true
            case .down: false
            case .longest: up * 2 > turn
            default: up * 2 <= turn
            }
        return start + (goesUp ? up : up - turn)
    }

    private func turn(_ quantity: ColorQuantity, _ way: Way, rate: Int, mode: Spec.EnhancedColorModeEnum) {
        move([quantity: .endless(start: current(quantity), rate: Double(way.sign * rate), began: now)], mode: mode)
    }

    /// At a rate, in values a second, to the end of a range.
    private func course(_ quantity: ColorQuantity, at rate: Int, within range: ClosedRange<Int>) -> ColorCourse {
        let target = rate > 0 ? range.upperBound : rate < 0 ? range.lowerBound : current(quantity)
        let distance = abs(target - current(quantity))
        return course(quantity, to: target, over: rate == 0 ? .zero : .milliseconds(distance * 1000 / abs(rate)))
    }

    private func xy(to x: Int, _ y: Int, over duration: Duration) {
        move(
            [
                .x: course(.x, to: min(max(x, 0), 0xFEFF), over: duration), .y: course(.y, to: min(max(y, 0), 0xFEFF), over: duration),
            ], mode: .currentXAndCurrentY)
    }

    /// A temperature out of range becomes the nearest in it.
    private func temperature(to target: Int, within range: ClosedRange<Int>, over duration: Duration) {
        let target = min(max(target, range.lowerBound), range.upperBound)
        move([.temperature: course(.temperature, to: target, over: duration)], mode: .colorTemperatureMireds)
    }

    /// The bounds of a command, within those of the device; 0 stands for the device's (3.2.8.20).
    private func range(_ minimum: UInt16, _ maximum: UInt16) -> ClosedRange<Int> {
        let least = min(max(Int(minimum), coolest), warmest)
        let most = maximum == 0 ? warmest : min(max(Int(maximum), coolest), warmest)
        return least...max(least, most)
    }

    /// ColorLoopSet (3.2.8.18).
    private func setLoop(_ request: Spec.ColorLoopSet) -> Bool {
        guard mayExecute(request.optionsMask, request.optionsOverride) else { return false }
        let flags = request.updateFlags
        if flags.contains(.updateDirection) { set(Spec.Attributes.colorLoopDirection, request.direction.tlv) }
        if flags.contains(.updateTime) { set(Spec.Attributes.colorLoopTime, request.time.tlv) }
        if flags.contains(.updateStartHue) { set(Spec.Attributes.colorLoopStartEnhancedHue, request.startHue.tlv) }
        guard flags.contains(.updateAction) else {
            turnLoop()
            return true
        }
        switch request.action {
        case .activateFromColorLoopStartEnhancedHue: startLoop(from: number(Spec.Attributes.colorLoopStartEnhancedHue))
        case .activateFromEnhancedCurrentHue: startLoop(from: current(.enhancedHue))
        default:
            guard isLooping else { return true }
            set(Spec.Attributes.colorLoopActive, UInt16(0).tlv)
            endLoop(at: number(Spec.Attributes.colorLoopStoredEnhancedHue))
        }
        return true
    }

    func startLoop(from hue: Int) {
        halt()
        enter(.enhancedCurrentHueAndCurrentSaturation)
        if !isLooping { set(Spec.Attributes.colorLoopStoredEnhancedHue, UInt16(clamping: current(.enhancedHue)).tlv) }
        set(Spec.Attributes.colorLoopActive, UInt16(1).tlv)
        runLoop(from: hue, showingAfter: .milliseconds(100))
    }
}
