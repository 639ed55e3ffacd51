import HearthTime

/// When the faults of a journal took effect. A replay lets them strike then, and does not draw: reads, which drew too, are in no journal.
final class ReplayScript {
    private struct Strike: Hashable {
        let device: String
        let note: String
        let time: ModelInstant
    }
    private var left: [Strike: Int] = [:]

    /// An answer that is late makes no difference to the device, but would delay what a timed request announces.
    private static let ofMessages = ["delay: ", "slow-answer: ", "reset: ", "half-open: ", "offline: "]

    init(_ journal: [RecordedEntry]) {
        for entry in journal where entry.kind == .fault {
            if let note = entry.note, Self.ofMessages.contains(where: note.hasPrefix) { continue }
            left[Strike(device: entry.device, note: entry.note ?? "", time: entry.time), default: 0] += 1
        }
    }

    /// Whether it happened once more at this instant.
    func takes(_ device: String, _ note: String, _ time: ModelInstant) -> Bool {
        let strike = Strike(device: device, note: note, time: time)
        guard let count = left[strike], count > 0 else { return false }
        left[strike] = count - 1
        return true
    }
}
