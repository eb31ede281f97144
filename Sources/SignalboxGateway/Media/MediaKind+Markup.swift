import SignalboxNotification

/// Markup that browsers would run, and calendars.
///
/// HTML is everything that the MIME Sniffing Standard (section 7.1) recognises as HTML, and the same after a byte order
/// mark or in UTF-16, although browsers do not sniff UTF-16. The name of the root element takes precedence: SVG after a
/// comment is SVG.
extension MediaKind {
    /// Called after the binary formats. Nil for a text that is none of them.
    static func markup(_ header: HeaderBytes) -> MediaKind? {
        let text = ascii(header).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        if text.starts(with: "begin:vcalendar".utf8) { return .calendar }
        let start = text.drop(while: isBlank)
        guard start.first == UInt8(ascii: "<") else { return nil }
        switch rootElement(start) {
        case "svg": return .svg
        case "html": return .html
        default: return isHTML(start.dropFirst()) ? .html : start.starts(with: "<?xml".utf8) ? .xml : nil
        }
    }

    /// The text without a byte order mark. UTF-16 has one byte for each unit: 0xFF if the unit is not ASCII.
    private static func ascii(_ header: HeaderBytes) -> [UInt8] {
        if header.holds(bytes: [0xEF, 0xBB, 0xBF]) { return Array(header.bytes.dropFirst(3)) }
        let (hasBigMark, hasLittleMark) = (header.holds(bytes: [0xFE, 0xFF]), header.holds(bytes: [0xFF, 0xFE]))
        // Without a mark, the first characters of XML decide (XML 1.0, appendix F).
        let isBig = hasBigMark || header.holds(bytes: [0, 0x3C, 0])
        let isLittle = hasLittleMark || (header.holds(bytes: [0x3C, 0]) && header[3] == 0)
        guard isBig || isLittle else { return header.bytes }
        let start = hasBigMark || hasLittleMark ? 2 : 0
        return stride(from: start, to: header.count - 1, by: 2).map { offset in
            let (low, high) = (header.bytes[offset + (isBig ? 1 : 0)], header.bytes[offset + (isBig ? 0 : 1)])
            return high == 0 && low < 0x80 ? low : 0xFF
        }
    }

    /// HTML's white space.
    private static func isBlank(_ byte: UInt8) -> Bool { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) }

    private static let tags = [
        "!doctype html", "html", "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title", "b",
        "body", "br", "p", "!--",
    ]

    /// True for one of the standard's tags with a space or `>` after it. `text`: in lower case, after `<`.
    private static func isHTML(_ text: ArraySlice<UInt8>) -> Bool {
        tags.contains { tag in
            let end = text.dropFirst(tag.utf8.count).first
            return text.starts(with: tag.utf8) && (end == UInt8(ascii: ">") || end == UInt8(ascii: " "))
        }
    }

    /// The name in the document type, otherwise that of the first element, without its prefix. Skips processing
    /// instructions and comments. Nil when the header ends before.
    private static func rootElement(_ text: ArraySlice<UInt8>) -> String? {
        var rest = text
        while rest.first == UInt8(ascii: "<") {
            if rest.starts(with: "<!doctype".utf8) { return name(rest.dropFirst(9).drop(while: isBlank)) }
            let isComment = rest.starts(with: "<!--".utf8)
            guard isComment || rest.starts(with: "<?".utf8) else { return name(rest.dropFirst()) }
            let end = rest.dropFirst(isComment ? 4 : 2).firstRange(of: Array((isComment ? "-->" : "?>").utf8))
            guard let end else { return nil }
            rest = rest[end.upperBound...].drop(while: isBlank)
        }
        return nil
    }

    /// Nil if the name does not end within the header.
    private static func name(_ text: ArraySlice<UInt8>) -> String? {
        guard let end = text.firstIndex(where: { isBlank($0) || ">/[".utf8.contains($0) }) else { return nil }
        return String(decoding: text[..<end], as: UTF8.self).split(separator: ":").last.map { String($0) }
    }
}
