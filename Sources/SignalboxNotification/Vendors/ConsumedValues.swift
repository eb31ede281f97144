import SignalboxJSON

/// The values of a payload that a reading by paths consumed, so that the event keeps the rest. Readers insert values
/// in any order; call ``sort()`` or ``sorted(with:)`` before the first lookup, which takes logarithmic time.
struct ConsumedValues {
    /// Consumed values; sorted by position after ``sort()``.
    private var values: [JSONValue] = []
    /// Texts of the push service's block that the vendor's texts replace.
    private var replaced: [JSONValue] = []

    /// Without a value.
    init() {
        // Enough for most payloads, so that the list does not grow step by step.
        values.reserveCapacity(16)
    }

    /// Records a value as consumed, with all values inside it.
    mutating func insert(_ value: JSONValue) { values.append(value) }

    /// Records several values as consumed.
    mutating func insert(all more: [JSONValue]) { values += more }

    /// Sorts the values, as lookups require.
    mutating func sort() { values.sort { $0.precedes($1) } }

    /// These values and others, sorted.
    func sorted(with others: [JSONValue]) -> ConsumedValues {
        var union = self
        union.values += others
        union.sort()
        return union
    }

    /// Marks a text of the push service's block that the event keeps although its reader consumed it.
    mutating func keepReplaced(_ text: JSONValue) { replaced.append(text) }

    /// True if the event must keep at least one text of the push service's block.
    var hasReplacedTexts: Bool { !replaced.isEmpty }

    /// True for a text that ``keepReplaced(_:)`` marked.
    func isReplaced(_ value: JSONValue) -> Bool { replaced.contains { $0.isSamePlace(as: value) } }

    // MARK: One value

    /// The part of a value that was consumed.
    enum State {
        case consumed, unread
        /// A part of this object or list was consumed.
        case part(JSONValue)
    }

    /// Looks into a string only if a path led into its JSON text.
    private func state(of value: JSONValue, in parser: JSONParser) -> State {
        if let first = firstConsumed(within: value) { return first.isSamePlace(as: value) ? .consumed : .part(value) }
        guard let opened = parser.opened(value), let first = firstConsumed(within: opened) else { return .unread }
        return first.isSamePlace(as: opened) ? .consumed : .part(opened)
    }

    /// Binary search: values are sorted by their position in the document.
    private func firstConsumed(within value: JSONValue) -> JSONValue? {
        var low = 0
        var high = values.count
        while low < high {
            let middle = (low + high) / 2
            if values[middle].precedes(value) { low = middle + 1 } else { high = middle }
        }
        return low < values.count && value.contains(values[low]) ? values[low] : nil
    }

    /// True when the event must keep a part of a value.
    func leavesRest(of value: JSONValue, in parser: JSONParser) -> Bool {
        switch state(of: value, in: parser) {
        case .consumed: false
        case .unread: true
        case .part(let container):
            container.members.contains { leavesRest(of: $1, in: parser) }
                || container.elements.contains { leavesRest(of: $0, in: parser) }
        }
    }

    /// The state of a value; also `consumed` if no part of it is left.
    func rest(of value: JSONValue, in parser: JSONParser) -> State {
        let state = state(of: value, in: parser)
        guard case .part = state, !leavesRest(of: value, in: parser) else { return state }
        return .consumed
    }

    /// Writes the rest of a value of which ``leavesRest(of:in:)`` is true; the whole value if it is a text to keep.
    func writeRest(of value: JSONValue, in parser: JSONParser, into json: inout JSONWriter) {
        let state = state(of: value, in: parser)
        guard case .part = state else { return json.value(value) }
        write(state, of: value, in: parser, into: &json)
    }

    /// Writes the rest of a value with this state. Returns false if there is none; the caller then removes what was
    /// written.
    @discardableResult
    func write(_ state: State, of value: JSONValue, in parser: JSONParser, into json: inout JSONWriter) -> Bool {
        switch state {
        case .consumed: return false
        case .unread: json.value(value)
        case .part(let container):
            json.beginObject()
            let start = json.mark
            container.forEachMember { key, member in
                writeMember(member, in: parser, into: &json) { $0.key(utf8: key) }
            }
            for (position, element) in container.elements.enumerated() {
                writeMember(element, in: parser, into: &json) { $0.key(String(position)) }
            }
            let isEmpty = json.mark == start
            json.endObject()
            // Of a repeated key, the last value is written; another value may leave a rest.
            return !isEmpty || container.hasRepeats && container.members.contains { leavesRest(of: $1, in: parser) }
        }
        return true
    }

    /// Writes the rest of a member after its key; nothing if no rest is left.
    @inline(__always)
    private func writeMember(
        _ member: JSONValue, in parser: JSONParser, into json: inout JSONWriter, key: (inout JSONWriter) -> Void
    ) {
        let state = state(of: member, in: parser)
        if case .consumed = state { return }
        let mark = json.mark
        key(&json)
        if !write(state, of: member, in: parser, into: &json) { json.rewind(to: mark) }
    }
}
