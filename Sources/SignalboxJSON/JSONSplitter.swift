import Foundation

/// Cuts a stream of bytes into JSON texts: one a line (NDJSON), the elements of an array, or texts that simply follow
/// one another, pretty-printed or not. Which of these it is shows from the bytes.
///
/// It finds where texts end, not whether they are sound; that is the parser's to say. A damaged text costs only itself:
/// after a raw line end inside a string, or a line that opens a text where none can stand, cutting goes on at that
/// line. Memory is bounded by the longest text allowed, not by the input.
///
/// Use: `append` what was read, `takeAll`, repeat; `finish` at the end of input and `takeAll` again.
package struct JSONSplitter {
    /// One piece of the input.
    package struct Piece: Sendable {
        /// Where it stands in the buffer.
        package fileprivate(set) var range: Range<Int>
        /// Line of its first byte, from 1.
        package let line: Int
        /// Position of its first byte in the input, from 0.
        package let offset: Int
        /// What keeps it from being a text, as far as cutting can tell.
        package let fault: Fault?
        /// True for a line that was taken whole because no text can go on behind it. It may hold several: when it does not
        /// parse, cut it with a splitter that does not guess.
        package let isGuess: Bool
    }

    package enum Fault: Sendable {
        /// The input, the line or the array ends within it.
        case truncated
        /// It is longer than the limit; its bytes are only the first ones.
        case tooLong
        /// It stands where no text can begin.
        case misplaced
    }

    private enum Layout { case unknown, sequence, array, afterArray }

    private let limit: Int
    private let guesses: Bool
    private var buffer: [UInt8] = []
    /// Where in the buffer the part not yet handed out begins.
    private var start = 0
    private var line: Int
    /// Position in the input of `buffer[0]`.
    private var base: Int
    private var layout = Layout.unknown
    private var isFinished = false
    private var sawLines = false
    private var scan = JSONBoundaryScan()
    private var skipping = false
    /// In an array: an element was read and no comma since.
    private var needsComma = false

    /// `limit`: the longest text in bytes. `guesses`: whether lines that look like one text are taken as such. `line` and
    /// `offset`: where the input begins in a larger one.
    package init(limit: Int, guesses: Bool = true, line: Int = 1, offset: Int = 0) {
        self.limit = limit
        self.guesses = guesses
        self.line = line
        base = offset
    }

    /// True when all input came in a JSON array.
    package var isArray: Bool { layout == .array || layout == .afterArray }

    // MARK: Input

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0 {
            buffer.removeSubrange(..<start)
            base += start
            scan.position -= start
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Says that no more input comes.
    package mutating func finish() { isFinished = true }

    // MARK: Output

    /// All pieces that are there, with the bytes that their ranges are in; both empty when more input is needed or none
    /// is left.
    package mutating func takeAll() -> (bytes: [UInt8], pieces: [Piece]) {
        let first = start
        var pieces: [Piece] = []
        while var piece = next() {
            piece.range = piece.range.lowerBound - first..<piece.range.upperBound - first
            pieces.append(piece)
        }
        let end = first + (pieces.last?.range.upperBound ?? 0)
        return (Array(buffer[first..<end]), pieces)
    }

    /// The next piece, or nil when more input is needed or none is left.
    private mutating func next() -> Piece? {
        guard !skipping else { return skipRest() ? next() : nil }
        if scan.position <= start {
            guard let first = findStart() else { return endOfInput() }
            if let piece = misplacedPiece(first) { return piece }
            if let piece = guess() { return piece }
            scan = JSONBoundaryScan(at: start)
        }
        return scanned()
    }

    /// An array that nothing closes is said once, with an empty piece.
    private mutating func endOfInput() -> Piece? {
        guard isFinished, layout == .array else { return nil }
        layout = .sequence
        return piece(to: start, fault: .truncated)
    }

    /// Passes over blanks, a byte order mark and the punctuation of an array.
    private mutating func findStart() -> UInt8? {
        while start < buffer.count {
            let byte = buffer[start]
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                start += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): start += 1
            case 0xEF where layout == .unknown && start == 0:
                guard buffer.count >= 3 || isFinished else { return nil }
                guard buffer.starts(with: [0xEF, 0xBB, 0xBF]) else { return byte }
                start += 3
            case UInt8(ascii: "[") where layout == .unknown || layout == .afterArray:
                layout = .array
                needsComma = false
                start += 1
            case UInt8(ascii: ",") where layout == .array && needsComma:
                needsComma = false
                start += 1
            case UInt8(ascii: "]") where layout == .array:
                layout = .afterArray
                start += 1
            default:
                if layout == .unknown { layout = .sequence }
                return byte
            }
        }
        return nil
    }

    /// A line that begins with `{`, ends with `}` and is followed by another `{` or nothing can only end there:
    /// nowhere in JSON does `{` follow `}`. So nothing in it needs to be looked at.
    private mutating func guess() -> Piece? {
        guard guesses, layout == .sequence, buffer[start] == UInt8(ascii: "{") else { return nil }
        guard let end = lineEnd(from: start) else { return nil }
        var last = end - 1
        while last > start, buffer[last] == UInt8(ascii: "\r") || buffer[last] == UInt8(ascii: " ") { last -= 1 }
        guard buffer[last] == UInt8(ascii: "}"), last + 1 - start <= limit else { return nil }
        let following = end + 1
        guard following < buffer.count ? buffer[following] == UInt8(ascii: "{") : isFinished else { return nil }
        let piece = Piece(range: start..<last + 1, line: line, offset: base + start, fault: nil, isGuess: true)
        sawLines = true
        line += end < buffer.count ? 1 : 0
        start = min(following, buffer.count)
        scan.position = start
        return piece
    }

    private func lineEnd(from position: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return nil }
            guard let found = memchr(base + position, 0x0A, bytes.count - position) else {
                return isFinished ? bytes.count : nil
            }
            return base.distance(to: UnsafeRawPointer(found))
        }
    }

    private mutating func scanned() -> Piece? {
        let end = buffer.withUnsafeBufferPointer {
            scan.run(over: $0, lines: sawLines, inArray: layout == .array, limit: start + limit)
        }
        switch end {
        case .text(let end): return piece(to: end, fault: nil)
        case .broken(let end): return piece(to: end, fault: .truncated)
        case .tooLong:
            let piece = Piece(
                range: start..<start + limit, line: line, offset: base + start, fault: .tooLong, isGuess: false)
            skipping = true
            return piece
        case .needsMore:
            guard isFinished, start < buffer.count else { return nil }
            return piece(to: buffer.count, fault: scan.isOpen ? .truncated : nil)
        }
    }

    private mutating func piece(to end: Int, fault: Fault?) -> Piece {
        let piece = Piece(range: start..<end, line: line, offset: base + start, fault: fault, isGuess: false)
        line += buffer[start..<end].count { $0 == UInt8(ascii: "\n") }
        start = end
        scan.position = end
        return piece
    }

    /// Drops the rest of a text that is too long. True when its end was found.
    private mutating func skipRest() -> Bool {
        let end = buffer.withUnsafeBufferPointer {
            scan.run(over: $0, lines: sawLines, inArray: layout == .array, limit: .max)
        }
        switch end {
        case .text(let end), .broken(let end):
            _ = piece(to: end, fault: nil)
            skipping = false
            return true
        case .tooLong, .needsMore:
            line += buffer[start...].count { $0 == UInt8(ascii: "\n") }
            start = buffer.count
            if isFinished { skipping = false }
            return false
        }
    }

    /// What cannot begin a text here: a comma or bracket too many, or outside of arrays anything that opens no object
    /// and no array, which takes its whole line with it.
    private mutating func misplacedPiece(_ first: UInt8) -> Piece? {
        let opens = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        if layout == .array {
            if first == UInt8(ascii: ",") || first == UInt8(ascii: "}") {
                return piece(to: start + 1, fault: .misplaced)
            }
            defer { needsComma.toggle() }
            return needsComma ? piece(to: start, fault: .misplaced) : nil
        }
        guard !opens else { return nil }
        let closes = first == UInt8(ascii: "}") || first == UInt8(ascii: "]") || first == UInt8(ascii: ",")
        let fault: Fault? = closes ? .misplaced : nil
        if let end = lineEnd(from: start), end - start <= limit { return piece(to: end, fault: fault) }
        return nil
    }
}

/// Follows brackets and strings from the start of a text to its end.
struct JSONBoundaryScan {
    enum End {
        /// The text ends before this position.
        case text(Int)
        /// The text is damaged; what follows begins at this position.
        case broken(Int)
        case tooLong, needsMore
    }

    var position: Int
    private var depth = 0
    private var isScalar = false
    private var inString = false
    private var escaped = false
    private var lastSignificant: UInt8 = 0

    init(at position: Int = 0) { self.position = position }

    /// True while the text cannot end here.
    var isOpen: Bool { depth > 0 || inString }

    /// Goes on from `position`. `lines`: whether texts were seen to stand one a line, so that an opening bracket at the
    /// start of a line always begins a text.
    mutating func run(over bytes: UnsafeBufferPointer<UInt8>, lines: Bool, inArray: Bool, limit: Int) -> End {
        while position < bytes.count {
            if position >= limit { return .tooLong }
            let byte = bytes[position]
            if inString {
                if let end = string(byte) { return end }
            } else if let end = structure(byte, in: bytes, lines: lines, inArray: inArray) {
                return end
            }
        }
        return position >= limit ? .tooLong : .needsMore
    }

    private mutating func string(_ byte: UInt8) -> End? {
        position += 1
        if escaped {
            escaped = false
        } else if byte == UInt8(ascii: "\\") {
            escaped = true
        } else if byte == UInt8(ascii: "\"") {
            inString = false
            if depth == 0 { return .text(position) }
        }
        // JSON forbids a raw line end in a string: whatever this was, it ends with its line.
        return byte == UInt8(ascii: "\n") ? .broken(position - 1) : nil
    }

    private mutating func structure(
        _ byte: UInt8, in bytes: UnsafeBufferPointer<UInt8>, lines: Bool, inArray: Bool
    ) -> End? {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            if isScalar { return .text(position) }
            if depth > 0, position > 0, bytes[position - 1] == UInt8(ascii: "\n"), lines || !mayOpen {
                return .broken(position)
            }
            depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            if depth == 0 { return .text(position) }
            depth -= 1
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

    /// Whether a bracket may open after what came last: after a colon, a comma or another opening bracket.
    private var mayOpen: Bool {
        lastSignificant == UInt8(ascii: ":") || lastSignificant == UInt8(ascii: ",")
            || lastSignificant == UInt8(ascii: "[")
    }
}
