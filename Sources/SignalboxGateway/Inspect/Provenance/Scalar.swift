import SignalboxJSON
import SignalboxNotification

/// A value of a JSON text that is neither an object nor an array.
enum Scalar: Sendable, Equatable {
    case text(String)
    /// As JSON spells it.
    case number(String)
    case bool(Bool)
    case null

    /// Nil for an object or an array.
    init?(_ value: JSONValue) {
        switch value.kind {
        case .object, .array: return nil
        case .string: self = .text(value.string ?? "")
        case .integer, .unsigned, .double: self = .number(JSONText(value).string)
        case .bool: self = .bool(value.bool == true)
        case .null: self = .null
        }
    }

    /// The value without quotes.
    var plain: String {
        switch self {
        case .text(let text): text
        case .number(let text): text
        case .bool(let flag): flag ? "true" : "false"
        case .null: "null"
        }
    }

    /// Writes the value.
    func write(into json: inout JSONWriter) {
        switch self {
        case .text(let text): json.string(text)
        case .number(let text): json.raw(Array(text.utf8))
        case .bool(let flag): json.bool(flag)
        case .null: json.null()
        }
    }

    // MARK: Changes

    /// Other values of the same type, the most similar first; none for null. A reader that uses the value probably
    /// reads at least one of them differently: a flag is inverted, a number is changed, and a text keeps its format,
    /// such as a URL or hexadecimal digits.
    var changes: [Scalar] {
        switch self {
        case .null: []
        case .bool(let flag): [.bool(!flag)]
        case .number(let text): Self.neighbours(of: text).map { .number($0) }
        case .text(let text): Self.changes(of: text).map { .text($0) }
        }
    }

    /// Zero and one are often flags.
    private static func neighbours(of number: String) -> [String] {
        guard let whole = Int64(number) else {
            return Double(number).map { ($0 + 1).isFinite ? [String($0 + 1), String($0 / 2)] : [] } ?? []
        }
        if whole == 0 { return ["1"] }
        if whole == 1 { return ["0", "2"] }
        return [String(whole &+ 1), String(whole &- 1)]
    }

    private static func changes(of text: String) -> [String] {
        let switches = ["true": "false", "false": "true", "yes": "no", "no": "yes", "on": "off", "off": "on"]
        if let other = switches[text.lowercased()] { return [other] }
        if Int64(text) != nil { return neighbours(of: text) }
        // A JSON text stays one.
        if text.first == "{" || text.first == "[" { return [text + " "] }
        let bytes = Array(text.utf8)
        var changed = [changing(bytes.lastIndex(where: \.isLetterOrDigit), of: bytes)]
        changed.append(changing(bytes.lastIndex(where: isDigit), of: bytes))
        changed.append(changing(bytes.firstIndex(where: \.isLetterOrDigit), of: bytes))
        let unique = changed.compactMap(\.self).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return unique.isEmpty ? [text + "x"] : unique
    }

    /// The text with another letter or digit at a position; nil without one.
    private static func changing(_ position: Int?, of bytes: [UInt8]) -> String? {
        guard let position else { return nil }
        var bytes = bytes
        let last: Set<UInt8> = [UInt8(ascii: "9"), UInt8(ascii: "z"), UInt8(ascii: "Z"), UInt8(ascii: "f")]
        bytes[position] = last.contains(bytes[position]) ? bytes[position] - 1 : bytes[position] + 1
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
