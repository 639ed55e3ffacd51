import HearthTime
import MatterModel
import Testing

@testable import MatterSimulator

/// What is taken for a journal, and what is said of one that cannot be replayed.
@Suite struct ReplayTests {
    private static let members = [Replay.Member(DeviceProfile(name: "lamp", endpoints: [.init(1, deviceTypes: [0x0100])]), name: "lamp")]
    private static let start = #"{"atNs":0,"device":"lamp","kind":"start","number":1}"#

    private static func set(_ number: Int, _ value: String = "true", at time: Int64 = 1_000_000_000) -> String {
        #"{"atNs":\#(time),"attributeId":0,"clusterId":6,"device":"lamp","endpoint":1,"kind":"set","number":\#(number),"value":\#(value)}"#
    }

    private static func read(_ text: String) throws -> [RecordedEntry] { try Replay.read(Array(text.utf8), file: "j") }

    /// What is said of a journal that cannot be read or replayed.
    private static func refusal(_ text: String) async throws -> String? {
        let error = await #expect(throws: SimulatorError.self) { _ = try await Replay.run(read(text), members: members, seed: 0) }
        #expect(error?.code != nil)
        return error?.message
    }

    @Test(arguments: [
        "{\"ready\":true,\"devices\":[]}\n\(start)\n\n\(set(2))\n", "{\"ok\":true,\"entries\":[\(start),\(set(2))]}\n",
        "[\(start),\(set(2))]", "{\n  \"entries\": [\n\(start),\n\(set(2))\n]}\n", "\(start)\n\(set(2))",
    ])
    func aJournalIsReadHoweverItWasWritten(_ text: String) async throws {
        let outcome = try await Replay.run(Self.read(text), members: Self.members, seed: 0)
        #expect(outcome.inputs == 1 && outcome.compared == 2)
        // The lamp says more than this journal knows: what it starts with.
        #expect(outcome.difference?.time == 0 && outcome.difference?.actual != nil)
    }

    @Test func linesAreCountedAsAnEditorDoes() async throws {
        #expect(try await Self.refusal("\(Self.start)\n\n\n{\"number\": 2\n")?.hasPrefix("j:4: this is not JSON") == true)
        #expect(
            try await Self.refusal("\n\(Self.start)\n\n\(Self.set(2).replacing("\"atNs\":1000000000,", with: ""))")?
                .hasPrefix("j:4: this is no journal entry") == true)
        #expect(try await Self.refusal("\(Self.start)\n\(Self.set(2).replacing("\"set\"", with: "\"sit\""))")?.contains("'sit'") == true)
    }

    @Test(arguments: [
        (set(2).replacing("\"endpoint\":1", with: "\"endpoint\":70000"), "j:3: entry 2 lacks a part"),
        (set(2).replacing("\"attributeId\":0,", with: ""), "j:3: entry 2 lacks a part"),
        (set(2).replacing("\"lamp\"", with: "\"tree\""), "j:3: "), (set(2).replacing("\"set\"", with: "\"start\""), "j:3: no profile"),
    ])
    func whatIsWrongWithAnEntryIsToldWithItsLine(_ entry: String, _ message: String) async throws {
        let entry = message.contains("no profile") ? entry.replacing("\"lamp\"", with: "\"tree\"") : entry
        let text = try await Self.refusal("\n\(Self.start)\n\(entry)\n")
        #expect(text?.hasPrefix(message) == true, "\(text ?? "")")
    }

    @Test func aJournalThatIsNotWholeIsRefusedWithWhatToDo() async throws {
        #expect(try await Self.refusal(Self.set(2))?.contains("--from 1") == true)
        let gap = try await Self.refusal("\(Self.start)\n{\"dropped\":12}\n\(Self.set(14))")
        #expect(gap?.hasPrefix("j:2: 12 entries are missing") == true)
        let hidden = #"{"atNs":5,"clusterId":257,"commandId":0,"device":"lamp","endpoint":1,"fabric":1,"fields":{"PINCode":"(redacted)"},"#
        #expect(try await Self.refusal("\(Self.start)\n\(hidden)\"kind\":\"invoke\",\"number\":2}")?.contains("--secrets") == true)
        #expect(try await Self.refusal("")?.contains("no journal entry") == true)
    }

    /// A slip in a file must not keep a thread at work for ever.
    @Test(arguments: [1_000_000_000_000_000_000, Int64.max]) func aJournalSpansTenYearsAtMost(_ time: Int64) async throws {
        #expect(try await Self.refusal("\(Self.start)\n\(Self.set(2, at: time))")?.hasPrefix("j:2: a journal may span ten years") == true)
    }

    @Test func aReplayEndsWithItsCaller() async throws {
        let journal = try Self.read("\(Self.start)\n\(Self.set(2, at: 300_000_000_000_000_000))")
        let caller = Task { try await Replay.run(journal, members: Self.members, seed: 0) }
        caller.cancel()
        await #expect(throws: CancellationError.self) { _ = try await caller.value }
    }
}
