import HearthTime
import MatterInteraction
import MatterMessage
import MatterModel
import MatterNode

/// The faults of one device that are set. Belongs to the timeline's thread.
final class FaultSet {
    private(set) var faults: [(number: Int, fault: Fault)] = []

    func add(_ number: Int, _ fault: Fault, to target: any FaultTarget) {
        faults.append((number, fault))
        fault.begin(target)
        if target.node != nil { fault.started(target) }
    }

    /// The device has got power.
    func started(_ target: any FaultTarget) { for entry in faults { entry.fault.started(target) } }

    func remove(_ number: Int, from target: any FaultTarget) {
        guard let index = faults.firstIndex(where: { $0.number == number }) else { return }
        faults.remove(at: index).fault.end(target)
    }

    func removeAll(from target: any FaultTarget) {
        let all = faults
        faults = []
        for entry in all { entry.fault.end(target) }
    }

    /// Takes hold of a node through its interception points. Called whenever faults come or go; without any, nothing is held.
    func apply(to interceptions: inout NodeInterceptions) {
        guard !faults.isEmpty else { return }
        interceptions.frame = { [unowned self] isOutgoing, header, payload, peer in
            let message = FaultMessage(isOutgoing: isOutgoing, header: header, payload: payload, peer: peer)
            for entry in faults {
                let verdict = entry.fault.frame(message)
                if case .pass = verdict { continue }
                return verdict
            }
            return .pass
        }
        interceptions.sessionOpened = { [unowned self] _ in faults.allSatisfy { $0.fault.sessionOpened() } }
        interceptions.refusesConnection = { [unowned self] isPairing in first { $0.refusesConnection(isPairing: isPairing) } }
        interceptions.pairing = { [unowned self] step in first { $0.pairing(step) } }
        interceptions.interaction.beforeRead = { [unowned self] path, _ in refusal { $0.beforeRead(path) } }
        interceptions.interaction.beforeWrite = { [unowned self] path, _, _ in refusal { $0.beforeWrite(path) } }
        interceptions.interaction.beforeCommand = { [unowned self] path, _, _ in refusal { $0.beforeCommand(path) } }
        interceptions.interaction.beforeAnswer = { [unowned self] opcode, _ in
            for entry in faults {
                let verdict = entry.fault.beforeAnswer(opcode)
                if case .now = verdict { continue }
                return verdict
            }
            return .now
        }
        interceptions.interaction.replaceValue = { [unowned self] path, context in
            first { $0.replaceValue(path, context.subscription) }
        }
        interceptions.interaction.beforeReport = { [unowned self] subscription, paths, _ in
            for entry in faults where !entry.fault.beforeReport(subscription, &paths) { return false }
            return true
        }
    }

    private func first<Result>(_ ask: (Fault) -> Result?) -> Result? {
        for entry in faults { if let answer = ask(entry.fault) { return answer } }
        return nil
    }

    private func refusal(_ ask: (Fault) -> Status?) -> InteractionHooks.Verdict {
        first(ask).map { .refuse($0) } ?? .proceed
    }
}

extension Simulator {
    /// What `fault` can be asked for.
    public static var faultKinds: [String] { FaultKinds.all.map { $0.kind } }
}

/// The kinds of faults that exist.
enum FaultKinds {
    static let all: [Fault.Type] = [
        DelayFault.self, DropReportsFault.self, ExpiredCertificateFault.self, HalfOpenFault.self, JammedLockFault.self,
        MissedLastReportFault.self, ObstructedCoveringFault.self, OfflineFault.self, PairingFault.self, RebootFault.self,
        ResetFault.self, SlowAnswerFault.self, StuckAttributeFault.self, WrongClockFault.self, WrongStatusFault.self,
    ]

    /// Makes a fault from the members of a request.
    static func make(_ members: [String: JSONValue], random: (String) -> RandomStream) throws(SimulatorError) -> Fault {
        guard let kind = members["kind"]?.string else { throw SimulatorError(.badRequest, "a fault needs a 'kind'") }
        guard let type = all.first(where: { $0.kind == kind }) else {
            let names = all.map { $0.kind }
            throw SimulatorError(
                .badRequest,
                "there is no fault '\(kind)'\(DataModel.didYouMean(kind, among: names)) (known are \(names.joined(separator: ", ")))")
        }
        let known = Set(type.parameters.map(\.name)).union(["do", "id", "device", "kind", "skip", "count", "probability"])
        if let unknown = members.keys.sorted().first(where: { !known.contains($0) }) {
            throw SimulatorError(
                .badRequest, "the fault '\(kind)' has no parameter '\(unknown)'\(DataModel.didYouMean(unknown, among: known.sorted()))")
        }
        let reader = FaultParameters(kind: kind, members: members)
        var plan = FaultPlan()
        plan.skip = Int(clamping: try reader.number("skip") ?? 0)
        plan.count = try reader.number("count").map { Int(clamping: $0) }
        if let probability = members["probability"] {
            guard let value = probability.number, (0...1).contains(value) else {
                throw SimulatorError(.badRequest, "'probability' lies between 0 and 1")
            }
            plan.permille = UInt64((value * 1000).rounded())
        }
        return try type.init(reader, plan: plan, random: random(kind))
    }
}
