internal import CSimdjson

/// A line and column in a text, from 1. Columns count UTF-8 characters; a byte order mark counts as none.
package struct TextPosition: Sendable, Equatable {
    /// Lines end with a line feed.
    package let line: Int
    /// In Unicode scalars, not in bytes or UTF-16 units.
    package let column: Int

    /// Takes a position that is already known.
    package init(line: Int, column: Int) { (self.line, self.column) = (line, column) }

    /// The position of a byte offset; offsets outside the text count as its ends.
    package init(offset: Int, in text: [UInt8]) {
        let before = text[..<min(max(offset, 0), text.count)]
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let isMarked = lineStart == 0 && before.starts(with: [0xEF, 0xBB, 0xBF])
        column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + (isMarked ? 0 : 1)
    }
}

/// The position of a value in a text, in bytes: for messages that quote it.
package struct JSONPosition: Sendable, Equatable {
    /// The value; of an object or array only the opening bracket.
    package let value: Range<Int>
    /// The key with its quotes, for a member of an object.
    package let key: Range<Int>?

    /// The position of the value that a JSON Pointer names, the last one if keys repeat. If there is none, of the
    /// nearest value around it. Nil if the text is not JSON.
    package init?(of pointer: String, in text: [UInt8]) {
        guard let start = Self.offset(of: pointer, in: text), start < text.count else { return nil }
        value = start..<Self.end(of: start, in: text)
        key = Self.key(before: start, in: text)
    }

    /// The offset of the value that a pointer names. Removes the last token until it finds one; nil if the text is not
    /// JSON.
    private static func offset(of pointer: String, in text: [UInt8]) -> Int? {
        var pointer = pointer
        while true {
            let offset = pointer.withUTF8 { name in
                name.withMemoryRebound(to: CChar.self) {
                    sb_json_value_offset(text, text.count, $0.baseAddress, $0.count)
                }
            }
            if offset >= 0 { return offset }
            guard let slash = pointer.lastIndex(of: "/") else { return nil }
            pointer = String(pointer[..<slash])
        }
    }

    /// The end of a scalar or of an opening bracket. Never beyond the text.
    private static func end(of start: Int, in text: [UInt8]) -> Int {
        switch text[start] {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return start + 1
        case UInt8(ascii: "\""):
            var end = start + 1
            while end < text.count, text[end] != UInt8(ascii: "\"") { end += text[end] == UInt8(ascii: "\\") ? 2 : 1 }
            return min(end + 1, text.count)
        default: return text[start...].firstIndex { $0 <= 0x20 || ",]}".utf8.contains($0) } ?? text.count
        }
    }

    /// The range of a whole value that begins at an offset, with everything in it. The offset must be in the text. If
    /// the text is not JSON, the range ends with it at the latest. Linear in the value's length.
    package static func whole(from start: Int, in text: [UInt8]) -> Range<Int> {
        var depth = 0
        var place = start
        repeat {
            switch text[place] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""): place = end(of: place, in: text) - 1
            default: if depth == 0 { place = end(of: place, in: text) - 1 }
            }
            place += 1
        } while depth > 0 && place < text.count
        return start..<place
    }

    /// Searches backwards from a value for its colon and key.
    private static func key(before value: Int, in text: [UInt8]) -> Range<Int>? {
        guard let colon = text[..<value].lastIndex(where: { $0 > 0x20 }), text[colon] == UInt8(ascii: ":"),
            let end = text[..<colon].lastIndex(where: { $0 > 0x20 }), text[end] == UInt8(ascii: "\"")
        else { return nil }
        var start = end
        while let quote = text[..<start].lastIndex(of: UInt8(ascii: "\"")) {
            start = quote
            let escapes = text[..<quote].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
            if escapes.isMultiple(of: 2) { return quote..<end + 1 }
        }
        return nil
    }
}
