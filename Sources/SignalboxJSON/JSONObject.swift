/// An object that is asked for many keys, most of which it does not have: those cost no look at the object. Any other
/// value counts as an object without members. Borrowed like ``JSONValue``.
@usableFromInline
package struct JSONObject {
    @usableFromInline package let value: JSONValue
    @usableFromInline package let keys: JSONKeyFilter

    @inlinable
    package init(_ value: JSONValue) {
        self.value = value
        var keys = JSONKeyFilter()
        value.forEachKey { keys.insert($0) }
        self.keys = keys
    }

    /// The member with this key; see ``JSONValue/subscript(_:)``.
    @inlinable
    package subscript(_ key: StaticString) -> JSONValue? {
        @inline(__always) get { keys.mayContain(key) ? value[key] : nil }
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
    package func mayContain(_ key: StaticString) -> Bool { mayContain(JSONKeyHead(key)) }

    @inlinable @inline(__always)
    func mayContain(_ key: JSONKeyHead) -> Bool { bits & key.bit != 0 }
}
