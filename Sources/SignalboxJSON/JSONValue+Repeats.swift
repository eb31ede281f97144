/// A key of an object, equal and hashed by its bytes. Borrowed like the value that it belongs to.
private struct KeyBytes: Hashable {
    let bytes: UnsafeBufferPointer<UInt8>

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    static func == (left: KeyBytes, right: KeyBytes) -> Bool { left.bytes.equals(right.bytes) }

    func hash(into hasher: inout Hasher) { hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
}

/// The keys met so far. Made for the few that payloads have; many are no more than slower.
package struct JSONKeySet {
    private var few: [KeyBytes] = []
    private var many: Set<KeyBytes> = []

    package init() {}

    /// Adds a key; false when it was there already.
    package mutating func insert(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let key = KeyBytes(bytes)
        guard few.count < JSONValue.few else { return insertAmongMany(key) }
        if few.contains(key) { return false }
        few.append(key)
        return true
    }

    package func contains(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let key = KeyBytes(bytes)
        return many.isEmpty ? few.contains(key) : many.contains(key)
    }

    private mutating func insertAmongMany(_ key: KeyBytes) -> Bool {
        if many.isEmpty { many = Set(few) }
        return many.insert(key).inserted
    }
}

extension JSONValue {
    /// The members of an object, each key once and with its last value; in time linear in the object's size.
    @inlinable
    package func forEachMember(_ body: (_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void) {
        if hasRepeats {
            forEachLastMember(body)
        } else {
            for (key, value) in members { body(key, value) }
        }
    }

    @usableFromInline
    func forEachLastMember(_ body: (_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void) {
        var last: [KeyBytes: Int] = [:]
        for (key, value) in members { last[KeyBytes(key)] = value.index }
        for (key, value) in members where last[KeyBytes(key)] == value.index { body(key, value) }
    }

    /// True when a key of this object stands in it more than once.
    @usableFromInline package var hasRepeats: Bool {
        guard isObject else { return false }
        guard memberCount <= Self.few else { return !repeats(upTo: 1).isEmpty }
        var seen = JSONKeyFilter()
        let end = next - 1
        var cursor = index + 1
        while cursor < end {
            let key = JSONKeyHead(at: strings + at(cursor).payload)
            if seen.mayContain(key), has(at(cursor).stringBytes, before: cursor) { return true }
            seen.insert(key)
            cursor = at(cursor + 1).next
        }
        return false
    }

    /// The members of an object whose key stood there before, up to a number of them.
    package func repeats(upTo limit: Int) -> [JSONValue] {
        var seen = JSONKeySet()
        var found: [JSONValue] = []
        for (key, value) in members where !seen.insert(key) {
            found.append(value)
            if found.count == limit { break }
        }
        return found
    }

    /// Up to so many keys, looking at them again beats remembering them.
    fileprivate static let few = 64

    /// As simdjson counts, up to 2²⁴ − 1.
    private var memberCount: Int { payload >> 32 & 0xFF_FFFF }

    private func has(_ key: UnsafeBufferPointer<UInt8>, before end: Int) -> Bool {
        var cursor = index + 1
        while cursor < end {
            if at(cursor).stringBytes.equals(key) { return true }
            cursor = at(cursor + 1).next
        }
        return false
    }
}
