/// A node of a YAML document with its place, before anything is known of its type.
struct YAMLNode: Sendable {
    indirect enum Content: Sendable {
        /// The text as written; quoted texts are always texts, plain ones are what the schema makes of them.
        case scalar(String, isQuoted: Bool)
        case sequence([YAMLNode])
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    var content: Content
    /// From 1.
    var line: Int
    /// From 1.
    var column: Int

    var kind: String {
        switch content {
        case .scalar: "a value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}

/// A mistake in a YAML file.
public struct ProfileError: Error, Sendable, CustomStringConvertible {
    /// Empty when no file was named.
    public var file: String
    /// From 1; 0 when the file as a whole is meant.
    public var line: Int
    public var column: Int
    /// Where in the document, such as `endpoints[0].clusters.OnOff`; empty at its top.
    public var path: String
    /// What is wrong and what was expected.
    public var message: String

    public init(file: String, line: Int = 0, column: Int = 0, path: String = "", _ message: String) {
        (self.file, self.line, self.column, self.path, self.message) = (file, line, column, path, message)
    }

    public var description: String {
        [line > 0 ? "\(file):\(line):\(column)" : file, path, message].filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

/// All mistakes of a file at once, so that they can be mended at once.
public struct ProfileErrors: Error, Sendable, CustomStringConvertible {
    public var errors: [ProfileError]
    public init(errors: [ProfileError]) { self.errors = errors }
    public var description: String { errors.map(\.description).joined(separator: "\n") }
}
