import HearthTime
import MachineInterface
import MatterController
import MatterModel
import MatterSimulator

/// Requests to both sides of a lab, from one connection.
///
/// A verb that one side alone has goes there. `devices` and `open-window`, which both have, go to the simulator unless the request says
/// `"side": "controller"`; `side` may be given with every verb. Requests to the simulator are carried out one after the other. Those to the
/// controller begin in their order and go on while others come, so that `clock` can bring the time that an answer waits for.
public final class LabSession: ControlSession {
    private let simulator: SimulatorVerbs
    private let controller: ControllerVerbs
    private let requests: MachineSession
    private let output: ControlOutput
    /// Subscriptions that this connection has made.
    private let subscriptions = Locked<Set<UInt64>>([])

    private static let sides = ["simulator", "controller"]

    init(_ simulator: SimulatorVerbs, _ controller: ControllerVerbs, timeline: Timeline, output: @escaping ControlOutput) {
        (self.simulator, self.controller, self.output) = (simulator, controller, output)
        let subscriptions = subscriptions
        requests = MachineSession(controller) { line, kind in
            if let number = line["subscription"]?.unsigned, line["ok"] == true { subscriptions.withLock { _ = $0.insert(number) } }
            output(line, kind == .unasked)
        }
    }

    public func receive(_ request: JSONValue) async {
        let id = request["id"] ?? .null
        do throws(MachineError) {
            if try isForController(request) { return await requests.receive(request) }
            output(MachineInterface.answer(id, try await simulator.perform(request)), false)
        } catch {
            output(MachineInterface.failure(id, error), false)
        }
    }

    private func isForController(_ request: JSONValue) throws(MachineError) -> Bool {
        let verb = request["do"]?.string ?? ""
        if let side = request["side"], !side.isNull {
            guard let side = side.string, Self.sides.contains(side) else {
                throw .badRequest("side: 'simulator' or 'controller' is wanted")
            }
            return side == "controller"
        }
        if SimulatorVerbs.verbs.contains(verb) { return false }
        if ControllerRequest.verbs.contains(verb) { return true }
        let known = SimulatorVerbs.verbs + ControllerRequest.verbs
        throw .badRequest("unknown verb '\(verb)'" + DataModel.didYouMean(verb, among: known))
    }

    public func finish() async { await requests.finish() }

    public func close() async {
        let open = subscriptions.withLock { numbers in
            defer { numbers = [] }
            return numbers.sorted()
        }
        for number in open { await requests.receive(["do": "unsubscribe", "subscription": JSONValue(number)]) }
    }
}
