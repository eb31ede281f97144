import Foundation

/// The bytes of a body, before they are parsed.
extension UnsafeBufferPointer<UInt8> {
    /// True if a byte is LF (0x0A). An empty buffer has none.
    var hasLineEnd: Bool { baseAddress.map { memchr($0, 0x0A, count) != nil } ?? false }

    /// The bytes without JSON whitespace at both ends.
    var trimmed: UnsafeBufferPointer<UInt8> {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D }
        guard let start = firstIndex(where: { !isSpace($0) }), let end = lastIndex(where: { !isSpace($0) }) else {
            return UnsafeBufferPointer(rebasing: prefix(0))
        }
        return UnsafeBufferPointer(rebasing: self[start...end])
    }
}
