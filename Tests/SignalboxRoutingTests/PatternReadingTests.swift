import SignalboxConfig
import SignalboxRouting
import Testing

@Suite struct PatternReadingTests {
    private func mistakes(_ text: String) -> [String] {
        do throws(InvalidConfig) {
            _ = try Pattern(text: Array(text.utf8))
            return []
        } catch {
            return error.mistakes.map(\.description)
        }
    }

    @Test func patternIsReadWithoutAConfig() throws {
        #expect(mistakes(#"{"data":{"vendor":["mce",{"prefix":"b"}]}}"#).isEmpty)
        #expect(try Pattern(text: Array("{}".utf8)) == .everything)
    }

    @Test func mistakesHavePositionsInThePattern() {
        #expect(
            mistakes(#"{"a":1}"#)
                == [
                    "1:6: /a: a field of a pattern must be an array of values and comparisons, or an object; neither may be empty"
                ])
        #expect(mistakes("{") == ["1:2: the pattern ends too early; a closing } is missing"])
        #expect(mistakes("[]").first?.contains("a pattern must be an object") == true)
        #expect(mistakes(#"{},"to":["y"]"#).count == 1)
    }
}
