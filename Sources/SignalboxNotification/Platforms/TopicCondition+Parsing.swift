extension TopicCondition {
    /// Reads a condition as FCM does. Fails with what Google would refuse, and where.
    ///
    ///     condition := term { ("&&" | "||") term }
    ///     term      := "!" term | "(" condition ")" | "'" name "'" "in" "topics"
    package init(parsing text: UnsafeBufferPointer<UInt8>) throws(InvalidCondition) {
        var reader = ConditionReader(text)
        self = try reader.wholeCondition()
    }

    /// At most so many topics stand in a condition (firebase.google.com, "Send messages to topics").
    package static let mostTopics = 5
}

/// What Google would refuse of a condition, and where it stands.
package struct InvalidCondition: Error, Equatable, Sendable {
    package enum Reason: Sendable, Equatable {
        case tooManyTopics, tooDeep, topicExpected, operatorExpected, quoteMissing, parenthesisMissing
        case nameInvalid, inTopicsMissing
    }

    package let reason: Reason
    /// In bytes, from 0; shown from 1.
    package let offset: Int

    package init(reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// One sentence for a person.
    package var message: String {
        let place = "At character \(offset + 1)"
        return switch reason {
        case .tooManyTopics: "\(place) a sixth topic begins; a condition names at most five."
        case .tooDeep: "\(place) parentheses are nested too deep."
        case .topicExpected: "\(place) a topic, written 'name' in topics, or a parenthesis is missing."
        case .operatorExpected: "\(place) there should be && or ||, or the end of the condition."
        case .quoteMissing: "The quote at character \(offset + 1) is left open."
        case .parenthesisMissing: "The parenthesis at character \(offset + 1) is left open."
        case .nameInvalid: "\(place) stands what no topic's name has: only letters, digits and -_.~% are allowed."
        case .inTopicsMissing: "\(place) the words in topics are missing behind the topic's name."
        }
    }
}

/// Goes through a condition from left to right.
private struct ConditionReader {
    /// Five topics need no more levels than this; beyond it nesting is an attack.
    private static let deepest = 32

    private let text: UnsafeBufferPointer<UInt8>
    private var cursor = 0
    private var topics = 0

    init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

    mutating func wholeCondition() throws(InvalidCondition) -> TopicCondition {
        let condition = try condition(depth: 0)
        guard cursor == text.count else { throw error(.operatorExpected) }
        return condition
    }

    private mutating func condition(depth: Int) throws(InvalidCondition) -> TopicCondition {
        var condition = try term(depth: depth)
        while true {
            if take("&&") {
                condition = .all(condition, try term(depth: depth))
            } else if take("||") {
                condition = .any(condition, try term(depth: depth))
            } else {
                return condition
            }
        }
    }

    private mutating func term(depth: Int) throws(InvalidCondition) -> TopicCondition {
        skipBlanks()
        guard depth < Self.deepest else { throw error(.tooDeep) }
        if take("!") { return .not(try term(depth: depth + 1)) }
        let start = cursor
        guard take("(") else { return try topic() }
        let group = try condition(depth: depth + 1)
        if take(")") { return group }
        throw cursor < text.count ? error(.operatorExpected) : error(.parenthesisMissing, at: start)
    }

    private mutating func topic() throws(InvalidCondition) -> TopicCondition {
        let start = cursor
        guard take("'") else { throw error(.topicExpected) }
        topics += 1
        guard topics <= TopicCondition.mostTopics else { throw error(.tooManyTopics, at: start) }
        let name = try name(from: start)
        guard take("in"), isBlank(at: cursor), take("topics") else { throw error(.inTopicsMissing) }
        return .topic(name)
    }

    /// `[a-zA-Z0-9-_.~%]+`, up to the closing quote.
    private mutating func name(from start: Int) throws(InvalidCondition) -> String {
        let first = cursor
        while cursor < text.count, text[cursor] != UInt8(ascii: "'") {
            guard Self.isOfNames(text[cursor]) else {
                // A blank in a name is a quote forgotten more often than not.
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

    private static func isOfNames(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-_.~%".utf8.contains(byte)
    }

    // MARK: Characters

    private mutating func take(_ word: StaticString) -> Bool {
        skipBlanks()
        guard UnsafeBufferPointer(rebasing: text[cursor...]).starts(with: word) else { return false }
        cursor += word.utf8CodeUnitCount
        return true
    }

    private mutating func skipBlanks() {
        while isBlank(at: cursor) { cursor += 1 }
    }

    private func isBlank(at place: Int) -> Bool {
        place < text.count && (text[place] == UInt8(ascii: " ") || (0x09...0x0D).contains(text[place]))
    }

    private func error(_ reason: InvalidCondition.Reason, at place: Int? = nil) -> InvalidCondition {
        InvalidCondition(reason: reason, offset: place ?? cursor)
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func starts(with word: StaticString) -> Bool {
        count >= word.utf8CodeUnitCount && (0..<word.utf8CodeUnitCount).allSatisfy { self[$0] == word.utf8Start[$0] }
    }
}
