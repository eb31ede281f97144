import SignalboxConfig
import SignalboxJSON

/// Goes through the tags of a template before the Mustache library does, for what that would pass over in silence
/// (partials, functions that do not exist) or not survive (deep nesting, delimiters of one character).
struct TemplateScan {
    private let text: [UInt8]
    private var place = 0
    private var opening = Array("{{".utf8)
    private var closing = Array("}}".utf8)
    private var depth = 0

    /// Sections within each other.
    static let depthLimit = 32
    private static let nestedFunctions = 4
    /// Bytes of a delimiter. A search costs the length of the template times this length.
    private static let markLengths = 2...16
    private static let functions = [
        "capitalized", "count", "empty", "equalzero", "even", "first", "index", "last", "lowercased", "minusone", "odd",
        "plusone", "reversed", "uppercased",
    ]

    private init(_ text: String) { self.text = Array(text.utf8) }

    static func check(_ text: String) throws(InvalidTemplate) {
        var scan = TemplateScan(text)
        while let start = scan.advance(to: scan.opening) { try scan.checkTag(from: start) }
    }

    /// Where the next of these bytes stand; from then on the place is behind them.
    private mutating func advance(to mark: [UInt8]) -> Int? {
        var position = place
        while position + mark.count <= text.count {
            if text[position...].starts(with: mark) {
                place = position + mark.count
                return position
            }
            position += 1
        }
        place = text.count
        return nil
    }

    private mutating func checkTag(from start: Int) throws(InvalidTemplate) {
        let inside = place
        // What is not closed is for the library to say.
        guard let end = advance(to: closing), inside < end else { return }
        let content = text[inside..<end]
        switch content.first {
        case UInt8(ascii: "!"): return
        case UInt8(ascii: ">"), UInt8(ascii: "<"), UInt8(ascii: "$"):
            throw mistake(at: start, "other templates cannot be used in a template; write it all in one")
        case UInt8(ascii: "%"):
            throw mistake(at: start, "how values are escaped follows from \"contentType\"; remove this tag")
        case UInt8(ascii: "="): try changeDelimiters(content, at: start)
        case UInt8(ascii: "#"), UInt8(ascii: "^"):
            depth += 1
            if depth > Self.depthLimit {
                throw mistake(at: start, "more than \(Self.depthLimit) sections stand within each other here")
            }
            try checkFunctions(content, at: start)
        case UInt8(ascii: "/"): depth -= 1
        default: try checkFunctions(content, at: start)
        }
    }

    private mutating func changeDelimiters(_ content: ArraySlice<UInt8>, at start: Int) throws(InvalidTemplate) {
        let marks = content.dropFirst().dropLast().split { $0 == 0x20 || $0 == 0x09 }
        guard marks.count == 2,
            marks.allSatisfy({ Self.markLengths.contains($0.count) && $0.allSatisfy { (0x21...0x7E).contains($0) } })
        else {
            throw mistake(at: start, "new delimiters are two marks of 2 to 16 ASCII characters: {{=<% %>=}}")
        }
        (opening, closing) = (Array(marks[0]), Array(marks[1]))
    }

    private func checkFunctions(_ content: ArraySlice<UInt8>, at start: Int) throws(InvalidTemplate) {
        var parts = content.split(separator: UInt8(ascii: "("), omittingEmptySubsequences: false)
        parts.removeLast()
        if parts.count > Self.nestedFunctions {
            throw mistake(at: start, "more than \(Self.nestedFunctions) functions stand within each other here")
        }
        for part in parts {
            let name = String(decoding: part, as: UTF8.self).drop { !$0.isLetter }
            guard !Self.functions.contains(String(name)) else { continue }
            let suggestion = ConfigReader.suggestion(for: String(name), among: Self.functions)
            throw mistake(at: start, "there is no function \"\(name)\"" + suggestion)
        }
    }

    private func mistake(at offset: Int, _ message: String) -> InvalidTemplate {
        InvalidTemplate(position: TextPosition(offset: offset, in: text), message: message)
    }
}
