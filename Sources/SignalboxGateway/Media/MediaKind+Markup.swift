import SignalboxNotification

/// Markup that browsers would run, and calendars.
///
/// HTML is everything that the MIME Sniffing Standard (section 7.1) takes for it, also behind a byte order mark and in
/// UTF-16, which browsers do not sniff. Only the name of the first element precedes that: SVG behind a comment is SVG.
extension MediaKind {
    static func markup(_ header: HeaderBytes) -> MediaKind? {
        let text = HeaderBytes(ascii(header).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
        if text.holds("begin:vcalendar") { return .calendar }
        let start = skipBlanks(text, from: 0)
        guard text[start] == UInt8(ascii: "<") else { return nil }
        let element = firstElement(text, from: start)
        if element == "svg" { return .svg }
        if element == "html" || isHTML(text, at: start) { return .html }
        return text.holds("<?xml", at: start) ? .xml : nil
    }

    /// The text without a byte order mark, UTF-16 as one byte a unit; other characters than ASCII become any letter.
    private static func ascii(_ header: HeaderBytes) -> [UInt8] {
        if header.holds(bytes: [0xEF, 0xBB, 0xBF]) { return Array(header.bytes.dropFirst(3)) }
        if header.holds(bytes: [0xFE, 0xFF]) { return narrowed(header.bytes.dropFirst(2), low: 1) }
        if header.holds(bytes: [0xFF, 0xFE]) { return narrowed(header.bytes.dropFirst(2), low: 0) }
        // Without a mark, the first characters of XML decide (XML 1.0, appendix F).
        if header.holds(bytes: [0, 0x3C, 0]) { return narrowed(header.bytes[...], low: 1) }
        if header.holds(bytes: [0x3C, 0]), header[3] == 0 { return narrowed(header.bytes[...], low: 0) }
        return header.bytes
    }

    /// `low`: index of the low byte in a unit.
    private static func narrowed(_ bytes: ArraySlice<UInt8>, low: Int) -> [UInt8] {
        stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { offset in
            bytes[offset + 1 - low] == 0 && bytes[offset + low] < 0x80 ? bytes[offset + low] : 0xFF
        }
    }

    /// Skips HTML's white space.
    private static func skipBlanks(_ text: HeaderBytes, from start: Int) -> Int {
        var offset = start
        while let byte = text[offset], [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) { offset += 1 }
        return offset
    }

    private static let tags = [
        "!doctype html", "html", "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title", "b",
        "body", "br", "p", "!--",
    ]

    /// True for one of the standard's tags with a space or a bracket behind it.
    private static func isHTML(_ text: HeaderBytes, at start: Int) -> Bool {
        tags.contains { tag in
            let last = text[start + 1 + tag.utf8.count]
            return text.holds(bytes: tag.utf8, at: start + 1)
                && (last == UInt8(ascii: ">") || last == UInt8(ascii: " "))
        }
    }

    /// The name of the first element without its prefix, behind declarations, instructions and comments; or the
    /// document type, if that is SVG or HTML. Nil when the header ends before.
    private static func firstElement(_ text: HeaderBytes, from start: Int) -> String? {
        var offset = start
        while true {
            offset = skipBlanks(text, from: offset)
            guard text[offset] == UInt8(ascii: "<") else { return nil }
            let end: Int?
            if text.holds("<?", at: offset) {
                end = self.end(of: "?>", in: text, from: offset)
            } else if text.holds("<!--", at: offset) {
                end = self.end(of: "-->", in: text, from: offset + 4)
            } else if text.holds("<!", at: offset) {
                let type = name(text, at: skipBlanks(text, from: offset + 9))
                if text.holds("<!doctype", at: offset), type == "svg" || type == "html" { return type }
                end = endOfDeclaration(text, from: offset)
            } else {
                return name(text, at: offset + 1)
            }
            guard let end else { return nil }
            offset = end
        }
    }

    private static func name(_ text: HeaderBytes, at start: Int) -> String? {
        let ends = Array(" \t\r\n\u{C}>/[".utf8)
        guard start < text.count, let end = text.bytes[start...].firstIndex(where: { ends.contains($0) }) else {
            return nil
        }
        let name = String(decoding: text.bytes[start..<end], as: UTF8.self)
        return name.split(separator: ":", omittingEmptySubsequences: false).last.map { String($0) }
    }

    private static func end(of mark: StaticString, in text: HeaderBytes, from start: Int) -> Int? {
        guard start < text.count else { return nil }
        return (start..<text.count).first { text.holds(mark, at: $0) }.map { $0 + mark.utf8CodeUnitCount }
    }

    /// The end of a document type, which may have declarations in brackets.
    private static func endOfDeclaration(_ text: HeaderBytes, from start: Int) -> Int? {
        var depth = 0
        for offset in start..<text.count {
            switch text.bytes[offset] {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ">") where depth <= 0: return offset + 1
            default: break
            }
        }
        return nil
    }
}
