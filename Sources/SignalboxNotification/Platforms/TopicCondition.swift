import SignalboxJSON

/// The `condition` of an FCM request to topics. The gateway checks the syntax, finds the topics under a negation, and
/// brings the condition into the form of in-app messages.
package struct TopicCondition: Sendable {
    /// The topics under an odd number of `!`, whose devices the condition excludes.
    let excluded: Set<String>
    /// The condition in conjunctive normal form: it holds if at least one topic of each group does. A topic after `!`
    /// holds without the subscription.
    let groups: [[String]]

    /// The most topics of a condition (firebase.google.com, "Send messages to topics").
    static let mostTopics = 5

    /// Reads a condition as FCM does. Throws the first mistake for which Google rejects a condition.
    ///
    ///     condition := term { ("&&" | "||") term }
    ///     term      := "!" term | "(" condition ")" | "'" name "'" "in" "topics"
    ///
    /// Operators have equal precedence, from left to right. Takes time linear in the text, and recurses at most 32
    /// levels.
    package init(parsing text: UnsafeBufferPointer<UInt8>) throws(InvalidCondition) {
        var reader = ConditionReader(text: text)
        groups = try reader.condition(depth: 0, isNegated: false)
        guard reader.cursor == text.count else { throw reader.error(.operatorExpected) }
        excluded = reader.excluded
    }
}

/// A mistake for which Google rejects a condition, and its position. In a payload it becomes a warning of the event;
/// the FCM endpoint answers with it.
package struct InvalidCondition: Error, Equatable, Sendable {
    /// Mistakes of syntax, and excesses of the two bounds.
    enum Reason: Sendable, Equatable {
        /// Google's documentation states the most topics and the characters of a name. The depth is a bound of this
        /// reader.
        case tooManyTopics, tooDeep, topicExpected, operatorExpected, quoteMissing, parenthesisMissing
        case nameInvalid, inTopicsMissing
    }

    /// The kind of mistake.
    let reason: Reason
    /// In bytes, from 0, and also in characters: only ASCII precedes it. Messages count from 1.
    let offset: Int

    /// One sentence for people.
    var message: String {
        let position = "character \(offset + 1)"
        return switch reason {
        case .tooManyTopics: "A sixth topic begins at \(position); a condition names at most five."
        case .tooDeep: "Parentheses are nested too deep at \(position)."
        case .topicExpected: "A topic, written 'name' in topics, or a parenthesis is missing at \(position)."
        case .operatorExpected: "Expected && or ||, or the end of the condition, at \(position)."
        case .quoteMissing: "The quote at \(position) is left open."
        case .parenthesisMissing: "The parenthesis at \(position) is left open."
        case .nameInvalid: "Invalid topic name at \(position): only letters, digits and -_.~% are allowed."
        case .inTopicsMissing: "The words in topics are missing after the topic's name at \(position)."
        }
    }
}

/// Reads a condition from left to right.
private struct ConditionReader {
    /// Five topics need fewer levels; deeper nesting is an attack.
    private static let deepest = 32

    let text: UnsafeBufferPointer<UInt8>
    var cursor = 0
    /// The topics so far under an odd number of `!`.
    var excluded: Set<String> = []
    /// Occurrences, so a name that is repeated counts each time.
    var topics = 0

    /// Reads terms up to the first text that is not an operator.
    mutating func condition(depth: Int, isNegated: Bool) throws(InvalidCondition) -> [[String]] {
        var groups = try term(depth: depth, isNegated: isNegated)
        while true {
            // A negation exchanges the operators (De Morgan).
            let isAnd: Bool
            if accept("&&") { isAnd = !isNegated } else if accept("||") { isAnd = isNegated } else { return groups }
            let next = try term(depth: depth, isNegated: isNegated)
            // Five topics make six groups at most.
            groups = isAnd ? groups + next : groups.flatMap { group in next.map { group + $0 } }
        }
    }

    /// One term, with its negations and parentheses. `isNegated`: under an odd number of `!`.
    private mutating func term(depth: Int, isNegated: Bool) throws(InvalidCondition) -> [[String]] {
        skipSpaces()
        guard depth < Self.deepest else { throw error(.tooDeep) }
        if accept("!") { return try term(depth: depth + 1, isNegated: !isNegated) }
        let start = cursor
        guard accept("(") else {
            let name = try topic()
            if isNegated { excluded.insert(name) }
            return [[isNegated ? "!" + name : name]]
        }
        let groups = try condition(depth: depth + 1, isNegated: isNegated)
        guard accept(")") else {
            throw cursor < text.count ? error(.operatorExpected) : error(.parenthesisMissing, at: start)
        }
        return groups
    }

    /// `'name' in topics`; returns the name.
    private mutating func topic() throws(InvalidCondition) -> String {
        let start = cursor
        guard accept("'") else { throw error(.topicExpected) }
        topics += 1
        guard topics <= TopicCondition.mostTopics else { throw error(.tooManyTopics, at: start) }
        let name = try name(from: start)
        guard accept("in"), isSpace(at: cursor), accept("topics") else { throw error(.inTopicsMissing) }
        return name
    }

    /// `[a-zA-Z0-9-_.~%]+`, up to the closing quote.
    private mutating func name(from start: Int) throws(InvalidCondition) -> String {
        let first = cursor
        while cursor < text.count, text[cursor] != UInt8(ascii: "'") {
            guard text[cursor].isLetterOrDigit || "-_.~%".utf8.contains(text[cursor]) else {
                // Without a closing quote, a space in a name is usually a sign that the quote is missing.
                throw text[cursor...].contains(UInt8(ascii: "'"))
                    ? error(.nameInvalid) : error(.quoteMissing, at: start)
            }
            cursor += 1
        }
        guard cursor < text.count else { throw error(.quoteMissing, at: start) }
        guard cursor > first else { throw error(.nameInvalid) }
        defer { cursor += 1 }
        return String(decoding: text[first..<cursor], as: UTF8.self)
    }

    // MARK: Characters

    /// Skips spaces and the word; false if another text follows.
    private mutating func accept(_ word: StaticString) -> Bool {
        skipSpaces()
        guard UnsafeBufferPointer(rebasing: text[cursor...]).hasPrefix(word) else { return false }
        cursor += word.utf8CodeUnitCount
        return true
    }

    /// Google accepts any number of spaces between words.
    private mutating func skipSpaces() { while isSpace(at: cursor) { cursor += 1 } }

    /// True for ASCII white space. A position after the text is not one.
    private func isSpace(at position: Int) -> Bool {
        position < text.count && (text[position] == UInt8(ascii: " ") || (0x09...0x0D).contains(text[position]))
    }

    /// `position`: in bytes; nil for the cursor.
    func error(_ reason: InvalidCondition.Reason, at position: Int? = nil) -> InvalidCondition {
        InvalidCondition(reason: reason, offset: position ?? cursor)
    }
}
