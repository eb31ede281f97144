/// Where and why a text stops being JSON (RFC 8259): for messages about texts that simdjson, which says neither exactly,
/// has refused. UTF-8 and nesting are not its business.
struct JSONDefect {
    let reason: JSONError.Reason
    let offset: Int

    /// Nil when nothing is wrong.
    init?(of text: UnsafeBufferPointer<UInt8>) {
        var reader = JSONGrammar(text: text)
        do throws(JSONDefect) {
            try reader.document()
            return nil
        } catch {
            self = error
        }
    }

    fileprivate init(_ reason: JSONError.Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}

extension JSONDefect: Error {}

/// Reads a text by the grammar, without recursion: texts may be nested as deeply as they like.
private struct JSONGrammar {
    let text: UnsafeBufferPointer<UInt8>
    private var position = 0
    /// What closes the containers that are open.
    private var closers: [UInt8] = []

    init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

    mutating func document() throws(JSONDefect) {
        try value()
        while let closer = closers.last {
            let byte = try significant()
            if byte == closer {
                position += 1
                closers.removeLast()
            } else {
                try expect(",")
                if closer == UInt8(ascii: "}") { try key() }
                try value()
            }
        }
        skipBlanks()
        guard position == text.count else { throw JSONDefect(.syntax, at: position) }
    }

    /// A scalar, or the start of a container up to its first scalar.
    private mutating func value() throws(JSONDefect) {
        while true {
            switch try significant() {
            case UInt8(ascii: "{"):
                position += 1
                closers.append(UInt8(ascii: "}"))
                if try significant() == UInt8(ascii: "}") { return }
                try key()
            case UInt8(ascii: "["):
                position += 1
                closers.append(UInt8(ascii: "]"))
                if try significant() == UInt8(ascii: "]") { return }
            case UInt8(ascii: "\""): return try string()
            case UInt8(ascii: "t"): return try word("true")
            case UInt8(ascii: "f"): return try word("false")
            case UInt8(ascii: "n"): return try word("null")
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
            default: throw JSONDefect(.syntax, at: position)
            }
        }
    }

    private mutating func key() throws(JSONDefect) {
        guard try significant() == UInt8(ascii: "\"") else { throw JSONDefect(.syntax, at: position) }
        try string()
        _ = try significant()
        try expect(":")
    }

    // MARK: Scalars

    private mutating func string() throws(JSONDefect) {
        position += 1
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20: throw JSONDefect(.invalidString, at: position)
            default: position += 1
            }
        }
        throw JSONDefect(.unclosedString, at: text.count)
    }

    private mutating func escape() throws(JSONDefect) {
        let start = position
        guard position + 1 < text.count else { throw JSONDefect(.unclosedString, at: text.count) }
        position += 2
        switch text[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"): break
        default: throw JSONDefect(.invalidString, at: start)
        }
        let unit = try codeUnit(of: start)
        guard unit & 0xF800 == 0xD800 else { return }
        let next = position
        guard unit < 0xDC00, take("\\"), take("u"), try codeUnit(of: next) & 0xFC00 == 0xDC00 else {
            throw JSONDefect(.invalidString, at: start)
        }
    }

    private mutating func codeUnit(of escape: Int) throws(JSONDefect) -> Int {
        var unit = 0
        for _ in 0..<4 {
            guard position < text.count else { throw JSONDefect(.unclosedString, at: text.count) }
            guard let digit = Character(Unicode.Scalar(text[position])).hexDigitValue else {
                throw JSONDefect(.invalidString, at: escape)
            }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }

    private mutating func word(_ word: StaticString) throws(JSONDefect) {
        for place in 0..<word.utf8CodeUnitCount {
            guard position < text.count else { throw JSONDefect(.incomplete, at: text.count) }
            guard text[position] == word.utf8Start[place] else { throw JSONDefect(.syntax, at: position) }
            position += 1
        }
        try endOfWord()
    }

    private mutating func number() throws(JSONDefect) {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        var isWhole = true
        if take(".") {
            isWhole = false
            try digits()
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            try digits()
        }
        try endOfWord()
        let digits = String(decoding: text[start..<position], as: UTF8.self)
        let fits = isWhole ? Int64(digits) != nil || UInt64(digits) != nil : Double(digits)?.isFinite == true
        guard fits else { throw JSONDefect(.numberOutOfRange, at: start) }
    }

    private mutating func digits() throws(JSONDefect) {
        guard position < text.count else { throw JSONDefect(.incomplete, at: text.count) }
        let first = position
        while position < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[position]) { position += 1 }
        guard position > first else { throw JSONDefect(.syntax, at: position) }
    }

    /// A number or word is followed by a blank, by punctuation, or by nothing.
    private func endOfWord() throws(JSONDefect) {
        guard position < text.count else { return }
        switch text[position] {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"), UInt8(ascii: ","),
            UInt8(ascii: ":"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "{"),
            UInt8(ascii: "\""):
            return
        default: throw JSONDefect(.syntax, at: position)
        }
    }

    // MARK: Bytes

    private mutating func skipBlanks() {
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): position += 1
            default: return
            }
        }
    }

    /// The next byte that is no blank, without passing over it.
    private mutating func significant() throws(JSONDefect) -> UInt8 {
        skipBlanks()
        guard position < text.count else { throw JSONDefect(.incomplete, at: text.count) }
        return text[position]
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard position < text.count, text[position] == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: Unicode.Scalar) throws(JSONDefect) {
        guard take(byte) else { throw JSONDefect(.syntax, at: position) }
    }
}
