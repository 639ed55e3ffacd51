import HearthTime
import MatterDevice
import MatterModel
import Testing

@testable import MatterSimulator

/// Values of a profile that are right each by itself and wrong together.
@Suite struct ProfileLimitsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var deviceType: String
        var cluster: String
        /// The lines under the cluster; their first one is line 5 of the file.
        var lines: [String]
        /// `line PATH MESSAGE…`, the path from the cluster on.
        var told: [String]
        var testDescription: String { "\(cluster) \(lines.joined(separator: " "))" }

        init(_ deviceType: String, _ cluster: String, _ lines: [String], _ told: String...) {
            (self.deviceType, self.cluster, self.lines, self.told) = (deviceType, cluster, lines, told)
        }
    }

    private static func mistakes(_ given: Case) -> [String] {
        let text =
            "endpoints:\n  - deviceTypes: [\(given.deviceType)]\n    clusters:\n      \(given.cluster):\n"
            + given.lines.map { "        \($0)\n" }.joined()
        do {
            _ = try ProfileReader.read(Array(text.utf8), file: "test.yaml")
            return []
        } catch {
            let prefix = "endpoints[0].clusters.\(given.cluster)."
            return error.errors.map {
                "\($0.line) \($0.path.hasPrefix(prefix) ? String($0.path.dropFirst(prefix.count)) : $0.path) \($0.message)"
            }
        }
    }

    private static func heating(_ attributes: String, _ told: String...) -> Case {
        var made = Case("Thermostat", "Thermostat", ["features: [Heating]", "attributes: {\(attributes)}"])
        made.told = told
        return made
    }
    private static func automatic(_ attributes: String, _ told: String...) -> Case {
        var made = Case("Thermostat", "Thermostat", ["features: [Heating, Cooling, AutoMode]", "attributes: {\(attributes)}"])
        made.told = told
        return made
    }

    static let thermostats = [
        heating(
            "OccupiedHeatingSetpoint: 35C",
            "6 attributes.OccupiedHeatingSetpoint OccupiedHeatingSetpoint 35.00 °C is not allowed: MinHeatSetpointLimit = 7.00 °C to "
                + "MaxHeatSetpointLimit = 30.00 °C is expected"),
        heating(
            "MaxHeatSetpointLimit: 24C, OccupiedHeatingSetpoint: 25C",
            "6 attributes.OccupiedHeatingSetpoint OccupiedHeatingSetpoint 25.00 °C is not allowed: MinHeatSetpointLimit = 7.00 °C to "
                + "MaxHeatSetpointLimit = 24.00 °C is expected"),
        heating(
            "MinHeatSetpointLimit: 5C",
            "6 attributes.MinHeatSetpointLimit MinHeatSetpointLimit 5.00 °C is not allowed: at least AbsMinHeatSetpointLimit = 7.00 °C is "
                + "expected"),
        heating(
            "MinHeatSetpointLimit: 25C, MaxHeatSetpointLimit: 20C, OccupiedHeatingSetpoint: 22C",
            "6 attributes.MinHeatSetpointLimit MinHeatSetpointLimit 25.00 °C is not allowed: at most MaxHeatSetpointLimit = 20.00 °C is "
                + "expected"),
        heating(
            "AbsMinHeatSetpointLimit: 31C",
            "6 attributes.AbsMinHeatSetpointLimit AbsMinHeatSetpointLimit 31.00 °C is not allowed: at most AbsMaxHeatSetpointLimit = "
                + "30.00 °C is expected"),
        automatic(
            "OccupiedCoolingSetpoint: 10C",
            "6 attributes.OccupiedCoolingSetpoint OccupiedCoolingSetpoint 10.00 °C is not allowed: MinCoolSetpointLimit = 16.00 °C to "
                + "MaxCoolSetpointLimit = 32.00 °C is expected"),
        automatic(
            "OccupiedHeatingSetpoint: 25C, OccupiedCoolingSetpoint: 26C, MinSetpointDeadBand: 20",
            "6 attributes.OccupiedHeatingSetpoint OccupiedHeatingSetpoint 25.00 °C is not allowed: at most 24.00 °C, MinSetpointDeadBand = "
                + "2.00 °C from OccupiedCoolingSetpoint = 26.00 °C, is expected"),
        automatic(
            "MinHeatSetpointLimit: 15C",
            "6 attributes.MinHeatSetpointLimit MinHeatSetpointLimit 15.00 °C is not allowed: at most 14.00 °C, MinSetpointDeadBand = "
                + "2.00 °C from MinCoolSetpointLimit = 16.00 °C, is expected"),
        automatic(
            "SystemMode: Heat, ControlSequenceOfOperation: CoolingOnly",
            "6 attributes.SystemMode SystemMode Heat is not allowed: the control sequence of operation forbids the mode"),
        // What is wrong by itself takes nothing from what can be said of the rest, and adds nothing.
        automatic(
            "MinSetpointDeadBand: 13C, OccupiedHeatingSetpoint: 3C, OccupiedCoolingSetpoint: 40C",
            "6 attributes.MinSetpointDeadBand MinSetpointDeadBand 13.0 °C does not fit its type: -12.8 °C to 12.7 °C is expected",
            "6 attributes.OccupiedHeatingSetpoint OccupiedHeatingSetpoint 3.00 °C is not allowed: MinHeat",
            "6 attributes.OccupiedCoolingSetpoint OccupiedCoolingSetpoint 40.00 °C is not allowed: MinCool"),
        automatic(
            "MaxHeatSetpointLimit: warm, OccupiedHeatingSetpoint: 35C, UnoccupiedHeatingSetpoint: 20C",
            "6 attributes.MaxHeatSetpointLimit MaxHeatSetpointLimit",
            "6 attributes.UnoccupiedHeatingSetpoint Thermostat has no UnoccupiedHeatingSetpoint with these features (HEAT, COOL, AUTO)"),
        // What nobody has said follows the limits.
        heating("MaxHeatSetpointLimit: 18C"),
        heating("MinHeatSetpointLimit: 22C, OccupiedHeatingSetpoint: 22C"),
        automatic("OccupiedHeatingSetpoint: 26C"),
        automatic("MaxCoolSetpointLimit: 25C"),
        automatic("AbsMaxHeatSetpointLimit: 35C"),
    ]

    @Test(arguments: thermostats) func setpointsKeepWithinTheirLimits(_ given: Case) { check(given) }

    private static func lock(_ lines: String..., told: [String]) -> Case {
        var made = Case("DoorLock", "DoorLock", ["features: [PINCredential, RFIDCredential, User]"] + lines)
        made.told = told
        return made
    }

    static let locks = [
        lock(
            "attributes: {MinPINCodeLength: 6}", "users: [{pins: ['1234', '123456', '123456789']}]",
            told: [
                "7 users[0].pins[0] the PIN has 4 characters: MinPINCodeLength = 6 to MaxPINCodeLength = 8 are expected",
                "7 users[0].pins[2] the PIN has 9 characters: MinPINCodeLength = 6 to MaxPINCodeLength = 8 are expected",
            ]),
        lock(
            "users:", "  - {name: one, pins: ['1234']}", "  - {name: two, pins: ['4321', '1234'], rfids: ['112233']}",
            told: [
                "8 users[1].pins[1] the PIN is that of users[0].pins[0] already: each code belongs to one user",
                "8 users[1].rfids[0] the RFID has 3 bytes: MinRFIDCodeLength = 4 to MaxRFIDCodeLength = 20 are expected",
            ]),
        lock(
            "attributes: {NumberOfTotalUsersSupported: 1, NumberOfPINUsersSupported: 2, NumberOfCredentialsSupportedPerUser: 2}", "users:",
            "  - {pins: ['1234', '1235', '1236']}", "  - {name: two}",
            told: [
                "8 users[0] the user has 3 credentials: at most NumberOfCredentialsSupportedPerUser = 2 are expected",
                "8 users[0].pins[2] the lock takes no more PINs: at most NumberOfPINUsersSupported = 2 are expected",
                "9 users[1] the lock takes no more users: at most NumberOfTotalUsersSupported = 1 are expected",
            ]),
        lock(
            "attributes: {MinPINCodeLength: 9}",
            told: [
                "6 attributes.MinPINCodeLength MinPINCodeLength 9 is not allowed: at most MaxPINCodeLength = 8 is expected"
            ]),
        lock(
            "attributes: {MinPINCodeLength: 9, MaxRFIDCodeLength: long}", "users: [{name: somebody else, pins: ['1'], rfids: ['11']}]",
            told: [
                "6 attributes.MinPINCodeLength MinPINCodeLength 9 is not allowed: at most MaxPINCodeLength = 8 is expected",
                "6 attributes.MaxRFIDCodeLength MaxRFIDCodeLength",
                "7 users[0].name 'somebody else' has 13 bytes; at most 10 are allowed",
            ]),
        lock(
            "users: [{name: somebody else}]", "readOnly: [Langage]",
            told: [
                "6 users[0].name 'somebody else' has 13 bytes; at most 10 are allowed",
                "7 readOnly[0] there is no attribute 'Langage' whose write access is optional; did you mean Language?",
            ]),
        lock(
            "attributes: {OperatingMode: Passage, SupportedOperatingModes: 0xFFF6}",
            told: ["6 attributes.OperatingMode OperatingMode Passage is not allowed: the operating mode is not supported"]),
        Case(
            "DoorLock", "DoorLock", ["users: [{pins: ['1234']}]"],
            "5 users[0].pins[0] the lock takes no PINs: the feature PINCredential is expected"),
        // The same code as PIN and as RFID is no duplicate, and a lock may be full.
        lock(
            "attributes: {NumberOfTotalUsersSupported: 1, NumberOfPINUsersSupported: 1, NumberOfRFIDUsersSupported: 1}",
            "users: [{name: Home, pins: ['1234'], rfids: ['31323334']}]", told: []),
    ]

    @Test(arguments: locks) func codesAreThoseThatTheLockTakes(_ given: Case) { check(given) }

    static let others = [
        Case(
            "DimmableLight", "LevelControl", ["attributes:", "  OnLevel: 20", "  MinLevel: 50", "  MaxLevel: 200", "  CurrentLevel: 250"],
            "6 attributes.OnLevel OnLevel 20 (8 %) is not allowed: MinLevel = 50 (20 %) to MaxLevel = 200 (79 %) is expected",
            "9 attributes.CurrentLevel CurrentLevel 250 (98 %) is not allowed: MinLevel = 50 (20 %) to MaxLevel = 200 (79 %) is expected"),
        Case(
            "DimmableLight", "LevelControl", ["attributes: {MinLevel: 100, MaxLevel: 50, CurrentLevel: 70}"],
            "5 attributes.MaxLevel MaxLevel 50 (20 %) is not allowed: MinLevel = 100 (39 %) to 254 (100 %) is expected"),
        Case(
            "DimmableLight", "LevelControl", ["attributes: {MinLevel: 0}"],
            "5 attributes.MinLevel MinLevel 0 (0 %) is not allowed: 1 (0.4 %) to 254 (100 %) is expected"),
        Case("GenericSwitch", "LevelControl", ["attributes: {MinLevel: 0, CurrentLevel: 0}"]),
        Case(
            "TemperatureSensor", "TemperatureMeasurement",
            ["attributes: {MinMeasuredValue: 50C, MaxMeasuredValue: 40C, MeasuredValue: 45C}"],
            "5 attributes.MinMeasuredValue MinMeasuredValue 50.00 °C is not allowed: -273.15 °C to MaxMeasuredValue - 1 = 39.99 °C is expected"
        ),
        Case(
            "TemperatureSensor", "TemperatureMeasurement", ["attributes: {MeasuredValue: 200C}"],
            "5 attributes.MeasuredValue MeasuredValue 200.00 °C is not allowed: MinMeasuredValue = -40.00 °C to MaxMeasuredValue = "
                + "125.00 °C is expected"),
        Case("TemperatureSensor", "TemperatureMeasurement", ["attributes: {MinMeasuredValue: 30C}"]),
        Case(
            "FlowSensor", "FlowMeasurement", ["attributes: {MinMeasuredValue: 2000}"],
            "5 attributes.MinMeasuredValue MinMeasuredValue 200.0 m³/h does not go with what the device has: MaxMeasuredValue 100.0 m³/h is "
                + "not allowed: at least MinMeasuredValue + 1 = 200.1 m³/h is expected"),
        Case(
            "LightSensor", "IlluminanceMeasurement", ["attributes: {MinMeasuredValue: 100, MaxMeasuredValue: 200, MeasuredValue: 50}"],
            "5 attributes.MeasuredValue MeasuredValue 50 is not allowed: 0 or MinMeasuredValue = 100 to MaxMeasuredValue = 200 is expected"),
        Case("LightSensor", "IlluminanceMeasurement", ["attributes: {MinMeasuredValue: 100, MaxMeasuredValue: 200, MeasuredValue: 0}"]),
        Case(
            "ColorTemperatureLight", "ColorControl",
            ["attributes: {ColorTempPhysicalMinMireds: 200, ColorTempPhysicalMaxMireds: 400, ColorTemperatureMireds: 500}"],
            "5 attributes.ColorTemperatureMireds ColorTemperatureMireds 500 (2000 K) is not allowed: ColorTempPhysicalMinMireds = 200 (5000 K) "
                + "to ColorTempPhysicalMaxMireds = 400 (2500 K) is expected"),
        Case("ColorTemperatureLight", "ColorControl", ["attributes: {ColorTempPhysicalMinMireds: 300}"]),
        Case(
            "Fan", "FanControl", ["features: [MultiSpeed]", "attributes: {SpeedMax: 5, SpeedSetting: 7}"],
            "6 attributes.SpeedSetting SpeedSetting 7 is not allowed: at most SpeedMax = 5 is expected"),
        Case(
            "Fan", "FanControl", ["attributes: {FanModeSequence: OffHigh, FanMode: Medium}"],
            "5 attributes.FanMode FanMode Medium is not allowed: the fan has no such mode"),
        Case(
            "WindowCovering", "WindowCovering",
            [
                "features: [Lift, PositionAwareLift, AbsolutePosition]",
                "attributes: {InstalledOpenLimitLift: 100, InstalledClosedLimitLift: 200, CurrentPositionLift: 250}",
            ],
            "6 attributes.CurrentPositionLift CurrentPositionLift 250 cm is not allowed: InstalledOpenLimitLift = 100 cm to "
                + "InstalledClosedLimitLift = 200 cm is expected"),
        Case(
            "GenericSwitch", "Switch", ["features: [LatchingSwitch]", "attributes: {NumberOfPositions: 3, CurrentPosition: 3}"],
            "6 attributes.CurrentPosition CurrentPosition 3 is not allowed: at most NumberOfPositions - 1 = 2 is expected"),
        Case(
            "GenericSwitch", "ModeSelect", ["attributes: {CurrentMode: 7}"],
            "5 attributes.CurrentMode CurrentMode 7 is not allowed: one of SupportedModes (0, 1) is expected"),
        Case(
            "OnOffLight", "LocalizationConfiguration", ["attributes: {ActiveLocale: xx-XX, SupportedLocales: [en-US]}"],
            "5 attributes.ActiveLocale ActiveLocale xx-XX is not allowed: an entry of SupportedLocales is expected"),
        // What was given and would not be there.
        Case(
            "GenericSwitch", "OnOff", ["attributes: {OffWaitTime: 5}", "optional: [OffWithEffect]"],
            "5 attributes.OffWaitTime OnOff has no OffWaitTime with these features (none): its conformance is LT",
            "6 optional[0] OnOff has no OffWithEffect with these features (none): its conformance is LT"),
        Case(
            "OnOffLight", "OnOff", ["attributes: {FeatureMap: 1}"], "5 attributes FeatureMap cannot be given: it follows"),
        Case(
            "GenericSwitch", "OnOff", ["features: [LT, OFFONLY]"],
            "5 features the feature LT is disallowed"),
        // A mistake makes no second one of what hangs on it.
        Case(
            "OnOffLight", "OnOff", ["features: [Lightning]", "attributes: {OffWaitTime: 5}"],
            "5 features[0] OnOff has no feature 'Lightning'; did you mean Lighting?"),
        Case(
            "DimmableLight", "LevelControl", ["attributes: {MaxLevel: much, OnLevel: 254}"],
            "5 attributes.MaxLevel MaxLevel is an integer"),
    ]

    @Test(arguments: others) func valuesKeepWithinTheLimitsThatOthersSet(_ given: Case) { check(given) }

    private func check(_ given: Case) {
        let found = Self.mistakes(given)
        #expect(found.count == given.told.count, "\(found)")
        for (found, told) in zip(found, given.told) { #expect(found.hasPrefix(told), "\(found)") }
    }

    @Test func aMisspeltDeviceTypeSaysNothingOfItsClusters() {
        let found = Self.mistakes(Case("DimableLight", "LevelControl", ["attributes: {StartUpCurrentLevel: 5, RemainingTime: 0}"]))
        #expect(found.count == 1 && found.first?.contains("did you mean DimmableLight?") == true, "\(found)")
    }

    @Test func theRootIsLookedAtToo() {
        let text = """
            root:
              clusters:
                TimeFormatLocalization:
                  features: [CalendarFormat]
                  attributes: {SupportedCalendarTypes: [Gregorian], ActiveCalendarType: Coptic}
            endpoints: [{deviceTypes: [OnOffLight]}]
            """
        do {
            _ = try ProfileReader.read(Array(text.utf8), file: "test.yaml")
            Issue.record("the profile was read")
        } catch {
            #expect(
                error.description
                    == "test.yaml:5:77: root.clusters.TimeFormatLocalization.attributes.ActiveCalendarType: ActiveCalendarType Coptic is "
                    + "not allowed: an entry of SupportedCalendarTypes is expected")
        }
    }
}
