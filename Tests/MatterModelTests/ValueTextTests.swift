import MatterModel
import MatterTLV
import Testing

@Suite struct ValueTextTests {
    private func text(_ cluster: String, _ attribute: String) throws -> ValueText {
        let definition = try #require(DataModel.cluster(named: cluster))
        return ValueText(try #require(definition.attribute(named: attribute)), in: definition.id)
    }

    private func field(_ cluster: String, _ command: String, _ field: String) throws -> ValueText {
        let definition = try #require(DataModel.cluster(named: cluster))
        return ValueText(try #require(definition.command(named: command)?.fields.field(named: field)), in: definition.id)
    }

    @Test(arguments: [
        ("Thermostat", "LocalTemperature", TLVValue.signed(2150), "21.50 °C"),
        ("Thermostat", "LocalTemperature", .signed(-5), "-0.05 °C"),
        ("Thermostat", "LocalTemperature", .null, "null"), ("Thermostat", "MinSetpointDeadBand", .signed(25), "2.5 °C"),
        ("Thermostat", "SystemMode", .unsigned(4), "Heat"), ("Thermostat", "SystemMode", .unsigned(99), "99"),
        ("Thermostat", "PIHeatingDemand", .unsigned(50), "50 %"), ("OnOff", "OnOff", .boolean(true), "on"),
        ("OnOff", "GlobalSceneControl", .boolean(true), "true"), ("OnOff", "OnTime", .unsigned(300), "30.0 s"),
        ("WindowCovering", "TargetPositionLiftPercent100ths", .unsigned(5000), "50 %"),
        ("WindowCovering", "TargetPositionLiftPercent100ths", .unsigned(7520), "75.2 %"),
        ("WindowCovering", "OperationalStatus", .unsigned(10), "Global=2, Lift=2"),
        ("WindowCovering", "Mode", .unsigned(0), "none"),
        ("WindowCovering", "Mode", .unsigned(0x83), "MotorDirectionReversed, CalibrationMode, 0x80"),
        ("RelativeHumidityMeasurement", "MeasuredValue", .unsigned(4525), "45.25 %"),
        ("PressureMeasurement", "MeasuredValue", .signed(1013), "101.3 kPa"),
        ("PowerSource", "BatPercentRemaining", .unsigned(191), "95.5 %"),
        ("ElectricalPowerMeasurement", "ActivePower", .signed(12_345), "12.345 W"),
        ("LevelControl", "CurrentLevel", .unsigned(128), "128 (50 %)"), ("LevelControl", "CurrentLevel", .unsigned(0), "0 (0 %)"),
        ("LevelControl", "OnLevel", .unsigned(1), "1 (0.4 %)"), ("LevelControl", "MaxLevel", .unsigned(253), "253 (99.6 %)"),
        ("LevelControl", "StartUpCurrentLevel", .unsigned(254), "254 (100 %)"), ("LevelControl", "OnLevel", .null, "null"),
        ("LevelControl", "DefaultMoveRate", .unsigned(50), "50 (20 %/s)"),
        ("LevelControl", "CurrentFrequency", .unsigned(50), "50"),
        ("ColorControl", "CurrentHue", .unsigned(127), "127 (180 °)"),
        ("ColorControl", "EnhancedCurrentHue", .unsigned(0x4000), "16384 (90 °)"),
        ("ColorControl", "CurrentSaturation", .unsigned(254), "254 (100 %)"),
        ("ColorControl", "CurrentX", .unsigned(24_939), "24939 (0.3805)"),
        ("ColorControl", "ColorTemperatureMireds", .unsigned(250), "250 (4000 K)"),
        ("ColorControl", "ColorTempPhysicalMinMireds", .unsigned(0), "0"),
        ("ColorControl", "RemainingTime", .unsigned(5), "0.5 s"), ("ColorControl", "ColorLoopTime", .unsigned(25), "25 s"),
        ("ColorControl", "NumberOfPrimaries", .unsigned(3), "3"),
        ("WindowCovering", "PhysicalClosedLimitLift", .unsigned(180), "180 cm"),
        ("WindowCovering", "CurrentPositionTilt", .unsigned(455), "45.5 °"),
        ("WindowCovering", "NumberOfActuationsLift", .unsigned(7), "7"),
        ("TemperatureMeasurement", "Tolerance", .unsigned(50), "0.50 °C"),
        ("PressureMeasurement", "Tolerance", .unsigned(5), "0.5 kPa"),
        ("ElectricalPowerMeasurement", "ApparentPower", .signed(1500), "1.500 VA"),
        ("ElectricalPowerMeasurement", "ReactivePower", .signed(-1500), "-1.500 var"),
        ("ElectricalPowerMeasurement", "Frequency", .signed(50_000), "50.000 Hz"),
        ("ElectricalPowerMeasurement", "PowerFactor", .signed(9550), "95.5 %"),
        ("DoorLock", "UserCodeTemporaryDisableTime", .unsigned(30), "30 s"), ("DoorLock", "AutoRelockTime", .unsigned(60), "60 s"),
        ("DoorLock", "ExpiringUserTimeout", .unsigned(90), "90 min"),
        ("PowerSource", "BatTimeRemaining", .unsigned(3600), "3600 s"),
        ("PowerSource", "WiredNominalVoltage", .unsigned(230_000), "230.000 V"),
        ("Thermostat", "TemperatureSetpointHoldDuration", .unsigned(60), "60 min"),
        ("GeneralDiagnostics", "UpTime", .unsigned(12), "12 s"),
        ("GeneralDiagnostics", "TotalOperationalHours", .unsigned(12), "12 h"),
        ("SoftwareDiagnostics", "CurrentHeapUsed", .unsigned(4096), "4096 B"),
        (
            "GeneralCommissioning", "BasicCommissioningInfo",
            .structure([TLVElement(0, .unsigned(60)), TLVElement(1, .unsigned(900))]),
            "{FailSafeExpiryLengthSeconds: 60 s, MaxCumulativeFailsafeSeconds: 900 s}"
        ),
        ("Descriptor", "ServerList", .array([.unsigned(6), .unsigned(0xFFF1_FC05)]), "[OnOff (0x0006), 0xFFF1FC05]"),
        (
            "Descriptor", "DeviceTypeList",
            .array([.structure([TLVElement(0, .unsigned(0x0101)), TLVElement(1, .unsigned(3))])]),
            "[{DeviceType: Dimmable Light (0x0101), Revision: 3}]"
        ),
        ("BasicInformation", "NodeLabel", .utf8("Lamp"), "Lamp"), ("BasicInformation", "VendorID", .unsigned(0xFFF1), "0xFFF1"),
        (
            "FixedLabel", "LabelList",
            .array([.structure([TLVElement(0, .utf8("room")), TLVElement(1, .utf8("4\"")), TLVElement(9, .null)])]),
            "[{Label: \"room\", Value: \"4\\\"\", 9: null}]"
        ),
        ("Thermostat", "ActivePresetHandle", .octets([1, 0xAB]), "01ab"),
        ("Thermostat", "SetpointHoldExpiryTimestamp", .unsigned(849_234_660), "2026-11-29T02:31:00Z"),
        ("TimeSynchronization", "UTCTime", .unsigned(5_097_600_000_000), "2000-02-29T00:00:00Z"),
    ])
    func valuesAreWrittenForPeople(cluster: String, attribute: String, value: TLVValue, expected: String) throws {
        #expect(try text(cluster, attribute).format(value) == expected)
    }

    @Test(arguments: [
        ("Thermostat", "OccupiedHeatingSetpoint", "20C", TLVValue.signed(2000)),
        ("Thermostat", "OccupiedHeatingSetpoint", "21.5°C", .signed(2150)),
        ("Thermostat", "OccupiedHeatingSetpoint", "21.50 °C", .signed(2150)),
        ("Thermostat", "OccupiedHeatingSetpoint", "2000", .signed(2000)),
        ("Thermostat", "OccupiedHeatingSetpoint", "20.0", .signed(2000)),
        ("Thermostat", "OccupiedHeatingSetpoint", "-5c", .signed(-500)),
        ("Thermostat", "OccupiedHeatingSetpoint", "68F", .signed(2000)),
        ("Thermostat", "OccupiedHeatingSetpoint", "70 °F", .signed(2111)),
        ("Thermostat", "MinSetpointDeadBand", "1.8F", .signed(10)), ("Thermostat", "SystemMode", "HEAT", .unsigned(4)),
        ("Thermostat", "SystemMode", "emergency-heat", .unsigned(5)), ("Thermostat", "SystemMode", "0x05", .unsigned(5)),
        ("Thermostat", "SystemMode", "77", .unsigned(77)), ("Thermostat", "LocalTemperature", "null", .null),
        ("OnOff", "OnOff", "on", .boolean(true)), ("OnOff", "OnOff", "False", .boolean(false)),
        ("OnOff", "OnTime", "30s", .unsigned(300)),
        ("OnOff", "OnTime", "1.5 min", .unsigned(900)), ("OnOff", "OnTime", "250ms", .unsigned(3)),
        ("OnOff", "OnTime", "300", .unsigned(300)),
        ("LevelControl", "OnLevel", "50%", .unsigned(127)), ("LevelControl", "OnLevel", "100%", .unsigned(254)),
        ("LevelControl", "OnLevel", "-1", .signed(-1)), ("LevelControl", "OnLevel", "0x80", .unsigned(128)),
        ("LevelControl", "OnLevel", "127 (50 %)", .unsigned(127)), ("LevelControl", "OnLevel", "128(50%)", .unsigned(128)),
        ("LevelControl", "OnLevel", "0.4 %", .unsigned(1)), ("LevelControl", "DefaultMoveRate", "20%/s", .unsigned(51)),
        ("ColorControl", "ColorTemperatureMireds", "2700K", .unsigned(370)),
        ("ColorControl", "CurrentHue", "180°", .unsigned(127)), ("ColorControl", "CurrentSaturation", "50 %", .unsigned(127)),
        ("ColorControl", "CurrentX", "0.3805", .unsigned(24_936)), ("ColorControl", "CurrentX", "24939", .unsigned(24_939)),
        ("WindowCovering", "CurrentPositionTilt", "45.5°", .unsigned(455)),
        ("DoorLock", "AutoRelockTime", "2 min", .unsigned(120)),
        ("FanControl", "PercentSetting", "30 %", .unsigned(30)),
        ("WindowCovering", "TargetPositionLiftPercent100ths", "75.2%", .unsigned(7520)),
        ("DoorLock", "LockState", "locked", .unsigned(1)),
        ("DoorLock", "OperatingMode", "noRemoteLockUnlock", .unsigned(3)),
        ("WindowCovering", "Mode", "calibration mode, LedFeedback", .unsigned(10)),
        ("WindowCovering", "Mode", "none", .unsigned(0)), ("WindowCovering", "Mode", "3", .unsigned(3)),
        ("WindowCovering", "OperationalStatus", "Global=2|Lift=2", .unsigned(10)),
        ("WindowCovering", "Mode", "MotorDirectionReversed, CalibrationMode, 0x80", .unsigned(0x83)),
        ("BasicInformation", "NodeLabel", "Kitchen lamp ", .utf8("Kitchen lamp")),
        ("BasicInformation", "NodeLabel", "\" null \"", .utf8(" null ")),
        ("BasicInformation", "NodeLabel", "5", .utf8("5")), ("Thermostat", "ActivePresetHandle", "hex:01aB", .octets([1, 0xAB])),
        ("Thermostat", "ActivePresetHandle", "0x01ab", .octets([1, 0xAB])),
        ("Thermostat", "ActivePresetHandle", "ab", .octets([0x61, 0x62])),
        ("Thermostat", "ActivePresetHandle", "{\"hex\":\"01\"}", .octets([1])),
        ("Descriptor", "ServerList", "[6, 8]", .array([.unsigned(6), .unsigned(8)])),
        ("ElectricalPowerMeasurement", "ActivePower", "1.2 kW", .signed(1_200_000)),
        ("PressureMeasurement", "MeasuredValue", "1013 hPa", .signed(1013)),
    ])
    func whatPeopleWriteIsUnderstood(cluster: String, attribute: String, written: String, expected: TLVValue) throws {
        #expect(try text(cluster, attribute).parse(written) == expected)
    }

    /// Every number of an element with a scale can be written as it is shown, and is the same number then.
    @Test(arguments: [
        ("LevelControl", "CurrentLevel", UInt64(255)), ("LevelControl", "DefaultMoveRate", 255), ("ColorControl", "CurrentHue", 255),
        ("ColorControl", "EnhancedCurrentHue", 0xFFFF), ("ColorControl", "CurrentX", 0xFFFF),
        ("ColorControl", "ColorTemperatureMireds", 0xFFFF),
    ])
    func whatIsShownMayBeWritten(cluster: String, attribute: String, maximum: UInt64) throws {
        let text = try text(cluster, attribute)
        for number in 0...maximum where try text.parse(text.format(.unsigned(number))) != .unsigned(number) {
            Issue.record("\(attribute) \(number) is shown as \(text.format(.unsigned(number)))")
        }
    }

    @Test func octetsOfACodeAreItsText() throws {
        #expect(try field("DoorLock", "UnlockDoor", "PINCode").parse("1234") == .octets(Array("1234".utf8)))
        #expect(try field("Thermostat", "SetpointRaiseLower", "Amount").parse("-0.5C") == .signed(-5))
        #expect(try field("LevelControl", "MoveToLevel", "TransitionTime").parse("2s") == .unsigned(20))
    }

    @Test(arguments: [
        ("Thermostat", "SystemMode", "heatt", "SystemMode has no value heatt; did you mean Heat?"),
        ("LevelControl", "OnLevel", "half", "OnLevel is an integer (in %, as 1%), not half"),
        ("LevelControl", "OnLevel", "127 (60 %)", "OnLevel is an integer (in %, as 1%), not 127 (60 %)"),
        ("LevelControl", "OnLevel", "20C", "OnLevel is an integer (in %, as 1%), not 20C"),
        ("OnOff", "OnOff", "maybe", "OnOff is on or off (true or false), not maybe"),
        ("OnOff", "OnTime", "soon", "OnTime is an integer (in s, as 1.5s), not soon"),
        ("OnOff", "OnTime", "20C", "OnTime is an integer (in s, as 1.5s), not 20C"),
        ("LevelControl", "OnOffTransitionTime", "1e5", "OnOffTransitionTime is an integer (in s, as 1.5s), not 1e5"),
        ("WindowCovering", "Mode", "CalibratonMode", "Mode has no bit CalibratonMode; did you mean CalibrationMode?"),
        ("WindowCovering", "OperationalStatus", "Global=4", "OperationalStatus: 4 does not fit into Global"),
        ("Descriptor", "ServerList", "6", "ServerList is a list, written as a JSON array"),
        ("Thermostat", "ActivePresetHandle", "0x012", "an odd number of hexadecimal digits"),
    ])
    func mistakesAreExplained(cluster: String, attribute: String, written: String, message: String) throws {
        let value = try text(cluster, attribute)
        let error = #expect(throws: ValueError.self) { try value.parse(written) }
        #expect(error?.message == message)
    }

    @Test func numbersThatAreTooLongAreRefused() throws {
        let setpoint = try text("Thermostat", "OccupiedHeatingSetpoint")
        for written in [
            "999999999999999999.9C", "9223372036854775807C", "1.1234567C", "1..2C", "C", "--1C", "1-1C", "9223372036854775807F",
        ] {
            #expect(throws: ValueError.self, "\(written)") { try setpoint.parse(written) }
        }
    }

    @Test func wordsAreOfferedForCompletion() throws {
        #expect(try text("OnOff", "OnOff").words == ["on", "off"])
        #expect(try text("DoorLock", "LockState").words.first == "NotFullyLocked")
    }

    /// What is formatted can be parsed again, for every defined item and bit of the model.
    @Test func itemsAndBitsRoundTrip() throws {
        for cluster in DataModel.index.map(\.definition) {
            for definition in cluster.enums {
                let text = ValueText("", TypeReference(definition.name, .enumeration(definition)), in: cluster.id)
                for item in definition.items {
                    let value = TLVValue.unsigned(UInt64(item.value))
                    #expect(try text.parse(text.format(value)) == value, "\(cluster.name).\(definition.name).\(item.name)")
                }
            }
            for definition in cluster.bitmaps {
                let text = ValueText("", TypeReference(definition.name, .bitmap(definition)), in: cluster.id)
                let value = TLVValue.unsigned(definition.definedBits)
                #expect(try text.parse(text.format(value)) == value, "\(cluster.name).\(definition.name)")
            }
        }
    }
}
