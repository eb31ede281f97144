/// An object that is asked for many keys, most of which it does not have: those cost no look at the object. Any other
/// value counts as an object without members. Borrowed like ``JSONValue``.
@usableFromInline
package struct JSONObject {
    @usableFromInline package let value: JSONValue
    @usableFromInline package let keys: JSONKeyFilter
    /// True when a key stands in it more than once.
    @usableFromInline package let hasRepeats: Bool

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

    /// The member with this key; see ``JSONValue/subscript(_:)``.
    @inlinable
    package subscript(_ key: StaticString) -> JSONValue? {
        @inline(__always) get { member(JSONKey(key)) }
    }

    /// As above.
    @inlinable @inline(__always)
    package func member(_ key: JSONKey) -> JSONValue? {
        keys.mayContain(key) ? value.member(key, isOnly: !hasRepeats) : nil
    }

    /// The members, each key once and with its last value; see ``JSONValue/forEachMember(_:)``.
    @inlinable
    package func forEachMember(_ body: (_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void) {
        guard !hasRepeats else { return value.forEachMember(body) }
        for (key, member) in value.members { body(key, member) }
    }
}

/// Says of most keys that are not among some that they are not.
@usableFromInline
package struct JSONKeyFilter: Sendable {
    // Every key has a bit in each, which it shares with others.
    @usableFromInline var first: UInt64 = 0
    @usableFromInline var second: UInt64 = 0

    @inlinable package init() {}

    @inlinable @inline(__always)
    mutating func insert(_ key: JSONKeyHead) {
        first |= 1 << (key.hash >> 58)
        second |= 1 << (key.hash >> 52 & 63)
    }

    package mutating func formUnion(_ other: JSONKeyFilter) {
        first |= other.first
        second |= other.second
    }

    /// False only when the key is not among them.
    @inlinable @inline(__always)
    package func mayContain(_ key: JSONKey) -> Bool { mayContain(key.head) }

    @inlinable @inline(__always)
    func mayContain(_ key: JSONKeyHead) -> Bool {
        (first >> (key.hash >> 58)) & (second >> (key.hash >> 52 & 63)) & 1 != 0
    }
}
