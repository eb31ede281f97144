/// A text whose every character may stand in lower or in upper case, as `equals-ignore-case` compares.
///
/// As Ruler has it (`EqualsIgnoreCaseParser`), each character of the pattern stands for its own lower-case and upper-case
/// mapping and for nothing else: so `ß` in a pattern also matches `SS`, but `ss` in a pattern does not match `ß`. Ruler
/// goes by Java's UTF-16 units and so never matches a character beyond the basic plane; here it is one like any other.
struct CaseVariants: Sendable, Hashable {
    private let lower: [[UInt8]]
    private let upper: [[UInt8]]
    /// What every text that is equal to this one folds into; see ``withFolded(_:_:)``.
    let folded: [UInt8]

    init(_ text: String) {
        lower = text.unicodeScalars.map { Array($0.properties.lowercaseMapping.utf8) }
        upper = text.unicodeScalars.map { Array($0.properties.uppercaseMapping.utf8) }
        folded = Self.folded(text)
    }

    /// How many bytes at the beginning of a text are equal to this; nil when it begins otherwise.
    func prefix(of text: UnsafeBufferPointer<UInt8>) -> Int? {
        // No mapping begins with the other one of its character, so one try is enough.
        var cursor = 0
        for (lower, upper) in zip(lower, upper) {
            if Self.has(lower, in: text, at: cursor) {
                cursor += lower.count
            } else if Self.has(upper, in: text, at: cursor) {
                cursor += upper.count
            } else {
                return nil
            }
        }
        return cursor
    }

    /// How many bytes at the end of a text are equal to this; nil when it ends otherwise.
    func suffix(of text: UnsafeBufferPointer<UInt8>) -> Int? {
        var cursor = text.count
        for (lower, upper) in zip(lower, upper).reversed() {
            if Self.has(lower, in: text, at: cursor - lower.count) {
                cursor -= lower.count
            } else if Self.has(upper, in: text, at: cursor - upper.count) {
                cursor -= upper.count
            } else {
                return nil
            }
        }
        return text.count - cursor
    }

    private static func has(_ bytes: [UInt8], in text: UnsafeBufferPointer<UInt8>, at offset: Int) -> Bool {
        guard offset >= 0, text.count - offset >= bytes.count else { return false }
        return bytes.indices.allSatisfy { text[offset + $0] == bytes[$0] }
    }

    // MARK: Folding

    /// Hands `body` a text in which all variants of a character have become one, and some others too: what is equal
    /// without regard to case is equal when folded, and what is no prefix when folded is none.
    static func withFolded<Result>(
        _ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        guard text.allSatisfy({ $0 < 0x80 }) else {
            return folded(String(decoding: text, as: UTF8.self)).withUnsafeBufferPointer(body)
        }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count) { folded in
            for (position, byte) in text.enumerated() {
                let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                folded.initializeElement(at: position, to: isUpper ? byte | 0x20 : byte)
            }
            return body(UnsafeBufferPointer(rebasing: folded[..<text.count]))
        }
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
