import SignalboxConfig
import SignalboxJSON

/// Reads patterns from the JSON of a config. This file reads fields and `$or`; `PatternReader+Conditions.swift` reads
/// the arrays of fields. Mistakes are recorded with their location. The reader continues after a mistake, so one run
/// reports all of them.
struct PatternReader {
    /// Collects the mistakes.
    var reader: ConfigReader
    /// Totals over the patterns read so far.
    var totals = Totals()

    /// `reader`: has the parsed JSON and its location in the config.
    init(_ reader: ConfigReader) { self.reader = reader }

    /// Bounds on one pattern. Ruler has only the bound ``alternatives`` (`GenericMachine.MAXIMUM_RULE_SIZE`). A
    /// pattern beyond one of them is rejected with an error at the field that exceeds it.
    enum Bounds {
        /// Alternatives after the `$or`s are multiplied out, as in Ruler.
        static let alternatives = 1_000
        /// Fields of one alternative.
        static let fields = 256
        /// Entries of all arrays, including those within `anything-but`.
        static let entries = 10_000
        /// The same, summed over all alternatives.
        static let entriesOfAlternatives = 100_000
        /// Bytes of a field's name, and of a compared string.
        static let (keyBytes, stringBytes) = (1_024, 8_192)
        /// Strings in an `anything-but` that excludes more than equal values.
        static let exclusions = 256
    }

    /// Totals over all patterns of a config, and their bounds. Without them, many valid patterns together could
    /// exhaust the memory.
    struct Totals {
        /// Fields and entries, and bytes of names and strings, each summed over all alternatives.
        static let (mostEntries, mostBytes) = (1_000_000, 32 << 20)
        /// The most bytes of all wildcards: each byte takes some dozens of bytes of memory in the index.
        static let mostWildcardBytes = 1 << 20

        /// Conditions and fields so far, multiplied out.
        var entries = 0
        var bytes = 0
        var wildcardBytes = 0
    }

    /// A field of a pattern with its value in the config.
    private struct ReadField {
        let field: Pattern.Field
        /// The location of mistakes about this field.
        let value: JSONValue
        /// Bytes that count for ``Totals/mostBytes``: names and strings, with the overhead of each key.
        let bytes: Int
    }

    /// The fields of one alternative, in the order of the text.
    private typealias Alternative = [ReadField]

    /// A pattern while it is read.
    private struct Draft {
        /// Entries of all arrays so far, which ``Bounds/entries`` limits.
        var entries = 0
        /// Whether a `$or` is an operator, and the `$or`s that are fields.
        var hasOperator = false
        var orFields: [JSONValue] = []
        /// A bound was exceeded and reported: reading stops.
        var isTooLarge = false
    }

    /// Records a mistake at a value.
    mutating func note(_ value: JSONValue, _ message: @autoclosure () -> String) { reader.note(value, message()) }

    /// Reads a pattern. A pattern with mistakes becomes ``Pattern/everything``, because its config is not used. Stops
    /// at the first exceeded bound, because the work would grow with the product of the `$or`s. Adds the pattern to
    /// ``totals``, so the caller passes the same totals from pattern to pattern.
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
        let alternatives = self.alternatives(of: value, at: [], inOr: false, &draft)
        if draft.hasOperator {
            // Ruler reads `$or` either as an operator or as a field in all of a pattern.
            for field in draft.orFields {
                note(field, "a pattern that uses \"$or\" as an operator can have no field of this name")
            }
        }
        guard !draft.isTooLarge, reader.diagnostics.errorCount == errorsBefore, isWithinTotals(alternatives, value),
            alternatives.allSatisfy({ isConsistent($0) })
        else { return .everything }
        return Pattern(alternatives: alternatives.map { Pattern.Alternative($0.map(\.field)) })
    }

    /// Checks the size of the multiplied-out pattern, and adds it to the totals of the config. A pattern that exceeds
    /// the totals is reported once and not used.
    private mutating func isWithinTotals(_ alternatives: [Alternative], _ value: JSONValue) -> Bool {
        let fields = alternatives.joined()
        guard fields.reduce(0, { $0 + max($1.field.conditions.count, 1) }) <= Bounds.entriesOfAlternatives else {
            note(
                value,
                "multiplied out, the \"$or\"s of this pattern have more than \(Bounds.entriesOfAlternatives) entries; split the route in two"
            )
            return false
        }
        totals.entries += fields.reduce(alternatives.count) { $0 + 1 + $1.field.conditions.count }
        totals.bytes += fields.reduce(0) { $0 + $1.bytes }
        guard totals.entries <= Totals.mostEntries, totals.bytes <= Totals.mostBytes else {
            note(
                value,
                "with this, the patterns of the config have more than \(Totals.mostEntries) entries or "
                    + "\(Totals.mostBytes >> 20) MiB of text, with \"$or\" multiplied out; make them smaller")
            return false
        }
        return true
    }

    /// Checks that an alternative names each path once. Ruler uses the last of two fields by default
    /// (`isRuleOverriding`), but a repeated path is more often a mistake.
    private mutating func isConsistent(_ alternative: Alternative) -> Bool {
        var seen: Set<[[UInt8]]> = []
        for entry in alternative where !seen.insert(entry.field.path).inserted {
            note(entry.value, "one alternative of \"$or\" has this field twice; write it in one place")
            return false
        }
        return true
    }

    // MARK: Fields

    /// Reads an object: the alternatives of all fields, multiplied. `inOr`: below an operator `$or`. The product is
    /// bounded after every field, so it never grows far beyond ``Bounds/alternatives``.
    private mutating func alternatives(
        of object: JSONValue, at path: [[UInt8]], inOr: Bool, _ draft: inout Draft
    ) -> [Alternative] {
        var alternatives: [Alternative] = [[]]
        for (key, value) in object.members {
            let name = String(decoding: key, as: UTF8.self)
            let more: [Alternative]
            if name == "$or", Self.isOperator(value) {
                draft.hasOperator = true
                more = operands(value, at: path, &draft)
            } else {
                if name == "$or" { draft.orFields.append(value) }
                if inOr, Self.reservedInOr.contains(name) {
                    note(value, "\"\(name)\" is a keyword of patterns, so it cannot be a field within \"$or\"")
                }
                if key.count > Bounds.keyBytes {
                    stop(&draft, at: value, "a name has more than \(Bounds.keyBytes) bytes; no event has it")
                }
                more = field(value, named: name, at: path + [Array(key)], inOr: inOr, &draft)
            }
            multiply(&alternatives, by: more, &draft, at: value)
            guard !draft.isTooLarge else { return [[]] }
        }
        return alternatives
    }

    /// Reads the value of a field: an object of fields, or an array of entries. The path includes the field's own
    /// name.
    private mutating func field(
        _ value: JSONValue, named name: String, at path: [[UInt8]], inOr: Bool, _ draft: inout Draft
    ) -> [Alternative] {
        guard !draft.isTooLarge else { return [[]] }
        if value.isObject, !value.isEmptyContainer { return alternatives(of: value, at: path, inOr: inOr, &draft) }
        guard value.isArray, !value.isEmptyContainer else {
            let hint = Pattern.comparisons.contains(name) ? "; write a comparison in an array: [{\"\(name)\": …}]" : ""
            note(
                value,
                "a field of a pattern must be an array of values and comparisons, or an object; neither may be empty"
                    + hint)
            return [[]]
        }
        var conditions: [Pattern.Condition] = []
        var hasAbsence = false
        var bytes = path.reduce(0) { $0 + 8 + $1.count }
        for element in value.elements {
            let size = EntrySize(of: element)
            draft.entries += size.entries
            bytes += size.bytes
            guard isWithinBounds(size, element, &draft) else { return [[]] }
            if Self.isAbsence(element) {
                hasAbsence = true
            } else if let condition = condition(element) {
                conditions.append(condition)
            }
        }
        // An alternative with a value, and one without.
        let variants = (conditions.isEmpty ? [] : [conditions]) + (hasAbsence ? [[]] : [])
        guard !variants.isEmpty else { return [[]] }
        return variants.map {
            [ReadField(field: Pattern.Field(path: path, conditions: $0), value: value, bytes: bytes)]
        }
    }

    /// Checks the number of entries so far, and the strings of this entry. Reports the first bound that the entry
    /// exceeds, and stops the pattern.
    private mutating func isWithinBounds(_ size: EntrySize, _ element: JSONValue, _ draft: inout Draft) -> Bool {
        if draft.entries > Bounds.entries {
            stop(
                &draft, at: element,
                "a pattern can have at most \(Bounds.entries) entries in its arrays; split the route in two")
        } else if size.longestString > Bounds.stringBytes {
            stop(&draft, at: element, "a text here has more than \(Bounds.stringBytes) bytes; shorten it")
        }
        return !draft.isTooLarge
    }

    /// Every combination of an alternative on the left with one on the right. An alternative on the right with one
    /// entry is appended in place. Leaves `left` unchanged when a bound is exceeded.
    private mutating func multiply(
        _ left: inout [Alternative], by right: [Alternative], _ draft: inout Draft, at value: JSONValue
    ) {
        guard !draft.isTooLarge, isWithinBounds(left.count * right.count, &draft, at: value) else { return }
        let longest = (left.map(\.count).max() ?? 0) + (right.map(\.count).max() ?? 0)
        guard longest <= Bounds.fields else {
            stop(
                &draft, at: value,
                "a pattern can ask for at most \(Bounds.fields) fields at once, and this is one more; split the route in two"
            )
            return
        }
        if right.count == 1 {
            for position in left.indices { left[position] += right[0] }
        } else {
            left = left.flatMap { left in right.map { left + $0 } }
        }
    }

    /// Checks the number of multiplied-out alternatives.
    private mutating func isWithinBounds(_ alternatives: Int, _ draft: inout Draft, at value: JSONValue) -> Bool {
        guard alternatives > Bounds.alternatives else { return true }
        stop(
            &draft, at: value,
            "with this, \"$or\" and \"exists\": false have more combinations than \(Bounds.alternatives); split the "
                + "route in two"
        )
        return false
    }

    /// Reports the first exceeded bound, and ends the reading of this pattern. Later bounds of the same pattern stay
    /// silent.
    private mutating func stop(_ draft: inout Draft, at value: JSONValue, _ message: String) {
        if !draft.isTooLarge { note(value, message) }
        draft.isTooLarge = true
    }

    // MARK: $or

    /// Ruler reads `$or` as a field if it cannot be the operator. Here it is the operator if it is an array of
    /// objects that are not all comparisons, so that a mistake in one of them is reported. An array of comparisons
    /// only is a field that is named `$or`.
    private static func isOperator(_ value: JSONValue) -> Bool {
        guard value.isArray, !value.isEmptyContainer, value.elements.allSatisfy(\.isObject) else { return false }
        return !value.elements.allSatisfy { Pattern.comparisons.contains(onlyMember(of: $0)?.name ?? "") }
    }

    /// Reads the array of a `$or`: the alternatives of all its objects. Fewer than two objects are a mistake.
    private mutating func operands(_ value: JSONValue, at path: [[UInt8]], _ draft: inout Draft) -> [Alternative] {
        var alternatives: [Alternative] = []
        var count = 0
        for object in value.elements {
            count += 1
            if object.isEmptyContainer { note(object, "an object within \"$or\" must have at least one field") }
            alternatives += self.alternatives(of: object, at: path, inOr: true, &draft)
            guard isWithinBounds(alternatives.count, &draft, at: object), !draft.isTooLarge else { return [[]] }
        }
        if count < 2 { note(value, "\"$or\" needs at least two objects, of which one must match") }
        return alternatives
    }

    /// Words that cannot be fields within `$or` (Ruler's `RESERVED_FIELD_NAMES_IN_OR_RELATIONSHIP`).
    private static let reservedInOr: Set<String> = Set(Pattern.comparisons).union([
        "=", "<", "<=", ">", ">=", "regex", "not-wildcard", "not-equals-ignore-case", "date-after", "date-on-or-after",
        "date-before", "date-on-or-before", "in-date-range", "ip-address-in-range", "ip-address-not-in-range",
    ])
}
