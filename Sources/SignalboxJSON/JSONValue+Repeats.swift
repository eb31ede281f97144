/// A key of an object, equal and hashed by its bytes. Borrowed like the value that it belongs to.
package struct JSONKey: Hashable {
    private let bytes: UnsafeBufferPointer<UInt8>

    package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    package static func == (left: JSONKey, right: JSONKey) -> Bool { left.bytes.equals(right.bytes) }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
}

extension JSONValue {
    /// The members of an object, each key once and with its last value; in time linear in the object's size.
    package func forEachMember(_ body: (_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void) {
        guard !repeats(upTo: 1).isEmpty else {
            for (key, value) in members { body(key, value) }
            return
        }
        var last: [JSONKey: Int] = [:]
        for (key, value) in members { last[JSONKey(key)] = value.index }
        for (key, value) in members where last[JSONKey(key)] == value.index { body(key, value) }
    }

    /// The members of an object whose key stood there before, up to a number of them.
    package func repeats(upTo limit: Int) -> [JSONValue] {
        guard isObject else { return [] }
        return memberCount > 16 ? repeatsInLargeObject(upTo: limit) : repeatsInSmallObject(upTo: limit)
    }

    /// How many members an object has, as far as simdjson counts: up to 2²⁴ − 1.
    private var memberCount: Int { payload >> 32 & 0xFF_FFFF }

    private func repeatsInLargeObject(upTo limit: Int) -> [JSONValue] {
        var seen = Set<JSONKey>(minimumCapacity: memberCount)
        var found: [JSONValue] = []
        for (key, value) in members where !seen.insert(JSONKey(key)).inserted {
            found.append(value)
            if found.count == limit { break }
        }
        return found
    }

    // One bit per length and outer bytes of a key tells most keys apart, so that hardly any are compared.
    private func repeatsInSmallObject(upTo limit: Int) -> [JSONValue] {
        var seen: UInt64 = 0
        var found: [JSONValue] = []
        for (key, value) in members {
            let bit: UInt64 = 1 << UInt64(key.fingerprint & 63)
            if seen & bit != 0, member(key, before: value.index - 1), found.count < limit { found.append(value) }
            seen |= bit
        }
        return found
    }

    private func member(_ key: UnsafeBufferPointer<UInt8>, before end: Int) -> Bool {
        var cursor = index + 1
        while cursor < end {
            if at(cursor).stringBytes.equals(key) { return true }
            cursor = at(cursor + 1).next
        }
        return false
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate var fingerprint: Int {
        guard let first, let last else { return 0 }
        return count &+ Int(first) &* 7 &+ Int(last) &* 31
    }
}
