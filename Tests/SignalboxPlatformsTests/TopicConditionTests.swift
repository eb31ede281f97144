import Testing

@testable import SignalboxNotification

@Suite struct TopicConditionTests {
    @Test(arguments: [
        "'a' in topics", " ( 'a'  in\ttopics ) ", "'a'in topics&&'b'in topics",
        "'a' in topics || 'b' in topics && 'c' in topics", "('a' in topics || 'b' in topics) && 'c' in topics",
        "'a' in topics || ('b' in topics && 'c' in topics)", "!'a' in topics", "!!('a' in topics)",
        "'a-_.~%9' in topics",
    ])
    func readsConditionsThatGoogleAccepts(_ text: String) throws {
        #expect(try parse(text).excluded == (text == "!'a' in topics" ? ["a"] : []))
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
        #expect(try parse(five).excluded.isEmpty)
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

    @Test func aTopicIsExcludedUnderAnOddNumberOfNegations() throws {
        #expect(try parse("'n' in topics && !('x' in topics)").excluded == ["x"])
        #expect(try parse("!('n' in topics || 'x' in topics)").excluded == ["n", "x"])
        #expect(try parse("!!('x' in topics)").excluded == [])
        #expect(try parse("!('a' in topics && !('b' in topics)) || 'c' in topics").excluded == ["a"])
    }

    /// Operators have equal precedence, and parentheses come first.
    @Test func bringsAConditionIntoGroups() throws {
        func groups(_ text: String) throws -> [[String]] { try parse(text).groups }
        #expect(try groups("'a' in topics") == [["a"]])
        #expect(try groups("'a' in topics && !('b' in topics)") == [["a"], ["!b"]])
        #expect(try groups("'a' in topics && ('b' in topics || 'c' in topics)") == [["a"], ["b", "c"]])
        #expect(try groups("'a' in topics && 'b' in topics || 'c' in topics") == [["a", "c"], ["b", "c"]])
        #expect(try groups("!('a' in topics && !('b' in topics || 'c' in topics))") == [["!a", "b", "c"]])
        #expect(try groups("!('a' in topics || 'b' in topics)") == [["!a"], ["!b"]])
    }

    private func parse(_ text: String) throws(InvalidCondition) -> TopicCondition {
        let result = Array(text.utf8).withUnsafeBufferPointer { bytes -> Result<TopicCondition, InvalidCondition> in
            Result { () throws(InvalidCondition) in try TopicCondition(parsing: bytes) }
        }
        return try result.get()
    }
}
