/// Where in a text a value stands, in bytes: for messages that show the place.
package struct JSONPosition: Sendable, Equatable {
    /// The value; of an object or array only the bracket that opens it.
    package let value: Range<Int>
    /// The key in its quotes, for a member of an object.
    package let key: Range<Int>?

    /// The place of the value that a JSON Pointer names, the last one where keys repeat; where there is none, of the nearest
    /// value around it. Nil for a text that is no JSON.
    package init?(of pointer: String, in text: [UInt8]) {
        guard let start = TextPosition.offset(of: pointer, in: text), start < text.count else { return nil }
        value = start..<Self.end(of: start, in: text)
        key = Self.key(before: start, in: text)
    }

    private static func end(of start: Int, in text: [UInt8]) -> Int {
        switch text[start] {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return start + 1
        case UInt8(ascii: "\""):
            var end = start + 1
            while end < text.count, text[end] != UInt8(ascii: "\"") { end += text[end] == UInt8(ascii: "\\") ? 2 : 1 }
            return min(end + 1, text.count)
        default:
            let rest = text[start...]
            return rest.firstIndex { $0 <= 0x20 || ",]}".utf8.contains($0) } ?? text.count
        }
    }

    /// From the beginning of a value to its end, with all that is in it.
    package static func whole(from start: Int, in text: [UInt8]) -> Range<Int> {
        var depth = 0
        var place = start
        repeat {
            let byte = text[place]
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default:
                place = depth == 0 || byte == UInt8(ascii: "\"") ? end(of: place, in: text) : place + 1
                continue
            }
            place += 1
        } while depth > 0 && place < text.count
        return start..<place
    }

    /// Backwards from the value: its colon, then the key.
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
