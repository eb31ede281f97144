extension Pattern {
    /// A place in the event, and what is asked of what stands there.
    enum Node: Sendable, Hashable {
        /// One of these must match a value here.
        case value([Condition])
        /// All of these must hold of one object here: of one element, where there is an array.
        case object([Test])

        enum Test: Sendable, Hashable {
            case member([UInt8], Node)
            /// Under these keys there is no value.
            case absence([[UInt8]])
        }
    }
}

extension Pattern.Node {
    /// The tree of the fields of one way.
    ///
    /// `exists: false` is judged in the element of an array that earlier fields have settled on, else over all elements.
    /// Earlier are fields whose path, with dots between the keys, comes first in the order of UTF-16, in which Ruler
    /// goes through them (`GenericMachine.addPatternRule`, `NameState.getNameTransitions`).
    init(of fields: [Pattern.Field]) {
        let sorted = fields.map { (field: $0, name: Self.name($0.path)) }.sorted {
            $0.name.lexicographicallyPrecedes($1.name)
        }
        var settled: [ArraySlice<[UInt8]>] = []
        var depths: [[[UInt8]]: Int] = [:]
        for (field, _) in sorted {
            if field.isAbsence {
                depths[field.path] = settled.map { Self.common($0, field.path[...]) }.max() ?? 0
            } else {
                settled.append(field.path[...])
            }
        }
        self = .object(Self.tests(fields.map { ($0, depths[$0.path] ?? 0) }, below: 0))
    }

    private static func name(_ path: [[UInt8]]) -> [UInt16] {
        Array(path.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".").utf16)
    }

    private static func common(_ left: ArraySlice<[UInt8]>, _ right: ArraySlice<[UInt8]>) -> Int {
        zip(left, right).prefix { $0 == $1 }.count
    }

    /// `depth`: how many keys of these fields' paths led here, the same ones for all.
    private static func tests(_ fields: [(field: Pattern.Field, settled: Int)], below depth: Int) -> [Test] {
        var tests: [Test] = []
        var done: Set<[UInt8]> = []
        for (field, settled) in fields {
            if field.isAbsence, settled == depth {
                tests.append(.absence(Array(field.path[depth...])))
                continue
            }
            let key = field.path[depth]
            guard done.insert(key).inserted else { continue }
            let within = fields.filter { $0.field.path[depth] == key && !($0.field.isAbsence && $0.settled == depth) }
            let isValue = !field.isAbsence && field.path.count == depth + 1
            let node = isValue ? Self.value(field.conditions) : .object(Self.tests(within, below: depth + 1))
            tests.append(.member(key, node))
        }
        return tests
    }
}
