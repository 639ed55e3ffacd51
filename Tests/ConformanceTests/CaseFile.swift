import Glibc
import MatterModel

/// A file of cases: a device, and what it is put through. `docs/conformance.md` describes the format.
struct CaseFile: Sendable {
    let name: String
    /// The ready profile that every case starts with, fresh and paired.
    let profile: String
    let cases: [Case]

    /// One story with a beginning and an end, on a device of its own.
    struct Case: Sendable, CustomStringConvertible {
        let file: String
        let profile: String
        let name: String
        /// The public test or the rule of the specification that it follows.
        let follows: String
        let steps: [Step]
        var description: String { "\(file): \(name)" }
    }

    /// One line of a case: a verb, its members, and what is expected of it.
    struct Step: Sendable {
        /// From 1.
        let number: Int
        let verb: String
        let subject: JSONValue
        let members: [String: JSONValue]

        subscript(name: String) -> JSONValue? { members[name] }
        var text: String { "step \(number) (\(verb) \(subject.text()))" }
    }

    struct Malformed: Error, CustomStringConvertible { let description: String }

    /// What a step can do, and the members that it may have beside its verb.
    static let verbs: [String: Set<String>] = [
        "read": ["by", "is", "in", "oneOf", "has", "contains", "status", "save", "fabricFiltered", "absent"],
        "write": ["by", "value", "status", "timedMs", "invokeDelayMs"],
        "invoke": [
            "by", "fields", "status", "clusterStatus", "response", "responseIn", "absent", "save", "timed", "timedMs", "invokeDelayMs",
        ],
        "events": ["by", "are", "count"],
        "subscribe": ["by", "events", "min", "max", "as", "status", "primed"],
        "unsubscribe": ["by"],
        "reports": ["values", "counts", "last", "events", "none"],
        "wait": [],
        "set": ["value", "status"],
        "trigger": ["fields", "status"],
        "power": ["reason"],
        "fault": [],
        "clearFaults": [],
        "pair": ["status"],
        "unpair": [],
    ]

    /// - Throws: what is wrong with the file: a case that says what nobody understands must not pass.
    init(name: String, json: JSONValue) throws {
        func fail(_ message: String) -> Malformed { Malformed(description: "\(name): \(message)") }
        guard let profile = json["profile"]?.string, let list = json["cases"]?.array, !list.isEmpty else {
            throw fail("'profile' and 'cases' are wanted")
        }
        self.name = name
        self.profile = profile
        var cases: [Case] = []
        for item in list {
            guard let title = item["name"]?.string, let follows = item["follows"]?.string, let steps = item["steps"]?.array, !steps.isEmpty
            else { throw fail("a case wants 'name', 'follows' and 'steps': \(item["name"]?.text() ?? "?")") }
            let read = try steps.enumerated().map { try Self.step($0.offset + 1, $0.element, "\(name): \(title)") }
            cases.append(
                Case(file: name, profile: item["profile"]?.string ?? profile, name: title, follows: follows, steps: read))
        }
        self.cases = cases
    }

    private static func step(_ number: Int, _ json: JSONValue, _ place: String) throws -> Step {
        func fail(_ message: String) -> Malformed { Malformed(description: "\(place), step \(number): \(message)") }
        guard let members = json.object else { throw fail("an object is wanted") }
        let found = members.keys.filter { verbs[$0] != nil && !(members["subscribe"] != nil && $0 == "events") }
        // `events` is a member of `subscribe` and of `reports`, and a verb of its own.
        let verb = found.count > 1 ? found.filter { $0 != "events" } : found
        guard verb.count == 1, let name = verb.first, let subject = members[name] else { throw fail("exactly one verb is wanted") }
        for key in members.keys where key != name && key != "comment" {
            guard verbs[name]?.contains(key) == true else { throw fail("'\(key)' does not go with '\(name)'") }
        }
        return Step(number: number, verb: name, subject: subject, members: members.filter { $0.key != name })
    }

    /// Every file of the folder beside this source, in the order of their names.
    static func all() throws -> [CaseFile] {
        let here = #filePath
        let folder = String(here[..<(here.lastIndex(of: "/") ?? here.startIndex)]) + "/Cases"
        return try names(in: folder).map { file in
            try CaseFile(name: String(file.dropLast(5)), json: JSONValue(parsing: bytes(of: folder + "/" + file)))
        }
    }

    static func names(in folder: String) throws -> [String] {
        guard let directory = opendir(folder) else { throw Malformed(description: "\(folder) cannot be read") }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".json") { names.append(name) }
        }
        return names.sorted()
    }

    static func bytes(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw Malformed(description: "\(path) cannot be read") }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count <= 0 { return bytes }
            bytes += chunk[..<count]
        }
    }
}
