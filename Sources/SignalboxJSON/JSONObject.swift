/// An object for many lookups, most of which find nothing: those do not read the object. Any other value counts as an
/// object without members. Lookups by a constant key find no null, because senders write null for values that they do
/// not set; those of ``value`` do. Borrowed like ``JSONValue``.
@usableFromInline
package struct JSONObject {
    /// The object itself.
    @usableFromInline package let value: JSONValue
    /// Rules out keys that the object does not have.
    @usableFromInline package let keys: JSONKeyFilter
    /// True when the object has a key more than once.
    @usableFromInline package let hasRepeats: Bool

    /// Reads every key once; linear in the number of members. A lookup then reads the members only if the filter
    /// contains its key.
    @inlinable
    package init(_ value: JSONValue) {
        self.value = value
        var keys = JSONKeyFilter()
        var mayHaveRepeats = false
        value.forEachKey { key in
            if keys.mayContain(key) { mayHaveRepeats = true }
            keys.insert(key)
        }
        self.keys = keys
        hasRepeats = mayHaveRepeats && value.hasRepeats
    }

    /// The member with this key; nil for null. See ``JSONValue/subscript(_:)``.
    @inlinable
    package subscript(_ key: StaticString) -> JSONValue? {
        @inline(__always) get { member(JSONKey(key)) }
    }

    /// The member with this key; nil for null. See ``JSONValue/subscript(_:)``.
    @inlinable @inline(__always)
    package func member(_ key: JSONKey) -> JSONValue? {
        guard keys.mayContain(key), let member = value.member(key, isOnly: !hasRepeats), !member.isNull else {
            return nil
        }
        return member
    }

    /// The member with a key that is known only at run time; see ``JSONValue/subscript(_:)``.
    @inlinable @inline(__always)
    package func member(searching key: JSONKey) -> JSONValue? { keys.mayContain(key.head) ? search(key) : nil }

    /// The slow path of ``member(searching:)``.
    @usableFromInline
    func search(_ key: JSONKey) -> JSONValue? {
        JSONLookups.count(value.memberCount)
        return value.member(key, isOnly: !hasRepeats)
    }

    /// The members, each key once and with its last value; see ``JSONValue/forEachMember(_:)``.
    @inlinable
    package func forEachMember(_ body: (_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void) {
        guard !hasRepeats else { return value.forEachMember(body) }
        for (key, member) in value.members { body(key, member) }
    }
}

// MARK: Repeated keys

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

    /// The slow path of ``forEachMember(_:)``: two passes with a hash table.
    @usableFromInline
    func forEachLastMember(_ body: (_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void) {
        var last: [JSONKeyBytes: Int] = [:]
        last.reserveCapacity(memberCount)
        for (key, value) in members { last[JSONKeyBytes(bytes: key)] = value.index }
        for (key, value) in members where last[JSONKeyBytes(bytes: key)] == value.index { body(key, value) }
    }

    /// True when this object has a key more than once.
    @usableFromInline package var hasRepeats: Bool {
        guard isObject, memberCount > 1 else { return false }
        guard memberCount <= JSONKeySet.few else { return !repeats(upTo: 1).isEmpty }
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

    /// The members of an object whose key an earlier member has, up to `limit` of them.
    package func repeats(upTo limit: Int) -> [JSONValue] {
        var seen = JSONKeySet(capacity: memberCount)
        var found: [JSONValue] = []
        for (key, value) in members where !seen.insert(key) {
            found.append(value)
            if found.count == limit { break }
        }
        return found
    }

    /// The number of an object's members; simdjson counts up to 2²⁴ − 1.
    var memberCount: Int { payload >> 32 & 0xFF_FFFF }

    /// True when a member before a tape index has this key.
    private func has(_ key: UnsafeBufferPointer<UInt8>, before end: Int) -> Bool {
        var cursor = index + 1
        while cursor < end {
            if at(cursor).stringBytes.equals(key) { return true }
            cursor = at(cursor + 1).next
        }
        return false
    }
}
