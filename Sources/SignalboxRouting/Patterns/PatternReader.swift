import SignalboxConfig
import SignalboxJSON

/// Bounds on patterns. Ruler has only the bound ``ways`` (`GenericMachine.MAXIMUM_RULE_SIZE`).
enum PatternBounds {
    /// Ways after the `$or`s are multiplied out, as in Ruler.
    static let ways = 1_000
    /// Fields of one way.
    static let fields = 256
    /// Entries of all arrays, including those within `anything-but`.
    static let conditions = 10_000
    /// The same, summed over all ways.
    static let conditionsOnAllWays = 100_000
    /// Bytes of a field's name, and of a compared text.
    static let (keyBytes, textBytes) = (1_024, 8_192)
    /// Texts in an `anything-but` that excludes more than equal values.
    static let exclusions = 256
}

/// Totals over all patterns of a config.
struct PatternTotals {
    /// Fields and entries, and bytes of names and texts, each summed over all ways.
    static let (mostEntries, mostBytes) = (1_000_000, 32 << 20)
    /// Bytes of all wildcards: the search for their texts takes some dozens of bytes of memory for each.
    static let mostWildcardBytes = 1 << 20

    var entries = 0
    var bytes = 0
    var wildcardBytes = 0
}

/// Reads the fields and the `$or`s of patterns. What stands in arrays is read in `PatternReader+Conditions.swift`.
struct PatternReader {
    /// Records what is wrong.
    var reader: ConfigReader
    /// Totals over the patterns read so far.
    var totals = PatternTotals()

    init(_ reader: ConfigReader) { self.reader = reader }

    mutating func note(_ value: JSONValue, _ message: @autoclosure () -> String) { reader.note(value, message()) }

    /// A field of a pattern and where it was read.
    private struct ReadField {
        let field: Pattern.Field
        let place: JSONValue
        /// Bytes of names and texts.
        let bytes: Int
    }

    private typealias ReadWay = [ReadField]

    /// A pattern while it is read.
    private struct Draft {
        var conditions = 0
        /// `$or`s by what they are.
        var operators: [JSONValue] = []
        var fields: [JSONValue] = []
        /// A bound was exceeded and reported: reading stops.
        var isTooLarge = false
    }

    /// Reads a pattern. A pattern with errors becomes ``Pattern/everything``, because its config is not used.
    mutating func pattern(_ value: JSONValue) -> Pattern {
        guard value.isObject else {
            note(
                value,
                "a pattern must be an object, such as {\"data\": {\"vendor\": [\"braze\"]}}; {} matches everything")
            return .everything
        }
        guard !value.isEmptyContainer else { return .everything }
        var draft = Draft()
        let errorsBefore = reader.diagnostics.errorCount
        let ways = self.ways(of: value, at: [], inOr: false, &draft)
        if !draft.operators.isEmpty {
            // Ruler takes the whole pattern one way or the other.
            for place in draft.fields {
                note(place, "a pattern that uses \"$or\" as an operator can have no field of this name")
            }
        }
        guard !draft.isTooLarge, reader.diagnostics.errorCount == errorsBefore, isWithinBounds(ways, value),
            isWithinTotals(ways, value),
            ways.allSatisfy({ isConsistent($0) })
        else { return .everything }
        return Pattern(alternatives: ways.map { way in Pattern.Alternative(way.map(\.field)) })
    }

    private mutating func isWithinBounds(_ ways: [ReadWay], _ value: JSONValue) -> Bool {
        let conditions = ways.reduce(0) { $0 + $1.reduce(0) { $0 + max($1.field.conditions.count, 1) } }
        guard conditions > PatternBounds.conditionsOnAllWays else { return true }
        note(
            value,
            "multiplied out, the \"$or\"s of this pattern have more than \(PatternBounds.conditionsOnAllWays) entries; split the route in two"
        )
        return false
    }

    private mutating func isWithinTotals(_ ways: [ReadWay], _ value: JSONValue) -> Bool {
        for way in ways {
            totals.entries += way.reduce(1) { $0 + 1 + $1.field.conditions.count }
            totals.bytes += way.reduce(0) { $0 + $1.bytes }
        }
        guard totals.entries <= PatternTotals.mostEntries, totals.bytes <= PatternTotals.mostBytes else {
            note(
                value,
                "with this, the patterns of the config have more than \(PatternTotals.mostEntries) entries or "
                    + "\(PatternTotals.mostBytes >> 20) MiB of text, with \"$or\" multiplied out; make them smaller")
            return false
        }
        return true
    }

    /// Checks that no way has a path twice. Ruler uses the last of two fields unless it is told not to
    /// (`isRuleOverriding`); a repeated path is more often a slip than intended.
    private mutating func isConsistent(_ way: ReadWay) -> Bool {
        var seen: Set<[[UInt8]]> = []
        for entry in way where !seen.insert(entry.field.path).inserted {
            note(entry.place, "this field is asked for twice on one way through \"$or\"; ask for it in one place")
            return false
        }
        return true
    }

    // MARK: Fields

    private mutating func ways(
        of object: JSONValue, at path: [[UInt8]], inOr: Bool, _ draft: inout Draft
    ) -> [ReadWay] {
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
                if key.count > PatternBounds.keyBytes {
                    stop(&draft, at: value, "a name has more than \(PatternBounds.keyBytes) bytes; no event has it")
                }
                more = field(value, named: name, at: path + [Array(key)], inOr: inOr, &draft)
            }
            multiply(&ways, by: more, &draft, at: value)
            guard !draft.isTooLarge else { return [[]] }
        }
        return ways
    }

    private mutating func field(
        _ value: JSONValue, named name: String, at path: [[UInt8]], inOr: Bool, _ draft: inout Draft
    ) -> [ReadWay] {
        guard !draft.isTooLarge else { return [[]] }
        if value.isObject, !value.isEmptyContainer { return ways(of: value, at: path, inOr: inOr, &draft) }
        guard value.isArray, !value.isEmptyContainer else {
            let hint = Pattern.comparisons.contains(name) ? "; a comparison stands in an array: [{\"\(name)\": …}]" : ""
            note(
                value,
                "a field of a pattern must be an array of what it may be, or an object; neither may be empty" + hint)
            return [[]]
        }
        var conditions: [Pattern.Condition] = []
        var hasAbsence = false
        var bytes = path.reduce(0) { $0 + 8 + $1.count }
        for element in value.elements {
            let size = EntrySize(of: element)
            draft.conditions += size.entries
            bytes += size.bytes
            guard isWithinBounds(size, element, &draft) else { return [[]] }
            switch entry(element) {
            case .condition(let condition): conditions.append(condition)
            case .absence: hasAbsence = true
            case .mistake: break
            }
        }
        var ways: [ReadWay] = []
        if !conditions.isEmpty {
            ways.append([ReadField(field: .init(path: path, conditions: conditions), place: value, bytes: bytes)])
        }
        if hasAbsence {
            ways.append([ReadField(field: .init(path: path, conditions: []), place: value, bytes: bytes)])
        }
        return ways.isEmpty ? [[]] : ways
    }

    private mutating func isWithinBounds(_ size: EntrySize, _ element: JSONValue, _ draft: inout Draft) -> Bool {
        if draft.conditions > PatternBounds.conditions {
            stop(
                &draft, at: element,
                "a pattern can have at most \(PatternBounds.conditions) entries in its arrays; split the route in two")
        } else if size.longestText > PatternBounds.textBytes {
            stop(&draft, at: element, "a text here has more than \(PatternBounds.textBytes) bytes; shorten it")
        }
        return !draft.isTooLarge
    }

    private mutating func multiply(
        _ left: inout [ReadWay], by right: [ReadWay], _ draft: inout Draft, at place: JSONValue
    ) {
        guard !draft.isTooLarge else { return }
        guard left.count * right.count <= PatternBounds.ways else {
            tooManyWays(&draft, at: place)
            return
        }
        let longest = (left.map(\.count).max() ?? 0) + (right.map(\.count).max() ?? 0)
        guard longest <= PatternBounds.fields else {
            stop(
                &draft, at: place,
                "a pattern can ask for at most \(PatternBounds.fields) fields at once, and this is one more; split the route in two"
            )
            return
        }
        if right.count == 1 {
            for number in left.indices { left[number] += right[0] }
        } else {
            left = left.flatMap { left in right.map { left + $0 } }
        }
    }

    private mutating func tooManyWays(_ draft: inout Draft, at place: JSONValue) {
        stop(
            &draft, at: place,
            "with this the ways through \"$or\" and \"exists\": false multiply to more than \(PatternBounds.ways); split the route in two"
        )
    }

    private mutating func stop(_ draft: inout Draft, at place: JSONValue, _ message: String) {
        if !draft.isTooLarge { note(place, message) }
        draft.isTooLarge = true
    }

    // MARK: $or

    /// Ruler takes `$or` for a field where it cannot be the operator. Here it is the operator if it is an array of objects
    /// that are not all comparisons, so that a slip in one of them is told.
    private static func isOperator(_ value: JSONValue) -> Bool {
        guard value.isArray, !value.isEmptyContainer, value.elements.allSatisfy(\.isObject) else { return false }
        return !value.elements.allSatisfy { object in
            var members = object.members.makeIterator()
            guard let (key, _) = members.next(), members.next() == nil else { return false }
            return Pattern.comparisons.contains(String(decoding: key, as: UTF8.self))
        }
    }

    private mutating func alternatives(_ value: JSONValue, at path: [[UInt8]], _ draft: inout Draft) -> [ReadWay] {
        var ways: [ReadWay] = []
        var count = 0
        for object in value.elements {
            count += 1
            if object.isEmptyContainer { note(object, "an object within \"$or\" must have at least one field") }
            ways += self.ways(of: object, at: path, inOr: true, &draft)
            if ways.count > PatternBounds.ways { tooManyWays(&draft, at: object) }
            if draft.isTooLarge { return [[]] }
        }
        if count < 2 { note(value, "\"$or\" needs at least two objects, of which one must match") }
        return ways
    }

    /// Words that cannot be fields within `$or` (Ruler's `RESERVED_FIELD_NAMES_IN_OR_RELATIONSHIP`).
    private static let reservedInOr: Set<String> = Set(Pattern.comparisons).union([
        "=", "<", "<=", ">", ">=", "regex", "not-wildcard", "not-equals-ignore-case", "date-after", "date-on-or-after",
        "date-before", "date-on-or-before", "in-date-range", "ip-address-in-range", "ip-address-not-in-range",
    ])
}
