import Glibc
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
}
