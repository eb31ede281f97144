/// Which patterns provably match all that others match, by what they ask for.
///
/// A structure with a budget: the patterns of a config may be many and have many ways each.
package struct PatternScope {
    /// Places of patterns that are still compared.
    private var left: Int

    /// `budget`: after so many comparisons nothing is proved any more.
    package init(budget: Int = 5_000_000) { left = budget }

    /// True when every event that matches `narrow` matches `wide`, those about the gateway's own doing included, which
    /// match only by ways that name a type. False says nothing.
    package mutating func covers(_ wide: Pattern, _ narrow: Pattern) -> Bool {
        for way in narrow.ways {
            var isCovered = false
            for other in wide.ways where other.namesType || !way.namesType {
                guard left > 0 else { return false }
                isCovered = covers(other.root, way.root, without: [])
                if isCovered { break }
            }
            guard isCovered else { return false }
        }
        return true
    }

    /// True when some event is likely to match both: no field requires two different values, or a value and its
    /// absence. Events with arrays may match both in other cases. False once the budget is used up.
    package mutating func mayOverlap(_ one: Pattern, _ other: Pattern) -> Bool {
        for way in one.ways {
            guard left > 0 else { return false }
            left -= 8 + way.fields.count
            let conditions = Dictionary(way.fields.map { ($0.path, $0.conditions) }) { $1 }
            for otherWay in other.ways where left > 0 {
                left -= 8 + otherWay.fields.count
                if otherWay.fields.allSatisfy({ Self.mayOverlap($0.conditions, conditions[$0.path]) }) { return true }
            }
        }
        return false
    }

    /// `other`: nil when the other pattern does not name the field.
    private static func mayOverlap(_ one: [Pattern.Condition], _ other: [Pattern.Condition]?) -> Bool {
        guard let other else { return true }
        guard !one.isEmpty, !other.isEmpty else { return one.isEmpty == other.isEmpty }
        return !(one + other).allSatisfy(\.isExact) || !Set(one).isDisjoint(with: other)
    }

    /// Whether an element that is as `narrow` asks is as `wide` asks too. `absent`: paths of which it is known besides that
    /// there is no value under them, in the element.
    private mutating func covers(
        _ wide: Pattern.Node, _ narrow: Pattern.Node, without absent: [ArraySlice<[UInt8]>]
    ) -> Bool {
        left -= 1 + wide.conditions.count + narrow.conditions.count + wide.tests.count + narrow.tests.count
        guard left > 0 else { return false }
        // A value and fields below it depend on one another.
        guard !wide.isMixed else { return wide == narrow }
        guard wide.conditions.isEmpty else {
            return !narrow.conditions.isEmpty
                && (wide.conditions.contains(.exists) || Set(wide.conditions).isSuperset(of: narrow.conditions))
        }
        let absent =
            absent
            + narrow.tests.compactMap { test in
                if case .absence(let path) = test { path[...] } else { nil }
            }
        for test in wide.tests {
            guard left > 0, covers(test, narrow.tests, without: absent) else { return false }
        }
        return true
    }

    /// Whether one of the things that are asked of an element follows from all that `tests` ask of it.
    private mutating func covers(
        _ wanted: Pattern.Node.Test, _ tests: [Pattern.Node.Test], without absent: [ArraySlice<[UInt8]>]
    ) -> Bool {
        switch wanted {
        case .absence(let path):
            left -= absent.count
            // What is nowhere in an object is in no element of it; the other way round proves nothing.
            return absent.contains { $0.elementsEqual(path) }
        case .member(let key, let node):
            left -= tests.count
            for case .member(key, let other) in tests {
                let within = absent.filter { $0.count > 1 && $0.first == key }.map { $0.dropFirst() }
                if covers(node, other, without: within) { return true }
            }
            return false
        }
    }
}

extension Pattern.Condition {
    /// Whether the condition allows exactly one value.
    fileprivate var isExact: Bool {
        switch self {
        case .string, .number, .wide, .bool, .null: true
        default: false
        }
    }
}
