import MatterMessage
import MatterModel
import MatterTLV

/// Writes items into report messages of a given size, a long list over several of them (Matter Core, 8.4.3.3 and 10.6.4.3.1).
///
/// Values are read when they are written, so that a large report needs no more memory than one message.
final class ReportStream {
    private let items: [ReportItem]
    private let node: any NodeServer
    private let context: InteractionContext
    private let hooks: InteractionHooks
    private let subscription: SubscriptionID?
    private var position = 0
    /// Entries of the list at `position` that still have to go out one by one.
    private var pendingEntries: (path: AttributePath, version: DataVersion, entries: ArraySlice<TLVValue>)?

    /// Bytes kept free for what follows the reports in a message.
    private static let tail = 24

    init(
        _ items: [ReportItem], node: any NodeServer, context: InteractionContext, hooks: InteractionHooks,
        subscription: SubscriptionID?
    ) {
        (self.items, self.node, self.context, self.hooks) = (items, node, context, hooks)
        self.subscription = subscription
    }

    /// The next message of at most `maximum` bytes, and whether it is the last.
    func nextChunk(maximum: Int, suppressResponse: Bool) -> (payload: [UInt8], isLast: Bool) {
        var writer = TLVWriter(reservingCapacity: items.count <= 4 ? 128 : 1024)
        let budget = maximum - Self.tail
        writer.openStructure(.anonymous)
        if let subscription { writer.unsigned(0, subscription.unsigned) }
        let start = writer.count
        if hasAttributes {
            writer.openArray(1)
            writeAttributes(&writer, budget)
            writer.close()
        }
        if !hasAttributes, position < items.count {
            let mark = writer.count
            writer.openArray(2)
            let isFirst = mark == start
            // An event that finds no room behind attributes comes in the next message.
            if writeEvents(&writer, budget, isAlone: isFirst) { writer.close() } else { writer.truncate(to: mark) }
        }
        let isLast = position >= items.count && pendingEntries == nil
        if !isLast { writer.boolean(3, true) }
        if isLast, suppressResponse { writer.boolean(4, true) }
        writer.unsigned(InteractionModel.revisionTag, UInt64(InteractionModel.revision))
        writer.close()
        return (writer.bytes, isLast)
    }

    /// Attributes come first; events follow when no attribute is left.
    private var hasAttributes: Bool {
        if pendingEntries != nil { return true }
        guard position < items.count else { return false }
        switch items[position] {
        case .attribute, .attributeStatus: return true
        case .event, .eventStatus: return false
        }
    }

    private func writeAttributes(_ writer: inout TLVWriter, _ budget: Int) {
        let start = writer.count
        while hasAttributes {
            if pendingEntries != nil {
                guard writeEntries(&writer, budget, isFirst: writer.count == start) else { return }
                continue
            }
            guard let report = report(at: position) else {
                position += 1
                continue
            }
            let mark = writer.count
            report.write(to: &writer)
            if writer.count <= budget {
                position += 1
                continue
            }
            writer.truncate(to: mark)
            guard mark == start else { return }
            // Alone in a message and still too large.
            guard case .value(let version, .array(let entries)) = report.outcome, let path = report.path.pattern.concrete else {
                AttributeReport(report.path, .status(Status(.resourceExhausted))).write(to: &writer)
                position += 1
                continue
            }
            AttributeReport(report.path, .value(version, .array([]))).write(to: &writer)
            position += 1
            pendingEntries = (path, version, entries[...])
        }
    }

    /// Writes entries of a long list; false when the message is full.
    private func writeEntries(_ writer: inout TLVWriter, _ budget: Int, isFirst: Bool) -> Bool {
        guard var pending = pendingEntries else { return true }
        var isFirst = isFirst
        while let entry = pending.entries.first {
            let mark = writer.count
            AttributeReport(WireAttributePath(pending.path, listIndex: .append), .value(pending.version, entry)).write(
                to: &writer)
            if writer.count > budget {
                writer.truncate(to: mark)
                guard isFirst else {
                    pendingEntries = pending
                    return false
                }
                // An entry larger than a message: it cannot be reported at all.
                AttributeReport(WireAttributePath(pending.path, listIndex: .append), .status(Status(.resourceExhausted))).write(
                    to: &writer)
            }
            isFirst = false
            pending.entries.removeFirst()
        }
        pendingEntries = nil
        return true
    }

    /// Writes events as far as there is room; false when it wrote none.
    private func writeEvents(_ writer: inout TLVWriter, _ budget: Int, isAlone: Bool) -> Bool {
        let start = writer.count
        while position < items.count {
            let mark = writer.count
            switch items[position] {
            case .event(let record):
                let path = EventPathPattern(record.path.endpoint, record.path.cluster, record.path.event)
                EventReport(path, .event(record.number, record.priority, record.timestamp, record.fields)).write(to: &writer)
            case .eventStatus(let path, let status): EventReport(path, .status(status)).write(to: &writer)
            case .attribute, .attributeStatus: return mark > start
            }
            if writer.count > budget {
                writer.truncate(to: mark)
                if mark > start || !isAlone { return mark > start }
                // Too large for any message: passed over, since an event has no other form.
            }
            position += 1
        }
        return writer.count > start
    }

    /// The report of one item as it is now; nil when a subscribed attribute has gone.
    private func report(at position: Int) -> AttributeReport? {
        switch items[position] {
        case .attributeStatus(let path, let status): return AttributeReport(path, .status(status))
        case .event, .eventStatus: return nil
        case .attribute(let path):
            let wire = WireAttributePath(path)
            guard let cluster = node.endpoint(path.endpoint)?.cluster(path.cluster),
                let attribute = cluster.attribute(path.attribute)
            else { return nil }
            if case .refuse(let status)? = hooks.beforeRead?(path, context) { return AttributeReport(wire, .status(status)) }
            do throws(Status) {
                let present = if let shown = hooks.replaceValue?(path, context) { shown } else { try cluster.read(attribute, context) }
                let value = FabricScope.view(present, of: attribute, context)
                return AttributeReport(wire, .value(cluster.dataVersion, value))
            } catch {
                return AttributeReport(wire, .status(error))
            }
        }
    }
}
