import SignalboxJSON

extension Pattern {
    /// A path in the event, and what one way of a pattern requires there. It may require both a value and fields below
    /// it, because an array in the event can hold both.
    struct Node: Sendable, Hashable {
        /// One of these must match a value here; empty when no value is required.
        private(set) var conditions: [Condition] = []
        /// All of these must hold for one object here: for one element, if there is an array.
        private(set) var tests: [Test] = []
        /// Paths below this one that have no value, checked where the value of ``conditions`` was found.
        private(set) var absences: [[[UInt8]]] = []

        enum Test: Sendable, Hashable {
            case member([UInt8], Node)
            /// Under these keys there is no value.
            case absence([[UInt8]])
        }

        /// Whether the node requires both a value and something below it.
        var isMixed: Bool { !conditions.isEmpty && !(tests.isEmpty && absences.isEmpty) }
    }
}

extension Pattern.Node {
    /// The place at which `exists: false` is checked: this many keys from the root, in the element that contains another
    /// field.
    private struct Binding {
        var depth = 0
        /// The other field is a value on the path itself, not a sibling field.
        var isByValue = false
    }

    private struct Entry {
        let field: Pattern.Field
        let binding: Binding

        /// Whether its test belongs to the node at this depth rather than to a deeper one.
        func ends(at depth: Int) -> Bool {
            field.path.count == depth || field.isAbsence && binding.depth == depth
        }
    }

    /// The tree of the fields of one way.
    ///
    /// `exists: false` is judged in the element of an array that earlier fields have settled on, else over all elements.
    /// Earlier are fields whose path, with dots between the keys, comes first in the order of UTF-16, in which Ruler
    /// goes through them (`GenericMachine.addPatternRule`, `NameState.getNameTransitions`).
    init(of fields: [Pattern.Field]) {
        guard fields.contains(where: \.isAbsence) else {
            self.init(fields.map { Entry(field: $0, binding: Binding()) }, below: 0)
            return
        }
        let sorted = fields.indices.map { (place: $0, name: Self.name(fields[$0].path)) }.sorted {
            $0.name.lexicographicallyPrecedes($1.name)
        }
        var settled: [[[UInt8]]] = []
        var bindings = [Binding](repeating: Binding(), count: fields.count)
        for (place, _) in sorted {
            if fields[place].isAbsence {
                bindings[place] = Self.binding(of: fields[place].path, to: settled)
            } else {
                settled.append(fields[place].path)
            }
        }
        self.init(zip(fields, bindings).map { Entry(field: $0, binding: $1) }, below: 0)
    }

    private static func name(_ path: [[UInt8]]) -> [UInt16] {
        Array(path.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".").utf16)
    }

    /// The deepest binding. At equal depth a sibling field decides, because it binds the whole element.
    private static func binding(of path: [[UInt8]], to settled: [[[UInt8]]]) -> Binding {
        var deepest = Binding()
        for other in settled {
            let common = zip(other, path).prefix { $0 == $1 }.count
            let isByValue = common == other.count
            guard common > deepest.depth || common == deepest.depth && !isByValue else { continue }
            deepest = Binding(depth: common, isByValue: isByValue)
        }
        return deepest
    }

    /// `depth`: how many keys of these fields' paths led here, the same ones for all.
    private init(_ entries: [Entry], below depth: Int) {
        var order: [[UInt8]] = []
        var groups: [[UInt8]: [Entry]] = [:]
        for entry in entries {
            guard !entry.ends(at: depth) else {
                add(entry, at: depth)
                continue
            }
            let key = entry.field.path[depth]
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append(entry)
        }
        tests += order.map { .member($0, Self(groups[$0] ?? [], below: depth + 1)) }
    }

    private mutating func add(_ entry: Entry, at depth: Int) {
        guard entry.field.isAbsence else {
            conditions = entry.field.conditions
            return
        }
        let path = Array(entry.field.path[depth...])
        if entry.binding.isByValue { absences.append(path) } else { tests.append(.absence(path)) }
    }
}
