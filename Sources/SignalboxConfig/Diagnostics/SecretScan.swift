import SignalboxNotification

/// Hides possible secrets in the text of a config, which need not be JSON. Asterisks replace them byte by byte, so that
/// everything else keeps its position.
///
/// Hides the value after each key with a name such as `bearer` or `clientSecret`, keys of Standard Webhooks, and user
/// names and passwords in URLs. Shows references such as `env:NAME`, and the words `true`, `false` and `null`. Takes
/// time linear in the size of the text. Errs on the safe side: harmless text may be hidden as well.
struct SecretScan {
    /// The text with asterisks.
    private(set) var shown: [UInt8]
    private let text: [UInt8]
    /// Offsets of values that stay visible.
    private let exceptions: Set<Int>
    /// No key of an entry ends before this offset. So many words on one line take linear time.
    private var keylessEnd = 0

    /// `exceptions`: offsets of values after such keys that are not secrets.
    init(_ text: [UInt8], except exceptions: Set<Int> = []) {
        (self.text, self.exceptions) = (text, exceptions)
        shown = text
        var position = 0
        while position < text.count { position = hideNamedValue(at: position) }
        position = 0
        while position < text.count { position = hideKeyOrUserinfo(at: position) }
    }

    /// For messages, which are not text of a config. Hides nothing yet.
    private init(message: String) { (text, shown, exceptions) = (Array(message.utf8), Array(message.utf8), []) }

    /// A message with asterisks instead of the keys of Standard Webhooks and the userinfo of URLs that it quotes. URLs
    /// without quotes are examples.
    static func hidingSecrets(in message: String) -> String {
        var scan = SecretScan(message: message)
        var position = 0
        var isQuoted = false
        while position < scan.text.count {
            if scan.text[position] == UInt8(ascii: "\"") { isQuoted.toggle() }
            let isURL = scan.text[position] == UInt8(ascii: ":")
            position = isURL && !isQuoted ? position + 1 : scan.hideKeyOrUserinfo(at: position)
        }
        return String(decoding: scan.shown, as: UTF8.self)
    }

    /// Whether something in a range of the text is hidden.
    func hides(_ range: Range<Int>) -> Bool { shown[range] != text[range] }

    /// Whether the value of a key with this name is hidden.
    static func isSecret(key: String) -> Bool {
        let key = Array(key.utf8)
        return key.indices.contains { position in
            name(beginningWith: key[position]).map { isName($0, at: position, in: key) } ?? false
        }
    }

    /// Bytes that separate values. They stay visible in values without quotes, so an excerpt keeps its shape.
    static func isSeparator(_ byte: UInt8) -> Bool { "\"{}[]:, \t\r\n".utf8.contains(byte) }

    /// JSON's own words.
    private static let words: [StaticString] = ["true", "false", "null"]
    /// How keys of Standard Webhooks begin.
    private static let keyPrefixes: [StaticString] = ["whsec_", "whsk_"]

    // MARK: Values behind keys

    /// Hides the value of a key if a part of its name that suggests a secret begins here. Returns the offset to
    /// continue at.
    private mutating func hideNamedValue(at position: Int) -> Int {
        guard let name = Self.name(beginningWith: text[position]), Self.isName(name, at: position, in: text) else {
            return position + 1
        }
        let end = keyEnd(from: position + name.utf8CodeUnitCount)
        guard let value = self.value(behindKeyTo: end) else { return end }
        switch text[value] {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return hideContents(of: value)
        case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","): return value
        default: return hideScalar(at: value)
        }
    }

    /// Parts of names that suggest a secret, by their first letter in any case. In lower case.
    private static func name(beginningWith letter: UInt8) -> StaticString? {
        switch lowered(letter) {
        case UInt8(ascii: "a"): "auth"
        case UInt8(ascii: "b"): "bearer"
        case UInt8(ascii: "k"): "key"
        case UInt8(ascii: "p"): "password"
        case UInt8(ascii: "s"): "secret"
        case UInt8(ascii: "t"): "token"
        default: nil
        }
    }

    /// Whether a part of a name begins at an offset. `auth` is a whole word or the beginning of `authorization`: there
    /// are `authorities`, too.
    private static func isName(_ name: StaticString, at start: Int, in text: [UInt8]) -> Bool {
        guard begins(name, at: start, in: text) else { return false }
        let end = start + name.utf8CodeUnitCount
        guard lowered(text[start]) == UInt8(ascii: "a"), end < text.count else { return true }
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(text[end])
        return !isLetter || begins("orization", at: end, in: text)
    }

    /// The value after a key whose name ends at an offset, nil if it is not a key. The quotes and the colon may be
    /// missing, and the colon may be an equals sign.
    private func value(behindKeyTo end: Int) -> Int? {
        let behind = end + quoteLength(at: end)
        if let colon = self.colon(at: behind) {
            let value = spaceEnd(from: colon + 1)
            return value < text.count ? value : nil
        }
        // A value on the same line, without a colon before it.
        guard behind > end, let value = text[behind...].firstIndex(where: { $0 != 0x20 && $0 != 0x09 }) else {
            return nil
        }
        return ":,{}[]\r\n".utf8.contains(text[value]) ? nil : value
    }

    /// Hides all values in an object or array, including nested ones, but not the keys. Returns the end: after the
    /// bracket that closes it, at one that closes something else, or that of the text.
    private mutating func hideContents(of start: Int) -> Int {
        var open: [UInt8] = []
        var place = start
        repeat {
            let byte = text[place]
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                open.append(byte)
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard open.last == UInt8(ascii: byte == UInt8(ascii: "}") ? "{" : "[") else { return place }
                open.removeLast()
                place += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "="), 0...0x20: place += 1
            default: place = hideEntry(at: place, inObject: open.last == UInt8(ascii: "{"))
            }
        } while !open.isEmpty && place < text.count
        return place
    }

    /// Hides an entry of a container that does not begin with a bracket, without its key. Returns its end.
    private mutating func hideEntry(at start: Int, inObject: Bool) -> Int {
        guard inObject, start >= keylessEnd else { return hideScalar(at: start) }
        guard let colon = self.colon(behindKeyAt: start) else {
            if text[start] != UInt8(ascii: "\"") { keylessEnd = keyEnd(from: start + quoteLength(at: start)) }
            return hideScalar(at: start)
        }
        let value = spaceEnd(from: colon + 1)
        guard value < text.count, !":,{}[]".utf8.contains(text[value]) else { return value }
        return hideScalar(at: value)
    }

    /// Hides a string, a number or a word. Returns its end, which is after its start.
    private mutating func hideScalar(at start: Int) -> Int {
        let first = start + quoteLength(at: start)
        let isReference = ["env:", "file:"].contains { text[first...].starts(with: $0.utf8) }
        if let end = stringEnd(from: start) {
            guard !isReference, !exceptions.contains(start) else { return end }
            hide(first..<end - 1)
            // A quote within the secret ends the string too early.
            guard end < text.count, Self.isOfKey(text[end]) else { return end }
            let rest = lineValueEnd(from: end)
            for place in end..<rest where !Self.isSeparator(text[place]) { hide(place..<place + 1) }
            return rest
        }
        if isReference { return text[first...].firstIndex(where: Self.endsReference) ?? text.count }
        if let end = wordEnd(from: start) { return end }
        let end = lineValueEnd(from: start)
        guard !exceptions.contains(start) else { return end }
        // The closing quote stays visible, as the opening one does.
        let isQuoted = first == start + 1 && end > first && text[end - 1] == text[start]
        for place in first..<(isQuoted ? end - 1 : end) where !Self.isSeparator(text[place]) {
            hide(place..<place + 1)
        }
        return end
    }

    private mutating func hide(_ range: Range<Int>) {
        for place in range { shown[place] = UInt8(ascii: "*") }
    }

    // MARK: Parts of the text

    /// The end of a key without its closing quote: at a quote, a bracket, a colon, an equals sign, a comma or a line
    /// end.
    private func keyEnd(from start: Int) -> Int {
        var end = start
        while end < text.count, quoteLength(at: end) == 0, !"{}[]:=,\r\n".utf8.contains(text[end]) { end += 1 }
        return end
    }

    /// The colon or equals sign after a key with or without quotes; nil if the entry that begins here has no key.
    private func colon(behindKeyAt start: Int) -> Int? {
        if text[start] == UInt8(ascii: "\"") { return stringEnd(from: start).flatMap { colon(at: $0) } }
        let end = keyEnd(from: start + quoteLength(at: start))
        return colon(at: end + quoteLength(at: end))
    }

    /// The colon or equals sign that only white space precedes.
    private func colon(at start: Int) -> Int? {
        let place = spaceEnd(from: start)
        return place < text.count && (text[place] == UInt8(ascii: ":") || text[place] == UInt8(ascii: "="))
            ? place : nil
    }

    /// The first byte at or after an offset that is not white space.
    private func spaceEnd(from start: Int) -> Int { text[start...].firstIndex { $0 > 0x20 } ?? text.count }

    /// The end of a string in double quotes; nil for anything else, and for a string that its line does not close.
    private func stringEnd(from start: Int) -> Int? {
        guard text[start] == UInt8(ascii: "\"") else { return nil }
        var end = start + 1
        while end < text.count, !Self.isLineEnd(text[end]) {
            if text[end] == UInt8(ascii: "\"") { return end + 1 }
            end += text[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    /// The end of one of JSON's words, which are not secrets; nil for any other word.
    private func wordEnd(from start: Int) -> Int? {
        guard let word = Self.words.first(where: { begins($0, at: start) }) else { return nil }
        let end = start + word.utf8CodeUnitCount
        return end == text.count || !Self.isOfKey(text[end]) ? end : nil
    }

    /// The end of a value without double quotes around it: at the end of the line, or at a comma or closing bracket
    /// that another entry, another bracket or the end of the line follows.
    private func lineValueEnd(from start: Int) -> Int {
        var end = start + 1
        while end < text.count, !Self.isLineEnd(text[end]) {
            if ",]}".utf8.contains(text[end]) {
                let next = text[(end + 1)...].first { $0 != 0x20 && $0 != 0x09 }
                guard let next, !"\"'`{}[],\r\n".utf8.contains(next) else { break }
            }
            end += 1
        }
        return end
    }

    /// The length of a quotation mark: of JSON's own, of one that JSON does not have, or 0.
    private func quoteLength(at position: Int) -> Int {
        guard position < text.count else { return 0 }
        switch text[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): return 1
        // U+2018 to U+201F.
        case 0xE2:
            let rest = text[(position + 1)...].prefix(2)
            return rest.count == 2 && rest.first == 0x80 && (0x98...0x9F).contains(rest[position + 2]) ? 3 : 0
        default: return 0
        }
    }

    /// Whether a word begins at an offset, in any case. `word`: in lower case.
    private func begins(_ word: StaticString, at start: Int) -> Bool { Self.begins(word, at: start, in: text) }

    private static func begins(_ word: StaticString, at start: Int, in text: [UInt8]) -> Bool {
        guard start + word.utf8CodeUnitCount <= text.count else { return false }
        return word.withUTF8Buffer { bytes in bytes.indices.allSatisfy { lowered(text[start + $0]) == bytes[$0] } }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    private static func endsReference(_ byte: UInt8) -> Bool { byte <= 0x20 || ",]}\"'`".utf8.contains(byte) }

    // MARK: Keys of Standard Webhooks, and URLs

    /// Hides a key of Standard Webhooks, or the userinfo of a URL, that begins here. Returns the offset to continue at.
    private mutating func hideKeyOrUserinfo(at position: Int) -> Int {
        switch text[position] {
        case UInt8(ascii: ":") where begins("://", at: position): return hideUserinfo(from: position + 3)
        case UInt8(ascii: "w"), UInt8(ascii: "W"):
            guard let prefix = Self.keyPrefixes.first(where: { begins($0, at: position) }) else { break }
            let start = position + prefix.utf8CodeUnitCount
            let end = text[start...].firstIndex { !Self.isOfKey($0) } ?? text.count
            hide(start..<end)
            return end
        default: break
        }
        return position + 1
    }

    /// Hides the userinfo of a URL (RFC 3986, 3.2.1), even in values that no option reads, and even if a password has
    /// invalid characters.
    private mutating func hideUserinfo(from start: Int) -> Int {
        let end = text[start...].firstIndex { "/\"\r\n".utf8.contains($0) } ?? text.count
        if let at = text[start..<end].lastIndex(of: UInt8(ascii: "@")) { hide(start..<at) }
        return start
    }

    /// Whether a key may contain the byte: Base64 (RFC 4648) in either alphabet.
    private static func isOfKey(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "+/-_=".utf8.contains(byte)
    }
}
