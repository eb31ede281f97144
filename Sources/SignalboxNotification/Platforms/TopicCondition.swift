import SignalboxJSON

/// The devices that a message to topics reaches: the `condition` of an FCM request as a tree.
///
/// `&&` and `||` have the same precedence and group from left to right (firebase.google.com, "Send messages to
/// topics").
indirect enum TopicCondition: Sendable, Equatable {
    case topic(String)
    case not(TopicCondition)
    case all(TopicCondition, TopicCondition)
    case any(TopicCondition, TopicCondition)

    /// The most topics of a condition (firebase.google.com, "Send messages to topics").
    static let mostTopics = 5

    /// Reads a condition as FCM does. Throws the first mistake for which Google rejects a condition.
    ///
    ///     condition := term { ("&&" | "||") term }
    ///     term      := "!" term | "(" condition ")" | "'" name "'" "in" "topics"
    init(parsing text: UnsafeBufferPointer<UInt8>) throws(InvalidCondition) {
        var reader = ConditionReader(text: text)
        self = try reader.wholeCondition()
    }

    /// True when the condition excludes devices with this topic: the topic is under an odd number of `!`.
    func excludes(_ name: String) -> Bool { contains(name, negated: true) }

    /// True if the topic is under an odd (`negated`) or even number of `!`.
    private func contains(_ name: String, negated: Bool) -> Bool {
        switch self {
        case .topic(let own): !negated && own == name
        case .not(let inner): inner.contains(name, negated: !negated)
        case .all(let left, let right), .any(let left, let right):
            left.contains(name, negated: negated) || right.contains(name, negated: negated)
        }
    }
}

/// A mistake for which Google rejects a condition, and its position.
struct InvalidCondition: Error, Equatable, Sendable {
    enum Reason: Sendable, Equatable {
        case tooManyTopics, tooDeep, topicExpected, operatorExpected, quoteMissing, parenthesisMissing
        case nameInvalid, inTopicsMissing
    }

    let reason: Reason
    /// In bytes, from 0; messages count from 1.
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
    private var cursor = 0
    private var topics = 0

    init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

    /// Reads the whole text.
    mutating func wholeCondition() throws(InvalidCondition) -> TopicCondition {
        let condition = try condition(depth: 0)
        guard cursor == text.count else { throw error(.operatorExpected) }
        return condition
    }

    private mutating func condition(depth: Int) throws(InvalidCondition) -> TopicCondition {
        var condition = try term(depth: depth)
        while true {
            if accept("&&") {
                condition = .all(condition, try term(depth: depth))
            } else if accept("||") {
                condition = .any(condition, try term(depth: depth))
            } else {
                return condition
            }
        }
    }

    private mutating func term(depth: Int) throws(InvalidCondition) -> TopicCondition {
        skipSpaces()
        guard depth < Self.deepest else { throw error(.tooDeep) }
        if accept("!") { return .not(try term(depth: depth + 1)) }
        let start = cursor
        guard accept("(") else { return try topic() }
        let group = try condition(depth: depth + 1)
        if accept(")") { return group }
        throw cursor < text.count ? error(.operatorExpected) : error(.parenthesisMissing, at: start)
    }

    private mutating func topic() throws(InvalidCondition) -> TopicCondition {
        let start = cursor
        guard accept("'") else { throw error(.topicExpected) }
        topics += 1
        guard topics <= TopicCondition.mostTopics else { throw error(.tooManyTopics, at: start) }
        let name = try name(from: start)
        guard accept("in"), isSpace(at: cursor), accept("topics") else { throw error(.inTopicsMissing) }
        return .topic(name)
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

    private mutating func skipSpaces() {
        while isSpace(at: cursor) { cursor += 1 }
    }

    private func isSpace(at position: Int) -> Bool {
        position < text.count && (text[position] == UInt8(ascii: " ") || (0x09...0x0D).contains(text[position]))
    }

    private func error(_ reason: InvalidCondition.Reason, at position: Int? = nil) -> InvalidCondition {
        InvalidCondition(reason: reason, offset: position ?? cursor)
    }
}
