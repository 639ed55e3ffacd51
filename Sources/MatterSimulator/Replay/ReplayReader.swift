import HearthTime
import MatterModel

extension Replay {
    /// Bytes of a journal, at most.
    static let maximumSize = 256 << 20
    /// Model time that a journal may span.
    static let maximumSpan: Duration = .seconds(10 * 365 * 86_400)

    /// Reads a journal: JSON Lines as `hearth simulate --json` prints them (lines of other kinds between them are passed over), or the one
    /// document of `hearth sim journal --json`.
    /// - Throws: `SimulatorError.badRequest` with the line.
    public static func read(_ text: [UInt8], file: String) throws(SimulatorError) -> [RecordedEntry] {
        var entries: [RecordedEntry] = []
        for (index, line) in text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
        where !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) {
            let place = "\(file):\(index + 1)"
            let json: JSONValue
            do throws(JSONError) { json = try JSONValue(parsing: Array(line)) } catch {
                // A document that somebody has spread over lines.
                if entries.isEmpty, let document = try? JSONValue(parsing: text), let items = items(of: document) {
                    return try whole(try items.map { item throws(SimulatorError) in try entry(item, file) }, file)
                }
                throw SimulatorError(.badRequest, "\(place): this is not JSON: \(error)")
            }
            if let dropped = json["dropped"]?.unsigned {
                throw SimulatorError(.badRequest, "\(place): \(dropped) entries are missing here: nobody took them in time. \(Self.remedy)")
            }
            if let items = items(of: json) {
                for (number, item) in items.enumerated() { entries.append(try entry(item, "\(place), entry \(number + 1)")) }
            } else if json["number"] != nil, json["kind"] != nil {
                entries.append(try entry(json, place))
            }
        }
        return try whole(entries, file)
    }

    /// The entries of an answer of the verb `journal`, or a list of them.
    private static func items(of json: JSONValue) -> [JSONValue]? {
        json.array ?? (json["number"] == nil ? json["entries"]?.array : nil)
    }

    private static let remedy = "Get it whole with 'hearth sim journal --from 1 --limit 1000000 --secrets --json'"

    private static func whole(_ entries: [RecordedEntry], _ file: String) throws(SimulatorError) -> [RecordedEntry] {
        guard let first = entries.first else { throw SimulatorError(.badRequest, "\(file): there is no journal entry in it") }
        guard first.number == 1 else {
            throw SimulatorError(
                .badRequest,
                "\(file): a journal is replayed from its first entry, and this one begins with number \(first.number). \(remedy)")
        }
        return entries
    }

    private static func entry(_ json: JSONValue, _ place: String) throws(SimulatorError) -> RecordedEntry {
        var entry: RecordedEntry
        do throws(SimulatorError) { entry = try RecordedEntry(json) } catch {
            throw SimulatorError(.badRequest, "\(place): \(error.message)")
        }
        entry.place = place
        guard entry.time <= .zero + maximumSpan else {
            throw SimulatorError(
                .badRequest, "\(place): a journal may span ten years of model time, and this entry is at \(entry.time.nanoseconds) ns")
        }
        if entry.isInput, JournalEntry.isRedacted(json) {
            throw SimulatorError(
                .badRequest, "\(place): PINs are left out of this journal, and a replay needs them. \(remedy)")
        }
        return entry
    }
}
