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

/// Suggests the known word nearest to a misspelled word.
package enum Spelling {
    /// Longest word that gets a suggestion, in bytes.
    private static let longest = 100
    /// Largest distance of a suggestion.
    private static let mostEdits = 8
    /// The most known words of a similar length that are compared; the rest is ignored.
    private static let mostCompared = 1_000

    /// The nearest known word; nil when none is near enough. A suggestion differs in at most a third of the bytes of
    /// the word, and in at most ``mostEdits``. Takes time for ``mostCompared`` comparisons at most, each of which costs
    /// the length of the word times the permitted distance.
    package static func nearest(to word: String, among known: [String]) -> String? {
        let length = word.utf8.count
        guard length <= longest else { return nil }
        let bytes = Array(word.lowercased().utf8)
        var limit = length < 4 ? 1 : min(max(2, length / 3), mostEdits)
        var compared = 0
        var nearest: String?
        for other in known where abs(other.utf8.count - length) <= limit {
            guard compared < mostCompared else { break }
            compared += 1
            guard let distance = Self.distance(bytes, Array(other.lowercased().utf8), upTo: limit) else { continue }
            nearest = other
            // Only a nearer word replaces this one.
            limit = distance - 1
        }
        return nearest
    }

    /// Whether two neighbours in the wrong order are the only difference. Levenshtein counts them as two edits, too
    /// many for a word of three letters.
    private static func areSwapped(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count, let first = left.indices.first(where: { left[$0] != right[$0] }),
            first + 1 < left.count
        else { return false }
        return left[first] == right[first + 1] && left[first + 1] == right[first]
            && left[(first + 2)...] == right[(first + 2)...]
    }

    /// Levenshtein distance in bytes, or 1 for two swapped neighbours; nil if it is above the limit. Computes only the
    /// band of the matrix that a distance within the limit can use, and stops at a row that is above the limit
    /// everywhere.
    private static func distance(_ left: [UInt8], _ right: [UInt8], upTo limit: Int) -> Int? {
        guard abs(left.count - right.count) <= limit else { return nil }
        if limit > 0, areSwapped(left, right) { return 1 }
        let outside = limit + 1
        var row = (0...right.count).map { min($0, outside) }
        for (i, a) in left.enumerated() {
            let first = max(0, i - limit)
            let end = min(right.count, i + limit + 1)
            var diagonal = row[first]
            row[first] = first == 0 ? min(i + 1, outside) : outside
            var least = row[first]
            for j in first..<end {
                let substituted = diagonal + (a == right[j] ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, min(diagonal, row[j]) + 1)
                least = min(least, row[j + 1])
            }
            guard least <= limit else { return nil }
        }
        return row[right.count] <= limit ? row[right.count] : nil
    }
}
