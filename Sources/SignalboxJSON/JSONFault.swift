/// The first fault that keeps a text from being JSON (RFC 8259), for messages to its author. Slower than the parser:
/// it reads texts only after the parser has rejected them.
package struct JSONFault: Sendable, Equatable {
    /// The fault, in the terms of the author's text.
    package let kind: Kind
    /// The faulty bytes; empty where something is missing.
    package let range: Range<Int>
    /// Position of the bracket that is not closed, or closed by the wrong one.
    package var opening: Int?

    /// The kinds of faults; names with a text carry the faulty word.
    package enum Kind: Sendable, Equatable {
        case comment
        /// A comma before a closing bracket.
        case trailingComma
        /// A comma after a comma, or before the first key.
        case additionalComma
        /// Two values of a container without a comma between them.
        case missingComma
        /// A key without a colon after it.
        case missingColon
        /// No value where one is required, such as after a colon.
        case missingValue
        /// A bracket or colon instead of a key.
        case missingKey
        /// A `'` or a backtick as the quotation mark.
        case singleQuotes
        /// Quotation marks of a word processor.
        case typographicQuotes
        /// A key without quotes.
        case bareKey(String)
        /// A word other than true, false and null.
        case bareWord(String)
        /// A malformed number.
        case number(String)
        /// A string without a closing quote on its line.
        case unclosedString
        /// A control character in a string.
        case control
        /// An unknown escape in a string.
        case escape
        /// The escape of one half of a surrogate pair without the other half.
        case halfSurrogate
        /// A closing bracket of the other kind, or without an opening one.
        case wrongClosing
        /// The text ends with an open bracket.
        case unclosed
        /// Bytes after the end of the value.
        case furtherText
        /// A bracket one level deeper than ``JSONParser/Limits`` allow by default.
        case tooDeep
        /// Any other character.
        case unexpected(String)
    }

    /// Nil when nothing is found: the text is JSON, or breaks a rule that is not checked here, such as that of UTF-8.
    package init?(in text: [UInt8]) {
        var finder = JSONFaultFinder(text)
        guard let fault = finder.find() else { return nil }
        self = fault
    }

    fileprivate init(_ kind: Kind, _ range: Range<Int>, opening: Int? = nil) {
        (self.kind, self.range, self.opening) = (kind, range, opening)
    }
}

/// Reads a text as a JSON parser does and stops at the first fault. Keeps a stack of brackets instead of recursing, so
/// that nesting cannot exhaust the call stack. Does not validate UTF-8.
private struct JSONFaultFinder {
    private let text: [UInt8]
    private var position = 0
    private var expected = Expected.value
    /// Offsets of the open brackets.
    private var open: [Int] = []
    /// Offset of the last comma.
    private var comma = 0
    /// End of the last token.
    private var readEnd = 0

    /// The tokens that may come next. `firstElement` and `firstKey` also allow the closing bracket.
    private enum Expected {
        case value, firstElement, element, firstKey, key, colon, end
    }

    private static let maximumDepth = JSONParser.Limits().depth

    init(_ text: [UInt8]) {
        self.text = text
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Reads tokens up to the first fault; nil at the end of a valid text.
    mutating func find() -> JSONFault? {
        while true {
            while position < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[position]) { position += 1 }
            guard position < text.count else { return faultAtEnd() }
            if let fault = isComment ? JSONFault(.comment, position..<position + 2) : step() { return fault }
        }
    }

    private var byte: UInt8 { text[position] }

    private var isComment: Bool {
        let rest = text[position...]
        return rest.starts(with: "//".utf8) || rest.starts(with: "/*".utf8)
    }

    /// A bracket that is open at the end takes precedence over a missing value.
    private func faultAtEnd() -> JSONFault? {
        if let opening = open.last { return JSONFault(.unclosed, text.count..<text.count, opening: opening) }
        return expected == .end ? nil : JSONFault(.missingValue, text.count..<text.count)
    }

    /// A fault of the byte at the position.
    private func here(_ kind: JSONFault.Kind) -> JSONFault { JSONFault(kind, position..<position + 1) }
    /// A fault of a token that is missing after the last one.
    private func missing(_ kind: JSONFault.Kind) -> JSONFault { JSONFault(kind, readEnd..<readEnd) }

    /// Takes a token. Returns nil, for no fault.
    private mutating func take(to end: Int, then next: Expected) -> JSONFault? {
        position = end
        readEnd = end
        expected = next
        return nil
    }

    /// Reads one token. Returns nil unless it is faulty.
    private mutating func step() -> JSONFault? {
        switch expected {
        case .value, .firstElement, .element: value()
        case .firstKey, .key: key()
        case .colon: byte == UInt8(ascii: ":") ? take(to: position + 1, then: .value) : missing(.missingColon)
        case .end: afterValue()
        }
    }

    // MARK: Values

    /// Reads a scalar or an opening bracket. A closing bracket is valid only in an empty array.
    private mutating func value() -> JSONFault? {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < Self.maximumDepth else { return here(.tooDeep) }
            open.append(position)
            return take(to: position + 1, then: byte == UInt8(ascii: "{") ? .firstKey : .firstElement)
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            if expected == .firstElement { return close() }
            return expected == .element ? JSONFault(.trailingComma, comma..<comma + 1) : missing(.missingValue)
        case UInt8(ascii: ","): return expected == .element ? here(.additionalComma) : missing(.missingValue)
        case UInt8(ascii: "\""): return string(then: .end)
        default: return literal()
        }
    }

    /// A number, or one of JSON's three words.
    private mutating func literal() -> JSONFault? {
        let isNumber = "+-.0123456789".utf8.contains(byte)
        let range = word(including: isNumber ? "+-." : "")
        guard !range.isEmpty else { return foreignQuote() ?? unexpected() }
        let word = spelled(range)
        let isValid = isNumber ? Self.isNumber(text[range]) : ["true", "false", "null"].contains(word)
        guard isValid else { return JSONFault(isNumber ? .number(word) : .bareWord(word), range) }
        return take(to: range.upperBound, then: .end)
    }

    /// Whether the bytes are a number (RFC 8259, 6). Not a regular expression: a text may have a million numbers.
    private static func isNumber(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes
        let whole = rest.prefix(while: isDigit)
        guard let first = whole.first, first != UInt8(ascii: "0") || whole.count == 1 else { return false }
        rest = rest.dropFirst(whole.count)
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix(while: isDigit)
            guard !fraction.isEmpty else { return false }
            rest = rest.dropFirst(1 + fraction.count)
        }
        guard let exponent = rest.popFirst() else { return true }
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        return exponent | 0x20 == UInt8(ascii: "e") && !rest.isEmpty && rest.allSatisfy(isDigit)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Reads a comma or a closing bracket. Any byte after the outermost value is a fault.
    private mutating func afterValue() -> JSONFault? {
        guard let opening = open.last else { return JSONFault(.furtherText, scalar) }
        switch byte {
        case UInt8(ascii: ","):
            comma = position
            return take(to: position + 1, then: text[opening] == UInt8(ascii: "{") ? .key : .element)
        case UInt8(ascii: "]"), UInt8(ascii: "}"): return close()
        case UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ")"): return unexpected()
        default: return missing(.missingComma)
        }
    }

    /// Closes the innermost bracket, which must be of the same kind.
    private mutating func close() -> JSONFault? {
        let opening = byte == UInt8(ascii: "}") ? UInt8(ascii: "{") : UInt8(ascii: "[")
        guard let last = open.last, text[last] == opening else {
            return JSONFault(.wrongClosing, position..<position + 1, opening: open.last)
        }
        open.removeLast()
        return take(to: position + 1, then: .end)
    }

    // MARK: Keys and strings

    /// Reads a key, or the closing bracket of an empty object.
    private mutating func key() -> JSONFault? {
        switch byte {
        case UInt8(ascii: "\""): return string(then: .colon)
        case UInt8(ascii: "}") where expected == .key: return JSONFault(.trailingComma, comma..<comma + 1)
        case UInt8(ascii: "}"), UInt8(ascii: "]"): return close()
        case UInt8(ascii: ","): return here(.additionalComma)
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): return here(.missingKey)
        default:
            let range = word()
            return range.isEmpty ? foreignQuote() ?? unexpected() : JSONFault(.bareKey(spelled(range)), range)
        }
    }

    /// Reads a string to its closing quote. A line end counts as a missing quote.
    private mutating func string(then next: Expected) -> JSONFault? {
        let start = position
        position += 1
        while position < text.count, byte != UInt8(ascii: "\"") {
            if byte == 0x0A || byte == 0x0D { return JSONFault(.unclosedString, start..<position) }
            if byte < 0x20 { return here(.control) }
            guard let length = byte == UInt8(ascii: "\\") ? escapeLength() : 1 else { return faultyEscape }
            position += length
        }
        guard position < text.count else { return JSONFault(.unclosedString, start..<text.count) }
        return take(to: position + 1, then: next)
    }

    /// Length of the escape that begins here; nil if JSON has no such escape. A surrogate needs its other half.
    private func escapeLength() -> Int? {
        guard position + 1 < text.count else { return nil }
        guard text[position + 1] == UInt8(ascii: "u") else {
            return "\"\\/bfnrt".utf8.contains(text[position + 1]) ? 2 : nil
        }
        guard let unit = codeUnit(at: position), !(0xDC00...0xDFFF).contains(unit) else { return nil }
        guard (0xD800...0xDBFF).contains(unit) else { return 6 }
        guard let low = codeUnit(at: position + 6), (0xDC00...0xDFFF).contains(low) else { return nil }
        return 12
    }

    /// The whole escape of half a surrogate pair, or the first two bytes of one that JSON does not have.
    private var faultyEscape: JSONFault {
        if let unit = codeUnit(at: position), (0xD800...0xDFFF).contains(unit) {
            return JSONFault(.halfSurrogate, position..<position + 6)
        }
        return JSONFault(.escape, position..<min(position + 2, text.count))
    }

    /// The number in `\u` and four hexadecimal digits; nil for anything else.
    private func codeUnit(at start: Int) -> UInt16? {
        guard start + 6 <= text.count, text[start...].starts(with: "\\u".utf8) else { return nil }
        let digits = text[start + 2..<start + 6]
        return digits.contains { "+-".utf8.contains($0) } ? nil : UInt16(spelled(digits.indices), radix: 16)
    }

    // MARK: Tokens

    /// A quotation mark that JSON does not have: `'`, a backtick, or U+2018 to U+201F.
    private func foreignQuote() -> JSONFault? {
        if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`") { return here(.singleQuotes) }
        guard position + 3 <= text.count, byte == 0xE2, text[position + 1] == 0x80,
            (0x98...0x9F).contains(text[position + 2])
        else { return nil }
        return JSONFault(.typographicQuotes, position..<position + 3)
    }

    /// A `#` counts as a comment; any other character is reported as it stands.
    private func unexpected() -> JSONFault {
        byte == UInt8(ascii: "#") ? here(.comment) : JSONFault(.unexpected(spelled(scalar)), scalar)
    }

    /// The letters, digits, `_`, `$` and further characters that begin here.
    private func word(including others: String = "") -> Range<Int> {
        let end = text[position...].firstIndex { byte in
            let letter = byte | 0x20
            let isWord =
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "_$".utf8.contains(byte)
            return !isWord && !others.utf8.contains(byte)
        }
        return position..<(end ?? text.count)
    }

    /// The whole character that begins here.
    private var scalar: Range<Int> {
        position..<(text[(position + 1)...].firstIndex { $0 & 0xC0 != 0x80 } ?? text.count)
    }

    private func spelled(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }
}
