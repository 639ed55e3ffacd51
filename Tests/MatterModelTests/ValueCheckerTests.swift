import MatterModel
import MatterTLV
import Testing

@Suite struct ValueCheckerTests {
    private func checker(_ name: String, features: UInt32 = 0, _ values: [String: TLVValue] = [:]) throws -> ValueChecker {
        ValueChecker(cluster: try #require(DataModel.cluster(named: name)), features: features) { values[$0] }
    }

    private func status(_ checker: ValueChecker, _ attribute: String, _ value: TLVValue) throws -> StatusCode {
        let definition = try #require(checker.cluster.attribute(named: attribute))
        do throws(Status) {
            try checker.check(value, of: definition)
            return .success
        } catch {
            return error.code
        }
    }

    private func status(_ checker: ValueChecker, command: String, _ fields: [TLVElement]?) throws -> StatusCode {
        let definition = try #require(checker.cluster.command(named: command))
        do throws(Status) {
            try checker.check(fields: fields.map(TLVValue.structure), of: definition)
            return .success
        } catch {
            return error.code
        }
    }

    @Test func integersHaveWidthSignAndRange() throws {
        let level = try checker("LevelControl", features: 3, ["MinLevel": .unsigned(10), "MaxLevel": .unsigned(200)])
        #expect(try status(level, "OnLevel", .unsigned(10)) == .success)
        #expect(try status(level, "OnLevel", .unsigned(9)) == .constraintError)
        #expect(try status(level, "OnLevel", .unsigned(201)) == .constraintError)
        #expect(try status(level, "OnLevel", .null) == .success)
        #expect(try status(level, "OnLevel", .signed(10)) == .invalidDataType)
        #expect(try status(level, "OnLevel", .utf8("10")) == .invalidDataType)
        #expect(try status(level, "OnTransitionTime", .unsigned(65534)) == .success)
        #expect(try status(level, "OnTransitionTime", .unsigned(65535)) == .constraintError)
        #expect(try status(level, "OnOffTransitionTime", .unsigned(65535)) == .success)
        #expect(try status(level, "OnOffTransitionTime", .unsigned(65536)) == .constraintError)
        #expect(try status(level, "OnOffTransitionTime", .null) == .invalidDataType)
    }

    @Test func nullableSignedIntegersLoseTheLowest() throws {
        let type = TypeReference("int8", .signed(bytes: 1))
        #expect(type.integerRange(isNullable: true)?.minimum == -127)
        #expect(type.integerRange(isNullable: false)?.minimum == -128)
        #expect(TypeReference("int64", .signed(bytes: 8)).integerRange(isNullable: false)?.minimum == Int64.min)
        #expect(TypeReference("uint64", .unsigned(bytes: 8)).integerRange(isNullable: false)?.maximum == UInt64.max)
        #expect(TypeReference("uint24", .unsigned(bytes: 3)).integerRange(isNullable: false)?.maximum == 0xFFFFFF)
        let thermostat = try checker("Thermostat")
        #expect(try status(thermostat, "LocalTemperatureCalibration", .signed(-128)) == .success)
        #expect(try status(thermostat, "LocalTemperatureCalibration", .signed(-129)) == .constraintError)
        #expect(try status(thermostat, "LocalTemperatureCalibration", .unsigned(5)) == .invalidDataType)
    }

    @Test func enumerationsAreTheirItems() throws {
        var thermostat = try checker("Thermostat", features: 1)
        #expect(try status(thermostat, "SystemMode", .unsigned(4)) == .success)
        #expect(try status(thermostat, "SystemMode", .unsigned(254)) == .constraintError)
        #expect(try status(thermostat, "SystemMode", .unsigned(1)) == .success)
        thermostat.options.refusesDisallowedItems = true
        #expect(try status(thermostat, "SystemMode", .unsigned(1)) == .constraintError)
    }

    /// One rule for every bitmap that can be written, whatever its cluster.
    @Test func reservedBitsAreNotWritten() throws {
        var found = 0
        for cluster in DataModel.index.map(\.definition) {
            for attribute in cluster.attributes where attribute.writePrivilege != nil {
                guard case .bitmap(let definition) = attribute.type.base else { continue }
                found += 1
                let checker = ValueChecker(cluster: cluster, features: .max)
                func status(_ value: UInt64) -> StatusCode {
                    do throws(Status) { try checker.check(.unsigned(value), of: attribute) } catch { return error.code }
                    return .success
                }
                let known = definition.definedBits | (attribute.defaultValue?.unsigned ?? 0)
                #expect(status(definition.definedBits) == .success, "\(cluster.name).\(attribute.name)")
                for bit in 0..<UInt64(definition.bytes * 8) where known & (1 << bit) == 0 {
                    #expect(status(1 << bit) == .constraintError, "\(cluster.name).\(attribute.name), bit \(bit)")
                    #expect(status(known | 1 << bit) == .constraintError, "\(cluster.name).\(attribute.name), bit \(bit)")
                }
            }
        }
        #expect(found >= 10)
    }

    @Test func reservedBitsByName() throws {
        let thermostat = try checker("Thermostat", features: 1)
        #expect(try status(thermostat, "RemoteSensing", .unsigned(8)) == .constraintError)
        #expect(try status(thermostat, "RemoteSensing", .unsigned(7)) == .success)
        #expect(try status(thermostat, "ThermostatProgrammingOperationMode", .unsigned(8)) == .constraintError)
        #expect(try status(thermostat, "ACErrorCode", .unsigned(255)) == .constraintError)
        #expect(try status(thermostat, "ACErrorCode", .unsigned(31)) == .success)
        #expect(try status(checker("LevelControl"), "Options", .unsigned(4)) == .constraintError)
        #expect(try status(checker("ColorControl"), "Options", .unsigned(2)) == .constraintError)
        let covering = try checker("WindowCovering")
        #expect(try status(covering, "Mode", .unsigned(0x10)) == .constraintError)
        #expect(try status(covering, "Mode", .unsigned(0x0F)) == .success)
        #expect(try status(covering, "Mode", .unsigned(0x100)) == .constraintError)
        // The default has them all.
        #expect(try status(checker("DoorLock"), "AlarmMask", .unsigned(0xFFFF)) == .success)
        // What only the device itself sets may have bits of its own.
        #expect(try status(covering, "ConfigStatus", .unsigned(0x80)) == .success)
    }

    @Test func commandsIgnoreReservedBitsUnlessAConstraintSaysNo() throws {
        func fields(_ mask: UInt64) -> [TLVElement] {
            [
                TLVElement(.context(0), .unsigned(10)), TLVElement(.context(1), .unsigned(0)),
                TLVElement(.context(2), .unsigned(mask)), TLVElement(.context(3), .unsigned(mask)),
            ]
        }
        #expect(try status(checker("LevelControl"), command: "MoveToLevel", fields(0x84)) == .success)
        let timed = [
            TLVElement(.context(0), .unsigned(2)), TLVElement(.context(1), .unsigned(0)), TLVElement(.context(2), .unsigned(0)),
        ]
        #expect(try status(checker("OnOff", features: 1), command: "OnWithTimedOff", timed) == .constraintError)
    }

    @Test func stringsAreMeasuredInBytes() throws {
        let basic = try checker("BasicInformation")
        #expect(try status(basic, "NodeLabel", .utf8(String(repeating: "é", count: 16))) == .success)
        #expect(try status(basic, "NodeLabel", .utf8(String(repeating: "é", count: 17))) == .constraintError)
        #expect(try status(basic, "NodeLabel", .octets([1])) == .invalidDataType)
        #expect(try status(basic, "Location", .utf8("DE")) == .success)
        #expect(try status(basic, "Location", .utf8("D")) == .constraintError)
    }

    @Test func listsAndStructuresAreCheckedThrough() throws {
        let access = try checker(
            "AccessControl", ["SubjectsPerAccessControlEntry": .unsigned(2), "TargetsPerAccessControlEntry": .unsigned(3)])
        func entry(privilege: UInt64 = 5, subjects: TLVValue = .null) -> TLVValue {
            .structure([
                TLVElement(1, .unsigned(privilege)), TLVElement(2, .unsigned(2)), TLVElement(3, subjects), TLVElement(4, .null),
            ])
        }
        #expect(try status(access, "ACL", .array([entry()])) == .success)
        #expect(try status(access, "ACL", .array([entry(privilege: 9)])) == .constraintError)
        #expect(try status(access, "ACL", .array([entry(subjects: .array([.unsigned(1), .unsigned(2)]))])) == .success)
        #expect(
            try status(access, "ACL", .array([entry(subjects: .array([.unsigned(1), .unsigned(2), .unsigned(3)]))]))
                == .constraintError)
        #expect(try status(access, "ACL", .array([entry(subjects: .array([.utf8("1")]))])) == .invalidDataType)
        #expect(try status(access, "ACL", .array([.structure([])])) == .invalidDataType)
        #expect(try status(access, "ACL", entry()) == .invalidDataType)
        let acl = try #require(access.cluster.attribute(named: "ACL"))
        #expect(throws: Status(.constraintError)) { try access.check(entry: entry(privilege: 9), of: acl) }
        try access.check(entry: entry(), of: acl)
    }

    @Test func fabricIndexFromOutsideAndUnknownFieldsAreIgnored() throws {
        let access = try checker("AccessControl")
        let entry = TLVValue.structure([
            TLVElement(1, .unsigned(5)), TLVElement(2, .unsigned(2)), TLVElement(3, .null), TLVElement(4, .null),
            TLVElement(254, .utf8("nonsense")), TLVElement(99, .null),
        ])
        #expect(try status(access, "ACL", .array([entry])) == .success)
    }

    @Test func commandsAreInvalidOrBreakConstraints() throws {
        let covering = try checker("WindowCovering", features: 5)
        #expect(try status(covering, command: "GoToLiftPercentage", [TLVElement(0, .unsigned(10000))]) == .success)
        #expect(try status(covering, command: "GoToLiftPercentage", [TLVElement(0, .signed(10000))]) == .invalidCommand)
        #expect(try status(covering, command: "GoToLiftPercentage", []) == .invalidCommand)
        #expect(try status(covering, command: "GoToLiftPercentage", nil) == .invalidCommand)
        #expect(try status(covering, command: "UpOrOpen", nil) == .success)
        let onOff = try checker("OnOff", features: 1)
        let fields = [TLVElement(0, .unsigned(0)), TLVElement(1, .unsigned(65534)), TLVElement(2, .unsigned(0))]
        #expect(try status(onOff, command: "OnWithTimedOff", fields) == .success)
        let tooLong = [TLVElement(0, .unsigned(0)), TLVElement(1, .unsigned(65535)), TLVElement(2, .unsigned(0))]
        #expect(try status(onOff, command: "OnWithTimedOff", tooLong) == .constraintError)
    }

    @Test func aClusterMayAnswerBrokenConstraintsItsOwnWay() throws {
        var lock = try checker("DoorLock", features: 0x101, ["NumberOfTotalUsersSupported": .unsigned(10)])
        let fields = [TLVElement(0, .unsigned(11))]
        #expect(try status(lock, command: "GetUser", fields) == .constraintError)
        lock.options.constraintFailure = .invalidCommand
        #expect(try status(lock, command: "GetUser", fields) == .invalidCommand)
        lock.options.checksConstraints = false
        #expect(try status(lock, command: "GetUser", fields) == .success)
        #expect(try status(lock, command: "GetUser", [TLVElement(0, .utf8("1"))]) == .invalidCommand)
    }

    @Test func fieldsThatAFeatureDemandsMustBeThere() throws {
        func preset(_ more: [TLVElement]) -> TLVValue {
            .array([.structure([TLVElement(0, .null), TLVElement(1, .unsigned(1)), TLVElement(5, .boolean(false))] + more)])
        }
        let heat = TLVElement(4, .signed(2000))
        let heating = try checker("Thermostat", features: 0x101, ["NumberOfPresets": .unsigned(5)])
        #expect(try status(heating, "Presets", preset([heat])) == .success)
        #expect(try status(heating, "Presets", preset([])) == .invalidDataType)
        let cooling = try checker("Thermostat", features: 0x102, ["NumberOfPresets": .unsigned(5)])
        #expect(try status(cooling, "Presets", preset([heat])) == .invalidDataType)
    }

    @Test func aDeviceTypeNarrowsAConstraint() throws {
        let level = try checker("LevelControl")
        let current = try #require(level.cluster.attribute(named: "CurrentLevel"))
        try level.check(.unsigned(0), of: current)
        #expect(throws: Status(.constraintError)) {
            try level.check(.unsigned(0), of: current, constraint: Constraint("1 to 254"))
        }
    }
}
