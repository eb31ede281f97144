import Foundation

// memcmp itself cannot be inlined across targets here, so length and first byte are compared before the call.
/// Compares `count` bytes at both addresses.
@usableFromInline
func sameBytes(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    memcmp(left, right, count) == 0
}

extension UnsafeBufferPointer<UInt8> {
    /// True when these bytes are exactly this text.
    @inlinable
    package func equals(_ text: StaticString) -> Bool { count == text.utf8CodeUnitCount && hasPrefix(text) }

    /// True when both hold the same bytes.
    @inlinable
    package func equals(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count, let mine = baseAddress, let theirs = other.baseAddress else {
            return count == other.count
        }
        return count == 0 || (mine[0] == theirs[0] && sameBytes(mine, theirs, count))
    }

    /// True when a byte is not ASCII.
    @inlinable
    package var hasHighBytes: Bool { reduce(0) { $0 | $1 } >= 0x80 }

    /// True when these bytes begin with this text.
    @inlinable
    package func hasPrefix(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard count >= length, length > 0, let mine = baseAddress else { return length == 0 }
        return mine[0] == text.utf8Start.pointee && sameBytes(mine, text.utf8Start, length)
    }
}

extension String {
    /// A copy of bytes that the parser validated as UTF-8; they are not validated again.
    init(parsed bytes: UnsafeBufferPointer<UInt8>) {
        self = String(copying: unsafe UTF8Span(unchecked: Span(_unsafeElements: bytes)))
    }
}
