/// A key to look up, prepared so that one comparison rules out most other keys.
@usableFromInline
package struct JSONKey {
    @usableFromInline let head: JSONKeyHead
    @usableFromInline let start: UnsafePointer<UInt8>
    @usableFromInline let length: Int

    /// `start`: the bytes of the key, which must outlive it.
    init(head: JSONKeyHead, start: UnsafePointer<UInt8>, length: Int) {
        (self.head, self.start, self.length) = (head, start, length)
    }

    /// The key, unescaped.
    package var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: length) }

    /// A key in the source; a constant once it is compiled.
    @inlinable @inline(__always)
    package init(_ key: StaticString) {
        head = JSONKeyHead(key)
        start = key.utf8Start
        length = key.utf8CodeUnitCount
    }

    /// True when the string at an address of the parser's string buffer is this key.
    @inline(__always)
    func isKey(at string: UnsafePointer<UInt8>) -> Bool {
        // The heads compare the length and the first four bytes; this compares the bytes after them.
        head.isHead(of: string) && (length <= 4 || sameBytes(string + 8, start + 4, length - 4))
    }
}

/// The length of a key with its first four and last four bytes, as they lie in the parser's string buffer: the length,
/// the bytes, a NUL. The buffer is padded (simdjson, `document::allocate`), so eight bytes can be read even of the
/// shortest key. The last four bytes of a shorter key begin in its length.
@usableFromInline
package struct JSONKeyHead: Sendable, Equatable, BitwiseCopyable {
    @usableFromInline let word: UInt64
    @usableFromInline let last: UInt32

    /// Up to this length the head is the whole key.
    @inlinable package static var reach: Int { 8 }

    /// Reads the head from the parser's string buffer, where the key begins with its length.
    @inlinable
    init(at string: UnsafePointer<UInt8>) {
        let raw = UnsafeRawPointer(string)
        let word = UInt64(littleEndian: raw.loadUnaligned(as: UInt64.self))
        let length = word & 0xFFFF_FFFF
        self.word = word & Self.mask(forLength: length)
        last = UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: Int(length), as: UInt32.self))
    }

    /// The head of a key of a parsed object.
    @inlinable @inline(__always)
    package init(parsed key: UnsafeBufferPointer<UInt8>) {
        guard let start = key.baseAddress else { preconditionFailure("Every key has an address.") }
        self.init(at: start - 4)
    }

    /// The head of a key that is known only at run time.
    package init(_ key: [UInt8]) {
        let text = withUnsafeBytes(of: UInt32(key.count).littleEndian) { Array($0) } + key
        // Padded, as the parser's buffer is.
        self = (text + [0, 0, 0, 0]).withUnsafeBufferPointer { text in
            guard let start = text.baseAddress else { preconditionFailure("There are eight bytes.") }
            return JSONKeyHead(at: start)
        }
    }

    /// The head of a key in the source; a constant once it is compiled.
    @inlinable @inline(__always)
    init(_ key: StaticString) {
        let length = key.utf8CodeUnitCount
        var word = UInt64(truncatingIfNeeded: length)
        if length > 0 { word |= UInt64(key.utf8Start[0]) << 32 }
        if length > 1 { word |= UInt64(key.utf8Start[1]) << 40 }
        if length > 2 { word |= UInt64(key.utf8Start[2]) << 48 }
        if length > 3 { word |= UInt64(key.utf8Start[3]) << 56 }
        self.word = word
        if length < 4 {
            last = UInt32(truncatingIfNeeded: word >> UInt64(length * 8))
        } else {
            let first = UInt32(key.utf8Start[length - 4]) | UInt32(key.utf8Start[length - 3]) << 8
            last = first | UInt32(key.utf8Start[length - 2]) << 16 | UInt32(key.utf8Start[length - 1]) << 24
        }
    }

    /// True when the length and the first four bytes of a string are those of this key. `string`: an address in the
    /// parser's string buffer.
    @inline(__always)
    func isHead(of string: UnsafePointer<UInt8>) -> Bool {
        let other = UInt64(littleEndian: UnsafeRawPointer(string).loadUnaligned(as: UInt64.self))
        return other & Self.mask(forLength: word & 0xFFFF_FFFF) == word
    }

    /// Equal for equal heads. The upper bits differ for most others: this pair of factors gave the fewest collisions
    /// in the objects of the fixtures.
    @inlinable @inline(__always)
    package var hash: UInt64 { word &* 0x5851_F42D_4C95_7F2D &+ UInt64(last) &* 0x9E37_79B9_7F4A_7C15 }

    /// Hides the bytes after a short key.
    @inlinable @inline(__always)
    static func mask(forLength length: UInt64) -> UInt64 { length < 4 ? ~(~0 << (32 + length * 8)) : ~0 }
}

/// A set of keys that rules out most keys that are not in it, without ever ruling out one that is (a Bloom filter).
@usableFromInline
package struct JSONKeyFilter: Sendable {
    // Each key has one bit in each word, and shares the bits with other keys.
    @usableFromInline var first: UInt64 = 0
    @usableFromInline var second: UInt64 = 0

    /// The empty set, which rules out every key.
    @inlinable package init() {}

    /// Adds a key by its head. The filter does not distinguish keys with equal heads.
    @inlinable @inline(__always)
    package mutating func insert(_ key: JSONKeyHead) {
        first |= 1 << (key.hash >> 58)
        second |= 1 << (key.hash >> 52 & 63)
    }

    /// Adds the keys of another filter.
    package mutating func formUnion(_ other: JSONKeyFilter) {
        first |= other.first
        second |= other.second
    }

    /// False only when no key is in both sets.
    @inlinable @inline(__always)
    package func mayIntersect(_ other: JSONKeyFilter) -> Bool {
        first & other.first != 0 && second & other.second != 0
    }

    /// False only when a key of the other set is not in this one.
    @inlinable @inline(__always)
    package func mayContain(all other: JSONKeyFilter) -> Bool {
        other.first & ~first == 0 && other.second & ~second == 0
    }

    /// False only when the key is not in the set.
    @inlinable @inline(__always)
    package func mayContain(_ key: JSONKey) -> Bool { mayContain(key.head) }

    /// False only when no key with this head is in the set.
    @inlinable @inline(__always)
    package func mayContain(_ key: JSONKeyHead) -> Bool {
        (first >> (key.hash >> 58)) & (second >> (key.hash >> 52 & 63)) & 1 != 0
    }
}

/// A set of keys, borrowed like the values that they belong to.
package struct JSONKeySet {
    /// Up to this many keys, a search is faster than a hash table.
    static let few = 64
    /// The first keys, in the order of their insertion.
    private var list: [JSONKeyBytes] = []
    /// All keys, once there are more than ``few``.
    private var table: Set<JSONKeyBytes> = []
    /// The keys that the hash table has room for from the beginning.
    private let capacity: Int

    /// The empty set. `capacity`: the number of keys to expect, so that the hash table does not grow; memory is taken
    /// only once there are more than 64.
    package init(capacity: Int = 0) { self.capacity = capacity }

    /// Adds a key; false when it is there already. Compares with up to 64 keys, then hashes.
    package mutating func insert(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        if list.count == Self.few {
            if table.isEmpty {
                table.reserveCapacity(max(capacity, 2 * Self.few))
                table.formUnion(list)
            }
            return table.insert(JSONKeyBytes(bytes: key)).inserted
        }
        if contains(key) { return false }
        list.append(JSONKeyBytes(bytes: key))
        return true
    }

    /// True when the set contains the key.
    package func contains(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        table.isEmpty ? list.contains { $0.bytes.equals(key) } : table.contains(JSONKeyBytes(bytes: key))
    }
}

/// A key that is compared and hashed by its bytes. Borrowed like the value that it belongs to.
package struct JSONKeyBytes: Hashable {
    let bytes: UnsafeBufferPointer<UInt8>

    /// `bytes`: the key, unescaped.
    package init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    package static func == (left: Self, right: Self) -> Bool { left.bytes.equals(right.bytes) }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
}
