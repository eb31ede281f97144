/// A string each of whose characters may be in lower or in upper case, as `equals-ignore-case` compares.
///
/// As in Ruler (`EqualsIgnoreCaseParser`), each character of the pattern stands for its own lower-case and upper-case
/// mapping and for nothing else: so `ß` in a pattern also matches `SS`, but `ss` in a pattern does not match `ß`.
/// Ruler compares Java's UTF-16 units and so never matches a character beyond the basic plane; here it matches like
/// any other.
struct CaseVariants: Sendable, Hashable {
    /// The mappings of all characters, concatenated.
    private let lower: [UInt8]
    /// In the same order as ``lower``.
    private let upper: [UInt8]
    /// Bytes of each character's mappings: lower case in the low four bits, upper case in the high four.
    private let lengths: [UInt8]
    /// The folded text of every text that matches: see ``withFolded(_:_:)``.
    let folded: [UInt8]
    /// Bytes of the longest text that matches.
    let longest: Int

    /// `text`: the string as the pattern has it. Takes time linear in the string. Unicode's special casing applies,
    /// locales do not.
    init(_ text: String) {
        // The same result as below, without Unicode's tables.
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            lower = text.utf8.map { $0 | ($0 &- UInt8(ascii: "A") < 26 ? 0x20 : 0) }
            upper = text.utf8.map { $0 &- ($0 &- UInt8(ascii: "a") < 26 ? 0x20 : 0) }
            lengths = Array(repeating: 0x11, count: lower.count)
            folded = lower
            longest = lower.count
            return
        }
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

    /// How many bytes at the start of a text match; nil if it starts otherwise. `text` need not be valid UTF-8. Takes
    /// time linear in the pattern's string, not in the text.
    func prefix(of text: UnsafeBufferPointer<UInt8>) -> Int? { match(text, isSuffix: false) }

    /// How many bytes at the end of a text match; nil if it ends otherwise.
    func suffix(of text: UnsafeBufferPointer<UInt8>) -> Int? { match(text, isSuffix: true) }

    /// Compares character by character, for a suffix from the last one. No mapping starts or ends with the other
    /// mapping of its character, so the first one that fits is the only one.
    private func match(_ text: UnsafeBufferPointer<UInt8>, isSuffix: Bool) -> Int? {
        var (matched, low, high) = (0, 0, 0)
        for position in lengths.indices {
            let length = lengths[isSuffix ? lengths.count - 1 - position : position]
            let (lows, highs) = (Int(length & 15), Int(length >> 4))
            func fits(_ mappings: [UInt8], _ done: Int, _ count: Int) -> Bool {
                guard matched + count <= text.count else { return false }
                let start = isSuffix ? text.count - matched - count : matched
                let mapping = isSuffix ? mappings.count - done - count : done
                return (0..<count).allSatisfy { text[start + $0] == mappings[mapping + $0] }
            }
            if fits(lower, low, lows) {
                matched += lows
            } else if fits(upper, high, highs) {
                matched += highs
            } else {
                return nil
            }
            (low, high) = (low + lows, high + highs)
        }
        return matched
    }

    // MARK: Folding

    /// Calls `body` with a text in which all variants of a character have become one. If two texts match, their
    /// folded texts are equal, and if one is a prefix of the other, the same is true of the folded texts; the reverse
    /// need not hold. The folded text lives for the duration of the call. ASCII texts are folded on the stack. Takes
    /// time linear in the text, and memory for a copy of it. Invalid UTF-8 folds to replacement characters.
    @inline(__always)
    static func withFolded<Result>(
        _ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(text.count, 1)) { buffer in
            // Folds ASCII, without a branch for each byte, and notices other characters.
            var union: UInt8 = 0
            for position in 0..<text.count {
                let byte = text[position]
                union |= byte
                buffer[position] = byte | (byte &- UInt8(ascii: "A") < 26 ? 0x20 : 0)
            }
            guard union < 0x80 else {
                return folded(String(decoding: text, as: UTF8.self)).withUnsafeBufferPointer(body)
            }
            return body(UnsafeBufferPointer(rebasing: buffer[..<text.count]))
        }
    }

    /// Scalar by scalar, so that a prefix folds into a prefix. Twice, because `ẞ` becomes `ß` first and then `ss`.
    private static func folded(_ text: String) -> [UInt8] {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<2 {
            scalars = scalars.flatMap { Array($0.properties.uppercaseMapping.unicodeScalars) }
            scalars = scalars.flatMap { Array($0.properties.lowercaseMapping.unicodeScalars) }
        }
        return scalars.flatMap { Array(UTF8.encode($0) ?? UTF8.encodedReplacementCharacter) }
    }
}
