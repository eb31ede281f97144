import SignalboxJSON

/// The values of a payload that a reading by paths consumed, so that the event keeps the rest. Readers insert values
/// in any order; call ``sorted(with:)`` before the first lookup, which takes logarithmic time.
struct ConsumedValues {
    /// Consumed values; sorted by position after ``sorted(with:)``.
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

    /// These values and others, sorted, as lookups require.
    func sorted(with others: [JSONValue] = []) -> ConsumedValues {
        var union = self
        union.values += others
        union.values.sort { $0.precedes($1) }
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
    private enum State {
        case consumed, unread
        /// A part of this object or list was consumed.
        case part(JSONValue)
    }

    /// Looks into a string only if a path led into its JSON text.
    private func state(of value: JSONValue, in parser: JSONParser) -> State {
        if let first = firstConsumed(within: value) {
            return first.isSamePlace(as: value) ? .consumed : .part(value)
        }
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

    /// Writes the rest of a value, for which ``leavesRest(of:in:)`` must be true.
    func writeRest(of value: JSONValue, in parser: JSONParser, into json: inout JSONWriter) {
        guard case .part(let container) = state(of: value, in: parser) else { return json.value(value) }
        json.beginObject()
        container.forEachMember { key, member in
            guard leavesRest(of: member, in: parser) else { return }
            json.key(utf8: key)
            writeRest(of: member, in: parser, into: &json)
        }
        for (position, element) in container.elements.enumerated() where leavesRest(of: element, in: parser) {
            json.key(String(position))
            writeRest(of: element, in: parser, into: &json)
        }
        json.endObject()
    }
}
