/// Follows brackets and strings from the start of a text to its end.
///
/// Inside a text, a line that opens with a bracket indented no deeper than the text itself may be another text: NDJSON
/// was truncated before it. It is one for sure where no bracket can stand, and otherwise when this text finds no end.
struct JSONBoundaryScan {
    enum End {
        /// The text ends before this position.
        case text(Int)
        /// The text is damaged; what follows begins at this position.
        case broken(Int)
        case tooLong, needsMore
    }

    var position: Int
    /// The first line inside the text that may be another text: where to go on if this one finds no end.
    private(set) var resumption: Int?
    /// How far the text itself is indented.
    private let indentation: Int
    private var depth = 0
    /// Which brackets are open: a bit each, the innermost in the lowest place, set for `[`.
    private var kinds: UInt128 = 0
    /// Deeper than `kinds` can tell; brackets are only counted.
    private var isDeep = false
    private var isScalar = false
    private var inString = false
    private var escaped = false
    private var lastSignificant: UInt8 = 0
    /// Blanks since the line began, negative once anything else came.
    private var blanks = -1

    init(at position: Int = 0, indentation: Int = 0) {
        self.position = position
        self.indentation = indentation
    }

    /// True while the text cannot end here.
    var isOpen: Bool { depth > 0 || inString }

    /// Adapts to bytes that are now elsewhere.
    mutating func move(by distance: Int) {
        position += distance
        resumption = resumption.map { $0 + distance }
    }

    /// Goes on from `position`. Before `strictUntil` every line that may be another text is one.
    mutating func run(over bytes: UnsafeBufferPointer<UInt8>, inArray: Bool, limit: Int, strictUntil: Int) -> End {
        while position < bytes.count {
            if position >= limit { return .tooLong }
            let byte = bytes[position]
            if inString {
                if let end = string(byte) { return end }
            } else if let end = structure(byte, inArray: inArray, isStrict: position < strictUntil) {
                return end
            }
        }
        return position >= limit ? .tooLong : .needsMore
    }

    /// True for a bracket that begins a line and may open another text.
    private mutating func opensLine(_ byte: UInt8) -> Bool {
        guard blanks >= 0 || byte == UInt8(ascii: "\n") else { return false }
        switch byte {
        case UInt8(ascii: "\n"): blanks = 0
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): blanks += 1
        default:
            defer { blanks = -1 }
            return blanks <= indentation && (byte == UInt8(ascii: "{") || byte == UInt8(ascii: "["))
        }
        return false
    }

    /// A raw line end in a string is forbidden, but it need not be the string's end: somebody may have failed to escape
    /// it. So the string goes on, unless the next line opens a text.
    private mutating func string(_ byte: UInt8) -> End? {
        if opensLine(byte) { return .broken(resumption ?? position) }
        position += 1
        if escaped {
            escaped = false
        } else if byte == UInt8(ascii: "\\") {
            escaped = true
        } else if byte == UInt8(ascii: "\"") {
            inString = false
            if depth == 0 { return .text(position) }
        }
        return nil
    }

    private mutating func structure(_ byte: UInt8, inArray: Bool, isStrict: Bool) -> End? {
        let opensLine = opensLine(byte)
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if isScalar { return .text(position) }
            if opensLine, depth > 0 {
                if isStrict || !mayOpen { return .broken(resumption ?? position) }
                resumption = resumption ?? position
            }
            open(byte)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if depth == 0 { return .text(position) }
            let levels = levels(closedBy: byte)
            if levels != 1, let resumption { return .broken(resumption) }
            if levels <= depth {
                kinds = levels < UInt128.bitWidth ? kinds >> UInt128(levels) : 0
                depth -= levels
            } else if inArray, byte == UInt8(ascii: "]") {
                return .broken(position)
            }
            if depth == 0 {
                position += 1
                return .text(position)
            }
        case UInt8(ascii: "\""):
            if isScalar { return .text(position) }
            inString = true
        case UInt8(ascii: "\n"), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
            if isScalar { return .text(position) }
            position += 1
            return nil
        case UInt8(ascii: ",") where depth == 0 && inArray: return .text(position)
        default: if depth == 0 { isScalar = true }
        }
        lastSignificant = byte
        position += 1
        return nil
    }

    private mutating func open(_ bracket: UInt8) {
        isDeep = isDeep || depth == UInt128.bitWidth
        kinds = kinds << 1 | (bracket == UInt8(ascii: "[") ? 1 : 0)
        depth += 1
    }

    /// How many open brackets one that closes takes with it: up to the innermost of its kind, all that were left open in
    /// it included. One in sound texts, and more than there are when none is of its kind.
    private func levels(closedBy bracket: UInt8) -> Int {
        isDeep ? 1 : 1 + (bracket == UInt8(ascii: "]") ? kinds : ~kinds).trailingZeroBitCount
    }

    /// Whether a bracket may open after what came last: after a colon, an opening bracket, or a comma of an array.
    private var mayOpen: Bool {
        switch lastSignificant {
        case UInt8(ascii: ":"), UInt8(ascii: "["): true
        case UInt8(ascii: ","): isDeep || kinds & 1 == 1
        default: false
        }
    }
}
