/// Things to look at, earliest first; of those due at the same time the one that came first.
struct DeadlineHeap<Item> {
    private struct Entry {
        let due: Milliseconds
        let order: UInt64
        let item: Item
        func isBefore(_ other: Entry) -> Bool { (due, order) < (other.due, other.order) }
    }

    private var entries: [Entry] = []
    private var order: UInt64 = 0

    var first: Milliseconds? { entries.first?.due }

    mutating func push(_ item: Item, due: Milliseconds) {
        order += 1
        entries.append(Entry(due: due, order: order, item: item))
        var i = entries.count - 1
        while i > 0, entries[i].isBefore(entries[(i - 1) / 2]) {
            entries.swapAt(i, (i - 1) / 2)
            i = (i - 1) / 2
        }
    }

    /// Takes the first that is due by `now`, with the instant it was pushed for.
    mutating func pop(by now: Milliseconds) -> (item: Item, due: Milliseconds)? {
        guard let first = entries.first, first.due <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            var i = 0
            while true {
                var least = i
                for child in [2 * i + 1, 2 * i + 2] where child < entries.count && entries[child].isBefore(entries[least]) {
                    least = child
                }
                if least == i { break }
                entries.swapAt(i, least)
                i = least
            }
        }
        return (first.item, first.due)
    }
}
