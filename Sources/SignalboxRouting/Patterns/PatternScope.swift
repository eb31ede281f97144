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
                isCovered = covers(other.root, way.root, without: [])
                if isCovered { break }
            }
            guard isCovered else { return false }
        }
        return true
    }

    /// Whether an element that is as `narrow` asks is as `wide` asks too. `absent`: paths of which it is known besides that
    /// there is no value under them, in the element.
    private mutating func covers(
        _ wide: Pattern.Node, _ narrow: Pattern.Node, without absent: [ArraySlice<[UInt8]>]
    ) -> Bool {
        switch (wide, narrow) {
        case (.value(let allowed), .value(let conditions)):
            left -= allowed.count + conditions.count
            guard left > 0 else { return false }
            return allowed.contains(.exists) || Set(allowed).isSuperset(of: conditions)
        case (.object(let wanted), .object(let tests)):
            left -= wanted.count + tests.count
            let absent =
                absent
                + tests.compactMap { test in
                    if case .absence(let path) = test { path[...] } else { nil }
                }
            for test in wanted {
                guard left > 0, covers(test, tests, without: absent) else { return false }
            }
            return true
        case (.value, .object), (.object, .value): return false
        }
    }

    /// Whether one of the things that are asked of an element follows from all that `tests` ask of it.
    private mutating func covers(
        _ wanted: Pattern.Node.Test, _ tests: [Pattern.Node.Test], without absent: [ArraySlice<[UInt8]>]
    ) -> Bool {
        switch wanted {
        case .absence(let path):
            // What is nowhere in an object is in no element of it; the other way round proves nothing.
            return absent.contains { $0.elementsEqual(path) }
        case .member(let key, let node):
            for case .member(key, let other) in tests {
                let within = absent.filter { $0.count > 1 && $0.first == key }.map { $0.dropFirst() }
                if covers(node, other, without: within) { return true }
            }
            return false
        }
    }
}
