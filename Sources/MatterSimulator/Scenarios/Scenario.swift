import HearthTime
import MatterModel
import MatterTLV

/// A script of things that happen to devices, step by step in model time. Read from a YAML file by `ScenarioReader`.
public struct Scenario: Sendable {
    /// One thing that happens, or is expected.
    public struct Step: Sendable {
        public var action: Action
        /// When it begins, counted from the scenario's start; nil follows the step before at once.
        public var start: Duration?
        /// Where it stands in the file, such as `evening.yaml:12`.
        public var place: String
    }

    /// What a step does.
    public enum Action: Sendable {
        /// A hand on the device, a warmer room.
        case set(device: String, AttributePath, TLVValue)
        /// An event at the device itself.
        case trigger(device: String, EventPath, fields: TLVValue)
        /// Sets a fault; `name` is what `clearFault` calls it. Nil for the device is all of them.
        case fault(device: String?, members: [String: JSONValue], name: String?)
        /// Clears a fault of this scenario by its name, or all that it has set (nil).
        case clearFault(String?)
        case expect(device: String, Expectation, within: Duration)
        case advance(Duration)
        /// Cuts the power, or gives it back.
        case power(device: String, Power)
    }

    /// Off in order, off at once, on, or off at once and on again.
    public enum Power: String, Sendable, CaseIterable { case stop, kill, start, reboot }

    /// What a step waits for.
    public enum Expectation: Sendable {
        case equals(AttributePath, TLVValue)
        /// A number within bounds, each of which may be absent.
        case between(AttributePath, minimum: Double?, maximum: Double?)
        /// An event since the scenario began, with at least these fields.
        case event(EventPath, fields: TLVValue)
    }

    public var name: String
    public var steps: [Step]
}

/// What came of one step.
public struct ScenarioOutcome: Sendable {
    /// From 1.
    public var step: Int
    /// The step in a few words.
    public var title: String
    public var isOK: Bool
    /// Why it failed.
    public var message: String?
    /// When it was over, in model time.
    public var time: ModelInstant

    public var json: JSONValue {
        var object: [String: JSONValue] = [
            "step": .integer(Int64(step)), "what": .string(title), "ok": .boolean(isOK), "atMs": JSONValue(time.nanoseconds / 1_000_000),
        ]
        if let message { object["message"] = .string(message) }
        return .object(object)
    }
}
