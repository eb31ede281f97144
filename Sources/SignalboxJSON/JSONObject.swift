/// An object that is asked for many keys, most of which it does not have: those cost no look at the object. Any other
/// value counts as an object without members. Borrowed like ``JSONValue``.
@usableFromInline
package struct JSONObject {
    @usableFromInline package let value: JSONValue
    @usableFromInline package let keys: JSONKeyFilter
    /// True when no key can stand in it twice; false when that is not known.
    @usableFromInline let isDistinct: Bool

    @inlinable
    package init(_ value: JSONValue) {
        self.value = value
        var keys = JSONKeyFilter()
        var isDistinct = true
        value.forEachKey { key in
            if keys.mayContain(key) { isDistinct = false }
            keys.insert(key)
        }
        self.keys = keys
        self.isDistinct = isDistinct
    }

    /// The member with this key; see ``JSONValue/subscript(_:)``.
    @inlinable
    package subscript(_ key: StaticString) -> JSONValue? {
        @inline(__always) get { member(JSONKey(key)) }
    }

    /// As above.
    @inlinable @inline(__always)
    package func member(_ key: JSONKey) -> JSONValue? {
        keys.mayContain(key) ? value.member(key, isOnly: isDistinct) : nil
    }

    /// True when a key stands in it more than once.
    @inlinable package var hasRepeats: Bool { !isDistinct && value.hasRepeats }

    /// The members, each key once and with its last value; see ``JSONValue/forEachMember(_:)``.
    @inlinable
    package func forEachMember(_ body: (_ key: UnsafeBufferPointer<UInt8>, _ value: JSONValue) -> Void) {
        guard isDistinct else { return value.forEachMember(body) }
        for (key, member) in value.members { body(key, member) }
    }
}

/// Says of most keys that are not among some that they are not.
@usableFromInline
package struct JSONKeyFilter: Sendable {
    /// One for every key, shared by several.
    @usableFromInline var bits: UInt64 = 0

    @inlinable package init() {}

    @inlinable @inline(__always)
    mutating func insert(_ key: JSONKeyHead) { bits |= key.bit }

    package mutating func formUnion(_ other: JSONKeyFilter) { bits |= other.bits }

    /// False only when the key is not among them.
    @inlinable @inline(__always)
    package func mayContain(_ key: JSONKey) -> Bool { mayContain(key.head) }

    @inlinable @inline(__always)
    func mayContain(_ key: JSONKeyHead) -> Bool { bits & key.bit != 0 }
}
