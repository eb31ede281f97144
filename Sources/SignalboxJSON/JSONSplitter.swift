import Foundation

/// Cuts a stream of bytes into JSON texts: one a line (NDJSON), the elements of an array, or texts that simply follow
/// one another, pretty-printed or not. Which of these it is shows from the bytes.
///
/// It finds where texts end, not whether they are sound; that is the parser's to say. A sound text comes out whole,
/// however it is laid out. A damaged one costs only itself: cutting goes on at the next line that opens a text where
/// the damaged one could not go on, or where it should have ended. What no text begins with takes its line with it.
/// The pieces do not depend on how the input was cut when it was appended, lines taken by a guess aside. Memory is
/// bounded by the longest text allowed, not by the input.
///
/// Use: `append` what was read, `takeAll`, repeat; `finish` at the end of input and `takeAll` again.
///
/// One long file, because it is one state machine: every part of it changes the same private state.
package struct JSONSplitter {
    /// One piece of the input.
    package struct Piece: Sendable {
        /// Where it stands in the buffer.
        package fileprivate(set) var range: Range<Int>
        /// Line of its first byte, from 1.
        package let line: Int
        /// Position of its first byte in the input, from 0.
        package let offset: Int
        /// What keeps it from being a text, as far as cutting can tell; what follows up to the next piece belongs to it.
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

    /// What the bytes from `start` on are.
    private enum Stretch { case between, text, line, restOfText, restOfLine }

    private let limit: Int
    private let guesses: Bool
    /// Where the input begins in a larger one.
    private let origin: Int
    private var buffer: [UInt8] = []
    /// Where in the buffer the part not yet handed out begins.
    private var start = 0
    private var line: Int
    /// Position in the input of the first byte of the line that `start` is on.
    private var lineStart: Int
    /// Position in the input of `buffer[0]`.
    private var base: Int
    private var layout = Layout.unknown
    private var stretch = Stretch.between
    private var isFinished = false
    private var scan = JSONBoundaryScan()
    /// Up to this position in the input damage was found; it is cut again, every line that opens a text being taken for
    /// one. So nothing is looked at more than twice.
    private var strictUntil = 0
    /// Before this position in the input no line can be guessed: its end was looked at once, and once is enough however
    /// many texts stand on it.
    private var noGuessBefore = 0
    /// In an array: an element was read and no comma since.
    private var needsComma = false
    /// What came last was damaged: brackets and commas that follow are its leftovers.
    private var isAfterDamage = false

    /// `limit`: the longest text in bytes. `guesses`: whether lines that look like one text are taken as such. `line` and
    /// `offset`: where the input begins in a larger one. `isWithin`: that this is a ``restart`` of the larger one.
    package init(limit: Int, guesses: Bool = true, line: Int = 1, offset: Int = 0, isWithin: Bool = false) {
        self.limit = limit
        self.guesses = guesses
        self.line = line
        origin = offset
        lineStart = offset
        base = offset
        if isWithin { layout = .sequence }
    }

    /// True when all input came in a JSON array.
    package var isArray: Bool { layout == .array || layout == .afterArray }

    /// A place behind all that was taken from where another splitter would cut what follows as this one will; nil where
    /// what stands before still counts.
    package var restart: (line: Int, offset: Int)? {
        let position = base + start
        guard layout == .sequence, stretch == .between, !isAfterDamage, strictUntil <= position, lineStart == position
        else { return nil }
        return (line, position)
    }

    // MARK: Input

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0 {
            buffer.removeSubrange(..<start)
            base += start
            scan.move(by: -start)
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
        // Every turn hands out a piece, passes over bytes, or starts a stretch.
        while true {
            switch stretch {
            case .between:
                guard let first = findStart() else { return endOfInput() }
                if let piece = begin(with: first) { return piece }
            case .text: return textPiece()
            case .line: return linePiece()
            case .restOfText: guard skipText() else { return nil }
            case .restOfLine: guard skipLine() else { return nil }
            }
        }
    }

    /// An array that nothing closes is said once, with an empty piece.
    private mutating func endOfInput() -> Piece? {
        guard isFinished, layout == .array else { return nil }
        layout = .afterArray
        return piece(to: start, fault: .truncated)
    }

    /// Passes over blanks, a byte order mark and the punctuation of an array.
    private mutating func findStart() -> UInt8? {
        while start < buffer.count {
            let byte = buffer[start]
            switch byte {
            case UInt8(ascii: "\n"):
                start += 1
                line += 1
                lineStart = base + start
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): start += 1
            case 0xEF where base + start == origin:
                guard buffer.count - start >= 3 || isFinished else { return nil }
                guard buffer[start...].starts(with: [0xEF, 0xBB, 0xBF]) else { return enter(byte) }
                start += 3
                lineStart += 3
            case UInt8(ascii: "[") where layout == .unknown || layout == .afterArray:
                layout = .array
                needsComma = false
                start += 1
            case UInt8(ascii: ",") where layout == .array && (needsComma || isAfterDamage):
                needsComma = false
                start += 1
            case UInt8(ascii: "]") where layout == .array:
                layout = .afterArray
                start += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","):
                guard isAfterDamage else { return enter(byte) }
                start += 1
            default: return enter(byte)
            }
        }
        return nil
    }

    private mutating func enter(_ byte: UInt8) -> UInt8 {
        if layout == .unknown { layout = .sequence }
        return byte
    }

    /// Decides from its first byte what begins at `start`; a piece when that is settled at once.
    private mutating func begin(with first: UInt8) -> Piece? {
        if first == UInt8(ascii: "}") || first == UInt8(ascii: "]") || first == UInt8(ascii: ",") {
            isAfterDamage = true
            return piece(to: start + 1, fault: .misplaced)
        }
        let opens = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        if layout == .array {
            defer { needsComma.toggle() }
            if needsComma { return piece(to: start, fault: .misplaced) }
        } else if !opens {
            scan = JSONBoundaryScan(at: start)
            stretch = .line
            return nil
        }
        isAfterDamage = false
        if let piece = guess() { return piece }
        scan = JSONBoundaryScan(at: start, indentation: base + start - lineStart)
        stretch = .text
        return nil
    }

    /// A line that begins with `{`, ends with `}` and is followed by another `{` or nothing can only end there:
    /// nowhere in JSON does `{` follow `}`. So nothing in it needs to be looked at.
    private mutating func guess() -> Piece? {
        guard guesses, layout == .sequence, base + start >= noGuessBefore, buffer[start] == UInt8(ascii: "{") else {
            return nil
        }
        let found = lineEnd(from: start)
        noGuessBefore = base + (found ?? buffer.count)
        guard let end = found else { return nil }
        let last = lastSignificant(before: end)
        guard buffer[last] == UInt8(ascii: "}"), last + 1 - start <= limit else { return nil }
        let following = end + 1
        guard following < buffer.count ? buffer[following] == UInt8(ascii: "{") : isFinished else { return nil }
        let piece = Piece(range: start..<last + 1, line: line, offset: base + start, fault: nil, isGuess: true)
        line += end < buffer.count ? 1 : 0
        start = min(following, buffer.count)
        lineStart = base + start
        return piece
    }

    /// The last byte before `end` that is no blank; at `start` there is one.
    private func lastSignificant(before end: Int) -> Int {
        var last = end - 1
        while last > start {
            switch buffer[last] {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"), UInt8(ascii: " "): last -= 1
            default: return last
            }
        }
        return last
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

    // MARK: Texts

    private mutating func textPiece() -> Piece? {
        switch runScan(limit: start + limit, strictUntil: strictUntil - base) {
        case .text(let end):
            stretch = .between
            return piece(to: end, fault: nil)
        case .broken(let end): return brokenPiece(to: end)
        case .tooLong:
            if let end = scan.resumption { return brokenPiece(to: end) }
            return tooLongPiece(then: .restOfText)
        case .needsMore:
            guard isFinished else { return nil }
            guard scan.isOpen else {
                stretch = .between
                return piece(to: buffer.count, fault: nil)
            }
            if let end = scan.resumption { return brokenPiece(to: end) }
            let piece = brokenPiece(to: buffer.count)
            closeEarly()
            return piece
        }
    }

    private mutating func runScan(limit: Int, strictUntil: Int) -> JSONBoundaryScan.End {
        let inArray = layout == .array
        return buffer.withUnsafeBufferPointer {
            scan.run(over: $0, inArray: inArray, limit: limit, strictUntil: strictUntil)
        }
    }

    private mutating func brokenPiece(to end: Int) -> Piece {
        strictUntil = max(strictUntil, base + scan.position)
        noteDamage()
        return piece(to: end, fault: .truncated)
    }

    /// Drops the rest of a text that is too long. False when more input is needed.
    private mutating func skipText() -> Bool {
        switch runScan(limit: .max, strictUntil: .max) {
        case .text(let end):
            stretch = .between
            advance(to: end)
        case .broken(let end):
            noteDamage()
            advance(to: end)
        case .tooLong, .needsMore:
            advance(to: buffer.count)
            guard isFinished else { return false }
            closeEarly()
        }
        return true
    }

    /// The input ends within a text; that the array around it ends too needs no saying.
    private mutating func closeEarly() {
        stretch = .between
        if layout == .array { layout = .afterArray }
    }

    private mutating func noteDamage() {
        stretch = .between
        isAfterDamage = true
        needsComma = false
    }

    // MARK: Lines that are no texts

    private mutating func linePiece() -> Piece? {
        let end = lineEnd(from: scan.position)
        scan.position = buffer.count
        guard (end ?? buffer.count) - start <= limit else { return tooLongPiece(then: .restOfLine) }
        guard let end else { return nil }
        stretch = .between
        return piece(to: end, fault: nil)
    }

    /// Drops the rest of a line that is too long. False when more input is needed.
    private mutating func skipLine() -> Bool {
        let end = lineEnd(from: start)
        advance(to: end ?? buffer.count)
        guard end != nil else { return false }
        stretch = .between
        return true
    }

    // MARK: Pieces

    /// What stands before `end`, blanks at its end aside.
    private mutating func piece(to end: Int, fault: Fault?) -> Piece {
        let last = end > start ? lastSignificant(before: end) + 1 : end
        let piece = Piece(range: start..<last, line: line, offset: base + start, fault: fault, isGuess: false)
        advance(to: end)
        return piece
    }

    /// The first bytes of what is too long; the rest is dropped.
    private mutating func tooLongPiece(then rest: Stretch) -> Piece {
        stretch = rest
        return Piece(range: start..<start + limit, line: line, offset: base + start, fault: .tooLong, isGuess: false)
    }

    private mutating func advance(to end: Int) {
        let passed = buffer[start..<end]
        let lines = passed.count { $0 == UInt8(ascii: "\n") }
        if lines > 0, let last = passed.lastIndex(of: UInt8(ascii: "\n")) {
            line += lines
            lineStart = base + last + 1
        }
        start = end
    }
}
