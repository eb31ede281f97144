import Foundation

/// Cuts a stream of bytes into JSON texts: one a line (NDJSON), the elements of an array, or texts that follow one
/// another, pretty-printed or not. The first byte that is not white space decides whether the input is an array.
///
/// The splitter finds where texts end; the parser decides whether they are valid. It guarantees:
///
/// - A valid text is one piece, however it is laid out.
/// - A damaged text ends before the next line that begins with `{` and is indented no deeper than the text, at the
///   latest. In an array, elements also end at a comma. Outside arrays, bytes that begin no text are a piece up to the
///   end of their line.
/// - The pieces do not depend on the chunks in which the input was appended, except for ``Piece/isLine``.
/// - Memory is bounded by the limit, not by the input, and no byte is read more than twice.
///
/// Use: `append` a chunk, `takeAll`, repeat; `finish` at the end of the input and `takeAll` again.
package struct JSONSplitter {
    package struct Piece: Sendable {
        /// Position in the bytes that ``takeAll()`` returns.
        package let range: Range<Int>
        /// Line of its first byte, from 1.
        package let line: Int
        /// Position of its first byte in the input, from 0.
        package let offset: Int
        /// Why the piece is not a whole text; the bytes up to the next piece belong to it, too.
        package let fault: Fault?
        /// True for a line that was taken whole, unread, because no text can continue behind it. It may hold several
        /// texts: when it does not parse, cut it again with `takesLines: false`.
        package let isLine: Bool
    }

    /// Faults that the cutting finds; the parser finds the others.
    package enum Fault: Sendable {
        /// The text or the array is not closed.
        case truncated
        /// It is longer than the limit; the piece holds its first bytes.
        case tooLong
    }

    private enum Layout { case unknown, sequence, array, afterArray }

    /// The meaning of the bytes from `start` on; `line` is a line on which no text begins.
    private enum Stretch { case between, text, line }

    private let limit: Int
    private let takesLines: Bool
    /// Position of the input in a larger one.
    private let origin: Int
    private var buffer: [UInt8] = []
    /// Position of `buffer[0]` in the input.
    private var base: Int
    /// Index in the buffer of the first byte that belongs to no piece yet.
    private var start = 0
    /// The same when ``takeAll()`` began.
    private var taken = 0
    /// Number of the line that `start` is on, and the position of its first byte in the input.
    private var line: Int
    private var lineStart: Int
    private var layout = Layout.unknown
    private var stretch = Stretch.between
    /// The beginning of the stretch was a piece (``Fault/tooLong``); the rest is dropped.
    private var isDropping = false
    private var scan = BracketScan(at: 0, indentation: 0)
    /// Bytes before this position of the input were read for a text that turned out to be damaged. Every line among
    /// them that may begin another text does.
    private var strictUntil = 0
    private var isFinished = false

    /// `limit`: the longest text in bytes. `takesLines`: whether to take lines unread; see ``Piece/isLine``. `line` and
    /// `offset`: position of the input in a larger one. `isWithin`: the input begins at a ``restart`` of the larger
    /// one.
    package init(limit: Int, takesLines: Bool = true, line: Int = 1, offset: Int = 0, isWithin: Bool = false) {
        self.limit = limit
        self.takesLines = takesLines
        self.line = line
        origin = offset
        lineStart = offset
        base = offset
        if isWithin { layout = .sequence }
    }

    /// True when the input begins with an array.
    package var isArray: Bool { layout == .array || layout == .afterArray }

    /// A position behind all pieces so far at which another splitter would continue with the same pieces; nil when the
    /// pieces to come depend on bytes before it.
    package var restart: (line: Int, offset: Int)? {
        let position = base + start
        guard layout == .sequence, !isDropping, strictUntil <= position, lineStart == position else { return nil }
        return (line, position)
    }

    /// Appends a chunk of the input, cut anywhere.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0 {
            buffer.removeSubrange(..<start)
            base += start
            scan.move(by: start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Marks the end of the input.
    package mutating func finish() { isFinished = true }

    /// All pieces found so far, with the bytes that they are in; both empty when more input is needed or none is left.
    package mutating func takeAll() -> (bytes: [UInt8], pieces: [Piece]) {
        taken = start
        var pieces: [Piece] = []
        while step(&pieces) {}
        return (Array(buffer[taken..<taken + (pieces.last?.range.upperBound ?? 0)]), pieces)
    }

    /// Continues by one stretch; false when more input is needed or none is left.
    private mutating func step(_ pieces: inout [Piece]) -> Bool {
        switch stretch {
        case .between:
            guard let byte = skipToText() else { return finishArray(&pieces) }
            if takeLine(&pieces) { return true }
            scan = BracketScan(at: start, indentation: base + start - lineStart)
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"):
                add(to: start + 1, to: &pieces)
                start += 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): stretch = .text
            default: stretch = layout == .array ? .text : .line
            }
            return true
        case .text: return stepText(&pieces)
        case .line:
            let end = lineEnd(from: scan.position)
            scan.position = buffer.count
            if !isDropping, (end ?? buffer.count) - start > limit { addTooLong(to: &pieces) }
            if let end { return endStretch(at: end, &pieces) }
            if isDropping { advance(to: buffer.count) }
            return false
        }
    }

    // MARK: Between texts

    /// Skips white space, a byte order mark and the brackets of an array; nil at the end of the buffer.
    private mutating func skipToText() -> UInt8? {
        if base + start == origin, buffer[start...].first == 0xEF {
            guard buffer.count - start >= 3 || isFinished else { return nil }
            if buffer[start...].starts(with: [0xEF, 0xBB, 0xBF]) {
                start += 3
                lineStart += 3
            }
        }
        while start < buffer.count {
            switch buffer[start] {
            case UInt8(ascii: "\n"):
                line += 1
                lineStart = base + start + 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
            case UInt8(ascii: "[") where layout == .unknown || layout == .afterArray: layout = .array
            case UInt8(ascii: "]") where layout == .array: layout = .afterArray
            case let byte:
                if layout == .unknown { layout = .sequence }
                return byte
            }
            start += 1
        }
        return nil
    }

    /// Reports an array that is not closed, once, as an empty piece at the end of the input.
    private mutating func finishArray(_ pieces: inout [Piece]) -> Bool {
        guard isFinished, layout == .array else { return false }
        layout = .afterArray
        add(to: start, fault: .truncated, to: &pieces)
        return true
    }

    /// Takes a line of NDJSON without reading it: it begins with `{` and ends with `}`, and the next line begins with
    /// `{` or does not exist. No text continues there, because `{` never follows `}` in JSON.
    private mutating func takeLine(_ pieces: inout [Piece]) -> Bool {
        guard takesLines, layout == .sequence, lineStart == base + start, buffer[start] == UInt8(ascii: "{"),
            let end = lineEnd(from: start), end + 1 < buffer.count ? buffer[end + 1] == UInt8(ascii: "{") : isFinished
        else { return false }
        let last = endWithoutBlanks(before: end)
        guard buffer[last - 1] == UInt8(ascii: "}"), last - start <= limit else { return false }
        add(to: last, isLine: true, to: &pieces)
        start = end
        return true
    }

    /// Index of the next line end; the end of the buffer on the last line of the input, nil when more input is needed.
    private func lineEnd(from position: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress,
                let found = memchr(base + position, 0x0A, bytes.count - position)
            else { return isFinished ? bytes.count : nil }
            return base.distance(to: UnsafeRawPointer(found))
        }
    }

    // MARK: Texts

    private mutating func stepText(_ pieces: inout [Piece]) -> Bool {
        // An element of an array ends at the byte behind it.
        let longest = isDropping ? Int.max : start + limit + (layout == .array ? 1 : 0)
        let stop = buffer.withUnsafeBufferPointer {
            scan.run(
                over: $0, until: min($0.count, longest), inArray: layout == .array,
                strictUntil: isDropping ? .max : strictUntil - base)
        }
        switch stop {
        case .end(let end): return endStretch(at: end, fault: scan.isOpen ? .truncated : nil, &pieces)
        case .damaged(let position): return endDamaged(at: openingLine(before: position + 1) ?? position, &pieces)
        case nil: break
        }
        if min(scan.position, buffer.count) >= longest {
            if let line = openingLine(before: longest) { return endDamaged(at: line, &pieces) }
            addTooLong(to: &pieces)
            return true
        }
        guard isFinished else {
            // Keeps as many bytes as the scan may look back.
            if isDropping { advance(to: max(start, buffer.count - 1 - scan.indentation)) }
            return false
        }
        guard scan.isOpen else { return endStretch(at: buffer.count, &pieces) }
        if let line = openingLine(before: buffer.count) { return endDamaged(at: line, &pieces) }
        // The array ends with its last element, and is not reported in addition.
        if layout == .array { layout = .afterArray }
        return endStretch(at: buffer.count, fault: .truncated, &pieces)
    }

    /// The first line within the stretch that may begin another text.
    private func openingLine(before end: Int) -> Int? {
        var rest = buffer[start..<end]
        while let lineEnd = rest.firstIndex(of: UInt8(ascii: "\n")) {
            rest = rest[(lineEnd + 1)...]
            let blanks = rest.prefix(scan.indentation).prefix { $0 == 0x20 || $0 == 0x09 }
            if rest.dropFirst(blanks.count).first == UInt8(ascii: "{") { return blanks.endIndex }
        }
        return nil
    }

    private mutating func endDamaged(at end: Int, _ pieces: inout [Piece]) -> Bool {
        strictUntil = max(strictUntil, base + scan.position)
        return endStretch(at: end, fault: .truncated, &pieces)
    }

    /// Ends the stretch, with a piece unless its rest was being dropped. Returns true.
    private mutating func endStretch(at end: Int, fault: Fault? = nil, _ pieces: inout [Piece]) -> Bool {
        if !isDropping { add(to: endWithoutBlanks(before: end), fault: fault, to: &pieces) }
        advance(to: end)
        if layout == .array, start < buffer.count, buffer[start] == UInt8(ascii: ",") { start += 1 }
        stretch = .between
        isDropping = false
        return true
    }

    private mutating func addTooLong(to pieces: inout [Piece]) {
        add(to: start + limit, fault: .tooLong, to: &pieces)
        isDropping = true
    }

    private func add(to end: Int, fault: Fault? = nil, isLine: Bool = false, to pieces: inout [Piece]) {
        let range = start - taken..<end - taken
        pieces.append(Piece(range: range, line: line, offset: base + start, fault: fault, isLine: isLine))
    }

    private func endWithoutBlanks(before end: Int) -> Int {
        buffer[start..<end].lastIndex { !BracketScan.isBlank($0) }.map { $0 + 1 } ?? start
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

/// Follows brackets and strings from the first byte of a text to its end.
private struct BracketScan {
    enum Stop {
        /// The text ends before this index.
        case end(Int)
        /// The text is damaged, and a line at this index or before begins another text.
        case damaged(Int)
    }

    var position: Int
    private var first: Int
    /// Bytes before the text on its line, at most 256.
    let indentation: Int
    private var depth = 0
    /// A bit for each open bracket, the innermost in the lowest place, set for `[`.
    private var kinds: UInt128 = 0
    /// Deeper than `kinds` can tell; brackets are only counted.
    private var isDeep = false
    private var inString = false
    /// A line that may begin another text is where a value of this one may be.
    private var hasOpeningLine = false

    init(at first: Int, indentation: Int) {
        self.first = first
        self.indentation = min(indentation, 256)
        position = first
    }

    /// True while the text is not complete.
    var isOpen: Bool { depth > 0 || inString }

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
                if !isOpen { return .end(position) }
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
                    if depth == 0, !inArray { return .end(position) }
                } else if inArray, byte == UInt8(ascii: "]") {
                    position -= 1
                    return .end(position)
                }
            case UInt8(ascii: ",") where depth == 0:
                position -= 1
                return .end(position)
            default: break
            }
        }
        return nil
    }

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

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
}
