import MatterModel

/// Reads a document by its schema, collecting mistakes instead of stopping at the first.
///
/// A member that was not asked for when a mapping is finished is a mistake too, with the nearest name that is known.
final class ProfileContext {
    let file: String
    /// Mistakes that are told, at most: nobody reads more, and what was probably meant takes a while to find.
    static let maximumErrors = 1000
    private var errors: [ProfileError] = []
    /// All mistakes, also those that are not told one by one.
    private(set) var mistakes = 0

    /// The mistakes as a reader of the file meets them, and how many there are more.
    var sortedErrors: [ProfileError] {
        var sorted = errors.enumerated().sorted {
            ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
        }.map(\.element)
        if let last = sorted.last, mistakes > errors.count {
            sorted.append(ProfileError(file: file, line: last.line, column: last.column, "and \(mistakes - errors.count) mistakes more"))
        }
        return sorted
    }

    init(file: String) { self.file = file }

    func report(_ node: YAMLNode, _ path: String, _ message: @autoclosure () -> String) {
        mistakes += 1
        guard errors.count < Self.maximumErrors else { return }
        errors.append(ProfileError(file: file, line: node.line, column: node.column, path: path, message()))
    }

    /// A mapping whose members are taken one by one.
    final class Mapping {
        let node: YAMLNode
        let path: String
        private let context: ProfileContext
        private var rest: [(key: String, node: YAMLNode, value: YAMLNode)] = []
        private var asked: [String] = []
        private var lacking: [(names: [String], message: String)] = []

        init?(_ node: YAMLNode, _ path: String, _ context: ProfileContext) {
            guard case .mapping(let members) = node.content else {
                context.report(node, path, "a mapping (name: value) is expected, and this is \(node.kind)")
                return nil
            }
            (self.node, self.path, self.context) = (node, path, context)
            var names: Set<String> = []
            for (key, value) in members {
                guard case .scalar(let name, _) = key.content else {
                    context.report(key, path, "a name is expected before the colon, and this is \(key.kind)")
                    continue
                }
                if names.insert(name).inserted {
                    rest.append((name, key, value))
                } else {
                    context.report(key, path, "'\(name)' stands twice")
                }
            }
        }

        /// The member of a name, and its path.
        func take(_ name: String) -> (node: YAMLNode, path: String)? {
            asked.append(name)
            guard let index = rest.firstIndex(where: { $0.key == name }) else { return nil }
            return (rest.remove(at: index).value, join(name))
        }

        /// All members that are left: for mappings whose names are data.
        func takeAll() -> [(key: String, keyNode: YAMLNode, node: YAMLNode, path: String)] {
            defer { rest = [] }
            return rest.map { ($0.key, $0.node, $0.value, join($0.key)) }
        }

        /// One of these members is wanted and none was found: `finish` says so, unless it finds one of them misspelt.
        func missing(_ names: String..., message: String) { missing(names, message: message) }
        func missing(_ names: [String], message: String) { lacking.append((names, message)) }

        /// Reports what nobody asked for, and what is missing.
        func finish() {
            var meant: Set<String> = []
            let known = asked.sorted().joined(separator: ", ")
            for (index, member) in rest.enumerated() {
                if index < ProfileContext.maximumErrors { meant.formUnion(DataModel.suggestions(for: member.key, among: asked)) }
                context.report(
                    member.node, path,
                    "there is no '\(member.key)' here\(DataModel.didYouMean(member.key, among: asked)); known are \(known)")
            }
            for (names, message) in lacking where meant.isDisjoint(with: names) { context.report(node, path, message) }
        }

        private func join(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
    }

    func mapping(_ node: YAMLNode, _ path: String) -> Mapping? { Mapping(node, path, self) }

    func sequence(_ node: YAMLNode, _ path: String) -> [(node: YAMLNode, path: String)]? {
        guard case .sequence(let items) = node.content else {
            report(node, path, "a list is expected, and this is \(node.kind)")
            return nil
        }
        return items.enumerated().map { ($1, "\(path)[\($0)]") }
    }

    func text(_ found: (node: YAMLNode, path: String)?, maximumBytes: Int? = nil) -> String? {
        guard let found else { return nil }
        guard case .scalar(let text, _) = found.node.content else {
            report(found.node, found.path, "a text is expected, and this is \(found.node.kind)")
            return nil
        }
        if let maximumBytes, text.utf8.count > maximumBytes {
            report(found.node, found.path, "'\(text)' has \(text.utf8.count) bytes; at most \(maximumBytes) are allowed")
            return nil
        }
        return text
    }

    /// A name that people can see and type: some characters, none of which commands a terminal.
    func name(_ found: (node: YAMLNode, path: String)?, maximumBytes: Int? = nil) -> String? {
        guard let found, let name = text(found, maximumBytes: maximumBytes) else { return nil }
        guard name.isVisibleName else {
            report(found.node, found.path, name.isEmpty ? "the name is empty" : "the name has a control character")
            return nil
        }
        guard name != JournalEntry.everyDevice else {
            report(found.node, found.path, "'\(name)' stands for every device: another name is expected")
            return nil
        }
        return name
    }

    /// A whole number, decimal or `0x…`.
    func number<Number: FixedWidthInteger>(
        _ found: (node: YAMLNode, path: String)?, in range: ClosedRange<Number>, _ what: String
    ) -> Number? {
        guard let found, let text = text(found) else { return nil }
        let digits = text.replacing("_", with: "")
        let parsed = digits.hasPrefix("0x") ? Number(digits.dropFirst(2), radix: 16) : Number(digits)
        guard let parsed, range.contains(parsed) else {
            report(
                found.node, found.path,
                "'\(text)' is not \(what): a whole number from \(range.lowerBound) to \(range.upperBound) is expected")
            return nil
        }
        return parsed
    }
}
