/// Says for most keys that an object does not have that it does not have them, without looking at the object: most
/// questions that detectors ask are for other vendors' keys.
package struct JSONKeyFilter: Sendable {
    @usableFromInline var bits: UInt64 = 0

    @inlinable
    package init(of object: JSONValue) {
        for (key, _) in object.members { bits |= key.fingerprint }
    }

    @inlinable init() {}

    /// False only when no key of the object is this one.
    @inlinable
    package func mayContain(_ key: StaticString) -> Bool {
        bits & UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount).fingerprint != 0
    }

    /// Adds a key; false when it cannot have been there.
    @inlinable
    mutating func insert(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        let bit = key.fingerprint
        defer { bits |= bit }
        return bits & bit != 0
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// One of 64 bits, from the length and both ends of a key.
    @inlinable var fingerprint: UInt64 {
        guard let base = baseAddress, count > 0 else { return 1 }
        let raw = UnsafeRawPointer(base)
        var hash = UInt64(truncatingIfNeeded: count)
        if count >= 8 {
            hash ^= raw.loadUnaligned(as: UInt64.self)
            hash ^= raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self) &* 0xBF58_476D_1CE4_E5B9
        } else {
            hash ^= UInt64(base[0]) << 8 ^ UInt64(base[count / 2]) << 16 ^ UInt64(base[count - 1]) << 24
        }
        return 1 << ((hash &* 0x9E37_79B9_7F4A_7C15) >> 58)
    }
}
