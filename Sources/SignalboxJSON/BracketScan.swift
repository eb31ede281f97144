/// Follows brackets and strings from the first byte of a text to its end. Keeps its state between chunks and does not
/// allocate. A wrong closing bracket closes all levels up to the innermost of its kind, so that one missing bracket
/// does not join the texts that follow.
struct BracketScan {
    /// The end of a text.
    enum Stop {
        /// The text ends before this index.
        case complete(Int)
        /// The array around the text ends at this index, and the text is not complete.
        case truncated(Int)
        /// The text is damaged, and a line at this index or before begins another text.
        case damaged(Int)
    }

    /// Index of the next byte to read. An escape at the end of a chunk moves it beyond the buffer.
    var position: Int
    /// Index of the text's first byte.
    private var first: Int
    /// Bytes before the text on its line, at most 256.
    let indentation: Int
    /// Open brackets.
    private var depth = 0
    /// A bit for each open bracket, the innermost in the lowest place, set for `[`.
    private var kinds: UInt128 = 0
    /// Deeper than `kinds` can tell; brackets are only counted.
    private var isDeep = false
    private(set) var inString = false
    /// A line that may begin another text is where a value of this one may be.
    private var hasOpeningLine = false

    /// `first`: index of the text's first byte, an opening bracket for ``run(over:until:inArray:strictUntil:)``.
    init(at first: Int, indentation: Int) {
        self.first = first
        self.indentation = min(indentation, 256)
        position = first
    }

    /// Adapts to a buffer that lost its first bytes.
    mutating func move(by count: Int) {
        first -= count
        position -= count
    }

    /// Continues up to `end`; nil when the text does not end before. Before `strictUntil`, every line that may begin
    /// another text does.
    mutating func run(
        over bytes: UnsafeBufferPointer<UInt8>, until end: Int, inArray: Bool, strictUntil: Int
    ) -> Stop? {
        while position < end {
            let byte = bytes[position]
            if byte == UInt8(ascii: "{"), opensLine(bytes) {
                guard position >= strictUntil, mayOpen(bytes) else { return .damaged(position) }
                hasOpeningLine = true
            }
            position += 1
            if inString {
                if byte == UInt8(ascii: "\\") { position += 1 } else if byte == UInt8(ascii: "\"") { inString = false }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): inString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): open(byte)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                let levels = levels(closedBy: byte)
                if levels > 1, depth > 0, hasOpeningLine { return .damaged(position - 1) }
                if levels <= depth {
                    depth -= levels
                    kinds = depth == 0 ? 0 : kinds >> UInt128(levels)
                    if depth == 0 { return .complete(position) }
                } else if inArray, byte == UInt8(ascii: "]") {
                    return .truncated(position - 1)
                }
            default: break
            }
        }
        return nil
    }

    /// Continues to the end of an array's element that is not in brackets: a line end, or a comma or bracket outside
    /// strings. Nil if the end is after these bytes.
    mutating func endOfScalar(in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\n") || !inString && ",[]{}".utf8.contains(byte) {
                inString = false
                return position
            }
            if byte == UInt8(ascii: "\"") { inString.toggle() }
            position += inString && byte == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    /// Counts a level. Beyond 128 levels only the number is known, not the kind.
    private mutating func open(_ bracket: UInt8) {
        isDeep = isDeep || depth == UInt128.bitWidth
        kinds = kinds << 1 | (bracket == UInt8(ascii: "[") ? 1 : 0)
        depth += 1
    }

    /// How many levels a bracket closes: up to the innermost of its kind, one in valid texts; more than are open when
    /// none is of its kind.
    private func levels(closedBy bracket: UInt8) -> Int {
        isDeep ? 1 : 1 + (bracket == UInt8(ascii: "]") ? kinds : ~kinds).trailingZeroBitCount
    }

    /// Whether a line begins here that is indented no deeper than the text.
    private func opensLine(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var before = position - 1
        while before > first, before >= position - indentation, bytes[before] == 0x20 || bytes[before] == 0x09 {
            before -= 1
        }
        return before >= first && bytes[before] == UInt8(ascii: "\n")
    }

    /// Whether a value may begin here: after a colon, an opening bracket, or a comma of an array.
    private func mayOpen(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        switch bytes[..<position].last(where: { !Self.isBlank($0) }) {
        case _ where inString: false
        case UInt8(ascii: ":"), UInt8(ascii: "["): true
        case UInt8(ascii: ","): isDeep || kinds & 1 == 1
        default: false
        }
    }

    /// True for the white space of JSON (RFC 8259, 2).
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}
