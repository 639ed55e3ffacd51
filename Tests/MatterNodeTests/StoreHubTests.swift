import Glibc
import HearthIO
import HearthStore
import HearthTime
import MatterDevice
import MatterTLV
import Testing

@testable import MatterNode

/// One commit a turn, answers after it, and nothing acknowledged that is not stored.
@Suite struct StoreHubTests {
    /// A folder that is gone after the test.
    private final class Folder {
        let path: String
        init() {
            var template = Array("/tmp/hearth-store-XXXXXX".utf8CString)
            path = template.withUnsafeMutableBufferPointer { buffer in
                buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? ""
            }
        }
        deinit { _ = system("rm -rf '\(path)'") }
    }

    /// What happened, from closures of the timeline's thread.
    private final class Notes { var lines: [String] = [] }

    private func onTimeline(_ body: @Sendable @concurrent (Timeline) async throws -> Void) async throws {
        let timeline = Timeline(mode: .manual)
        defer { timeline.shutdown() }
        try await timeline.run { try await body(timeline) }
    }

    @Test func anAnswerWaitsForTheCommit() async throws {
        try await onTimeline { timeline in
            let hub = try StoreHub(inMemoryOn: timeline)
            let notes = Notes()
            let store = hub.store(for: "lamp")
            hub.whenStored { notes.lines.append("nothing to wait for") }
            #expect(notes.lines == ["nothing to wait for"])
            timeline.after(.zero) {
                store.put([1], for: "a")
                hub.whenStored { notes.lines.append("stored") }
                notes.lines.append("turn")
            }
            try await timeline.advance(by: .zero)
            #expect(notes.lines == ["nothing to wait for", "turn", "stored"])
            hub.close()
        }
    }

    @Test func whatWasPutIsReadAtOnceAndAfterARestart() async throws {
        let folder = Folder()
        let path = folder.path
        try await onTimeline { timeline in
            let hub = try StoreHub(folder: path, durable: false, holder: "test", timeline: timeline)
            let store = hub.store(for: "lamp")
            store.put([1, 2], for: "attribute/1")
            store.put([3], for: "attribute/2")
            store.put([4], for: "other")
            store.remove("attribute/2")
            #expect(store.value(for: "attribute/1") == [1, 2])
            #expect(store.keys(withPrefix: "attribute/") == ["attribute/1"])
            #expect(hub.store(for: "lock").value(for: "attribute/1") == nil)
            hub.close()
        }
        try await onTimeline { timeline in
            let hub = try StoreHub(folder: path, durable: true, holder: "test", timeline: timeline)
            let store = hub.store(for: "lamp")
            #expect(store.keys(withPrefix: "") == ["attribute/1", "other"])
            #expect(store.value(for: "attribute/1") == [1, 2])
            hub.forget("lamp")
            #expect(store.keys(withPrefix: "").isEmpty)
            store.put([9], for: "new")
            hub.close()
        }
        try await onTimeline { timeline in
            let hub = try StoreHub(folder: path, durable: false, holder: "test", timeline: timeline)
            #expect(hub.store(for: "lamp").keys(withPrefix: "") == ["new"])
            hub.close()
        }
    }

    /// Attributes have moved to a table of their own, and then to one with numbers.
    @Test(arguments: [1, 3]) func aStoreOfAnOlderSchemaIsBroughtUp(_ version: Int) async throws {
        let folder = Folder()
        let path = folder.path
        try await onTimeline { timeline in
            let database = try Database(
                path: path + "/simulator.sqlite", applicationID: StoreHub.applicationID, migrations: Array(StoreHub.migrations[..<version]),
                options: StoreOptions(access: .exclusive(holder: "test")))
            var batch = WriteBatch()
            let attributes = try KeyValueTable(database, table: version == 1 ? "entries" : "attributes")
            batch.put("lamp", "attribute/1/6/0", [9])
            try attributes.commit(batch)
            batch.removeAll()
            batch.put("lamp", "birth", [8])
            try KeyValueTable(database).commit(batch)
            database.close()
        }
        try await onTimeline { timeline in
            let hub = try StoreHub(folder: path, durable: false, holder: "test", timeline: timeline)
            let store = hub.store(for: "lamp")
            #expect(store.value(for: "attribute/1/6/0") == [9])
            #expect(store.keys(withPrefix: "") == ["attribute/1/6/0", "birth"])
            store.put([7], for: "birth")
            store.remove("attribute/1/6/0")
            hub.close()
        }
        try await onTimeline { timeline in
            let hub = try StoreHub(folder: path, durable: false, holder: "test", timeline: timeline)
            let store = hub.store(for: "lamp")
            #expect(store.keys(withPrefix: "") == ["birth"])
            #expect(store.value(for: "birth") == [7])
            hub.close()
        }
    }

    @Test func aFullDiskHoldsAnswersBackUntilThereIsRoom() async throws {
        try await onTimeline { timeline in
            let folder = Folder()
            let database = try Database(
                path: folder.path + "/full.sqlite", applicationID: 1, migrations: StoreHub.migrations,
                options: StoreOptions(access: .shared, maximumPages: 16))
            let hub = try StoreHub(database, timeline: timeline)
            let notes = Notes()
            hub.onTrouble = { notes.lines.append($0 == nil ? "room again" : "trouble") }
            let store = hub.store(for: "lamp")
            timeline.after(.zero) {
                store.put([UInt8](repeating: 7, count: 200_000), for: "large")
                hub.whenStored { notes.lines.append("acknowledged") }
            }
            try await timeline.advance(by: .zero)
            #expect(notes.lines == ["trouble"])
            #expect(hub.trouble != nil)
            // The device itself goes on with what it knows.
            #expect(store.value(for: "large")?.count == 200_000)
            // Somebody makes room: the large value is not wanted any more.
            timeline.after(.zero) { store.put([1], for: "large") }
            try await timeline.advance(by: .seconds(2))
            #expect(notes.lines == ["trouble", "room again", "acknowledged"])
            hub.close()
        }
    }

    /// A store that takes a page or two only, and a hub on it that has been refused a large value of the lamp's.
    private func full(_ folder: Folder, _ timeline: Timeline, loop: EventLoop? = nil) async throws -> StoreHub {
        let database = try Database(
            path: folder.path + "/full.sqlite", applicationID: 1, migrations: StoreHub.migrations,
            options: StoreOptions(access: .shared, maximumPages: 16))
        let hub = try StoreHub(database, timeline: timeline, loop: loop)
        let store = hub.store(for: "lamp")
        timeline.after(.zero) { store.put([UInt8](repeating: 7, count: 200_000), for: "large") }
        try await timeline.advance(by: .zero)
        #expect(hub.trouble?.code == .diskFull)
        return hub
    }

    @Test func aFullDiskHoldsNothingElseBack() async throws {
        try await onTimeline { timeline in
            let folder = Folder()
            let hub = try await full(folder, timeline)
            let notes = Notes()
            let (lamp, lock) = (hub.store(for: "lamp"), hub.store(for: "lock"))
            timeline.after(.zero) {
                hub.whenStored(node: hub.number(of: lamp)) { notes.lines.append("the lamp's change") }
                hub.whenStored(node: hub.number(of: lamp), acknowledges: false) { notes.lines.append("the lamp's report") }
                hub.whenStored(node: hub.number(of: lock)) { notes.lines.append("the lock's answer") }
                hub.whenStored { notes.lines.append("all") }
                hub.whenDecided("lock") { notes.lines.append("lock: \($0 == nil)") }
                hub.whenDecided { notes.lines.append("all: \($0 == nil)") }
            }
            try await timeline.advance(by: .zero)
            #expect(notes.lines == ["the lamp's report", "the lock's answer", "lock: true", "all: false"])
            // What the lock changes now waits too.
            timeline.after(.zero) {
                lock.put([1], for: "a")
                hub.whenStored(node: hub.number(of: lock)) { notes.lines.append("the lock's change") }
            }
            try await timeline.advance(by: .zero)
            #expect(notes.lines.count == 4)
            timeline.after(.zero) { lamp.put([1], for: "large") }
            try await timeline.advance(by: .seconds(2))
            #expect(notes.lines.dropFirst(4) == ["the lamp's change", "all", "the lock's change"])
            #expect(hub.close() == nil)
        }
    }

    @Test func theTurnThatIsRefusedIsToldAndItsReportsGoOut() async throws {
        try await onTimeline { timeline in
            let folder = Folder()
            let hub = try await full(folder, timeline)
            let notes = Notes()
            let (lamp, lock) = (hub.store(for: "lamp"), hub.store(for: "lock"))
            timeline.after(.zero) { lamp.put([1], for: "large") }
            try await timeline.advance(by: .seconds(2))
            #expect(hub.trouble == nil)
            timeline.after(.zero) {
                lamp.put([UInt8](repeating: 7, count: 200_000), for: "large")
                hub.whenStored(node: hub.number(of: lamp)) { notes.lines.append("the lamp's change") }
                hub.whenStored(node: hub.number(of: lamp), acknowledges: false) { notes.lines.append("the lamp's report") }
                hub.whenStored(node: hub.number(of: lock)) { notes.lines.append("the lock's answer") }
                hub.whenDecided("lamp") { notes.lines.append("\($0.map { "\($0.code)" } ?? "stored")") }
                hub.whenDecided("lock") { notes.lines.append("\($0.map { "\($0.code)" } ?? "stored")") }
            }
            try await timeline.advance(by: .zero)
            #expect(notes.lines == ["the lamp's report", "the lock's answer", "diskFull", "stored"])
            let lost = try #require(hub.close())
            #expect(lost.code == .diskFull && lost.message.hasPrefix("what changed last of lamp is lost: no space left"))
            #expect(notes.lines.count == 4)
        }
    }

    /// The nodes' time stands still; the disk's does not.
    @Test func theStoreIsTriedAgainInRealTime() async throws {
        let runtime = try Runtime(mode: .manual, seed: 1)
        try await runtime.timeline.run {
            let folder = Folder()
            let hub = try await full(folder, runtime.timeline, loop: runtime.loop)
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                hub.onTrouble = { if $0 == nil { continuation.resume() } }
                hub.store(for: "lamp").put([1], for: "large")
            }
            #expect(hub.trouble == nil && runtime.timeline.now == .zero)
            #expect(hub.close() == nil)
        }
        runtime.shutdown()
        await runtime.ended()
    }

    /// Also those of devices that do not run when the file is repaired.
    @Test func afterARepairTheEventNumbersOfAllDevicesSkipAhead() async throws {
        let folder = Folder()
        let path = folder.path
        try await onTimeline { timeline in
            let hub = try StoreHub(folder: path, durable: false, holder: "test", timeline: timeline)
            for name in ["lamp", "lock"] { hub.store(for: name).put(TLVValue.unsigned(65_537).encoded(), for: DeviceNode.eventBoundaryKey) }
            hub.store(for: "plug").put([1], for: "birth")
            hub.close()
            let database = try Database(
                path: path + "/simulator.sqlite", applicationID: StoreHub.applicationID, migrations: StoreHub.migrations,
                options: StoreOptions(access: .exclusive(holder: "test")))
            try database.backup()
            database.close()
        }
        #expect(truncate(path + "/simulator.sqlite", 4_096) == 0)
        // Nothing is done with the repaired store, as when the process is killed at once.
        for isRepair in [true, false] {
            try await onTimeline { timeline in
                let hub = try StoreHub(folder: path, durable: false, holder: "test", timeline: timeline)
                #expect((hub.recovery != nil) == isRepair)
                for name in ["lamp", "lock"] {
                    let bytes = try #require(hub.store(for: name).value(for: DeviceNode.eventBoundaryKey))
                    #expect(try TLVValue(decoding: bytes).unsigned == 65_537 + 0x100_0000)
                }
                #expect(hub.store(for: "plug").keys(withPrefix: "") == ["birth"])
                hub.close()
            }
        }
    }

    @Test func aFolderInUseNamesItsHolder() async throws {
        let folder = Folder()
        let path = folder.path
        try await onTimeline { timeline in
            let hub = try StoreHub(folder: path, durable: false, holder: "hearth simulate test", timeline: timeline)
            #expect {
                _ = try StoreHub(folder: path, durable: false, holder: "second", timeline: timeline)
            } throws: { error in
                "\(error)".contains("hearth simulate test")
            }
            hub.close()
        }
    }
}
