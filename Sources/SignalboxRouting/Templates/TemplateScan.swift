import SignalboxConfig
import SignalboxJSON

/// Checks the tags of a template before the Mustache library parses it. The library ignores some mistakes (partials,
/// unknown functions) and crashes on others (deep nesting, delimiters of one character).
struct TemplateScan {
    private let text: [UInt8]
    /// The same text; the library reads it character by character.
    private let source: String
    /// How far the text is scanned.
    private var position = 0
    /// Changes with `{{=<% %>=}}`; for the library, only up to the end of the section with that tag.
    private var opening = Array("{{".utf8)
    private var closing = Array("}}".utf8)
    /// The delimiters before each section that is open at this position.
    private var sections: [(opening: [UInt8], closing: [UInt8])] = []
    /// The tags so far, without comments.
    private var tags: [TemplateTag] = []
    /// The work of the library so far, in bytes: it counts the rest of the template for each delimiter, and for each
    /// character that could begin one.
    private var counted = 0

    /// The most nested sections, and the most nested functions.
    static let depthLimit = 32
    private static let nestedFunctions = 4
    /// Bytes of a delimiter. A search takes time proportional to the template times this length.
    private static let delimiterLengths = 2...16
    /// The limit of ``counted``. The library needs a fraction of a second for it. 64 KiB with 2,000 tags reach it.
    private static let countLimit = 128 << 20
    /// To the library, other characters are equal to these (Unicode, singleton decompositions of U+037E, U+1FEF and
    /// U+212A).
    private static let ambiguousMarks = ";`K".utf8
    /// The functions that the library knows.
    private static let functions = [
        "capitalized", "count", "empty", "equalzero", "even", "first", "index", "last", "lowercased", "minusone", "odd",
        "plusone", "reversed", "uppercased",
    ]

    /// Throws the first mistake. Takes time linear in the template, times the length of a delimiter. A template that
    /// passes may still be rejected by the library, such as one with a section that is not closed.
    static func check(_ text: String) throws(InvalidTemplate) {
        var scan = TemplateScan(text)
        while let start = try scan.skip(past: scan.opening) { try scan.checkTag(at: start) }
    }

    /// The tags of a template, in their order; only those before the first mistake.
    fileprivate static func tags(of text: String) -> [TemplateTag] {
        var scan = TemplateScan(text)
        do throws(InvalidTemplate) {
            while let start = try scan.skip(past: scan.opening) { try scan.checkTag(at: start) }
        } catch {
            return scan.tags
        }
        return scan.tags
    }

    /// Begins at the start of the template, with the delimiters `{{` and `}}`.
    private init(_ source: String) { (text, self.source) = (Array(source.utf8), source) }

    /// Moves past the next occurrence of a delimiter; returns where it starts. Returns nil and moves to the end of
    /// the text when the delimiter does not occur again. Throws at a delimiter that is joined with its surroundings,
    /// as by a combining mark: the library would not see it. Throws at ``countLimit``.
    private mutating func skip(past delimiter: [UInt8]) throws(InvalidTemplate) -> Int? {
        while position + delimiter.count <= text.count {
            position += 1
            if text[position - 1] == delimiter[0] { try count(from: position - 1) }
            if text[(position - 1)...].starts(with: delimiter) {
                let start = position - 1
                position = start + delimiter.count
                guard isBoundary(start), isBoundary(position) else {
                    throw mistake(at: start, "a mark such as an accent joins this delimiter; put a space between them")
                }
                return start
            }
        }
        position = text.count
        return nil
    }

    /// Adds the rest of the template from a position to ``counted``.
    private mutating func count(from start: Int) throws(InvalidTemplate) {
        counted += text.count - start
        guard counted > Self.countLimit else { return }
        throw mistake(
            at: start,
            "for its length, the template has too many tags and \"\(Character(Unicode.Scalar(text[start])))\" up to "
                + "here; shorten it, or use fewer of them")
    }

    /// True for a byte that begins a character, and at the end.
    private func isBoundary(_ offset: Int) -> Bool {
        source.utf8.index(source.startIndex, offsetBy: offset).samePosition(in: source) != nil
    }

    /// Checks the tag that starts at a position; the scan is after its opening delimiter. Comments and tags that are
    /// not closed pass; the library handles them. Counts the nesting of sections by their opening and closing tags,
    /// without comparing their names.
    private mutating func checkTag(at start: Int) throws(InvalidTemplate) {
        let inside = position
        // The library reports a tag that is not closed.
        guard let end = try skip(past: closing), inside < end else { return }
        let content = text[inside..<end]
        switch content.first {
        case UInt8(ascii: "!"): return
        case UInt8(ascii: ">"), UInt8(ascii: "<"), UInt8(ascii: "$"):
            throw mistake(at: start, "other templates cannot be used in a template; put everything into one template")
        case UInt8(ascii: "%"):
            throw mistake(at: start, "escaping follows from \"contentType\"; remove this tag")
        case UInt8(ascii: "="): try changeDelimiters(content, at: start)
        case UInt8(ascii: "#"), UInt8(ascii: "^"):
            tags.append(TemplateTag(content.first == UInt8(ascii: "#") ? .section : .inverted, content, at: start))
            sections.append((opening, closing))
            if sections.count > Self.depthLimit {
                throw mistake(at: start, "more than \(Self.depthLimit) sections are nested here")
            }
            try checkFunctions(content, at: start)
        case UInt8(ascii: "/"):
            tags.append(TemplateTag(.end, content, at: start))
            if let outer = sections.popLast() { (opening, closing) = outer }
        default:
            tags.append(TemplateTag(.value, content, at: start))
            try checkFunctions(content, at: start)
        }
    }

    /// Reads a tag such as `{{=<% %>=}}`. Takes effect for the tags after this one in the same section, as in the
    /// library.
    private mutating func changeDelimiters(_ content: ArraySlice<UInt8>, at start: Int) throws(InvalidTemplate) {
        let marks = content.dropFirst().dropLast().split { $0 == 0x20 || $0 == 0x09 }
        let areValid = marks.allSatisfy { mark in
            Self.delimiterLengths.contains(mark.count) && mark.allSatisfy { (0x21...0x7E).contains($0) }
        }
        guard marks.count == 2, areValid else {
            throw mistake(at: start, "new delimiters are two marks of 2 to 16 ASCII characters: {{=<% %>=}}")
        }
        guard !content.contains(where: { Self.ambiguousMarks.contains($0) }) else {
            throw mistake(at: start, "delimiters cannot have the characters ; ` and K")
        }
        (opening, closing) = (Array(marks[0]), Array(marks[1]))
    }

    /// Checks the functions of a tag such as `{{first(data.media)}}`. The library would ignore an unknown function.
    private func checkFunctions(_ content: ArraySlice<UInt8>, at start: Int) throws(InvalidTemplate) {
        let parts = content.split(separator: UInt8(ascii: "("), omittingEmptySubsequences: false).dropLast()
        if parts.count > Self.nestedFunctions {
            throw mistake(at: start, "more than \(Self.nestedFunctions) functions are nested here")
        }
        for part in parts {
            let name = String(String(decoding: part, as: UTF8.self).drop { !$0.isLetter })
            guard !Self.functions.contains(name) else { continue }
            let suggestion = ConfigReader.suggestion(for: name, among: Self.functions)
            throw mistake(at: start, "there is no function \"\(name)\"" + suggestion)
        }
    }

    /// A mistake at an offset in bytes. The position has a line and a column, which count from the start of the
    /// template.
    private func mistake(at offset: Int, _ message: String) -> InvalidTemplate {
        InvalidTemplate(position: TextPosition(offset: offset, in: text), message: message)
    }
}

/// A tag of a template.
package struct TemplateTag: Sendable, Equatable {
    /// The effect of a tag.
    package enum Kind: Sendable { case value, section, inverted, end }

    package let kind: Kind
    /// The name, such as `data.content.title`; `.` for the element of a list.
    package let name: String
    /// Whether the name is an argument of a function, such as `first(data.media)`.
    package let isFunction: Bool
    /// The position of the tag in the bytes of the template.
    package let offset: Int

    /// `content`: the text between the delimiters.
    fileprivate init(_ kind: Kind, _ content: ArraySlice<UInt8>, at offset: Int) {
        let text = String(decoding: content, as: UTF8.self)
        (self.kind, self.offset) = (kind, offset)
        isFunction = text.contains("(")
        name = String(text.drop { "#^/&{ \t\r\n".contains($0) }.prefix { !"} \t\r\n".contains($0) })
    }

    /// The tags of a valid template, without comments, in their order.
    package static func tags(of template: String) -> [TemplateTag] { TemplateScan.tags(of: template) }
}
