import Foundation

/// Cuts a stream of bytes into JSON texts: one a line (NDJSON), the elements of an array, or texts that follow one
/// another, pretty-printed or not. The first byte that is not white space decides whether the input is an array.
///
/// The splitter finds where texts end; the parser decides whether they are valid. It guarantees:
///
/// - A valid text is one piece, however it is laid out.
/// - Objects and arrays end at their closing bracket, even if the separator after them is missing. A damaged text ends
///   at the latest before the next line that begins with `{` and is indented no deeper than the text.
/// - Other bytes are a piece up to the end of their line; in an array, up to the next comma or bracket.
/// - The pieces do not depend on the chunks in which the input was appended, except for ``Piece/isLine``.
/// - Memory is bounded by the limit, not by the input, and no byte is read more than twice.
///
/// Use: `append` a chunk, `takeAll`, repeat; `finish` at the end of the input and `takeAll` again. Bytes of an input
/// that is appended as one array, finished and taken once are not copied.
package struct JSONSplitter {
    /// The arrangement of the texts. A second array may follow the first one.
    private enum Layout { case unknown, sequence, array, afterArray }

    /// The meaning of the bytes from `start` on: `text` begins with a bracket, `other` does not.
    private enum Stretch { case between, text, other }

    /// The longest text in bytes; bounds the memory.
    private let limit: Int
    private let takesLines: Bool
    /// Bytes of the input that are not part of a finished piece, and those of the last pieces.
    private var buffer: [UInt8] = []
    /// Position of `buffer[0]` in the input, or in the larger one that it is part of.
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
    /// An element of the array has ended, and no comma after it has been read.
    private var isBehindElement = false
    /// The beginning of the stretch was a piece (``Fault/tooLong``); the rest is dropped.
    private var isDropping = false
    private var scan = BracketScan(at: 0, indentation: 0)
    /// Bytes before this position of the input were read for a text that turned out to be damaged. Every line among
    /// them that may begin another text does.
    private var strictUntil = 0
    private var isFinished = false

    /// `limit`: the longest text in bytes. `takesLines`: whether to take lines unread; see ``Piece/isLine``. `line` and
    /// `offset`: position of the input in a larger input.
    package init(limit: Int, takesLines: Bool = true, line: Int = 1, offset: Int = 0) {
        (self.limit, self.takesLines, self.line) = (limit, takesLines, line)
        lineStart = offset
        base = offset
    }

    /// True when the input begins with an array.
    package var isArray: Bool { layout == .array || layout == .afterArray }

    /// Appends a chunk of the input, cut anywhere. Copies it unless it is the first one, and frees the bytes that
    /// earlier pieces used.
    package mutating func append(_ bytes: [UInt8]) {
        if buffer.isEmpty, start == 0 { buffer = bytes } else { bytes.withUnsafeBytes { append($0) } }
    }

    /// Appends a chunk of the input, cut anywhere. Copies it, and frees the bytes that earlier pieces used.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0 {
            buffer.removeSubrange(..<start)
            base += start
            scan.move(by: start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Marks the end of the input. No chunk may follow.
    package mutating func finish() { isFinished = true }

    /// All pieces found so far, with the bytes that they are in; both empty when more input is needed or none is left.
    package mutating func takeAll() -> (bytes: [UInt8], pieces: [Piece]) {
        taken = start
        var pieces: [Piece] = []
        while step(&pieces) {}
        if isFinished, taken == 0 {
            defer { (buffer, base, start) = ([], base + start, 0) }
            return (buffer, pieces)
        }
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
            default: stretch = .other
            }
            return true
        case .text: return stepText(&pieces)
        case .other: return stepOther(&pieces)
        }
    }

    // MARK: Between texts

    /// Skips white space, a byte order mark and the brackets of an array; nil at the end of the buffer.
    private mutating func skipToText() -> UInt8? {
        if base + start == 0, buffer[start...].first == 0xEF {
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
            case UInt8(ascii: "]") where layout == .array: (layout, isBehindElement) = (.afterArray, false)
            case UInt8(ascii: ",") where isBehindElement: isBehindElement = false
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

    /// Continues the scan of a text. Ends it at its closing bracket, at a line that begins another text, at the limit,
    /// or at the end of the input.
    private mutating func stepText(_ pieces: inout [Piece]) -> Bool {
        let longest = isDropping ? Int.max : start + limit
        let stop = buffer.withUnsafeBufferPointer {
            scan.run(
                over: $0, until: min($0.count, longest), inArray: layout == .array,
                strictUntil: isDropping ? .max : strictUntil - base)
        }
        switch stop {
        case .complete(let end): return endStretch(at: end, &pieces)
        case .truncated(let end): return endStretch(at: end, fault: .truncated, &pieces)
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
        if let line = openingLine(before: buffer.count) { return endDamaged(at: line, &pieces) }
        return endTruncated(&pieces)
    }

    /// Continues a stretch that does not begin with a bracket, up to the end of its line or, in an array, its element.
    private mutating func stepOther(_ pieces: inout [Piece]) -> Bool {
        let end =
            layout == .array
            ? buffer.withUnsafeBufferPointer { scan.endOfScalar(in: $0) } : lineEnd(from: scan.position)
        if end == nil { scan.position = max(scan.position, buffer.count) }
        if !isDropping, (end ?? buffer.count) - start > limit { addTooLong(to: &pieces) }
        if let end { return endStretch(at: end, &pieces) }
        if isFinished { return scan.inString ? endTruncated(&pieces) : endStretch(at: buffer.count, &pieces) }
        if isDropping { advance(to: buffer.count) }
        return false
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

    /// Ends a damaged text before the line that begins another text. The scan has read further, so the next texts are
    /// read a second time, and any line among them that may begin a text does. Without that rule a byte could be read
    /// many times.
    private mutating func endDamaged(at end: Int, _ pieces: inout [Piece]) -> Bool {
        strictUntil = max(strictUntil, base + scan.position)
        return endStretch(at: end, fault: .truncated, &pieces)
    }

    /// Ends the stretch at the end of the input. An array ends with it, and is not reported in addition.
    private mutating func endTruncated(_ pieces: inout [Piece]) -> Bool {
        if layout == .array { layout = .afterArray }
        return endStretch(at: buffer.count, fault: .truncated, &pieces)
    }

    /// Ends the stretch, with a piece unless its rest was being dropped. Returns true.
    private mutating func endStretch(at end: Int, fault: Fault? = nil, _ pieces: inout [Piece]) -> Bool {
        if !isDropping { add(to: endWithoutBlanks(before: end), fault: fault, to: &pieces) }
        advance(to: end)
        (stretch, isDropping, isBehindElement) = (.between, false, layout == .array)
        return true
    }

    /// Reports the first bytes of a stretch beyond the limit. Its rest is dropped chunk by chunk, so memory stays
    /// bounded.
    private mutating func addTooLong(to pieces: inout [Piece]) {
        add(to: start + limit, fault: .tooLong, to: &pieces)
        isDropping = true
    }

    /// Appends a piece from `start` to `end`.
    private func add(to end: Int, fault: Fault? = nil, isLine: Bool = false, to pieces: inout [Piece]) {
        let range = start - taken..<end - taken
        pieces.append(Piece(range: range, line: line, offset: base + start, fault: fault, isLine: isLine))
    }

    /// The end without the white space before it.
    private func endWithoutBlanks(before end: Int) -> Int {
        buffer[start..<end].lastIndex { !BracketScan.isBlank($0) }.map { $0 + 1 } ?? start
    }

    /// Moves `start`, and counts the lines that it passes.
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
