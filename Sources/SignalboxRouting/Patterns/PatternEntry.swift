import SignalboxConfig
package import SignalboxJSON

/// An entry of a field's array in a valid pattern: a value, or a comparison. For checks that compare it with the
/// values of events.
package struct PatternEntry: Sendable {
    /// The values that events compare with.
    package enum Kind: Sendable, Hashable, CaseIterable {
        /// Strings, numbers, `true` and `false`, and null.
        case text, number, boolean, null
    }

    private let condition: Pattern.Condition

    /// Nil for `{"exists": false}`, and for an entry that no pattern can have. `parser`: owns the value.
    package init?(_ entry: JSONValue, of parser: JSONParser) {
        var reader = PatternReader(ConfigReader(parser: parser, roots: []))
        guard !PatternReader.isAbsence(entry), let condition = reader.condition(entry) else { return nil }
        self.condition = condition
    }

    /// The only values that it can match; nil if it matches values of every kind.
    package var kind: Kind? {
        switch condition {
        case .numbers: .number
        case .bool: .boolean
        case .null: .null
        case .anythingBut, .exists: nil
        default: .text
        }
    }

    /// Whether an entry of the kind ``Kind/text`` matches a text. False for other entries.
    package func matches(_ text: String) -> Bool {
        var (work, text) = (MatchWork(), text)
        return text.withUTF8 { condition.matches(text: $0, &work) }
    }
}
