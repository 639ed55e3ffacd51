import Glibc
import HearthStore
import MatterModel
import Testing

@testable import MatterController

@Suite struct ControllerHomeTests {
    /// A machine without a battery starts in 1970: what the home has made since must not look as if it were not valid yet.
    @Test func theTimeThatHasPassedIsKnownWhenTheClockIsBehind() throws {
        var template = Array("/tmp/hearth-home-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            for file in ["controller.sqlite", "controller.sqlite.created", "controller.sqlite.backup", "lock"] {
                unlink(folder + "/" + file)
            }
            rmdir(folder)
        }
        let made: Int64 = 1_800_000_000
        let paired = made + 40_000_000
        let first = try ControllerHome(folder: folder, wall: .seconds(made))
        #expect(first.lastKnownGoodTime == made)
        _ = try first.add(PairedDevice(nodeID: 2, name: "lamp"), time: paired)
        _ = try first.add(PairedDevice(nodeID: 3, name: "lamp"), time: paired - 1000)
        #expect(first.lastKnownGoodTime == paired)
        first.close()

        let second = try ControllerHome(folder: folder, wall: .zero)
        #expect(second.lastKnownGoodTime == paired)
        #expect(try second.devices().map(\.name) == ["lamp", "lamp 2"])
        second.close()
    }

    private static func temporaryFolder() throws -> String {
        var template = Array("/tmp/hearth-home-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func database(_ folder: String) throws -> Database {
        try Database(
            path: folder + "/controller.sqlite", applicationID: ControllerHome.applicationID, migrations: ControllerHome.migrations,
            options: StoreOptions(access: .shared))
    }

    @Test func afterARepairNoNodeIDIsGivenOutAgain() throws {
        let folder = try Self.temporaryFolder()
        defer { _ = system("rm -rf '\(folder)'") }
        let home = try ControllerHome(folder: folder, wall: .seconds(1_800_000_000))
        let first = try home.reserveNodeID()
        _ = try home.add(PairedDevice(nodeID: first, name: "lamp"), time: 1_800_000_000)
        // After the backup.
        let second = try home.reserveNodeID()
        home.close()
        #expect(truncate(folder + "/controller.sqlite", 4_096) == 0)
        let again = try ControllerHome(folder: folder, wall: .seconds(1_800_000_000))
        #expect(again.recovery != nil)
        #expect(try again.devices().map(\.nodeID) == [first])
        #expect(try again.reserveNodeID().rawValue > second.rawValue)
        again.close()
    }

    /// Damage from before there were checksums.
    @Test func oneRecordThatCannotBeReadIsLeftOut() throws {
        let folder = try Self.temporaryFolder()
        defer { _ = system("rm -rf '\(folder)'") }
        let home = try ControllerHome(folder: folder, wall: .seconds(1_800_000_000))
        for node: NodeID in [2, 3] { _ = try home.add(PairedDevice(nodeID: node, name: "lamp"), time: 1_800_000_000) }
        home.close()
        func put(_ namespace: String, _ key: String) throws {
            let database = try Self.database(folder)
            var batch = WriteBatch()
            batch.put(namespace, key, [0x15, 0xFF])
            try KeyValueTable(database).commit(batch)
            database.close()
        }
        try put("device", "0000000000000002")
        let again = try ControllerHome(folder: folder, wall: .seconds(1_800_000_000))
        #expect(try again.devices().map(\.nodeID) == [3])
        again.close()
        try put("identity", "controller")
        #expect {
            _ = try ControllerHome(folder: folder, wall: .seconds(1_800_000_000))
        } throws: { error in
            let error = error as? ControllerError
            return error?.code == .store && error?.message.contains(folder + "/controller.sqlite") == true
        }
    }
}
