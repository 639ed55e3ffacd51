import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Locks for tests.
enum Locks {
    typealias Spec = DoorLock
    typealias Ids = DoorLock.Attributes

    static let all: Spec.Feature = [
        .pinCredential, .rfidCredential, .weekDayAccessSchedules, .yearDayAccessSchedules, .holidaySchedules, .user,
        .credentialOverTheAirAccess, .doorPositionSensor,
    ]

    static func configuration(
        _ features: Spec.Feature = all, _ attributes: [AttributeID: TLVValue] = [:], users: [TLVValue] = []
    ) -> ClusterConfiguration {
        var values: [AttributeID: TLVValue] = [
            Ids.minPINCodeLength: .unsigned(6), Ids.maxPINCodeLength: .unsigned(8), Ids.minRFIDCodeLength: .unsigned(10),
            Ids.maxRFIDCodeLength: .unsigned(20), Ids.requirePINforRemoteOperation: .boolean(false),
            Ids.wrongCodeEntryLimit: .unsigned(3), Ids.userCodeTemporaryDisableTime: .unsigned(10),
            Ids.supportedOperatingModes: .unsigned(0xFFE0),
        ]
        values.merge(attributes) { $1 }
        let present = ClusterShape.of(Spec.definition, features: features.rawValue).attributes
        return ClusterConfiguration(
            features: features.rawValue, attributes: values.filter { present[$0.key] != nil || attributes[$0.key] != nil },
            parameters: ["users": .array(users)])
    }

    /// A user as profiles describe them.
    static func user(
        _ name: String, pins: [String] = [], rfids: [String] = [], type: Spec.UserTypeEnum = .unrestrictedUser,
        rule: Spec.CredentialRuleEnum = .single
    ) -> TLVValue {
        .structure([
            .init(.context(0), .utf8(name)), .init(.context(1), .array(pins.map { .utf8($0) })),
            .init(.context(2), .array(rfids.map { .octets(Array($0.utf8)) })), .init(.context(3), type.tlv),
            .init(.context(4), rule.tlv),
        ])
    }

    static func run(
        _ configuration: ClusterConfiguration = configuration(), _ body: @Sendable @concurrent (Bench) async throws -> Void
    ) async throws {
        try await Bench.run { bench in
            try bench.add(Spec.id, configuration)
            bench.node.start()
            try await body(bench)
        }
    }

    static func restart(_ bench: Bench, _ configuration: ClusterConfiguration = configuration()) throws {
        try bench.restart { node in
            let made = try #require(ClusterFactory.make(Spec.id, endpoint: 1, node: node, configuration: configuration))
            node.add(EndpointServer(id: 1, deviceTypes: [], clusters: [made]))
        }
    }

    static func cluster(_ bench: Bench) throws -> DoorLockCluster {
        try #require(bench.node.cluster(DoorLockCluster.self, at: 1))
    }
    static func state(_ bench: Bench) throws -> Spec.LockStateEnum {
        try Spec.LockStateEnum(tlv: bench.read(Spec.id, Ids.lockState))
    }
    static func byHand(_ bench: Bench, _ attribute: AttributeID, _ value: some TLVConvertible) throws {
        let cluster = try cluster(bench)
        try cluster.setLocally(try #require(cluster.attribute(attribute)), value.tlv)
    }

    static func code(_ text: String) -> [UInt8] { Array(text.utf8) }
    static func pin(_ index: UInt16) -> Spec.CredentialStruct { .init(credentialType: .pin, credentialIndex: index) }
    static func rfid(_ index: UInt16) -> Spec.CredentialStruct { .init(credentialType: .rfid, credentialIndex: index) }

    static func operations(_ bench: Bench) throws -> [Spec.LockOperation] {
        try bench.events(Spec.id, Spec.Events.lockOperation).map { try Spec.LockOperation(tlv: $0.fields) }
    }
    static func errors(_ bench: Bench) throws -> [Spec.LockOperationError] {
        try bench.events(Spec.id, Spec.Events.lockOperationError).map { try Spec.LockOperationError(tlv: $0.fields) }
    }
    static func alarms(_ bench: Bench) throws -> [Spec.AlarmCodeEnum] {
        try bench.events(Spec.id, Spec.Events.doorLockAlarm).map { try Spec.DoorLockAlarm(tlv: $0.fields).alarmCode }
    }
    static func changes(_ bench: Bench) throws -> [Spec.LockUserChange] {
        try bench.events(Spec.id, Spec.Events.lockUserChange).map { try Spec.LockUserChange(tlv: $0.fields) }
    }
}

/// Moving the bolt, from afar and by hand.
@Suite struct DoorLockTests {
    typealias Spec = DoorLock
    typealias Ids = DoorLock.Attributes
    static let home = [Locks.user("Home", pins: ["123456"], rfids: ["tag-of-home"])]

    @Test func locksAndUnlocksWithoutAPINWhereNoneIsRequired() async throws {
        try await Locks.run { bench in
            #expect(try Locks.state(bench) == .locked)
            try bench.invoke(Spec.UnlockDoor(pinCode: nil))
            #expect(try Locks.state(bench) == .unlocked)
            try bench.invoke(Spec.LockDoor(pinCode: nil))
            #expect(try Locks.state(bench) == .locked)
            let operations = try Locks.operations(bench)
            #expect(operations.map(\.lockOperationType) == [.unlock, .lock])
            #expect(
                operations.first
                    == Spec.LockOperation(
                        lockOperationType: .unlock, operationSource: .remote, userIndex: .null, fabricIndex: 1, sourceNode: 1,
                        credentials: .null))
        }
    }

    @Test func aPINIsCheckedAlsoWhenNoneIsRequired() async throws {
        try await Locks.run(Locks.configuration(users: Self.home)) { bench in
            #expect(status { _ = try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("000000"))) } == .failure)
            #expect(try Locks.state(bench) == .locked)
            try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("123456")))
            #expect(try Locks.state(bench) == .unlocked)
            let operation = try #require(try Locks.operations(bench).last)
            #expect(operation.userIndex == 1)
            #expect(operation.credentials == .value([Locks.pin(1)]))
            let error = try #require(try Locks.errors(bench).first)
            #expect(error.operationError == .invalidCredential)
            #expect(error.userIndex == .null)
            #expect(error.credentials == .null)
        }
    }

    @Test func aRequiredPINMustBeGiven() async throws {
        let configuration = Locks.configuration(Locks.all, [Ids.requirePINforRemoteOperation: .boolean(true)], users: Self.home)
        try await Locks.run(configuration) { bench in
            #expect(status { _ = try bench.invoke(Spec.UnlockDoor(pinCode: nil)) } == .failure)
            #expect(try Locks.state(bench) == .locked)
            try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("123456")))
            #expect(try Locks.state(bench) == .unlocked)
            try bench.invoke(Spec.LockDoor(pinCode: Locks.code("123456")))
            #expect(try Locks.state(bench) == .locked)
            try bench.write(Spec.id, Ids.requirePINforRemoteOperation, false)
            try bench.invoke(Spec.UnlockDoor(pinCode: nil))
            #expect(try Locks.state(bench) == .unlocked)
        }
    }

    @Test func wrongCodesLockOutForAWhile() async throws {
        try await Locks.run(Locks.configuration(users: Self.home)) { bench in
            for _ in 1...3 {
                #expect(status { _ = try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("000000"))) } == .failure)
            }
            #expect(try Locks.alarms(bench) == [.wrongCodeEntryLimit])
            #expect(try Locks.errors(bench).count == 3)
            #expect(status { _ = try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("123456"))) } == .failure)
            #expect(status { _ = try bench.invoke(Spec.UnlockDoor(pinCode: nil)) } == .failure)
            #expect(try Locks.errors(bench).count == 3, "no event tells anything during the lock-out")
            try await bench.advance(.milliseconds(9_999))
            #expect(status { _ = try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("123456"))) } == .failure)
            try await bench.advance(.milliseconds(1))
            try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("123456")))
            #expect(try Locks.state(bench) == .unlocked)
        }
    }

    @Test func aRightCodeForgivesTheWrongOnesBefore() async throws {
        try await Locks.run(Locks.configuration(users: Self.home)) { bench in
            for round in 1...3 {
                for _ in 1...2 {
                    #expect(status { _ = try bench.invoke(Spec.LockDoor(pinCode: Locks.code("000000"))) } == .failure)
                }
                try bench.invoke(Spec.LockDoor(pinCode: Locks.code("123456")))
                #expect(try Locks.alarms(bench) == [], "round \(round)")
            }
        }
    }

    @Test func unlockWithTimeoutLocksAgainWhateverAutoRelockTimeSays() async throws {
        try await Locks.run(Locks.configuration(Locks.all, [Ids.autoRelockTime: .unsigned(60)])) { bench in
            try bench.invoke(Spec.UnlockWithTimeout(timeout: 10, pinCode: nil))
            try await bench.advance(.milliseconds(9_999))
            #expect(try Locks.state(bench) == .unlocked)
            try await bench.advance(.milliseconds(1))
            #expect(try Locks.state(bench) == .locked)
            let last = try #require(try Locks.operations(bench).last)
            #expect(last.lockOperationType == .lock)
            #expect(last.operationSource == .auto)
            #expect(last.fabricIndex == .null)
            try bench.invoke(Spec.UnlockDoor(pinCode: nil))
            try await bench.advance(.seconds(59))
            #expect(try Locks.state(bench) == .unlocked)
            try await bench.advance(.seconds(1))
            #expect(try Locks.state(bench) == .locked)
        }
    }

    @Test func lockingInTimeCancelsTheRelock() async throws {
        try await Locks.run(Locks.configuration(Locks.all, [Ids.autoRelockTime: .unsigned(5)])) { bench in
            try bench.invoke(Spec.UnlockDoor(pinCode: nil))
            try bench.invoke(Spec.LockDoor(pinCode: nil))
            let before = try Locks.operations(bench).count
            try await bench.advance(.seconds(60))
            #expect(try Locks.operations(bench).count == before)
        }
    }

    @Test func operatingModesShutTheRemoteInterface() async throws {
        try await Locks.run(Locks.configuration(users: Self.home)) { bench in
            for mode in [Spec.OperatingModeEnum.noRemoteLockUnlock, .privacy] {
                try bench.write(Spec.id, Ids.operatingMode, mode)
                #expect(status { _ = try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("123456"))) } == .failure)
                #expect(try Locks.errors(bench).last?.operationError == .restricted)
            }
            try bench.write(Spec.id, Ids.operatingMode, Spec.OperatingModeEnum.normal)
            try bench.invoke(Spec.UnlockDoor(pinCode: Locks.code("123456")))
            #expect(try Locks.state(bench) == .unlocked)
        }
        // A set bit means "not supported": normal and no-remote only.
        try await Locks.run(Locks.configuration(Locks.all, [Ids.supportedOperatingModes: .unsigned(0xFFF6)])) { bench in
            try bench.write(Spec.id, Ids.operatingMode, Spec.OperatingModeEnum.noRemoteLockUnlock)
            #expect(status { try bench.write(Spec.id, Ids.operatingMode, Spec.OperatingModeEnum.vacation) } == .constraintError)
        }
    }

    @Test func optionalWriteAccessMayBeMissing() async throws {
        var configuration = Locks.configuration(Locks.all, [Ids.enableLocalProgramming: .boolean(true)])
        configuration.parameters["readOnly"] = .array([.utf8("EnableLocalProgramming"), .utf8("LockState")])
        let frozen = configuration
        try await Locks.run(frozen) { bench in
            try bench.write(Spec.id, Ids.wrongCodeEntryLimit, UInt8(8))
            #expect(status { try bench.write(Spec.id, Ids.enableLocalProgramming, false) } == .unsupportedWrite)
            try Locks.byHand(bench, Ids.enableLocalProgramming, false)
            #expect(try bench.read(Spec.id, Ids.enableLocalProgramming) == .boolean(false))
        }
    }

    @Test func unboltingPullsTheLatchOnlyOnUnlock() async throws {
        try await Locks.run(Locks.configuration(Locks.all.union(.unbolting))) { bench in
            try bench.invoke(Spec.UnlockDoor(pinCode: nil))
            #expect(try Locks.state(bench) == .unlatched, "while the latch is pulled")
            #expect(try Locks.operations(bench).map(\.lockOperationType) == [.unlatch])
            try await bench.advance(.milliseconds(999))
            #expect(try Locks.state(bench) == .unlatched)
            try await bench.advance(.milliseconds(1))
            #expect(try Locks.state(bench) == .unlocked)
            #expect(try Locks.operations(bench).map(\.lockOperationType) == [.unlatch, .unlock])
            try bench.invoke(Spec.LockDoor(pinCode: nil))
            try bench.invoke(Spec.UnboltDoor(pinCode: nil))
            #expect(try Locks.state(bench) == .unlocked)
            #expect(try Locks.operations(bench).map(\.lockOperationType) == [.unlatch, .unlock, .lock, .unlock])
        }
    }

    @Test func theLatchSpringsBackWhateverComesBetween() async throws {
        let configuration = Locks.configuration(Locks.all.union(.unbolting), users: Self.home)
        try await Locks.run(configuration) { bench in
            // Locked while it is pulled: nothing is unlocked afterwards.
            try bench.invoke(Spec.UnlockDoor(pinCode: nil))
            try bench.invoke(Spec.LockDoor(pinCode: nil))
            try await bench.advance(.seconds(10))
            #expect(try Locks.state(bench) == .locked)
            #expect(try Locks.operations(bench).map(\.lockOperationType) == [.unlatch, .lock])
            // At the keypad as from afar, with whose code it was.
            #expect(try Locks.cluster(bench).enter(.unlock, pin: "123456"))
            #expect(try Locks.state(bench) == .unlatched)
            try await bench.advance(.seconds(1))
            #expect(try Locks.operations(bench).last?.lockOperationType == .unlock)
            #expect(try Locks.operations(bench).last?.credentials == .value([Locks.pin(1)]))
            try bench.invoke(Spec.LockDoor(pinCode: nil))
            // Without power nothing pulls it.
            try bench.invoke(Spec.UnlockDoor(pinCode: nil))
            try Locks.restart(bench, configuration)
            #expect(try Locks.state(bench) == .unlocked)
            // A bolt that gets stuck meanwhile stays stuck.
            try bench.invoke(Spec.UnlockDoor(pinCode: nil))
            try Locks.cluster(bench).jam()
            try await bench.advance(.seconds(10))
            #expect(try Locks.state(bench) == .notFullyLocked)
        }
    }

    @Test func openPeriodCountsWhileTheDoorIsOpen() async throws {
        try await Locks.run { bench in
            func minutes() throws -> UInt64? { try bench.read(Spec.id, Ids.openPeriod).unsigned }
            try Locks.byHand(bench, Ids.doorState, Spec.DoorStateEnum.doorOpen)
            try await bench.advance(.seconds(119))
            #expect(try minutes() == 1)
            try await bench.advance(.seconds(481))
            #expect(try minutes() == 10)
            try Locks.restart(bench)
            #expect(try minutes() == 10)
            try await bench.advance(.seconds(60))
            #expect(try minutes() == 11)
            try Locks.byHand(bench, Ids.doorState, Spec.DoorStateEnum.doorClosed)
            try await bench.advance(.seconds(600))
            #expect(try minutes() == 11, "it stays")
            try Locks.byHand(bench, Ids.doorState, Spec.DoorStateEnum.doorOpen)
            #expect(try minutes() == 0)
        }
    }

    @Test func handsOnTheThumbTurnAndTheDoor() async throws {
        try await Locks.run { bench in
            try Locks.byHand(bench, Ids.lockState, Spec.LockStateEnum.unlocked)
            let operation = try #require(try Locks.operations(bench).last)
            #expect(operation.operationSource == .manual)
            #expect(operation.fabricIndex == .null)
            #expect(operation.sourceNode == .null)
            try Locks.byHand(bench, Ids.doorState, Spec.DoorStateEnum.doorOpen)
            try await bench.advance(.seconds(180))
            try Locks.byHand(bench, Ids.doorState, Spec.DoorStateEnum.doorClosed)
            try Locks.byHand(bench, Ids.doorState, Spec.DoorStateEnum.doorForcedOpen)
            let states = try bench.events(Spec.id, Spec.Events.doorStateChange).map {
                try Spec.DoorStateChange(tlv: $0.fields).doorState
            }
            #expect(states == [.doorOpen, .doorClosed, .doorForcedOpen])
            #expect(try bench.read(Spec.id, Ids.doorOpenEvents).unsigned == 1)
            #expect(try bench.read(Spec.id, Ids.doorClosedEvents).unsigned == 1)
            #expect(try bench.read(Spec.id, Ids.openPeriod).unsigned == 3)
            #expect(try Locks.alarms(bench) == [.doorForcedOpen])
        }
    }

    @Test func aJammedBoltTellsSoUntilItIsTurnedByHand() async throws {
        try await Locks.run { bench in
            let cluster = try Locks.cluster(bench)
            let alarm = try #require(cluster.event(Spec.Events.doorLockAlarm))
            _ = try cluster.triggerLocally(alarm, Spec.DoorLockAlarm(alarmCode: .lockJammed).tlv)
            #expect(try Locks.state(bench) == .notFullyLocked)
            #expect(status { _ = try bench.invoke(Spec.LockDoor(pinCode: nil)) } == .failure)
            #expect(try Locks.alarms(bench) == [.lockJammed])
            #expect(try Locks.state(bench) == .notFullyLocked)
            #expect(try Locks.errors(bench).last?.operationError == .unspecified)
            try Locks.byHand(bench, Ids.lockState, Spec.LockStateEnum.locked)
            try bench.invoke(Spec.UnlockDoor(pinCode: nil))
            #expect(try Locks.state(bench) == .unlocked)
        }
    }

    @Test func codesAtTheLockItself() async throws {
        try await Locks.run(Locks.configuration(users: Self.home)) { bench in
            let cluster = try Locks.cluster(bench)
            #expect(cluster.enter(.unlock, pin: "123456"))
            #expect(try Locks.operations(bench).last?.operationSource == .keypad)
            #expect(try Locks.operations(bench).last?.userIndex == 1)
            #expect(cluster.present(.lock, rfid: Locks.code("tag-of-home")))
            #expect(try Locks.operations(bench).last?.operationSource == .rfid)
            #expect(try Locks.operations(bench).last?.credentials == .value([Locks.rfid(1)]))
            for _ in 1...3 { #expect(!cluster.enter(.unlock, pin: "99999999")) }
            #expect(try Locks.alarms(bench) == [.wrongCodeEntryLimit])
            #expect(!cluster.enter(.unlock, pin: "123456"))
            try await bench.advance(.seconds(10))
            let event = try #require(cluster.event(Spec.Events.lockOperation))
            let press = Spec.LockOperation(
                lockOperationType: .unlock, operationSource: .keypad, userIndex: .null, fabricIndex: .null, sourceNode: .null,
                credentials: .value([Locks.pin(1)]))
            _ = try cluster.triggerLocally(event, press.tlv)
            #expect(try Locks.state(bench) == .unlocked)
            #expect(try Locks.operations(bench).last?.userIndex == 1)
        }
    }

    @Test func aliroEndpointKeysOfBothKindsShareTheirPlaces() async throws {
        let configuration = Locks.configuration(
            Locks.all.union(.aliroProvisioning), [Ids.numberOfAliroEndpointKeysSupported: .unsigned(2)])
        try await Locks.run(configuration) { bench in
            func add(_ type: Spec.CredentialTypeEnum, _ index: UInt16, _ byte: UInt8) throws -> StatusCode {
                try bench.invoke(
                    Spec.SetCredential(
                        operationType: .add, credential: .init(credentialType: type, credentialIndex: index),
                        credentialData: [UInt8](repeating: byte, count: 65), userIndex: .null, userStatus: .null, userType: .null)
                ).status
            }
            let first = try add(.aliroEvictableEndpointKey, 1, 1)
            #expect(first == .success)
            #expect(try add(.aliroNonEvictableEndpointKey, 1, 2) == .success)
            #expect(try add(.aliroNonEvictableEndpointKey, 2, 3) == .resourceExhausted)
            #expect(try add(.aliroCredentialIssuerKey, 1, 4) == .success, "they have places of their own")
        }
    }

    @Test func aliroReadersAreSetUpOnceAndTheirKeysOpen() async throws {
        let features = Locks.all.union([.aliroProvisioning, .aliroBLEUWB])
        let configuration = Locks.configuration(features, [Ids.numberOfAliroEndpointKeysSupported: .unsigned(5)])
        try await Locks.run(configuration) { bench in
            func reader(_ verification: Int = 65, _ resolving: Int? = 16) -> Spec.SetAliroReaderConfig {
                Spec.SetAliroReaderConfig(
                    signingKey: [UInt8](repeating: 1, count: 32), verificationKey: [UInt8](repeating: 2, count: verification),
                    groupIdentifier: [UInt8](repeating: 3, count: 16),
                    groupResolvingKey: resolving.map { [UInt8](repeating: 4, count: $0) })
            }
            for wrong in [reader(64), reader(65, 15), reader(65, nil)] {
                #expect(status { _ = try bench.invoke(wrong) } == .invalidCommand)
            }
            try bench.invoke(reader())
            #expect(status { _ = try bench.invoke(reader()) } == .invalidInState)
            #expect(try bench.read(Spec.id, Ids.aliroReaderVerificationKey) == .octets([UInt8](repeating: 2, count: 65)))
            let key = [UInt8](repeating: 9, count: 65)
            let phone = Spec.CredentialStruct(credentialType: .aliroEvictableEndpointKey, credentialIndex: 1)
            let added = try bench.invoke(
                Spec.SetCredential(
                    operationType: .add, credential: phone, credentialData: key, userIndex: .null, userStatus: .null, userType: .null))
            #expect(added.userIndex == 1)
            #expect(try bench.invoke(Spec.GetCredentialStatus(credential: phone)).credentialData == .value(key))
            #expect(try Locks.cluster(bench).present(.unlock, aliroKey: key))
            #expect(try Locks.operations(bench).last?.operationSource == .aliro)
            try Locks.restart(bench, configuration)
            #expect(try Locks.cluster(bench).present(.lock, aliroKey: key))
            #expect(try bench.read(Spec.id, Ids.aliroGroupResolvingKey) == .octets([UInt8](repeating: 4, count: 16)))
            try bench.invoke(Spec.ClearAliroReaderConfig())
            #expect(try bench.read(Spec.id, Ids.aliroReaderVerificationKey).isNull)
        }
    }

    @Test func whatALockIsGivenByDefaultConforms() async throws {
        for features in [
            [], [.pinCredential], [.pinCredential, .user], Locks.all, Locks.all.union([.unbolting, .aliroProvisioning, .aliroBLEUWB]),
        ] as [Spec.Feature] {
            try await Locks.run(ClusterConfiguration(features: features.rawValue)) { bench in
                let cluster = try Locks.cluster(bench)
                #expect(conformanceProblems(cluster) == [])
                #expect(try Locks.state(bench) == .locked)
                let asksForPIN = features.contains([.pinCredential, .credentialOverTheAirAccess])
                #expect(status { _ = try bench.invoke(Spec.UnlockDoor(pinCode: nil)) } == (asksForPIN ? .failure : nil))
            }
        }
    }
}
