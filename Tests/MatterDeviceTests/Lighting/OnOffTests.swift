import HearthTime
import MatterInteraction
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// On/Off (Matter Application Clusters, 1.5), in virtual time. Cases O… are kinds of trouble that people had with real devices.
@Suite struct OnOffTests {
    @Test func onOffAndToggleSwitchAndAreHeardOf() async throws {
        try await Bench.run { bench in
            try bench.makeLight(level: nil)
            let reports = bench.watch(OnOff.id, OnOff.Attributes.onOff)
            try bench.invoke(OnOff.On())
            try bench.invoke(OnOff.On())
            #expect(try bench.isOn)
            try bench.invoke(OnOff.Toggle())
            #expect(try !bench.isOn)
            try bench.invoke(OnOff.Toggle())
            try bench.invoke(OnOff.Off())
            #expect(reports.values == [.boolean(true), .boolean(false), .boolean(true), .boolean(false)])
        }
    }

    /// O9: a device that can only be switched off has no command to switch it on; a hand can.
    @Test func offOnly() async throws {
        try await Bench.run { bench in
            try bench.makeLight(onOff: .offOnly, level: nil)
            let server = try bench.cluster(OnOff.id)
            #expect(server.command(OnOff.Commands.on) == nil)
            #expect(server.command(OnOff.Commands.toggle) == nil)
            let attribute = try #require(server.attribute(OnOff.Attributes.onOff))
            try #require(server as? Cluster).setLocally(attribute, .boolean(true))
            #expect(try bench.isOn)
            try bench.invoke(OnOff.Off())
            #expect(try !bench.isOn)
        }
    }

    /// O2, first: off after exactly the time.
    @Test func onWithTimedOffEndsByItself() async throws {
        try await Bench.run { bench in
            try bench.makeLight(level: nil)
            try bench.timedOff(50, 0)
            #expect(try bench.isOn)
            #expect(try bench.onTime == 50)
            try await bench.advance(.milliseconds(1250))
            #expect(try bench.onTime == 38)
            try await bench.advance(.milliseconds(3749))
            #expect(try bench.isOn)
            #expect(try bench.onTime == 1)
            try await bench.advance(.milliseconds(1))
            #expect(try !bench.isOn)
            #expect(try bench.onTime == 0)
            #expect(bench.timeline.pendingEntries == 0)
        }
    }

    /// O2, second: 0xFFFF stands for ever.
    @Test func aTimeWithoutEndDoesNotCount() async throws {
        try await Bench.run { bench in
            try bench.makeLight(level: nil)
            try bench.timedOff(50, 10)
            try bench.write(OnOff.id, OnOff.Attributes.onTime, UInt16(0xFFFF))
            try await bench.advance(.seconds(10_000))
            #expect(try bench.isOn)
            #expect(try bench.onTime == 0xFFFF)
            // Back to a time with an end, it counts again.
            try bench.write(OnOff.id, OnOff.Attributes.onTime, UInt16(20))
            try await bench.advance(.seconds(2))
            #expect(try !bench.isOn)
        }
    }

    /// O3: when OnTime has run out nothing waits any more.
    @Test func whenTheTimeIsOverThereIsNoWait() async throws {
        try await Bench.run { bench in
            try bench.makeLight(level: nil)
            try bench.invoke(OnOff.On())
            try bench.timedOff(300, 300, onlyWhenOn: true)
            #expect(try bench.onTime == 300)
            #expect(try bench.offWaitTime == 300)
            try await bench.advance(.seconds(40))
            #expect(try !bench.isOn)
            #expect(try bench.onTime == 0)
            #expect(try bench.offWaitTime == 0)
        }
    }

    /// Test case OO-2.3, steps 10 to 12: off in between starts the wait, in which the light cannot be timed on again.
    @Test func offStartsTheWait() async throws {
        try await Bench.run { bench in
            try bench.makeLight(level: nil)
            try bench.timedOff(300, 300)
            try await bench.advance(.seconds(10))
            #expect(try bench.offWaitTime == 300)
            try bench.timedOff(100, 300)
            #expect(try bench.onTime == 200, "a time that is already longer stays")
            try bench.invoke(OnOff.Off())
            #expect(try bench.onTime == 0)
            #expect(try bench.offWaitTime == 300)
            try await bench.advance(.seconds(10))
            #expect(try bench.offWaitTime == 200)
            try bench.timedOff(300, 250)
            #expect(try !bench.isOn)
            #expect(try bench.offWaitTime == 200)
            try bench.timedOff(300, 50)
            #expect(try bench.offWaitTime == 50)
            try await bench.advance(.seconds(5))
            #expect(try bench.offWaitTime == 0)
            try bench.timedOff(300, 50)
            #expect(try bench.isOn)
        }
    }

    /// O2, third: a plain On ends the wait, as OnTime is 0 then; with an OnTime it does not.
    @Test func onInTheWait() async throws {
        try await Bench.run { bench in
            try bench.makeLight(level: nil)
            try bench.timedOff(100, 300)
            try bench.invoke(OnOff.Off())
            try bench.invoke(OnOff.On())
            #expect(try bench.offWaitTime == 0)
            try bench.timedOff(100, 300)
            try bench.invoke(OnOff.Off())
            try bench.write(OnOff.id, OnOff.Attributes.onTime, UInt16(20))
            try bench.invoke(OnOff.On())
            #expect(try bench.offWaitTime == 300)
            try await bench.advance(.seconds(2))
            #expect(try !bench.isOn, "timed on")
        }
    }

    @Test func acceptOnlyWhenOnDoesNothingWhileOff() async throws {
        try await Bench.run { bench in
            try bench.makeLight(level: nil)
            try bench.timedOff(300, 300, onlyWhenOn: true)
            #expect(try !bench.isOn)
            #expect(try bench.onTime == 0)
            #expect(try bench.offWaitTime == 0)
        }
    }

    @Test func fieldsOutOfRangeAreRefused() async throws {
        try await Bench.run { bench in
            try bench.makeLight(level: nil)
            #expect(status { try bench.timedOff(0xFFFF, 0) } == .constraintError)
            #expect(status { try bench.timedOff(0, 0xFFFF) } == .constraintError)
            #expect(status { try bench.write(OnOff.id, OnOff.Attributes.startUpOnOff, UInt8(3)) } == .constraintError)
        }
    }

    /// Test case OO-2.3, steps 2 to 8.
    @Test func globalSceneControl() async throws {
        try await Bench.run { bench in
            try bench.makeLight(level: nil)
            func control() throws -> TLVValue { try bench.read(OnOff.id, OnOff.Attributes.globalSceneControl) }
            try bench.invoke(OnOff.On())
            #expect(try control() == .boolean(true))
            try bench.invoke(OnOff.OffWithEffect(effectIdentifier: .delayedAllOff, effectVariant: 0))
            #expect(try control() == .boolean(false))
            #expect(try !bench.isOn)
            try bench.invoke(OnOff.OnWithRecallGlobalScene())
            #expect(try control() == .boolean(true))
            #expect(try bench.isOn)
            try bench.invoke(OnOff.OffWithEffect(effectIdentifier: .dyingLight, effectVariant: 0))
            try bench.invoke(OnOff.On())
            #expect(try control() == .boolean(true))
        }
    }

    /// O6: what the light does when the power comes back.
    @Test(arguments: [
        (OnOff.StartUpOnOffEnum?.some(.off), [false, false]), (OnOff.StartUpOnOffEnum?.some(.on), [true, true]),
        (OnOff.StartUpOnOffEnum?.some(.toggle), [false, true]), (OnOff.StartUpOnOffEnum?.none, [true, true]),
    ])
    func startUp(_ startUp: OnOff.StartUpOnOffEnum?, _ expected: [Bool]) async throws {
        try await Bench.run { bench in
            try bench.makeLight()
            try bench.invoke(OnOff.On())
            try bench.write(OnOff.id, OnOff.Attributes.startUpOnOff, Nullable(startUp))
            for expectation in expected {
                try bench.restart { _ in try bench.makeLight(start: false) }
                #expect(try bench.isOn == expectation)
            }
        }
    }
}
