import SignalboxJSON
import SignalboxNotification

/// Finds the origins of an event's values by experiment: it changes one value of the payload, reads the payload again,
/// and compares the events.
///
/// A link is a proof by cause and effect: equal values in two places have separate links, and the readers keep no
/// record of their reads. Values that move because a list becomes shorter or longer give no link. Work is bounded by
/// ``mostLeaves`` and ``mostBytes``; the caller yields between two steps.
///
/// Not `Sendable`: it owns parsers.
struct ProvenanceSearch {
    /// The most values of the payload that are examined.
    static let mostLeaves = 400
    /// Bytes of payloads and events that are read for it.
    static let mostBytes = 32 << 20
    /// The most bytes of texts that are searched in each other.
    private static let longestText = 512

    /// The event of a payload; nil for a payload that is rejected.
    typealias Reader = (_ payload: [UInt8]) -> [UInt8]?

    private let read: Reader
    private let parser = JSONParser(limits: EventDocument.limits)
    private let raw: RawValues
    /// The event whose values get links.
    private let event: EventReading
    private var bytes = 0
    private var next = 0
    private var result = Provenance()
    /// Readings of the payload as ``RawValues/payload(changing:to:)`` writes it, by the container of the leaf: those
    /// of the containers around the last leaf.
    private var unchanged: [String: EventReading] = [:]
    private var hasBytes: Bool { bytes < Self.mostBytes }

    /// `event`: the event to explain. Links concern its values that `read` yields equally. Nil if payload or event
    /// cannot be read.
    init?(_ payload: [UInt8], of event: [UInt8], read: @escaping Reader) {
        guard let raw = RawValues(payload, limit: Self.mostLeaves), let event = EventReading(event, with: parser)
        else { return nil }
        (self.raw, self.event, self.read) = (raw, event, read)
        result.isComplete = raw.isComplete && event.isComplete
        // A change of a value that is missing would not be noticed.
        if !event.isComplete { next = raw.leaves.count }
    }

    /// Examines one more value; false at the end.
    mutating func step() -> Bool {
        guard next < raw.leaves.count else { return false }
        guard hasBytes else {
            result.isComplete = false
            next = raw.leaves.count
            return false
        }
        let leaf = raw.leaves[next]
        next += 1
        if let before = reading(around: leaf) { examine(leaf, before) }
        return true
    }

    /// The links so far. A value with a proven copy does not count as derived from other values too: those only decide
    /// where it appears.
    var provenance: Provenance {
        var provenance = result
        let proven = Set(result.links.filter { $0.how == .copied || $0.how == .parsed }.map(\.event))
        provenance.links.removeAll { $0.how == .derived && proven.contains($0.event) }
        return provenance
    }

    /// The same of a search that its caller ends early.
    var unfinished: Provenance {
        var provenance = provenance
        provenance.isComplete = provenance.isComplete && next >= raw.leaves.count
        return provenance
    }

    // MARK: One value

    /// The effect of one change.
    private struct Effect {
        let change: Scalar
        let after: EventReading
        /// Pointers of values that differ.
        let pointers: [String]
        /// Whether the event has the same values, of the same vendor, in the same places.
        let isStable: Bool
    }

    private mutating func examine(_ leaf: RawValues.Leaf, _ before: EventReading) {
        var best: Effect?
        var (isRead, isExamined) = (false, false)
        for change in leaf.value.changes {
            guard hasBytes else { return result.isComplete = false }
            guard let after = reading(raw.payload(changing: leaf, to: change)) else {
                // A rejected payload: the reader depends on this value.
                isRead = true
                continue
            }
            isExamined = true
            let pointers = before.changes(in: after)
            let added = after.values.keys.contains { before.values[$0] == nil && !EventReading.isCustom($0) }
            isRead =
                isRead || added || before.remarks != after.remarks
                || pointers.contains { !EventReading.isCustom($0) }
            guard !pointers.isEmpty else { continue }
            let isStable =
                before.values.count == after.values.count && before.recognition == after.recognition
                && pointers.allSatisfy { after.values[$0] != nil }
            if best == nil || isStable {
                best = Effect(change: change, after: after, pointers: pointers, isStable: isStable)
            }
            if isStable { break }
        }
        if let best { link(leaf, before, best) }
        if isExamined, !isRead { result.unread.append(leaf.pointer) }
    }

    private mutating func link(_ leaf: RawValues.Leaf, _ before: EventReading, _ effect: Effect) {
        // Read as another vendor's payload, every value may be another one.
        let isSame = before.recognition == effect.after.recognition
        for pointer in effect.pointers.sorted() {
            guard let value = before.values[pointer], event.values[pointer] == value,
                isSame || pointer == "/data/vendor" || pointer == "/data/platform",
                effect.isStable || !before.isShifted(pointer, in: effect.after),
                // A copy of the text that holds the value is linked to that text.
                !leaf.enclosing.contains(value.plain),
                let how = Self.derivation(of: value, effect.after.values[pointer], from: leaf.value, effect.change)
            else { continue }
            result.links.append(.init(raw: leaf.pointer, event: pointer, how: how))
        }
    }

    /// `value`, `changed`: of the event, before and after the change of `origin` to `change`.
    private static func derivation(
        of value: Scalar, _ changed: Scalar?, from origin: Scalar, _ change: Scalar
    ) -> Provenance.Derivation? {
        guard let changed else { return .derived }
        if value == origin, changed == change { return .copied }
        // A digest that the payload has itself is a copy or a part.
        let isOwn = origin.plain.utf8.count <= longestText && origin.plain.contains(value.plain)
        if isDigest(value.plain), isDigest(changed.plain), !isOwn { return .hashed }
        return holds(value, origin) && holds(changed, change) ? .parsed : .derived
    }

    /// Whether one of two values has the text of the other; false for long texts, whose search takes too long.
    private static func holds(_ value: Scalar, _ origin: Scalar) -> Bool {
        let (value, origin) = (value.plain.lowercased(), origin.plain.lowercased())
        guard (1...longestText).contains(value.utf8.count), (1...longestText).contains(origin.utf8.count) else {
            return false
        }
        // A single letter or digit occurs in most texts.
        guard min(value.utf8.count, origin.utf8.count) > 1 else { return value == origin }
        return value.contains(origin) || origin.contains(value)
    }

    /// True for a short text that ends with at least 24 hexadecimal digits.
    private static func isDigest(_ text: String) -> Bool {
        (24...longestText).contains(text.utf8.count)
            && text.utf8.suffix(24).allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }

    // MARK: Readings

    /// The reading of the unchanged payload, written in the form of the changed ones: numbers, white space and repeated
    /// keys may differ from those of the payload.
    private mutating func reading(around leaf: RawValues.Leaf) -> EventReading? {
        if let known = unchanged[leaf.container] { return known }
        // The leaves of a container follow one another.
        unchanged = unchanged.filter { container, _ in
            container.isEmpty || leaf.container.utf8.starts(with: (container + "/").utf8)
        }
        let reading = reading(raw.payload(changing: leaf, to: nil))
        unchanged[leaf.container] = reading
        return reading
    }

    private mutating func reading(_ payload: [UInt8]) -> EventReading? {
        let event = read(payload)
        bytes += payload.count + (event?.count ?? 0)
        return event.flatMap { EventReading($0, with: parser) }.flatMap { $0.isComplete ? $0 : nil }
    }
}
