import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterTLV
import Testing

@testable import MatterDevice

/// Users and their credentials; the order of things follows the public suite of users and credentials.
@Suite struct DoorLockUserTests {
    typealias Spec = DoorLock
    typealias Ids = DoorLock.Attributes
    /// Another fabric.
    static var beta: InteractionContext { InteractionContext(peer: .node(7, fabric: 2), isTimed: true) }

    static func set(
        _ operation: Spec.DataOperationTypeEnum, _ index: UInt16, name: String? = nil, id: UInt32? = nil,
        status: Spec.UserStatusEnum? = nil, type: Spec.UserTypeEnum? = nil, rule: Spec.CredentialRuleEnum? = nil
    ) -> Spec.SetUser {
        Spec.SetUser(
            operationType: operation, userIndex: index, userName: Nullable(name), userUniqueID: Nullable(id), userStatus: Nullable(status),
            userType: Nullable(type), credentialRule: Nullable(rule))
    }

    static func set(
        _ operation: Spec.DataOperationTypeEnum, _ credential: Spec.CredentialStruct, _ data: String, user: UInt16? = nil,
        status: Spec.UserStatusEnum? = nil, type: Spec.UserTypeEnum? = nil
    ) -> Spec.SetCredential {
        Spec.SetCredential(
            operationType: operation, credential: credential, credentialData: Array(data.utf8), userIndex: Nullable(user),
            userStatus: Nullable(status), userType: Nullable(type))
    }

    static func response(_ status: UInt8, user: UInt16? = nil, next: UInt16?) -> Spec.SetCredentialResponse {
        Spec.SetCredentialResponse(
            status: StatusCode(rawValue: status), userIndex: Nullable(user), nextCredentialIndex: .some(Nullable(next)))
    }

    static func user(_ bench: Bench, _ index: UInt16) throws -> Spec.GetUserResponse {
        try bench.invoke(Spec.GetUser(userIndex: index))
    }

    static func free(_ index: UInt16, next: UInt16? = nil) -> Spec.GetUserResponse {
        Spec.GetUserResponse(
            userIndex: index, userName: .null, userUniqueID: .null, userStatus: .null, userType: .null, credentialRule: .null,
            credentials: .null, creatorFabricIndex: .null, lastModifiedFabricIndex: .null, nextUserIndex: Nullable(next))
    }

    static func taken(
        _ index: UInt16, name: String = "", id: UInt32? = nil, status: Spec.UserStatusEnum = .occupiedEnabled,
        type: Spec.UserTypeEnum = .unrestrictedUser, rule: Spec.CredentialRuleEnum = .single,
        _ credentials: [Spec.CredentialStruct] = [], modifier: FabricIndex = 1, next: UInt16? = nil
    ) -> Spec.GetUserResponse {
        Spec.GetUserResponse(
            userIndex: index, userName: .value(name), userUniqueID: Nullable(id), userStatus: .value(status), userType: .value(type),
            credentialRule: .value(rule), credentials: .value(credentials), creatorFabricIndex: 1,
            lastModifiedFabricIndex: .value(modifier),
            nextUserIndex: Nullable(next))
    }

    static func credential(_ bench: Bench, _ key: Spec.CredentialStruct) throws -> Spec.GetCredentialStatusResponse {
        try bench.invoke(Spec.GetCredentialStatus(credential: key))
    }

    static func exists(_ user: UInt16?, next: UInt16? = nil) -> Spec.GetCredentialStatusResponse {
        let fabric: Nullable<FabricIndex> = user == nil ? .null : 1
        return Spec.GetCredentialStatusResponse(
            credentialExists: user != nil, userIndex: Nullable(user), creatorFabricIndex: fabric, lastModifiedFabricIndex: fabric,
            nextCredentialIndex: .some(Nullable(next)))
    }

    @Test func usersAreAddedModifiedAndCleared() async throws {
        try await Locks.run { bench in
            #expect(try Self.user(bench, 1) == Self.free(1))
            #expect(status { _ = try Self.user(bench, 0) } == .invalidCommand)
            #expect(status { _ = try Self.user(bench, 11) } == .invalidCommand)
            try bench.invoke(Self.set(.add, 1))
            #expect(try Self.user(bench, 1) == Self.taken(1))
            do {
                try bench.invoke(Self.set(.add, 1))
                Issue.record("an occupied slot was taken")
            } catch let status as Status {
                #expect(status == Status(.failure, clusterStatus: 3))
            }
            try bench.invoke(Self.set(.modify, 1, name: "new_user"))
            try bench.invoke(Self.set(.modify, 1, id: 0x1234_ABCD))
            try bench.invoke(Self.set(.modify, 1, status: .occupiedDisabled))
            try bench.invoke(Self.set(.modify, 1, type: .disposableUser))
            try bench.invoke(Self.set(.modify, 1, rule: .tri))
            #expect(
                try Self.user(bench, 1)
                    == Self.taken(1, name: "new_user", id: 0x1234_ABCD, status: .occupiedDisabled, type: .disposableUser, rule: .tri))
            try bench.invoke(Self.set(.add, 2, name: "test_user2", id: 0xC0FFEE, status: .occupiedEnabled, type: .yearDayScheduleUser))
            try bench.invoke(Self.set(.add, 10, name: "last_user"))
            #expect(try Self.user(bench, 3) == Self.free(3, next: 10))
            try bench.invoke(Spec.ClearUser(userIndex: 1))
            #expect(try Self.user(bench, 1) == Self.free(1, next: 2))
            #expect(status { _ = try bench.invoke(Spec.ClearUser(userIndex: 0)) } == .invalidCommand)
            #expect(status { _ = try bench.invoke(Spec.ClearUser(userIndex: 11)) } == .invalidCommand)
            try bench.invoke(Spec.ClearUser(userIndex: 0xFFFE))
            #expect(try Self.user(bench, 2) == Self.free(2))
            #expect(try Self.user(bench, 10) == Self.free(10))
            let changes = try Locks.changes(bench)
            #expect(changes.first?.dataOperationType == .add)
            #expect(changes.first?.sourceNode == 1)
            #expect(changes.last?.dataOperationType == .clear)
            #expect(changes.last?.userIndex == 0xFFFE)
            #expect(changes.last?.dataIndex == 0xFFFE)
        }
    }

    static let refused: [Spec.SetUser] = [
        set(.add, 0), set(.add, 11), set(.clear, 1), set(.modify, 1), set(.add, 1, status: .available),
        set(.add, 1, status: Spec.UserStatusEnum(rawValue: 2)), set(.add, 1, type: Spec.UserTypeEnum(rawValue: 10)),
        set(.add, 1, type: .programmingUser), set(.add, 1, rule: Spec.CredentialRuleEnum(rawValue: 3)), set(.add, 1, name: "elevenbytes"),
    ]

    @Test(arguments: refused) func whatIsOutOfBoundsIsAnInvalidCommand(_ request: Spec.SetUser) async throws {
        try await Locks.run { bench in
            #expect(status { _ = try bench.invoke(request) } == .invalidCommand)
            let user = try Self.user(bench, 1)
            #expect(user == Self.free(1))
        }
    }

    @Test func anotherFabricMayNotRenameUsersNorGiveThemCodes() async throws {
        try await Locks.run { bench in
            try bench.invoke(Self.set(.add, 1, name: "test_user", id: 5))
            try bench.invoke(Self.set(.modify, 1, status: .occupiedDisabled, type: .disposableUser, rule: .tri), Self.beta)
            let changed = Self.taken(
                1, name: "test_user", id: 5, status: .occupiedDisabled, type: .disposableUser, rule: .tri, modifier: 2)
            #expect(try Self.user(bench, 1) == changed)
            #expect(status { _ = try bench.invoke(Self.set(.modify, 1, name: "mine"), Self.beta) } == .invalidCommand)
            #expect(status { _ = try bench.invoke(Self.set(.modify, 1, id: 6), Self.beta) } == .invalidCommand)
            #expect(try Self.user(bench, 1) == changed)
            let attempt = try bench.invoke(Self.set(.add, Locks.rfid(1), "rfid_data_123456", user: 1), Self.beta)
            #expect(attempt == Self.response(0x85, next: 2))
            try bench.invoke(Self.set(.add, Locks.rfid(1), "rfid_data_123456", user: 1))
            let change = try bench.invoke(Self.set(.modify, Locks.rfid(1), "rfid_data_654321", user: 1), Self.beta)
            #expect(change == Self.response(0x85, next: 2))
            // What the removed fabric made stays; 0 says that its maker is gone, where null would say that no fabric made it.
            bench.node.forget(1)
            try Locks.restart(bench)
            #expect(try Self.user(bench, 1).creatorFabricIndex == 0)
            #expect(try Self.credential(bench, Locks.rfid(1)).creatorFabricIndex == 0)
            #expect(try Self.credential(bench, Locks.rfid(1)).lastModifiedFabricIndex == 0)
            #expect(try Self.credential(bench, Locks.rfid(1)).credentialExists)
        }
    }

    @Test func credentialsTellTheNextFreeAndTheNextOccupiedIndex() async throws {
        try await Locks.run { bench in
            let slots = try bench.read(Spec.id, Ids.numberOfPINUsersSupported).unsigned
            #expect(slots == 10)
            #expect(try Self.credential(bench, Locks.pin(0)) == Self.exists(nil))
            #expect(try Self.credential(bench, Locks.pin(11)) == Self.exists(nil))
            #expect(try bench.invoke(Self.set(.add, Locks.pin(1), "000000", status: .available)) == Self.response(0x85, next: 2))
            #expect(try bench.invoke(Self.set(.add, Locks.pin(1), "000000")) == Self.response(0, user: 1, next: 2))
            #expect(try Self.user(bench, 1) == Self.taken(1, [Locks.pin(1)]))
            #expect(try Self.credential(bench, Locks.pin(1)) == Self.exists(1))
            #expect(try bench.invoke(Self.set(.add, Locks.pin(0), "123456")) == Self.response(0x85, next: 2))
            #expect(try bench.invoke(Self.set(.add, Locks.pin(11), "123456")) == Self.response(0x85, next: nil))
            let tag = "rfid_data_123456"
            #expect(
                try bench.invoke(Self.set(.add, Locks.rfid(1), tag, user: 1, status: .occupiedEnabled)) == Self.response(0x85, next: 2))
            #expect(
                try bench.invoke(Self.set(.add, Locks.rfid(1), tag, user: 1, type: .unrestrictedUser)) == Self.response(0x85, next: 2))
            #expect(try bench.invoke(Self.set(.add, Locks.rfid(1), tag, user: 1)) == Self.response(0, next: 2))
            #expect(try Self.user(bench, 1) == Self.taken(1, [Locks.pin(1), Locks.rfid(1)]))
            #expect(try bench.invoke(Self.set(.add, Locks.rfid(2), tag)) == Self.response(2, next: 3), "a duplicate")
            #expect(try bench.invoke(Self.set(.add, Locks.rfid(1), "another_tag")) == Self.response(3, next: 2), "occupied")
            #expect(try bench.invoke(Self.set(.add, Locks.pin(3), "000000")) == Self.response(2, next: 4))
            #expect(
                try bench.invoke(Self.set(.modify, Locks.pin(1), "123456", user: 1, status: .occupiedEnabled))
                    == Self.response(0x85, next: 2))
            #expect(try bench.invoke(Self.set(.modify, Locks.pin(1), "123456", user: 1)) == Self.response(0, next: 2))
            #expect(try bench.invoke(Self.set(.add, Locks.pin(2), "000000")) == Self.response(0, user: 2, next: 3))
            #expect(try Self.credential(bench, Locks.pin(1)) == Self.exists(1, next: 2))
            #expect(try bench.invoke(Self.set(.modify, Locks.pin(9), "999999", user: 1)) == Self.response(0x85, next: 10))
            // Another user's: OCCUPIED.
            #expect(try bench.invoke(Self.set(.modify, Locks.pin(1), "999999", user: 2)) == Self.response(3, next: 3))
            for missing: UInt16 in [0, 3, 11] {
                #expect(try bench.invoke(Self.set(.modify, Locks.pin(1), "999999", user: missing)) == Self.response(0x85, next: 3))
            }
        }
    }

    @Test func lengthsUsersAndTypesAreChecked() async throws {
        try await Locks.run { bench in
            try bench.invoke(Self.set(.add, Locks.pin(1), "000000"))
            let refused: [Spec.SetCredential] = [
                Self.set(.add, Locks.pin(2), "12345", user: 1), Self.set(.add, Locks.pin(2), "123456789", user: 1),
                Self.set(.add, Locks.pin(2), "123465", user: 0), Self.set(.add, Locks.pin(2), "123465", user: 11),
                Self.set(.add, Locks.pin(2), "123465", user: 2), Self.set(.add, Locks.pin(2), "123456", type: .programmingUser),
                Self.set(.add, Locks.pin(2), "123456", type: Spec.UserTypeEnum(rawValue: 10)),
                Self.set(.clear, Locks.pin(2), "123456"),
            ]
            for request in refused { #expect(try bench.invoke(request) == Self.response(0x85, next: 3)) }
            for tag in ["rfid_data", "very_long_rfid_data_to_test_boundaries"] {
                #expect(try bench.invoke(Self.set(.add, Locks.rfid(2), tag, user: 1)) == Self.response(0x85, next: 3))
            }
            let finger = Spec.CredentialStruct(credentialType: .fingerprint, credentialIndex: 1)
            #expect(try bench.invoke(Self.set(.add, finger, "123456")) == Self.response(0x85, next: nil))
            // Five credentials a user.
            for index in 2...5 as ClosedRange<UInt16> {
                #expect(
                    try bench.invoke(Self.set(.add, Locks.pin(index), "00000\(index)", user: 1)) == Self.response(0, next: index + 1))
            }
            #expect(try bench.invoke(Self.set(.add, Locks.pin(6), "000006", user: 1)) == Self.response(0x89, next: 7))
        }
    }

    @Test func clearingTheLastCredentialClearsTheUser() async throws {
        try await Locks.run { bench in
            try bench.invoke(Self.set(.add, Locks.pin(1), "123456"))
            try bench.invoke(Self.set(.add, Locks.rfid(1), "rfid_data_1", user: 1))
            try bench.invoke(Self.set(.add, Locks.pin(2), "000000"))
            try bench.invoke(Spec.ClearCredential(credential: .value(Locks.pin(1))))
            let change = try #require(try Locks.changes(bench).last)
            #expect(change.lockDataType == .pin)
            #expect(change.dataOperationType == .clear)
            #expect(change.operationSource == .remote)
            #expect(change.userIndex == 1)
            #expect(change.dataIndex == 1)
            #expect(try Self.user(bench, 1) == Self.taken(1, [Locks.rfid(1)], next: 2))
            #expect(try Self.credential(bench, Locks.pin(1)) == Self.exists(nil, next: 2))
            try bench.invoke(Spec.ClearCredential(credential: .value(Locks.pin(2))))
            #expect(try Self.user(bench, 2) == Self.free(2))
            #expect(try Locks.changes(bench).suffix(2).map(\.lockDataType) == [.pin, .userIndex])
            // All of a type.
            try bench.invoke(Self.set(.add, Locks.rfid(3), "rfid_data_3"))
            try bench.invoke(Self.set(.add, Locks.pin(3), "789012", user: 1))
            try bench.invoke(Spec.ClearCredential(credential: .value(Locks.rfid(0xFFFE))))
            #expect(try Self.user(bench, 1) == Self.taken(1, [Locks.pin(3)]))
            #expect(try Self.user(bench, 2) == Self.free(2))
            // All there are.
            try bench.invoke(Self.set(.add, Locks.rfid(2), "rfid_data_2"))
            try bench.invoke(Spec.ClearCredential(credential: .null))
            for index in 1...3 as ClosedRange<UInt16> { #expect(try Self.user(bench, index) == Self.free(index)) }
            for wrong in [Locks.pin(0), Locks.pin(11), Locks.rfid(0), Locks.rfid(11)] {
                #expect(status { _ = try bench.invoke(Spec.ClearCredential(credential: .value(wrong))) } == .invalidCommand)
            }
        }
    }

    @Test func theProgrammingPINHasOneSlotAndGoesWithItsUser() async throws {
        try await Locks.run { bench in
            func programming(_ index: UInt16) -> Spec.CredentialStruct { .init(credentialType: .programmingPIN, credentialIndex: index) }
            #expect(try bench.invoke(Self.set(.add, programming(1), "123456")) == Self.response(0x85, next: nil))
            #expect(try bench.invoke(Self.set(.add, programming(0), "123456")) == Self.response(0, user: 1, next: nil))
            #expect(try Self.user(bench, 1) == Self.taken(1, [programming(0)]))
            let known = Spec.GetCredentialStatusResponse(
                credentialExists: true, userIndex: .null, creatorFabricIndex: 1, lastModifiedFabricIndex: 1, nextCredentialIndex: .null)
            #expect(try Self.credential(bench, programming(0)) == known, "whose it is is not told")
            #expect(try bench.invoke(Self.set(.modify, programming(0), "654321")) == Self.response(0, next: nil))
            for index in 0...1 as ClosedRange<UInt16> {
                #expect(status { _ = try bench.invoke(Spec.ClearCredential(credential: .value(programming(index)))) } == .invalidCommand)
            }
            try bench.invoke(Spec.ClearCredential(credential: .null))
            #expect(try Self.credential(bench, programming(0)) == known, "clearing all leaves it")
            #expect(try Locks.cluster(bench).enter(.unlock, pin: "654321"))
            try bench.invoke(Spec.ClearUser(userIndex: 1))
            #expect(try Self.credential(bench, programming(0)) == Self.exists(nil))
        }
    }

    @Test func restartsKeepEverything() async throws {
        try await Locks.run { bench in
            try bench.invoke(Self.set(.add, Locks.pin(1), "123456"))
            try bench.invoke(Self.set(.modify, 1, name: "Ada", id: 9, type: .scheduleRestrictedUser, rule: .dual))
            try bench.invoke(Self.set(.add, Locks.rfid(4), "rfid_data_4", user: 1))
            try bench.write(Spec.id, Ids.wrongCodeEntryLimit, UInt8(7))
            try bench.invoke(Spec.UnlockDoor(pinCode: nil))
            let before = try Self.user(bench, 1)
            // A kill is a restart without goodbye: nothing may hang on `stop`.
            let killed = Bench(store: MemoryDeviceStore(bench.store.values))
            defer { killed.timeline.shutdown() }
            try Locks.restart(bench)
            #expect(try Self.user(bench, 1) == before)
            #expect(try Self.credential(bench, Locks.rfid(4)) == Self.exists(1))
            #expect(try bench.read(Spec.id, Ids.wrongCodeEntryLimit).unsigned == 7)
            #expect(try Locks.state(bench) == .unlocked)
            try await killed.timeline.run {
                try killed.add(Spec.id, Locks.configuration())
                killed.node.start()
                #expect(try Self.user(killed, 1) == before)
                #expect(try Locks.state(killed) == .unlocked)
                killed.node.stop()
            }
        }
    }

    @Test func profileUsersComeOnceAndStayAway() async throws {
        let configuration = Locks.configuration(
            users: [Locks.user("Home", pins: ["123456", "654321"]), Locks.user("Guest", rfids: ["guest_tag_1"], type: .disposableUser)])
        try await Locks.run(configuration) { bench in
            let home = try Self.user(bench, 1)
            #expect(home.userName == "Home")
            #expect(home.credentials == .value([Locks.pin(1), Locks.pin(2)]))
            #expect(home.creatorFabricIndex == .null)
            #expect(home.nextUserIndex == 2)
            #expect(try Self.user(bench, 2).userType == .value(.disposableUser))
            try bench.invoke(Spec.ClearUser(userIndex: 0xFFFE))
            try Locks.restart(bench, configuration)
            #expect(try Self.user(bench, 1) == Self.free(1))
        }
    }
}
