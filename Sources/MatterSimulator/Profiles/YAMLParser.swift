import CYAML

/// Reads one YAML document through libyaml.
///
/// Anchors, aliases and tags are refused: a profile needs none, and an alias can make a small file enormous.
enum YAMLParser {
    /// Bytes of a file, at most.
    static let maximumSize = 1 << 20
    private static let maximumDepth = 32

    static func parse(_ text: [UInt8], file: String) throws(ProfileError) -> YAMLNode {
        guard text.count <= maximumSize else { throw ProfileError(file: file, "the file is larger than 1 MB, which no profile is") }
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) == 1 else { throw ProfileError(file: file, "libyaml has no memory") }
        defer { yaml_parser_delete(&parser) }
        let result: Result<YAMLNode, ProfileError> = text.withUnsafeBufferPointer { buffer in
            yaml_parser_set_input_string(&parser, buffer.baseAddress, buffer.count)
            do throws(ProfileError) {
                var reader = Reader(parser: &parser, file: file)
                return .success(try reader.document())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private struct Reader {
        /// Valid while `parse` runs, which outlives the reader.
        let parser: UnsafeMutablePointer<yaml_parser_t>
        let file: String

        /// What of an event is wanted, copied so that libyaml's own can be freed at once.
        private enum Event {
            case scalar(String, isQuoted: Bool)
            case sequenceStart, sequenceEnd, mappingStart, mappingEnd
            case documentStart, documentEnd, streamStart, streamEnd
            case refused(String)
        }
        private struct Placed {
            var event: Event
            var line: Int
            var column: Int
        }

        init(parser: UnsafeMutablePointer<yaml_parser_t>, file: String) { (self.parser, self.file) = (parser, file) }

        mutating func document() throws(ProfileError) -> YAMLNode {
            _ = try next()  // the stream's start
            let start = try next()
            guard case .documentStart = start.event else { throw ProfileError(file: file, "the file is empty") }
            let node = try node(try next(), depth: 0)
            _ = try next()  // the document's end
            let end = try next()
            guard case .streamEnd = end.event else {
                throw ProfileError(file: file, line: end.line, column: end.column, "a second document: a file holds one")
            }
            return node
        }

        private mutating func node(_ placed: Placed, depth: Int) throws(ProfileError) -> YAMLNode {
            func fail(_ message: String) -> ProfileError {
                ProfileError(file: file, line: placed.line, column: placed.column, message)
            }
            guard depth < maximumDepth else { throw fail("nested deeper than any profile needs") }
            switch placed.event {
            case .scalar(let text, let isQuoted):
                return YAMLNode(content: .scalar(text, isQuoted: isQuoted), line: placed.line, column: placed.column)
            case .sequenceStart:
                var items: [YAMLNode] = []
                while true {
                    let item = try next()
                    if case .sequenceEnd = item.event { break }
                    items.append(try node(item, depth: depth + 1))
                }
                return YAMLNode(content: .sequence(items), line: placed.line, column: placed.column)
            case .mappingStart:
                var members: [(key: YAMLNode, value: YAMLNode)] = []
                while true {
                    let key = try next()
                    if case .mappingEnd = key.event { break }
                    let keyNode = try node(key, depth: depth + 1)
                    members.append((keyNode, try node(try next(), depth: depth + 1)))
                }
                return YAMLNode(content: .mapping(members), line: placed.line, column: placed.column)
            case .refused(let what): throw fail("\(what): profiles have none; write the value out")
            default: throw fail("unexpected end")
            }
        }

        private mutating func next() throws(ProfileError) -> Placed {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) == 1 else {
                let problem = parser.pointee.problem.map { String(cString: $0) } ?? "cannot be read"
                let mark = parser.pointee.problem_mark
                throw ProfileError(file: file, line: Int(mark.line) + 1, column: Int(mark.column) + 1, "this is not YAML: \(problem)")
            }
            defer { yaml_event_delete(&event) }
            let (line, column) = (Int(event.start_mark.line) + 1, Int(event.start_mark.column) + 1)
            return Placed(event: Self.convert(event), line: line, column: column)
        }

        private static func convert(_ event: yaml_event_t) -> Event {
            switch event.type {
            case YAML_STREAM_START_EVENT: return .streamStart
            case YAML_STREAM_END_EVENT: return .streamEnd
            case YAML_DOCUMENT_START_EVENT: return .documentStart
            case YAML_DOCUMENT_END_EVENT: return .documentEnd
            case YAML_SEQUENCE_START_EVENT: return event.data.sequence_start.anchor == nil ? .sequenceStart : .refused("an anchor")
            case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
            case YAML_MAPPING_START_EVENT: return event.data.mapping_start.anchor == nil ? .mappingStart : .refused("an anchor")
            case YAML_MAPPING_END_EVENT: return .mappingEnd
            case YAML_SCALAR_EVENT:
                let scalar = event.data.scalar
                if scalar.anchor != nil { return .refused("an anchor") }
                let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
                return .scalar(String(decoding: bytes, as: UTF8.self), isQuoted: scalar.style != YAML_PLAIN_SCALAR_STYLE)
            case YAML_ALIAS_EVENT: return .refused("an alias")
            default: return .refused("something that is neither a value, a list nor a mapping")
            }
        }
    }
}
