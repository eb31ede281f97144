import SignalboxJSON
import Testing

@testable import SignalboxRouting

/// Single entries of a pattern's arrays.
@Suite struct PatternEntryTests {
    private func entry(_ text: String) throws -> PatternEntry? {
        let parser = JSONParser()
        let value = try parser.parse(Array(text.utf8))
        return withExtendedLifetime(parser) { PatternEntry(value, of: parser) }
    }

    @Test(arguments: [
        (#""a""#, PatternEntry.Kind.text), (#""10.0.0.1""#, .text), (#"{"wildcard":"a*"}"#, .text),
        (#"{"cidr":"10.0.0.0/8"}"#, .text), ("1", .number), (#"{"numeric":["<",1]}"#, .number), ("true", .boolean),
        ("null", .null), (#"{"exists":true}"#, nil), (#"{"anything-but":"a"}"#, nil),
    ])
    func comparesOneKindOfValues(_ text: String, _ kind: PatternEntry.Kind?) throws {
        let entry = try #require(try entry(text))
        #expect(entry.kind == kind)
    }

    @Test func anAbsenceAndAMistakeAreNone() throws {
        for text in [#"{"exists":false}"#, #"{"none":1}"#, "[]"] {
            let entry = try entry(text)
            #expect(entry == nil, "\(text)")
        }
    }

    @Test func matchesTexts() throws {
        for (text, matched, other) in [
            (#""a""#, "a", "b"), (#"{"wildcard":"a*c"}"#, "abc", "ab"), (#"{"equals-ignore-case":"A"}"#, "a", "b"),
            (#"{"suffix":{"equals-ignore-case":"C"}}"#, "abc", "cb"),
            (#"{"cidr":"10.0.0.0/8"}"#, "10.1.2.3", "11.0.0.1"),
        ] {
            let entry = try #require(try entry(text))
            #expect(entry.matches(matched) && !entry.matches(other), "\(text)")
        }
    }

    /// ASCII takes a path of its own.
    @Test func ignoresTheCaseOfASCIILettersOnly() throws {
        let letters = "abcdefghijklmnopqrstuvwxyz"
        let others = "@[`{!/09:~"
        for form in [letters + others, letters.uppercased() + others] {
            for more in ["", "é"] {
                let entry = try #require(try entry("{\"equals-ignore-case\":\"\(form + more)\"}"))
                #expect(entry.matches(letters + others + more), "\(form + more)")
                #expect(entry.matches(letters.uppercased() + others + more), "\(form + more)")
                for (other, character) in zip("`{@[\u{1}\u{F}\u{10}\u{19}\u{1A}^", others) where other != character {
                    let text = letters + others.replacing(String(character), with: String(other)) + more
                    #expect(!entry.matches(text), "\(text)")
                }
            }
        }
    }
}
