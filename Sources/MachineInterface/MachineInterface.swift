import MatterModel

/// The machine interface's constants: JSON Lines for scripts, other languages and test runners (`docs/machine-interface.md`).
public enum MachineInterface {
    /// Raised when something is changed that a client would notice.
    public static let version: Int64 = 1

    /// Which side speaks.
    public enum Role: String, Sendable { case controller, simulator, lab }

    /// The first line of either side's output.
    public static func hello(_ role: Role) -> JSONValue {
        ["hello": "hearth", "interface": .integer(version), "role": .string(role.rawValue)]
    }

    /// What a request calls itself, which its answer repeats; null when it does not. - Throws: `badRequest` when it is no number or string.
    public static func id(of request: JSONValue) throws(MachineError) -> JSONValue {
        let id = request["id"] ?? .null
        switch id {
        case .null, .string, .integer, .unsigned, .number: return id
        default: throw .badRequest("id: a number or a string is wanted")
        }
    }

    /// An answer to the request with `id`.
    public static func answer(_ id: JSONValue, _ members: [String: JSONValue]) -> JSONValue {
        .object(members.merging(["id": id, "ok": true]) { $1 })
    }

    /// The line that says that a request failed.
    public static func failure(_ id: JSONValue, _ error: MachineError) -> JSONValue { ["id": id, "ok": false, "error": error.json] }
}
