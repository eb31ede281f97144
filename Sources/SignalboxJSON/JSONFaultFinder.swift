/// Goes through a text as a JSON parser would and stops at what it cannot read.
struct JSONFaultFinder {
    private let text: [UInt8]
    private var position = 0
    private var expected = Expected.value
    /// Offsets of the brackets that are open.
    private var open: [Int] = []
    /// The last comma.
    private var comma = 0
    /// The end of what was read last.
    private var readEnd = 0

    private enum Expected {
        case value, firstElement, element, firstKey, key, colon, end
    }

    /// No reader of ours goes deeper.
    private static let deepest = 1024

    init(_ text: [UInt8]) {
        self.text = text
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func find() -> JSONFault? {
        while true {
            while position < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[position]) { position += 1 }
            guard position < text.count else { return faultAtEnd() }
            guard open.count <= Self.deepest else { return nil }
            if let fault = isComment ? JSONFault(.comment, position..<position + 2) : step() { return fault }
        }
    }

    private var byte: UInt8 { text[position] }

    private var isComment: Bool {
        let next = position + 1 < text.count ? text[position + 1] : 0
        return byte == UInt8(ascii: "/") && (next == UInt8(ascii: "/") || next == UInt8(ascii: "*"))
    }

    private func faultAtEnd() -> JSONFault? {
        if let opening = open.last { return JSONFault(.unclosed, text.count..<text.count, opening: opening) }
        return expected == .end ? nil : JSONFault(.missingValue, text.count..<text.count)
    }

    private func here(_ kind: JSONFault.Kind) -> JSONFault { JSONFault(kind, position..<position + 1) }

    private mutating func step() -> JSONFault? {
        switch expected {
        case .value, .firstElement, .element: return value()
        case .firstKey, .key: return key()
        case .colon:
            guard byte == UInt8(ascii: ":") else { return JSONFault(.missingColon, readEnd..<readEnd) }
            position += 1
            readEnd = position
            expected = .value
            return nil
        case .end: return afterValue()
        }
    }

    // MARK: Values

    private mutating func value() -> JSONFault? {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            expected = byte == UInt8(ascii: "{") ? .firstKey : .firstElement
            open.append(position)
            position += 1
            return nil
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            if expected == .firstElement { return close() }
            return expected == .element
                ? JSONFault(.trailingComma, comma..<comma + 1) : JSONFault(.missingValue, readEnd..<readEnd)
        case UInt8(ascii: ","):
            return expected == .element ? here(.additionalComma) : JSONFault(.missingValue, readEnd..<readEnd)
        case UInt8(ascii: "\""): return string(then: .end)
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."):
            return number()
        default: return word()
        }
    }

    private mutating func number() -> JSONFault? {
        let start = position
        position = text[start...].firstIndex { !Self.isWord($0) && !"+-.".utf8.contains($0) } ?? text.count
        let range = start..<position
        readEnd = position
        expected = .end
        return Self.isNumber(text[range]) ? nil : JSONFault(.number(spelled(range)), range)
    }

    private mutating func word() -> JSONFault? {
        if let fault = foreignQuote() { return fault }
        guard Self.isWord(byte) else { return unexpected() }
        let range = position..<(text[position...].firstIndex { !Self.isWord($0) } ?? text.count)
        guard ["true", "false", "null"].contains(spelled(range)) else {
            return JSONFault(.bareWord(spelled(range)), range)
        }
        position = range.upperBound
        readEnd = position
        expected = .end
        return nil
    }

    private mutating func afterValue() -> JSONFault? {
        guard let opening = open.last else { return JSONFault(.furtherText, scalar) }
        switch byte {
        case UInt8(ascii: ","):
            comma = position
            readEnd = position + 1
            position += 1
            expected = text[opening] == UInt8(ascii: "{") ? .key : .element
            return nil
        case UInt8(ascii: "]"), UInt8(ascii: "}"): return close()
        case UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ")"): return unexpected()
        default: return JSONFault(.missingComma, readEnd..<readEnd)
        }
    }

    private mutating func close() -> JSONFault? {
        let wanted = byte == UInt8(ascii: "}") ? UInt8(ascii: "{") : UInt8(ascii: "[")
        guard let opening = open.last, text[opening] == wanted else {
            return JSONFault(.wrongClosing, position..<position + 1, opening: open.last)
        }
        open.removeLast()
        position += 1
        readEnd = position
        expected = .end
        return nil
    }

    // MARK: Keys and strings

    private mutating func key() -> JSONFault? {
        switch byte {
        case UInt8(ascii: "\""): return string(then: .colon)
        case UInt8(ascii: "}"):
            return expected == .firstKey ? close() : JSONFault(.trailingComma, comma..<comma + 1)
        case UInt8(ascii: "]"): return close()
        case UInt8(ascii: ","): return here(.additionalComma)
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): return here(.missingKey)
        default:
            if let fault = foreignQuote() { return fault }
            guard Self.isWord(byte) else { return unexpected() }
            let range = position..<(text[position...].firstIndex { !Self.isWord($0) } ?? text.count)
            return JSONFault(.bareKey(spelled(range)), range)
        }
    }

    private mutating func string(then next: Expected) -> JSONFault? {
        let start = position
        position += 1
        while position < text.count, byte != UInt8(ascii: "\"") {
            if byte == 0x0A || byte == 0x0D { return JSONFault(.unclosedString, start..<position) }
            if byte < 0x20 { return here(.control) }
            guard byte == UInt8(ascii: "\\") else {
                position += 1
                continue
            }
            guard let length = escapeLength() else {
                return JSONFault(.escape, position..<min(position + 2, text.count))
            }
            position += length
        }
        guard position < text.count else { return JSONFault(.unclosedString, start..<text.count) }
        position += 1
        readEnd = position
        expected = next
        return nil
    }

    /// Bytes of the escape that begins here; nil for none that JSON knows. A surrogate needs its other half.
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

    private func codeUnit(at start: Int) -> UInt16? {
        guard start + 6 <= text.count, text[start] == UInt8(ascii: "\\"), text[start + 1] == UInt8(ascii: "u") else {
            return nil
        }
        let digits = text[start + 2..<start + 6]
        return digits.contains { "+-".utf8.contains($0) }
            ? nil : UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    // MARK: What is no JSON

    private func foreignQuote() -> JSONFault? {
        if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`") { return here(.singleQuotes) }
        guard position + 3 <= text.count, byte == 0xE2, text[position + 1] == 0x80,
            (0x98...0x9F).contains(text[position + 2])
        else { return nil }
        return JSONFault(.typographicQuotes, position..<position + 3)
    }

    private func unexpected() -> JSONFault {
        if byte == UInt8(ascii: "#") { return here(.comment) }
        return JSONFault(.unexpected(spelled(scalar)), scalar)
    }

    /// The whole character that begins here.
    private var scalar: Range<Int> {
        position..<(text[(position + 1)...].firstIndex { $0 & 0xC0 != 0x80 } ?? text.count)
    }

    private func spelled(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"): true
        default: false
        }
    }

    /// RFC 8259, 6.
    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text[...]
        func digits() -> Int {
            let found = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
            rest = rest.dropFirst(found)
            return found
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let isZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, !isZero || whole == 1 else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if rest.first.map({ $0 | 0x20 }) == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
