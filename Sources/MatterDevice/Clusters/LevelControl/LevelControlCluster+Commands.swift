import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV

extension LevelControlCluster {
    /// How a command goes about it.
    private struct Manner {
        var options: Spec.OptionsBitmap
        var isWithOnOff: Bool
        var couplesColor: Bool { options.contains(.coupleColorTempToLevel) }
    }

    /// Nil when the options forbid the command: without On/Off, on a device that is off, it changes nothing (1.6.6.9).
    private func manner(_ mask: Spec.OptionsBitmap, _ override: Spec.OptionsBitmap, withOnOff: Bool) -> Manner? {
        let options = options(mask, override)
        guard withOnOff || !isOff || options.contains(.executeIfOff) else { return nil }
        return Manner(options: options, isWithOnOff: withOnOff)
    }

    func run(_ command: CommandDefinition, _ fields: TLVValue) throws(Status) {
        switch command.id {
        case Spec.Commands.moveToLevel:
            let request = try Spec.MoveToLevel(tlv: fields)
            guard let manner = manner(request.optionsMask, request.optionsOverride, withOnOff: false) else { return }
            moveToLevel(request.level, request.transitionTime, manner)
        case Spec.Commands.moveToLevelWithOnOff:
            let request = try Spec.MoveToLevelWithOnOff(tlv: fields)
            guard let manner = manner(request.optionsMask, request.optionsOverride, withOnOff: true) else { return }
            moveToLevel(request.level, request.transitionTime, manner)
        case Spec.Commands.move:
            let request = try Spec.Move(tlv: fields)
            guard request.rate != .value(0) else { throw Status(.invalidCommand, "a rate of 0") }
            guard let manner = manner(request.optionsMask, request.optionsOverride, withOnOff: false) else { return }
            move(request.moveMode, request.rate, manner)
        case Spec.Commands.moveWithOnOff:
            let request = try Spec.MoveWithOnOff(tlv: fields)
            guard request.rate != .value(0) else { throw Status(.invalidCommand, "a rate of 0") }
            guard let manner = manner(request.optionsMask, request.optionsOverride, withOnOff: true) else { return }
            move(request.moveMode, request.rate, manner)
        case Spec.Commands.step:
            let request = try Spec.Step(tlv: fields)
            guard request.stepSize != 0 else { throw Status(.invalidCommand, "a step of 0") }
            guard let manner = manner(request.optionsMask, request.optionsOverride, withOnOff: false) else { return }
            step(request.stepMode, request.stepSize, request.transitionTime, manner)
        case Spec.Commands.stepWithOnOff:
            let request = try Spec.StepWithOnOff(tlv: fields)
            guard request.stepSize != 0 else { throw Status(.invalidCommand, "a step of 0") }
            guard let manner = manner(request.optionsMask, request.optionsOverride, withOnOff: true) else { return }
            step(request.stepMode, request.stepSize, request.transitionTime, manner)
        case Spec.Commands.stop:
            let request = try Spec.Stop(tlv: fields)
            if manner(request.optionsMask, request.optionsOverride, withOnOff: false) != nil { halt() }
        case Spec.Commands.stopWithOnOff:
            _ = try Spec.StopWithOnOff(tlv: fields)
            halt()
        case Spec.Commands.moveToClosestFrequency:
            moveToFrequency(try Spec.MoveToClosestFrequency(tlv: fields).frequency)
        default: throw Status(.unsupportedCommand)
        }
    }

    /// 1.6.7.1. A level out of range becomes the nearest in it.
    private func moveToLevel(_ level: UInt8, _ time: Nullable<UInt16>, _ manner: Manner) {
        let standard = value(Spec.Attributes.onOffTransitionTime).unsigned.map { UInt16(clamping: $0) }
        go(to: clamped(level), over: .tenths(time.value ?? standard ?? 0), manner)
    }

    /// 1.6.7.2. Up or down to the end of the range, in levels a second.
    private func move(_ mode: Spec.MoveModeEnum, _ rate: Nullable<UInt8>, _ manner: Manner) {
        let target = mode == .up ? maximum : minimum
        let standard = value(Spec.Attributes.defaultMoveRate).unsigned.map { UInt8(clamping: $0) }
        let rate = rate.value ?? standard ?? 0
        let distance = abs(Int(target) - Int(level))
        // No rate at all is as fast as the device can, which is at once.
        go(to: target, over: rate == 0 ? .zero : .milliseconds(distance * 1000 / Int(rate)), manner)
    }

    /// 1.6.7.3. A step that the range cuts short takes proportionally less time.
    private func step(_ mode: Spec.StepModeEnum, _ size: UInt8, _ time: Nullable<UInt16>, _ manner: Manner) {
        let wanted = Int(level) + (mode == .up ? Int(size) : -Int(size))
        let target = clamped(UInt8(clamping: wanted))
        let distance = abs(Int(target) - Int(level))
        let whole = Duration.tenths(time.value ?? 0)
        go(to: target, over: whole * distance / Int(size), manner)
    }

    private func go(to target: UInt8, over duration: Duration, _ manner: Manner) {
        let changes = target != level
        // What makes it brighter switches on first; what takes it to the minimum switches off at the end (1.6.4.1.2). A device that is
        // off counts as darker than any level above the minimum.
        if manner.isWithOnOff, target > minimum, isOff || target > level { switchOnBefore() }
        go(
            to: target, over: duration, then: manner.isWithOnOff ? .switchOffAtMinimum : .none, couplesColor: manner.couplesColor)
        if changes { node.sceneableChanged(at: endpoint) }
    }

    /// 1.6.7.5.
    private func moveToFrequency(_ frequency: UInt16) {
        let least = value(Spec.Attributes.minFrequency).unsigned ?? 0
        let most = max(least, value(Spec.Attributes.maxFrequency).unsigned ?? 0)
        set(Spec.Attributes.currentFrequency, .unsigned(min(max(UInt64(frequency), least), most)))
    }
}
