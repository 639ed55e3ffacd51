import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Level Control (Matter Application Clusters, 1.6), in virtual time. Cases L… are kinds of trouble that people had with real devices.
@Suite struct LevelControlTests {
    /// L1: what is out of range is clipped, not refused.
    @Test func levelsOutOfRangeAreClipped() async throws {
        try await Bench.run { bench in
            try bench.makeLight(levelAttributes: [LevelControl.Attributes.maxLevel: UInt8(200).tlv])
            try bench.invoke(OnOff.On())
            try bench.moveToLevel(100)
            try bench.moveToLevel(0)
            #expect(try bench.level == 1)
            try bench.moveToLevel(254)
            #expect(try bench.level == 200)
            #expect(status { try bench.moveToLevel(255) } == .constraintError)
        }
    }

    /// L4 and test case LVL-3.1, steps 5 and 6.
    @Test(arguments: [(UInt8(0), [UInt64(100), 100, 160]), (UInt8(1), [UInt64(120), 120, 160])])
    func optionsAndTheirMask(_ options: UInt8, _ expected: [UInt64]) async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.invoke(OnOff.On())
            try bench.moveToLevel(100)
            try bench.write(LevelControl.id, LevelControl.Attributes.options, options)
            try bench.invoke(OnOff.Off())
            for ((level, mask, override), expectation) in zip([(120, 0, 0), (140, 1, 0), (160, 1, 1)], expected) {
                try bench.moveToLevel(UInt8(level), mask: UInt8(mask), override: UInt8(override))
                #expect(try bench.level == expectation)
            }
            #expect(try !bench.isOn)
        }
    }

    /// L5.
    @Test func onlyCommandsWithOnOffSwitchOn() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(50)
            #expect(try bench.isOn)
            #expect(try bench.level == 50)
            try bench.invoke(OnOff.Off())
            try bench.moveToLevel(60, mask: 1, override: 1)
            #expect(try bench.level == 60)
            #expect(try !bench.isOn)
        }
    }

    @Test func atTheMinimumWithOnOffIsOff() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(50)
            try bench.moveToLevelWithOnOff(0, tenths: 10)
            try await bench.advance(.milliseconds(999))
            #expect(try bench.isOn)
            try await bench.advance(.milliseconds(1))
            #expect(try !bench.isOn)
            #expect(try bench.level == 1)
            // Going down while off does not switch on.
            try bench.moveWithOnOff(.down, 10)
            #expect(try !bench.isOn)
            try bench.moveWithOnOff(.up, 10)
            #expect(try bench.isOn)
            try await bench.advance(.seconds(10))
            #expect(try bench.level == 101)
        }
    }

    /// L7: OnLevel, and what comes back without it.
    @Test func couplingWithOnOff() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevel(1, mask: 1, override: 1)
            try bench.write(LevelControl.id, LevelControl.Attributes.onLevel, UInt8(254))
            try bench.invoke(OnOff.On())
            #expect(try bench.level == 254)
            try bench.invoke(OnOff.Off())
            #expect(try bench.level == 1)
            try bench.moveToLevel(127, mask: 1, override: 1)
            try bench.write(LevelControl.id, LevelControl.Attributes.onLevel, TLVValue.null)
            try bench.invoke(OnOff.On())
            #expect(try bench.level == 127)
            try bench.invoke(OnOff.Off())
            #expect(try bench.level == 127)
        }
    }

    /// With times for going on and off, the level to come back to survives even when both overlap.
    @Test func goingOnAndOffTakesItsTime() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(200)
            try bench.write(LevelControl.id, LevelControl.Attributes.onOffTransitionTime, UInt16(20))
            try bench.write(LevelControl.id, LevelControl.Attributes.onTransitionTime, Nullable<UInt16>.value(40))
            try bench.invoke(OnOff.Off())
            #expect(try !bench.isOn)
            try await bench.advance(.seconds(1))
            #expect(try bench.level == 101)
            try bench.invoke(OnOff.On())
            #expect(try bench.level == 1)
            try await bench.advance(.seconds(2))
            #expect(try bench.level == 100)
            try bench.invoke(OnOff.Off())
            try await bench.advance(.seconds(2))
            #expect(try bench.level == 200)
            try bench.invoke(OnOff.On())
            try await bench.advance(.seconds(4))
            #expect(try bench.level == 200)
        }
    }

    /// L10 and L11: the place on the way is computed, and the end is exact.
    @Test func transitionsFollowTheClock() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(50)
            try bench.moveToLevel(200, tenths: 300)
            var levels: [UInt64?] = []
            for _ in 0..<3 {
                try await bench.advance(.seconds(10))
                levels.append(try bench.level)
            }
            #expect(levels == [100, 150, 200])
            try bench.moveToLevel(50)
            try bench.move(.up, 5)
            try await bench.advance(.seconds(10))
            #expect(try bench.level == 100)
            try await bench.advance(.seconds(100))
            #expect(try bench.level == 254)
        }
    }

    @Test func tenHoursOfDimmingFireFewEntries() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(254)
            let before = bench.timeline.statistics.entries
            try await bench.advance(.seconds(36_000))
            #expect(bench.timeline.statistics.entries == before)
            try bench.moveToLevel(1, tenths: 600)
            try await bench.advance(.seconds(3600))
            // One report a second and the end.
            #expect(bench.timeline.statistics.entries - before <= 62)
        }
    }

    /// L12.
    @Test func ratesAndStepsOfNothingAreRefused() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(50)
            #expect(status { try bench.move(.up, 0) } == .invalidCommand)
            #expect(status { try bench.step(.up, 0) } == .invalidCommand)
            try await bench.advance(.seconds(5))
            #expect(try bench.level == 50)
        }
    }

    @Test func aNullRateIsTheDefaultOne() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(50)
            try bench.write(LevelControl.id, LevelControl.Attributes.defaultMoveRate, UInt8(20))
            try bench.move(.up, .null)
            try await bench.advance(.seconds(2))
            #expect(try bench.level == 90)
            try bench.write(LevelControl.id, LevelControl.Attributes.defaultMoveRate, TLVValue.null)
            try bench.move(.up, .null)
            #expect(try bench.level == 254)
        }
    }

    /// L14.
    @Test func stopEndsTheMoveAndTellsOfIt() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(50)
            let reports = bench.watch(LevelControl.id, LevelControl.Attributes.remainingTime)
            try bench.moveToLevel(250, tenths: 200)
            try await bench.advance(.seconds(5))
            #expect(try bench.remainingTime == 150)
            try bench.invoke(LevelControl.Stop(optionsMask: [], optionsOverride: []))
            #expect(try bench.remainingTime == 0)
            #expect(reports.numbers == [200, 0])
            let level = try bench.level
            try await bench.advance(.seconds(50))
            #expect(try bench.level == level)
        }
    }

    /// L17.
    @Test func aNullTransitionTimeIsTheDevicesOwn() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(50)
            try bench.write(LevelControl.id, LevelControl.Attributes.onOffTransitionTime, UInt16(20))
            try bench.moveToLevel(150, tenths: .null)
            try await bench.advance(.seconds(1))
            #expect(try bench.level == 100)
            try bench.moveToLevelWithOnOff(50, tenths: .null)
            #expect(try bench.remainingTime == 20)
            try bench.step(.up, 5, tenths: .null)
            #expect(try bench.level == 105)
        }
    }

    @Test func aStepThatIsCutShortIsShorterInTime() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(204)
            try bench.step(.up, 100, tenths: 100)
            #expect(try bench.remainingTime == 50)
            try await bench.advance(.seconds(5))
            #expect(try bench.level == 254)
            #expect(try bench.remainingTime == 0)
        }
    }

    /// Quality Q: one report a second at most while moving, the end value always.
    @Test func reportsAreQuiet() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(50)
            let reports = bench.watch(LevelControl.id, LevelControl.Attributes.currentLevel)
            try bench.moveToLevel(85, tenths: 35)
            try await bench.advance(.seconds(10))
            #expect(reports.numbers == [60, 70, 80, 85])
            #expect(reports.seconds == [1, 2, 3, 3.5])
            // Commands that replace one another do not put the report off.
            try bench.moveToLevel(254, tenths: 300)
            for _ in 0..<4 {
                try await bench.advance(.milliseconds(700))
                try bench.moveToLevel(254, tenths: 300)
            }
            #expect(reports.values.count == 6)
        }
    }

    /// A value that was seen on the way has another data version than the one before.
    @Test func dataVersionsTellValuesApart() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(50)
            let server = try bench.cluster(LevelControl.id)
            try bench.moveToLevel(100, tenths: 50)
            let versions = (server.dataVersion, try bench.level, server.dataVersion)
            try await bench.advance(.milliseconds(500))
            #expect(try bench.level == 55)
            #expect(versions.1 == 50)
            #expect(server.dataVersion != versions.2)
        }
    }

    @Test(arguments: [(UInt8?(0), UInt64(1)), (UInt8?(77), UInt64(77)), (UInt8?(254), UInt64(254)), (UInt8?.none, UInt64(120))])
    func startUp(_ startUp: UInt8?, _ expected: UInt64) async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(120)
            try bench.write(LevelControl.id, LevelControl.Attributes.startUpCurrentLevel, Nullable(startUp))
            try bench.restart { _ in try bench.makeLight(start: false) }
            #expect(try bench.level == expected)
        }
    }

    /// A power cut while the light fades out does not make the half-faded level its own.
    @Test func aPowerCutInAFade() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.moveToLevelWithOnOff(200)
            try bench.write(LevelControl.id, LevelControl.Attributes.onOffTransitionTime, UInt16(20))
            try bench.invoke(OnOff.Off())
            try await bench.advance(.milliseconds(1500))
            #expect(try bench.level == 51)
            try bench.restart { _ in try bench.makeLight(start: false) }
            #expect(try bench.level == 200)
            // Another level given in a fade is the light's own.
            try bench.write(LevelControl.id, LevelControl.Attributes.onOffTransitionTime, UInt16(20))
            try bench.invoke(OnOff.On())
            try bench.moveToLevel(30)
            try bench.restart { _ in try bench.makeLight(start: false) }
            #expect(try bench.level == 30)
        }
    }

    @Test func aHandOnTheDimmer() async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.invoke(OnOff.On())
            let cluster = try #require(bench.node.cluster(LevelControlCluster.self, at: 1))
            try cluster.setLocally(try #require(cluster.attribute(LevelControl.Attributes.currentLevel)), UInt8(33).tlv)
            #expect(try bench.level == 33)
        }
    }
}
