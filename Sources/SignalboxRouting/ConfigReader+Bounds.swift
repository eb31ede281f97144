import SignalboxJSON
import SignalboxModel

/// How large a config and its parts may be: reading one, and working by it, takes a bounded amount of time and memory.
package enum ConfigBounds {
    /// Bytes of all files together.
    package static let bytes = 16 << 20
    static let routes = 100_000
    static let destinations = 10_000
    static let sources = 10_000
    static let categories = 10_000
    static let actionTypes = 1_000
    /// Entries of an array for which nothing else is said.
    static let entries = 1_000
    /// Bytes and keys of a JSON Pointer.
    static let (pointerBytes, pointerKeys) = (1_024, 32)
    /// Characters of a text on one line.
    static let lineCharacters = 1_024
}

extension ConfigReader {
    /// The entries of an array; none, if there are too many.
    mutating func list(_ value: JSONValue, upTo most: Int = ConfigBounds.entries) -> [JSONValue] {
        guard value.isArray else {
            note(value, "this must be an array, in brackets")
            return []
        }
        let entries = Array(value.elements.prefix(most + 1))
        guard entries.count <= most else {
            note(value, "this has more than \(most) entries; remove some")
            return []
        }
        return entries
    }

    /// As ``list(_:upTo:)``, of an array that somebody else reads.
    mutating func hasTooManyEntries(_ value: JSONValue) -> Bool {
        value.isArray && !value.isEmptyContainer && list(value).isEmpty
    }

    /// True for an object with at most so many members; others are mistakes.
    mutating func hasAtMost(_ most: Int, _ kind: String, in object: JSONValue) -> Bool {
        guard object.members.dropFirst(most).first(where: { _ in true }) != nil else { return true }
        note(object, "these are more than \(most) \(kind); remove some")
        return false
    }

    /// A text that logs and terminals show on one line.
    mutating func line(_ value: JSONValue) -> String? {
        guard let text = text(value) else { return nil }
        if let problem = Self.problem(ofLine: text) {
            note(value, problem)
            return nil
        }
        return text
    }

    /// As above, of a member's key, which may be empty.
    mutating func checkLine(keyOf member: JSONValue, _ key: String) {
        if let problem = Self.problem(ofLine: key) { note(keyOf: member, problem) }
    }

    static func problem(ofLine text: String) -> String? {
        guard text.utf8.count <= 4 * ConfigBounds.lineCharacters, text.count <= ConfigBounds.lineCharacters else {
            return "this has more than \(ConfigBounds.lineCharacters) characters; shorten it"
        }
        guard text.unicodeScalars.contains(where: isControl) else { return nil }
        return "this has a control character, which would change how logs and terminals show it; remove it"
    }

    /// Control characters, line ends, and what turns the direction of writing around (Unicode Standard Annex 9, 2).
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format:
            switch scalar.value {
            case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
            default: false
            }
        default: false
        }
    }

    /// A JSON Pointer that is not longer than needed; nil for anything else.
    static func boundedPointer(_ text: String) -> JSONPointer? {
        guard text.utf8.count <= ConfigBounds.pointerBytes, let pointer = JSONPointer(text),
            pointer.tokens.count <= ConfigBounds.pointerKeys
        else { return nil }
        return pointer
    }
}
