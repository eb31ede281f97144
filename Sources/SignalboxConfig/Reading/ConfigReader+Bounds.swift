package import SignalboxJSON
import SignalboxNotification

/// Bounds on a config and its parts, so that reading it and matching with it take limited time and memory.
package enum ConfigBounds {
    /// Bytes of all files together.
    package static let bytes = 16 << 20
    package static let routes = 100_000
    static let destinations = 10_000
    static let sources = 10_000
    static let categories = 10_000
    static let actionTypes = 1_000
    /// Entries of an array, unless another bound applies.
    package static let entries = 1_000
    /// Bytes and keys of a JSON Pointer.
    static let (pointerBytes, pointerKeys) = (1_024, 32)
    /// Characters of a single-line text.
    static let lineCharacters = 1_024
}

extension ConfigReader {
    /// The entries of an array. Records an error and returns none if there are too many.
    package mutating func list(_ value: JSONValue, upTo most: Int = ConfigBounds.entries) -> [JSONValue] {
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

    /// True, with an error, for an array that exceeds the bound of ``list(_:upTo:)``. Other code reads its entries.
    mutating func hasTooManyEntries(_ value: JSONValue) -> Bool {
        value.isArray && !value.isEmptyContainer && list(value).isEmpty
    }

    /// True for an object with at most this many members; records an error otherwise.
    mutating func hasAtMost(_ most: Int, _ kind: String, in object: JSONValue) -> Bool {
        guard object.members.dropFirst(most).first(where: { _ in true }) != nil else { return true }
        note(object, "these are more than \(most) \(kind); remove some")
        return false
    }

    /// Reads a text that logs and terminals show on one line.
    package mutating func line(_ value: JSONValue) -> String? {
        guard let text = text(value) else { return nil }
        if let problem = Self.problem(ofLine: text) {
            note(value, problem)
            return nil
        }
        return text
    }

    /// Checks a member's key like ``line(_:)``. The key may be empty.
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

    /// Control characters, line separators, and characters that change the writing direction (Unicode Standard Annex
    /// 9, 2).
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

    /// A JSON Pointer within the bounds; nil for anything else.
    static func boundedPointer(_ text: String) -> JSONPointer? {
        guard text.utf8.count <= ConfigBounds.pointerBytes, let pointer = JSONPointer(text),
            pointer.tokens.count <= ConfigBounds.pointerKeys
        else { return nil }
        return pointer
    }
}
