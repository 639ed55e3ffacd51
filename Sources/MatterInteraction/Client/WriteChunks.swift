import MatterModel
import MatterTLV

/// Splits writes over as many messages as they need.
enum WriteChunks {
    /// - Parameter maximum: bytes of a payload.
    /// - Throws: RESOURCE_EXHAUSTED for a value, or an entry of a list, that no message can hold.
    static func split(_ writes: [AttributeData], isTimed: Bool, maximum: Int) throws(InteractionError) -> [WriteRequest] {
        if writes.isEmpty { return [] }
        let whole = WriteRequest(writes, isTimed: isTimed)
        if whole.payload.count <= maximum { return [whole] }
        let overhead = WriteRequest([], isTimed: isTimed, moreChunks: true).payload.count
        var chunks: [WriteRequest] = []
        var current: [AttributeData] = []
        var size = overhead
        for (part, length) in writes.flatMap({ parts(of: $0, maximum: maximum - overhead) }) {
            guard overhead + length <= maximum else {
                throw .refused(Status(.resourceExhausted, "\(length) bytes at once do not fit into a message of \(maximum)"))
            }
            if size + length > maximum {
                chunks.append(WriteRequest(current, isTimed: isTimed, moreChunks: true))
                (current, size) = ([], overhead)
            }
            current.append(part)
            size += length
        }
        chunks.append(WriteRequest(current, isTimed: isTimed))
        return chunks
    }

    /// A list that no message holds goes entry by entry, after one part that empties it (Matter Core, 10.6.4.3.1). With their lengths.
    private static func parts(of data: AttributeData, maximum: Int) -> [(AttributeData, Int)] {
        let length = length(data)
        guard length > maximum, case .array(let entries) = data.value, data.path.listIndex == .whole else {
            return [(data, length)]
        }
        let empty = AttributeData(data.path, .array([]), version: data.version)
        let rest = entries.map { AttributeData(WireAttributePath(data.path.pattern, listIndex: .append), $0) }
        return ([empty] + rest).map { ($0, Self.length($0)) }
    }

    private static func length(_ data: AttributeData) -> Int {
        var writer = TLVWriter()
        data.write(to: &writer)
        return writer.count
    }
}
