import SignalboxJSON

/// What patterns are made of, as far as fields and `$or` go. What stands in arrays is read in
/// `ConfigReader+Conditions.swift`.
extension ConfigReader {
    /// How large a pattern may be. Ruler knows the second only (`GenericMachine.MAXIMUM_RULE_SIZE`).
    enum PatternBounds {
        /// Ways that the `$or`s make when they are multiplied out, as Ruler does.
        static let ways = 1_000
        /// Fields on one way.
        static let fields = 256
        /// Entries of all arrays.
        static let conditions = 10_000
        /// The same, counted on every way.
        static let conditionsOnAllWays = 100_000
    }

    /// A field of a pattern and where it was read.
    private struct ReadField {
        let field: Pattern.Field
        let place: JSONValue
    }

    private typealias ReadWay = [ReadField]

    /// A pattern while it is read.
    private struct Draft {
        var conditions = 0
        /// `$or`s by what they are.
        var operators: [JSONValue] = []
        var fields: [JSONValue] = []
        /// Where there were too many ways.
        var overflow: JSONValue?
    }

    mutating func pattern(_ value: JSONValue) -> Pattern {
        guard value.isObject else {
            note(
                value,
                "a pattern must be an object, such as {\"data\": {\"vendor\": [\"braze\"]}}; {} matches everything")
            return .everything
        }
        guard !value.isEmptyContainer else { return .everything }
        var draft = Draft()
        let mistakesBefore = findings.count
        let ways = self.ways(of: value, at: [], inOr: false, &draft)
        if !draft.operators.isEmpty {
            // Ruler takes the whole pattern one way or the other.
            for place in draft.fields {
                note(place, "a pattern that uses \"$or\" as an operator can have no field of this name")
            }
        }
        guard draft.overflow == nil, isWithinBounds(ways, draft, value) else { return .everything }
        // What is wrong by itself would be told again for every way.
        if findings.count == mistakesBefore { _ = ways.allSatisfy { isConsistent($0) } }
        return Pattern(ways: ways.map { way in Pattern.Way(way.map(\.field)) })
    }

    private mutating func isWithinBounds(_ ways: [ReadWay], _ draft: Draft, _ value: JSONValue) -> Bool {
        let conditions = ways.reduce(0) { $0 + $1.reduce(0) { $0 + max($1.field.conditions.count, 1) } }
        if let longest = ways.map(\.count).max(), longest > PatternBounds.fields {
            note(value, "a pattern can ask for at most \(PatternBounds.fields) fields at once; this one has \(longest)")
        } else if draft.conditions > PatternBounds.conditions {
            note(
                value,
                "a pattern can have at most \(PatternBounds.conditions) entries in its arrays; split the route in two")
        } else if conditions > PatternBounds.conditionsOnAllWays {
            note(
                value,
                "multiplied out, the \"$or\"s of this pattern have more than \(PatternBounds.conditionsOnAllWays) entries; split the route in two"
            )
        } else {
            return true
        }
        return false
    }

    /// No path twice on one way, and none that leads on from a value. Ruler takes the last of two fields unless it is
    /// told not to (`isRuleOverriding`), which is more often a slip than meant.
    private mutating func isConsistent(_ way: ReadWay) -> Bool {
        var seen: Set<[[UInt8]]> = []
        for entry in way where !seen.insert(entry.field.path).inserted {
            note(entry.place, "this field is asked for twice on one way through \"$or\"; ask for it in one place")
            return false
        }
        for entry in way {
            let path = entry.field.path
            guard path.indices.dropFirst().contains(where: { seen.contains(Array(path[..<$0])) }) else { continue }
            note(
                entry.place,
                "on one way through \"$or\" this field stands within another field, which is asked for a value")
            return false
        }
        return true
    }

    // MARK: Fields

    private mutating func ways(
        of object: JSONValue, at path: [[UInt8]], inOr: Bool, _ draft: inout Draft
    ) -> [ReadWay] {
        for repeated in object.repeats(upTo: 10) { note(repeated, "this field stands here twice; remove one") }
        var ways: [ReadWay] = [[]]
        for (key, value) in object.members {
            let name = String(decoding: key, as: UTF8.self)
            let more: [ReadWay]
            if name == "$or", Self.isOperator(value) {
                draft.operators.append(value)
                more = alternatives(value, at: path, &draft)
            } else {
                if name == "$or" { draft.fields.append(value) }
                if inOr, Self.reservedInOr.contains(name) {
                    note(value, "\"\(name)\" is a word of patterns and can be no field within \"$or\"")
                }
                more = field(value, named: name, at: path + [Array(key)], inOr: inOr, &draft)
            }
            ways = product(ways, more, &draft, at: value)
        }
        return ways
    }

    private mutating func field(
        _ value: JSONValue, named name: String, at path: [[UInt8]], inOr: Bool, _ draft: inout Draft
    ) -> [ReadWay] {
        if value.isObject, !value.isEmptyContainer { return ways(of: value, at: path, inOr: inOr, &draft) }
        guard value.isArray, !value.isEmptyContainer else {
            let hint = Self.comparisons.contains(name) ? "; a comparison stands in an array: [{\"\(name)\": …}]" : ""
            note(
                value,
                "a field of a pattern must be an array of what it may be, or an object; neither may be empty" + hint)
            return [[]]
        }
        let entries = value.elements.map { entry($0) }
        draft.conditions += entries.count
        let conditions = entries.compactMap { if case .condition(let condition) = $0 { condition } else { nil } }
        var ways: [ReadWay] = []
        if !conditions.isEmpty {
            ways.append([ReadField(field: .init(path: path, conditions: conditions), place: value)])
        }
        if entries.contains(.absence) {
            ways.append([ReadField(field: .init(path: path, conditions: []), place: value)])
        }
        return ways.isEmpty ? [[]] : ways
    }

    private mutating func product(
        _ left: [ReadWay], _ right: [ReadWay], _ draft: inout Draft, at place: JSONValue
    ) -> [ReadWay] {
        guard draft.overflow == nil else { return [[]] }
        guard left.count * right.count <= PatternBounds.ways else {
            tooManyWays(&draft, at: place)
            return [[]]
        }
        return left.flatMap { left in right.map { left + $0 } }
    }

    private mutating func tooManyWays(_ draft: inout Draft, at place: JSONValue) {
        draft.overflow = place
        note(
            place,
            "with this the ways through \"$or\" and \"exists\": false multiply to more than \(PatternBounds.ways); split the route in two"
        )
    }

    // MARK: $or

    /// Ruler takes `$or` for a field where it cannot be the operator. Here it is the operator if it is an array of objects
    /// that are not all comparisons, so that a slip in one of them is told.
    private static func isOperator(_ value: JSONValue) -> Bool {
        guard value.isArray, !value.isEmptyContainer, value.elements.allSatisfy(\.isObject) else { return false }
        return !value.elements.allSatisfy { object in
            var members = object.members.makeIterator()
            guard let (key, _) = members.next(), members.next() == nil else { return false }
            return comparisons.contains(String(decoding: key, as: UTF8.self))
        }
    }

    private mutating func alternatives(_ value: JSONValue, at path: [[UInt8]], _ draft: inout Draft) -> [ReadWay] {
        var ways: [ReadWay] = []
        var count = 0
        for object in value.elements {
            count += 1
            if object.isEmptyContainer { note(object, "an object within \"$or\" must have at least one field") }
            ways += self.ways(of: object, at: path, inOr: true, &draft)
            if ways.count > PatternBounds.ways, draft.overflow == nil { tooManyWays(&draft, at: object) }
            if draft.overflow != nil { return [[]] }
        }
        if count < 2 { note(value, "\"$or\" needs at least two objects, of which one must match") }
        return ways
    }

    /// Words that cannot be fields within `$or` (Ruler's `RESERVED_FIELD_NAMES_IN_OR_RELATIONSHIP`).
    private static let reservedInOr: Set<String> = Set(comparisons).union([
        "=", "<", "<=", ">", ">=", "regex", "not-wildcard", "not-equals-ignore-case", "date-after", "date-on-or-after",
        "date-before", "date-on-or-before", "in-date-range", "ip-address-in-range", "ip-address-not-in-range",
    ])
}
