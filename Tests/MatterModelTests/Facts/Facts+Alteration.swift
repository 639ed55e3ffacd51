import MatterModel

/// One step into a JSON value.
enum JSONStep: Hashable, Sendable {
    case member(String)
    case entry(Int)
}

extension JSONValue {
    subscript(path: some Collection<JSONStep>) -> JSONValue? {
        path.reduce(self) { value, step in
            switch step {
            case .member(let name): value?[name]
            case .entry(let index): value?[index]
            }
        }
    }

    /// Puts a value there, or takes away what is there.
    mutating func set(_ path: some Collection<JSONStep>, to value: JSONValue?) {
        guard let step = path.first else {
            if let value { self = value }
            return
        }
        let rest = path.dropFirst()
        switch (step, self) {
        case (.member(let name), .object(var members)):
            if rest.isEmpty {
                members[name] = value
            } else if var inner = members[name] {
                inner.set(rest, to: value)
                members[name] = inner
            }
            self = .object(members)
        case (.entry(let index), .array(var entries)) where entries.indices.contains(index):
            if !rest.isEmpty {
                entries[index].set(rest, to: value)
            } else if let value {
                entries[index] = value
            } else {
                entries.remove(at: index)
            }
            self = .array(entries)
        default: break
        }
    }

    /// The steps of a path such as `attributes/Level/constraint/max`: members by name, entries by their name or code.
    func steps(_ path: String) -> [JSONStep]? {
        var (steps, value) = ([JSONStep](), self)
        for word in path.split(separator: "/").map(String.init) {
            let step: JSONStep
            if let entries = value.array {
                guard let index = entries.firstIndex(where: { $0.name == word || $0.text("code") == word }) else { return nil }
                step = .entry(index)
            } else {
                step = .member(word)
            }
            steps.append(step)
            value = value[[step]] ?? .null
        }
        return steps
    }
}

/// What an alteration is made on.
enum FactsPart: Hashable, Sendable {
    case cluster(ClusterID)
    case deviceTypes
    case globalTypes
    case spelling
}

extension Facts {
    subscript(part: FactsPart) -> JSONValue {
        get {
            switch part {
            case .cluster(let id): clusters[id] ?? .null
            case .deviceTypes: .array(deviceTypes)
            case .globalTypes: .array(globalTypes)
            case .spelling: spelling
            }
        }
        set {
            switch part {
            case .cluster(let id): clusters[id] = newValue
            case .deviceTypes: deviceTypes = newValue.array ?? []
            case .globalTypes: globalTypes = newValue.array ?? []
            case .spelling: spelling = newValue
            }
        }
    }
}
