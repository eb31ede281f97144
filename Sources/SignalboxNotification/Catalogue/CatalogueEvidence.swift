import SignalboxJSON

/// Rules out a marker by the keys of a payload, before its conditions are tested. Every APNs payload has `aps`; without
/// a gate, every marker inside `aps` would be tested for every payload.
///
/// Values without references: all tasks share the gates, so that counting references would slow down all of them.
struct CatalogueGate: Sendable {
    /// The scope of the marker's first key.
    let scope: CataloguePath.Scope
    /// The first keys that the marker needs among the vendors' keys: they rule out markers of several conditions.
    private let neededKeys: JSONKeyFilter
    /// The head of the key after the first one; nil if the first path ends before it.
    private let inner: JSONKeyHead?

    /// The gate of one marker.
    init(of marker: CatalogueMarker) {
        let first = marker.conditions.first
        scope = first?.scope ?? .anywhere
        inner = first?.innerKey
        neededKeys = marker.conditions.reduce(into: JSONKeyFilter()) { $0.formUnion($1.neededKey) }
    }

    /// False if a needed key is missing, or the second key in the value of the first one. A list or a string may still
    /// contain it. `latest`: the object of the previous call, for the next marker with the same first key.
    @inline(__always)
    func admits(_ start: JSONValue, in fields: borrowing VendorFields, _ latest: inout JSONObject?) -> Bool {
        guard fields.mayContain(all: neededKeys) else { return false }
        guard let inner else { return true }
        guard start.isObject else { return start.isArray || start.isString }
        if latest?.value.isSamePlace(as: start) != true { latest = JSONObject(start) }
        return latest?.keys.mayContain(inner) == true
    }
}

/// The markers that match one payload, and the values that they recognise.
struct CatalogueEvidence {
    /// A marker that matches.
    private struct Found {
        let entry: Int
        let strength: Detection.Strength
        /// Its part of ``CatalogueEvidence/values``.
        let values: Range<Int>
    }

    private var found: [Found] = []
    private var values: [JSONValue] = []

    /// Adds a marker if all of its conditions hold. `entry`: the position of its entry.
    mutating func test(_ marker: CatalogueMarker, of entry: Int, in payload: borrowing PlatformPayload) {
        if values.isEmpty {
            found.reserveCapacity(4)
            values.reserveCapacity(8)
        }
        let start = values.count
        if marker.holds(in: payload, recognising: &values) {
            found.append(Found(entry: entry, strength: marker.strength, values: start..<values.count))
        } else {
            values.removeLast(values.count - start)
        }
    }

    /// Calls `body` with every entry that has a marker here, in the order of their positions, and its strongest
    /// evidence. Of equally strong evidence, the alphabetically first counts.
    mutating func forEachEntry(in payload: borrowing PlatformPayload, _ body: (Int, Detection) -> Void) {
        if found.count > 1 { found.sort { $0.entry == $1.entry ? $0.strength > $1.strength : $0.entry < $1.entry } }
        var position = 0
        while position < found.count {
            let first = found[position]
            var best = pointers(of: first, in: payload)
            position += 1
            while position < found.count, found[position].entry == first.entry {
                if found[position].strength == first.strength {
                    let other = pointers(of: found[position], in: payload)
                    if other.lexicographicallyPrecedes(best) { best = other }
                }
                position += 1
            }
            body(first.entry, Detection(first.strength, evidence: best))
        }
    }

    /// JSON Pointers of the values of a marker. Finding them walks the payload, so it is done for the strongest only.
    private func pointers(of marker: Found, in payload: borrowing PlatformPayload) -> [String] {
        values[marker.values].map { payload.pointer(to: $0) }
    }
}
