/// A text whose every character may stand in lower or in upper case, as `equals-ignore-case` compares.
///
/// As Ruler has it (`EqualsIgnoreCaseParser`), each character of the pattern stands for its own lower-case and upper-case
/// mapping and for nothing else: so `ß` in a pattern also matches `SS`, but `ss` in a pattern does not match `ß`. Ruler
/// goes by Java's UTF-16 units and so never matches a character beyond the basic plane; here it is one like any other.
struct CaseVariants: Sendable, Hashable {
    /// The mappings of all characters, concatenated.
    private let lower: [UInt8]
    private let upper: [UInt8]
    /// Bytes of each character's mappings: lower case in the low four bits, upper case in the high four.
    private let lengths: [UInt8]
    /// What every text that is equal to this one folds into; see ``withFolded(_:_:)``.
    let folded: [UInt8]
    /// A text with more bytes never equals this one.
    let longest: Int

    init(_ text: String) {
        var (lower, upper, lengths, longest): ([UInt8], [UInt8], [UInt8], Int) = ([], [], [], 0)
        for scalar in text.unicodeScalars {
            let (low, high) = (scalar.properties.lowercaseMapping.utf8, scalar.properties.uppercaseMapping.utf8)
            // Unicode maps a character to at most three characters, at most twelve bytes (SpecialCasing.txt).
            lengths.append(UInt8(truncatingIfNeeded: low.count | high.count << 4))
            lower += low
            upper += high
            longest += max(low.count, high.count)
        }
        (self.lower, self.upper, self.lengths, self.longest) = (lower, upper, lengths, longest)
        folded = Self.folded(text)
    }

    /// How many bytes at the beginning of a text are equal to this; nil when it begins otherwise.
    func prefix(of text: UnsafeBufferPointer<UInt8>) -> Int? {
        // No mapping begins with the other one of its character, so one try is enough.
        var (cursor, low, high) = (0, 0, 0)
        for length in lengths {
            let (lowCount, highCount) = (Int(length & 15), Int(length >> 4))
            if Self.has(lower, low, lowCount, in: text, at: cursor) {
                cursor += lowCount
            } else if Self.has(upper, high, highCount, in: text, at: cursor) {
                cursor += highCount
            } else {
                return nil
            }
            (low, high) = (low + lowCount, high + highCount)
        }
        return cursor
    }

    /// How many bytes at the end of a text are equal to this; nil when it ends otherwise.
    func suffix(of text: UnsafeBufferPointer<UInt8>) -> Int? {
        var (cursor, low, high) = (text.count, lower.count, upper.count)
        for length in lengths.reversed() {
            let (lowCount, highCount) = (Int(length & 15), Int(length >> 4))
            (low, high) = (low - lowCount, high - highCount)
            if Self.has(lower, low, lowCount, in: text, at: cursor - lowCount) {
                cursor -= lowCount
            } else if Self.has(upper, high, highCount, in: text, at: cursor - highCount) {
                cursor -= highCount
            } else {
                return nil
            }
        }
        return text.count - cursor
    }

    /// Whether a text contains `count` bytes of a mapping at an offset.
    private static func has(
        _ bytes: [UInt8], _ start: Int, _ count: Int, in text: UnsafeBufferPointer<UInt8>, at offset: Int
    ) -> Bool {
        guard offset >= 0, text.count - offset >= count else { return false }
        return (0..<count).allSatisfy { text[offset + $0] == bytes[start + $0] }
    }

    // MARK: Folding

    /// Hands `body` a text in which all variants of a character have become one, and some others too: what is equal
    /// without regard to case is equal when folded, and what is no prefix when folded is none.
    @inline(__always)
    static func withFolded<Result>(
        _ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        guard isASCII(text) else {
            return folded(String(decoding: text, as: UTF8.self)).withUnsafeBufferPointer(body)
        }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(text.count, 1)) { folded in
            for place in 0..<text.count {
                let byte = text[place]
                folded[place] = byte | (byte &- UInt8(ascii: "A") < 26 ? 0x20 : 0)
            }
            return body(UnsafeBufferPointer(rebasing: folded[..<text.count]))
        }
    }

    /// Whether no character is beyond ASCII; eight bytes at a time.
    @inline(__always)
    static func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(text)
        var cursor = 0
        var all: UInt64 = 0
        while cursor + 8 <= text.count {
            all |= raw.loadUnaligned(fromByteOffset: cursor, as: UInt64.self)
            cursor += 8
        }
        while cursor < text.count {
            all |= UInt64(text[cursor])
            cursor += 1
        }
        return all & 0x8080_8080_8080_8080 == 0
    }

    /// Scalar by scalar, so that a prefix folds into a prefix. Twice, because `ẞ` becomes `ß` first and `ss` then.
    private static func folded(_ text: String) -> [UInt8] {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<2 {
            scalars = scalars.flatMap { Array($0.properties.uppercaseMapping.unicodeScalars) }
            scalars = scalars.flatMap { Array($0.properties.lowercaseMapping.unicodeScalars) }
        }
        return scalars.flatMap { Array(UTF8.encode($0) ?? UTF8.encodedReplacementCharacter) }
    }
}
