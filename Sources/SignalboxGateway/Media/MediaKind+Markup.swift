import SignalboxNotification

/// Texts that browsers would run, and calendars.
///
/// What the table of the MIME Sniffing Standard (section 7.1) takes for HTML is HTML here, also behind a byte order
/// mark and in UTF-16, where browsers look less closely. Only the name of the first element goes before the table: SVG
/// behind a comment is SVG.
extension MediaKind {
    static func markup(_ header: HeaderBytes) -> MediaKind? {
        let text = HeaderBytes(ascii(header))
        if text.count >= 15, lowercased(text, in: 0..<15) == "begin:vcalendar" { return .calendar }
        var place = 0
        skipBlanks(text, &place)
        guard text[place] == UInt8(ascii: "<") else { return nil }
        let start = place
        let element = firstElement(text, from: start)
        if element == "svg" { return .svg }
        if element == "html" || isHTML(text, at: start) { return .html }
        return text.holds("<?xml", at: start) ? .xml : nil
    }

    /// Without a byte order mark, and UTF-16 one byte a unit; what is not ASCII is as good as any other letter.
    private static func ascii(_ header: HeaderBytes) -> [UInt8] {
        if header.holds(bytes: [0xEF, 0xBB, 0xBF]) { return Array(header.bytes.dropFirst(3)) }
        if header.holds(bytes: [0xFE, 0xFF]) { return narrowed(header.bytes.dropFirst(2), low: 1) }
        if header.holds(bytes: [0xFF, 0xFE]) { return narrowed(header.bytes.dropFirst(2), low: 0) }
        // Without a mark, the first characters of XML tell (XML 1.0, appendix F).
        if header.holds(bytes: [0, 0x3C, 0]) { return narrowed(header.bytes[...], low: 1) }
        if header.holds(bytes: [0x3C, 0]), header[3] == 0 { return narrowed(header.bytes[...], low: 0) }
        return header.bytes
    }

    /// `low`: which byte of a unit is the lower one.
    private static func narrowed(_ bytes: ArraySlice<UInt8>, low: Int) -> [UInt8] {
        stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { place in
            bytes[place + 1 - low] == 0 && bytes[place + low] < 0x80 ? bytes[place + low] : 0xFF
        }
    }

    /// HTML's white space.
    private static func isBlank(_ byte: UInt8) -> Bool { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) }

    private static func skipBlanks(_ text: HeaderBytes, _ place: inout Int) {
        while let byte = text[place], isBlank(byte) { place += 1 }
    }

    private static func lowercased(_ text: HeaderBytes, in range: Range<Int>) -> String {
        String(decoding: text.bytes[range.clamped(to: 0..<text.count)], as: UTF8.self).lowercased()
    }

    // MARK: HTML

    private static let tags = [
        "!doctype html", "html", "head", "script", "iframe", "h1", "div", "font", "table", "a", "style", "title", "b",
        "body", "br", "p", "!--",
    ]

    /// One of the table's tags, ended by a blank or a bracket.
    private static func isHTML(_ text: HeaderBytes, at start: Int) -> Bool {
        tags.contains { tag in
            let end = start + 1 + tag.utf8.count
            guard let last = text[end], last == UInt8(ascii: ">") || last == UInt8(ascii: " ") else { return false }
            return lowercased(text, in: start + 1..<end) == tag
        }
    }

    // MARK: The first element

    /// The name of the first element, without its prefix, in lower case: behind declarations, instructions, comments and
    /// the document type. Nil when it is not among the first bytes.
    private static func firstElement(_ text: HeaderBytes, from start: Int) -> String? {
        var place = start
        while place < text.count {
            skipBlanks(text, &place)
            guard text[place] == UInt8(ascii: "<") else { return nil }
            if text.holds("<?", at: place) {
                guard skip(text, &place, past: "?>") else { return nil }
            } else if text.holds("<!--", at: place) {
                place += 4
                guard skip(text, &place, past: "-->") else { return nil }
            } else if text.holds("<!", at: place) {
                if let type = documentType(text, at: place) { return type }
                guard skipDeclaration(text, &place) else { return nil }
            } else {
                return name(text, at: place + 1)
            }
        }
        return nil
    }

    /// A document type that says enough by itself.
    private static func documentType(_ text: HeaderBytes, at place: Int) -> String? {
        guard lowercased(text, in: place..<place + 9) == "<!doctype" else { return nil }
        var start = place + 9
        skipBlanks(text, &start)
        let type = name(text, at: start)
        return type == "svg" || type == "html" ? type : nil
    }

    private static func name(_ text: HeaderBytes, at start: Int) -> String? {
        let ends = Array(" \t\r\n\u{C}>/[".utf8)
        guard start < text.count, let end = text.bytes[start...].firstIndex(where: { ends.contains($0) }) else {
            return nil
        }
        return lowercased(text, in: start..<end).split(separator: ":", omittingEmptySubsequences: false).last
            .map { String($0) }
    }

    private static func skip(_ text: HeaderBytes, _ place: inout Int, past mark: StaticString) -> Bool {
        while place < text.count {
            if text.holds(mark, at: place) {
                place += mark.utf8CodeUnitCount
                return true
            }
            place += 1
        }
        return false
    }

    /// Past a document type, with the declarations in brackets that it may have.
    private static func skipDeclaration(_ text: HeaderBytes, _ place: inout Int) -> Bool {
        var depth = 0
        while let byte = text[place] {
            place += 1
            switch byte {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ">") where depth <= 0: return true
            default: break
            }
        }
        return false
    }
}
