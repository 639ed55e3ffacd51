extension Constraint {
    /// The names of attributes, fields and items that the constraint refers to, its entries' included.
    public var names: Set<String> {
        var names = entry?.names ?? []
        for alternative in requirements.joined() {
            switch alternative {
            case .described: break
            case .entry(let list): names.insert(list)
            case .range(let minimum, let maximum):
                for case .name(let name, _)? in [minimum, maximum] { names.insert(name) }
            }
        }
        return names
    }

    /// What the constraint allows, for people: `MinLevel = 10 to MaxLevel = 254`, `at most 100`. Empty when that is anything.
    /// - Parameters:
    ///   - decimals: of the type's unit, and `resolve`: the value of a name, both as in `check`.
    ///   - format: a value as people read it.
    public func words(decimals: Int = 0, resolve: (String) -> Int64?, format: (Int64) -> String) -> String {
        let parts = requirements.compactMap { alternatives -> String? in
            var texts: [String] = []
            for alternative in alternatives {
                // Where one alternative takes anything, nothing is demanded.
                guard let text = alternative.words(decimals, resolve, format) else { return nil }
                texts.append(text)
            }
            return texts.joined(separator: " or ")
        }
        return parts.joined(separator: ", and ")
    }
}

extension Constraint.Alternative {
    fileprivate func words(_ decimals: Int, _ resolve: (String) -> Int64?, _ format: (Int64) -> String) -> String? {
        switch self {
        case .described: return nil
        case .entry(let list): return "an entry of \(list)"
        case .range(let minimum, let maximum):
            let low = minimum?.words(decimals, resolve, format)
            let high = maximum?.words(decimals, resolve, format)
            switch (low, high) {
            case (let low?, let high?): return low == high ? low : "\(low) to \(high)"
            case (let low?, nil): return "at least \(low)"
            case (nil, let high?): return "at most \(high)"
            case (nil, nil): return nil
            }
        }
    }
}

extension Constraint.Bound {
    /// Nil when nobody knows the name.
    fileprivate func words(_ decimals: Int, _ resolve: (String) -> Int64?, _ format: (Int64) -> String) -> String? {
        guard let value = value(decimals, resolve) else { return nil }
        guard case .name(let name, let plus) = self else { return format(value) }
        let sum = plus == 0 ? "" : plus > 0 ? " + \(plus)" : " - \(plus.magnitude)"
        return "\(name)\(sum) = \(format(value))"
    }
}
