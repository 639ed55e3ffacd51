import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Color Control (Matter Application Clusters, 3.2), in virtual time; in the order of the test cases CC-3 to CC-9.
@Suite struct ColorControlTests {
    typealias Attributes = ColorControl.Attributes

    @Test func whatExistsFollowsTheFeatures() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight(features: .colorTemperature)
            let server = try bench.cluster(ColorControl.id)
            #expect(server.attribute(Attributes.currentHue) == nil)
            #expect(server.attribute(Attributes.currentX) == nil)
            for attribute in [
                Attributes.colorTemperatureMireds, Attributes.coupleColorTempToLevelMinMireds, Attributes.startUpColorTemperatureMireds,
                Attributes.remainingTime,
            ] { #expect(server.attribute(attribute) != nil) }
            #expect(server.command(ColorControl.Commands.stopMoveStep) != nil)
            #expect(server.command(ColorControl.Commands.moveToHue) == nil)
            #expect(try bench.color(Attributes.colorCapabilities) == 0x10)
            #expect(try bench.colorModes == [2, 2])
            #expect(try bench.temperature == 250)
        }
    }

    @Test(arguments: [
        (ColorControl.DirectionEnum.shortest, [UInt64(230), 210, 180]), (.longest, [50, 110, 180]), (.up, [50, 110, 180]),
        (.down, [230, 210, 180]),
    ])
    func huesGoRoundByTheDirection(_ direction: ColorControl.DirectionEnum, _ expected: [UInt64]) async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.moveToHue(0)
            #expect(try bench.colorModes == [0, 0])
            let isUp = direction == .up || direction == .longest
            try bench.moveToHue(180, direction, tenths: isUp ? 180 : 75)
            var hues: [UInt64?] = []
            for seconds in isUp ? [5.0, 6.0, 7.0] : [2.5, 2.0, 3.0] {
                try await bench.advance(.seconds(seconds))
                hues.append(try bench.hue)
            }
            #expect(hues == expected)
            #expect(try bench.color(Attributes.remainingTime) == 0)
        }
    }

    @Test func huesMoveOnUntilStopped() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.moveToHue(200)
            try bench.invoke(ColorControl.MoveHue(moveMode: .up, rate: 50, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(1))
            #expect(try bench.hue == 250)
            try await bench.advance(.seconds(1))
            #expect(try bench.hue == 45)
            try bench.invoke(ColorControl.MoveHue(moveMode: .stop, rate: 50, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(10))
            #expect(try bench.hue == 45)
            #expect(bench.timeline.pendingEntries == 0)
            try bench.invoke(
                ColorControl.StepHue(stepMode: .down, stepSize: 50, transitionTime: 10, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(1))
            #expect(try bench.hue == 250)
        }
    }

    @Test func nothingToDoIsRefused() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            func refused(_ request: some CommandRequest) { #expect(status { try bench.invoke(request) } == .invalidCommand) }
            refused(ColorControl.MoveHue(moveMode: .up, rate: 0, optionsMask: [], optionsOverride: []))
            refused(ColorControl.StepHue(stepMode: .up, stepSize: 0, transitionTime: 0, optionsMask: [], optionsOverride: []))
            refused(ColorControl.MoveSaturation(moveMode: .down, rate: 0, optionsMask: [], optionsOverride: []))
            refused(ColorControl.StepSaturation(stepMode: .up, stepSize: 0, transitionTime: 0, optionsMask: [], optionsOverride: []))
            refused(ColorControl.StepColor(stepX: 0, stepY: 0, transitionTime: 0, optionsMask: [], optionsOverride: []))
            refused(
                ColorControl.MoveColorTemperature(
                    moveMode: .up, rate: 0, colorTemperatureMinimumMireds: 0, colorTemperatureMaximumMireds: 0, optionsMask: [],
                    optionsOverride: []))
            refused(
                ColorControl.StepColorTemperature(
                    stepMode: .down, stepSize: 0, transitionTime: 0, colorTemperatureMinimumMireds: 0,
                    colorTemperatureMaximumMireds: 0, optionsMask: [], optionsOverride: []))
            refused(ColorControl.EnhancedMoveHue(moveMode: .up, rate: 0, optionsMask: [], optionsOverride: []))
            #expect(status { try bench.moveToHue(255) } == .constraintError)
        }
    }

    @Test func saturationMovesBetweenItsEnds() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.moveToHue(0)
            try bench.invoke(ColorControl.MoveToSaturation(saturation: 90, transitionTime: 0, optionsMask: [], optionsOverride: []))
            #expect(try bench.saturation == 90)
            try bench.invoke(ColorControl.MoveSaturation(moveMode: .up, rate: 50, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(2))
            #expect(try bench.saturation == 190)
            try await bench.advance(.seconds(10))
            #expect(try bench.saturation == 254)
            try bench.invoke(
                ColorControl.StepSaturation(stepMode: .down, stepSize: 54, transitionTime: 20, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(2))
            #expect(try bench.saturation == 200)
            try bench.invoke(
                ColorControl.MoveToHueAndSaturation(hue: 40, saturation: 100, transitionTime: 100, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(5))
            #expect(try [bench.hue, bench.saturation] == [20, 150])
        }
    }

    @Test func xyMovesStepsAndStops() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            func point() throws -> [UInt64?] { [try bench.color(Attributes.currentX), try bench.color(Attributes.currentY)] }
            try bench.invoke(
                ColorControl.MoveToColor(colorX: 20000, colorY: 30000, transitionTime: 0, optionsMask: [], optionsOverride: []))
            #expect(try bench.colorModes == [1, 1])
            try bench.invoke(ColorControl.MoveColor(rateX: 100, rateY: -200, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(10))
            #expect(try point() == [21000, 28000])
            try bench.invoke(ColorControl.StopMoveStep(optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(10))
            #expect(try point() == [21000, 28000])
            try bench.invoke(ColorControl.StepColor(stepX: 1000, stepY: -32768, transitionTime: 20, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(2))
            #expect(try point() == [22000, 0])
            // Each direction ends for itself.
            try bench.invoke(ColorControl.MoveColor(rateX: -11000, rateY: 1000, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(4))
            #expect(try point() == [0, 4000])
        }
    }

    /// CC-6.1 to CC-6.3.
    @Test func temperatureStaysWithinBounds() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.moveToTemperature(300)
            #expect(try bench.colorModes == [2, 2])
            try bench.moveToTemperature(400, tenths: 100)
            try await bench.advance(.seconds(5))
            #expect(try bench.temperature == 350)
            try bench.moveToTemperature(1)
            #expect(try bench.temperature == 153)
            func step(_ mode: ColorControl.StepModeEnum, _ size: UInt16, _ least: UInt16, _ most: UInt16) throws {
                try bench.invoke(
                    ColorControl.StepColorTemperature(
                        stepMode: mode, stepSize: size, transitionTime: 0, colorTemperatureMinimumMireds: least,
                        colorTemperatureMaximumMireds: most, optionsMask: [], optionsOverride: []))
            }
            try step(.up, 500, 153, 0)
            #expect(try bench.temperature == 500)
            try step(.down, 500, 200, 0)
            #expect(try bench.temperature == 200)
            try bench.invoke(
                ColorControl.MoveColorTemperature(
                    moveMode: .up, rate: 10, colorTemperatureMinimumMireds: 0, colorTemperatureMaximumMireds: 230, optionsMask: [],
                    optionsOverride: []))
            try await bench.advance(.seconds(2))
            #expect(try bench.temperature == 220)
            try await bench.advance(.seconds(2))
            #expect(try bench.temperature == 230)
        }
    }

    /// CC-7.
    @Test func enhancedHueKeepsTheHueInStep() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.invoke(
                ColorControl.EnhancedMoveToHue(
                    enhancedHue: 20000, direction: .down, transitionTime: 0, optionsMask: [], optionsOverride: []))
            #expect(try bench.colorModes == [0, 3])
            #expect(try [bench.enhancedHue, bench.hue] == [20000, 20000 >> 8])
            try bench.invoke(ColorControl.EnhancedMoveHue(moveMode: .down, rate: 5000, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(5))
            #expect(try bench.enhancedHue == 60536)
            try bench.invoke(ColorControl.StopMoveStep(optionsMask: [], optionsOverride: []))
            try bench.invoke(
                ColorControl.EnhancedMoveToHueAndSaturation(
                    enhancedHue: 1000, saturation: 50, transitionTime: 10, optionsMask: [], optionsOverride: []))
            try await bench.advance(.seconds(1))
            #expect(try [bench.enhancedHue, bench.saturation] == [1000, 50])
            try bench.moveToHue(100)
            #expect(try bench.enhancedHue == 25600)
            #expect(try bench.colorModes == [0, 0])
        }
    }

    /// CC-8.1 and CC-9.
    @Test func theLoopRunsUntilItIsEnded() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            func active() throws -> UInt64? { try bench.color(Attributes.colorLoopActive) }
            try bench.invoke(
                ColorControl.EnhancedMoveToHue(
                    enhancedHue: 40960, direction: .up, transitionTime: 0, optionsMask: [], optionsOverride: []))
            try bench.setLoop([.updateDirection, .updateTime, .updateStartHue], direction: .increment, time: 64, startHue: 1000)
            #expect(try active() == 0)
            try bench.setLoop(.updateAction, .activateFromColorLoopStartEnhancedHue)
            #expect(try active() == 1)
            #expect(try bench.color(Attributes.colorLoopStoredEnhancedHue) == 40960)
            #expect(try bench.enhancedHue == 40960)
            try await bench.advance(.seconds(10))
            #expect(try bench.enhancedHue == 11240)
            // What stops moves does not stop the loop, and saturation may move beside it.
            try bench.invoke(ColorControl.StopMoveStep(optionsMask: [], optionsOverride: []))
            try bench.invoke(ColorControl.MoveToSaturation(saturation: 10, transitionTime: 10, optionsMask: [], optionsOverride: []))
            try bench.setLoop(.updateDirection, direction: .decrement)
            try await bench.advance(.seconds(11))
            #expect(try bench.enhancedHue == 65536 - 24)
            #expect(try bench.saturation == 10)
            #expect(try bench.colorModes == [0, 3])
            try bench.setLoop(.updateAction, .deactivate)
            #expect(try active() == 0)
            #expect(try bench.enhancedHue == 40960)
            #expect(bench.timeline.pendingEntries == 0)
        }
    }

    /// CC-6.5, and the loop over a restart.
    @Test func startUp() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.moveToTemperature(333)
            try bench.setLoop(
                [.updateAction, .updateTime, .updateStartHue], .activateFromColorLoopStartEnhancedHue, time: 100, startHue: 0)
            try await bench.advance(.milliseconds(100))
            #expect(try bench.enhancedHue == 65536 - 65)
            try bench.restart { _ in try bench.makeColorLight(start: false) }
            #expect(try bench.color(Attributes.colorLoopActive) == 1)
            #expect(try bench.temperature == 333)
            try await bench.advance(.seconds(10))
            #expect(try bench.enhancedHue == 65536 - 65 - 6553)
            try bench.write(ColorControl.id, Attributes.startUpColorTemperatureMireds, Nullable<UInt16>.value(200))
            try bench.restart { _ in try bench.makeColorLight(start: false) }
            #expect(try bench.temperature == 200)
            #expect(try bench.colorModes == [2, 2])
        }
    }

    @Test func optionsDecideWhileOff() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.moveToTemperature(200)
            try bench.invoke(OnOff.Off())
            try bench.moveToTemperature(300)
            #expect(try bench.temperature == 200)
            try bench.moveToTemperature(310, mask: 1, override: 1)
            #expect(try bench.temperature == 310)
            try bench.write(ColorControl.id, Attributes.options, UInt8(1))
            try bench.moveToTemperature(320)
            try bench.moveToTemperature(330, mask: 1, override: 0)
            #expect(try bench.temperature == 320)
        }
    }

    /// 3.2.6: dimmed light gets warmer, when Level Control says so.
    @Test func temperatureFollowsTheLevel() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.moveToTemperature(153)
            try bench.moveToLevel(254)
            try bench.write(LevelControl.id, LevelControl.Attributes.options, UInt8(2))
            let reports = bench.watch(ColorControl.id, Attributes.colorTemperatureMireds)
            try bench.moveToLevel(1, tenths: 20)
            try await bench.advance(.milliseconds(500))
            #expect(try #require(try bench.temperature) > 230)
            try await bench.advance(.seconds(5))
            #expect(try bench.temperature == 500)
            #expect(reports.seconds == [1, 2])
            try bench.moveToLevel(254)
            #expect(try bench.temperature == 153)
            // A colour that is no temperature stays as it is.
            try bench.moveToHue(10)
            try bench.moveToLevel(1)
            #expect(try bench.temperature == 153)
        }
    }

    @Test func reportsAreQuiet() async throws {
        try await Bench.run { bench in
            try bench.makeColorLight()
            try bench.moveToTemperature(200)
            let reports = bench.watch(ColorControl.id, Attributes.colorTemperatureMireds)
            let remaining = bench.watch(ColorControl.id, Attributes.remainingTime)
            try bench.moveToTemperature(300, tenths: 25)
            try await bench.advance(.seconds(20))
            #expect(reports.numbers == [240, 280, 300])
            #expect(reports.seconds == [1, 2, 2.5])
            #expect(remaining.numbers == [25, 0])
        }
    }
}
