/// A name under `sources` of the config, or ``SourceName/default`` if the config has none.
package struct SourceName: Sendable, Hashable, CustomStringConvertible {
    /// The name, compared exactly.
    package let name: String
    /// The hash of the name, computed once, because a source is looked up for every event.
    private let mark: Int
    /// Accepts any name; the config checks names by ``NameRule``.
    package init(_ name: String) {
        self.name = name
        mark = name.hashValue
    }
    package var description: String { name }
    package static func == (left: SourceName, right: SourceName) -> Bool {
        left.mark == right.mark && left.name == right.name
    }
    package func hash(into hasher: inout Hasher) { hasher.combine(mark) }

    /// The source of every payload if the config has no sources.
    package static let `default` = SourceName("default")
}

/// A name under `destinations` of the config.
package struct DestinationName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The name, compared exactly.
    package let name: String
    /// Accepts any name; the config checks names by ``NameRule``.
    package init(_ name: String) { self.name = name }
    package var description: String { name }
    package static func < (left: DestinationName, right: DestinationName) -> Bool { left.name < right.name }
}

/// The rule for names in the config, in an event's `source` and in URLs: 1 to 64 letters, digits, `-`, `_` or `.`.
package enum NameRule {
    /// The rule as a clause for error messages.
    package static let words = "a name is 1 to 64 letters, digits, '-', '_' or '.'"

    /// True for a name by this rule.
    package static func allows(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { $0.isLetterOrDigit || "-_.".utf8.contains($0) }
    }
}

/// The rule for topics of APNs, which are bundle identifiers with or without a suffix: 1 to 255 letters, digits, `-`,
/// `_` or `.`.
package enum TopicRule {
    /// True for a topic by this rule.
    package static func allows(_ topic: String) -> Bool {
        (1...255).contains(topic.utf8.count) && topic.utf8.allSatisfy { $0.isLetterOrDigit || "-_.".utf8.contains($0) }
    }
}

/// Suggests the known word nearest to a misspelled one.
package enum Spelling {
    /// Longest word that is compared, in bytes: a comparison costs the product of both lengths.
    private static let longest = 100
    /// Number of known words that are compared; the rest is ignored.
    private static let mostCompared = 1_000

    /// The nearest known word; nil when none is near enough.
    package static func nearest(to word: String, among known: [String]) -> String? {
        guard word.utf8.count <= longest else { return nil }
        let near = known.prefix(mostCompared).filter { $0.utf8.count <= longest }
            .map { (word: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
        guard let near, near.distance <= (word.count < 4 ? 1 : max(2, word.count / 3)) else { return nil }
        return near.word
    }

    /// Levenshtein distance, ignoring letter case.
    private static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.lowercased())
        let right = Array(right.lowercased())
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let substituted = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, diagonal + 1, row[j] + 1)
            }
        }
        return row[right.count]
    }
}
