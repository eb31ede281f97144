import SignalboxTesting
import Testing

@testable import SignalboxNotification

@Suite struct TopicConditionTests {
    @Test(arguments: [
        ("'a' in topics", "'a' in topics"),
        (" ( 'a'  in\ttopics ) ", "'a' in topics"),
        ("'a'in topics&&'b'in topics", "'a' in topics && 'b' in topics"),
        ("'a' in topics || 'b' in topics && 'c' in topics", "'a' in topics || 'b' in topics && 'c' in topics"),
        ("('a' in topics || 'b' in topics) && 'c' in topics", "'a' in topics || 'b' in topics && 'c' in topics"),
        ("'a' in topics || ('b' in topics && 'c' in topics)", "'a' in topics || ('b' in topics && 'c' in topics)"),
        ("!'a' in topics", "!('a' in topics)"),
        ("!!('a' in topics)", "!!('a' in topics)"),
        ("'a-_.~%9' in topics", "'a-_.~%9' in topics"),
    ])
    func readsConditionsThatGoogleAccepts(_ text: String, _ shortest: String) throws {
        #expect(try parse(text).text == shortest)
    }

    @Test func groupsFromLeftToRightWithoutPrecedence() throws {
        #expect(
            try parse("'a' in topics || 'b' in topics && 'c' in topics")
                == .all(.any(.topic("a"), .topic("b")), .topic("c")))
        #expect(try parse("!'a' in topics && 'b' in topics") == .all(.not(.topic("a")), .topic("b")))
    }

    @Test(arguments: [
        ("", InvalidCondition.Reason.topicExpected, 0),
        ("'a' in topics 'b' in topics", .operatorExpected, 14),
        ("'a' in topics & 'b' in topics", .operatorExpected, 14),
        ("'a' in topics)", .operatorExpected, 13),
        ("('a' in topics", .parenthesisMissing, 0),
        ("('a' in topics 'b' in topics)", .operatorExpected, 15),
        ("'a' in topics && ", .topicExpected, 17),
        ("&& 'a' in topics", .topicExpected, 0),
        ("a in topics", .topicExpected, 0),
        ("'a' in topic", .inTopicsMissing, 7),
        ("'a'", .inTopicsMissing, 3),
        ("'a' intopics", .inTopicsMissing, 6),
        ("'' in topics", .nameInvalid, 1),
        ("'a b' in topics", .nameInvalid, 2),
        ("'é' in topics", .nameInvalid, 1),
        ("'a' in topics && 'b in topics", .quoteMissing, 17),
        ("'a", .quoteMissing, 0),
    ])
    func reportsThePositionOfAMistake(_ text: String, _ reason: InvalidCondition.Reason, _ offset: Int) {
        do {
            _ = try parse(text)
            Issue.record("\(text) was accepted")
        } catch {
            #expect(error == InvalidCondition(reason: reason, offset: offset))
            #expect(error.message.contains("character \(offset + 1)") && error.message.hasSuffix("."))
        }
    }

    @Test func rejectsASixthTopic() throws {
        let five = Array(repeating: "'a' in topics", count: 5).joined(separator: " && ")
        #expect(try parse(five).text == five)
        do {
            _ = try parse(five + " || 'b' in topics")
            Issue.record("six topics were accepted")
        } catch {
            #expect(error == InvalidCondition(reason: .tooManyTopics, offset: five.utf8.count + 4))
        }
    }

    @Test(arguments: ["(", "!"])
    func rejectsAMillionLevels(_ opening: String) {
        do {
            _ = try parse(String(repeating: opening, count: 1_000_000))
            Issue.record("the condition was accepted")
        } catch {
            #expect(error.reason == .tooDeep)
        }
    }

    @Test func aTopicIsLeftOutUnderAnOddNumberOfNegations() throws {
        #expect(try parse("'n' in topics && !('x' in topics)").excludes("x"))
        #expect(try parse("!('n' in topics || 'x' in topics)").excludes("x"))
        #expect(try !parse("'n' in topics && !('x' in topics)").excludes("n"))
        #expect(try !parse("!!('x' in topics)").excludes("x"))
    }

    @Test func readsAWrittenConditionAsTheSameTree() throws {
        var random = SeededGenerator(seed: 20_260_118)
        for _ in 0..<5000 {
            let tree = TopicCondition.random(topics: Int.random(in: 1...5, using: &random), using: &random)
            #expect(try parse(tree.text) == tree, "seed 20260118: \(tree.text)")
        }
    }

    private func parse(_ text: String) throws(InvalidCondition) -> TopicCondition {
        let result = Array(text.utf8).withUnsafeBufferPointer { bytes -> Result<TopicCondition, InvalidCondition> in
            Result { () throws(InvalidCondition) in try TopicCondition(parsing: bytes) }
        }
        return try result.get()
    }
}

extension TopicCondition {
    /// The shortest text that FCM reads as this tree.
    fileprivate var text: String {
        switch self {
        case .topic(let name): "'\(name)' in topics"
        case .not(let inner): "!" + inner.grouped
        case .all(let left, let right): left.text + " && " + right.operand
        case .any(let left, let right): left.text + " || " + right.operand
        }
    }

    /// The text of a right side, which needs parentheses; the left side does not.
    private var operand: String {
        switch self {
        case .topic, .not: text
        case .all, .any: "(" + text + ")"
        }
    }

    /// The text after a `!`, which Google writes before a group only.
    private var grouped: String {
        if case .not = self { text } else { "(" + text + ")" }
    }

    fileprivate static func random(topics: Int, using random: inout SeededGenerator) -> TopicCondition {
        let isNegated = Int.random(in: 0...3, using: &random) == 0
        let inner: TopicCondition
        if topics == 1 {
            inner = .topic(["news", "a-b", "x.y~z%20_"].randomElement(using: &random) ?? "news")
        } else {
            let left = Int.random(in: 1..<topics, using: &random)
            let sides = (
                self.random(topics: left, using: &random), self.random(topics: topics - left, using: &random)
            )
            inner = Bool.random(using: &random) ? .all(sides.0, sides.1) : .any(sides.0, sides.1)
        }
        return isNegated ? .not(inner) : inner
    }
}
