import SignalboxJSON
import Testing

/// Pieces as `line state text`, for several sizes of chunks.
@Suite struct SplitterTests {
    private func expect(
        _ input: String, _ expected: [String], limit: Int = 4096, at location: SourceLocation = #_sourceLocation
    ) {
        for chunk in [input.utf8.count, 1, 2, 3, 7] {
            let chunks = [Int](repeating: chunk, count: input.utf8.count / max(chunk, 1))
            let summary = Cut(input, chunks: chunks, limit: limit).summary
            #expect(summary == expected, "\(chunk) bytes at a time", sourceLocation: location)
        }
    }

    // MARK: Lines

    @Test func cutsLines() {
        expect("{\"a\":1}\n{\"b\":2}\n", ["1 ok {\"a\":1}", "2 ok {\"b\":2}"])
        expect("{\"a\":1}\n{\"b\":2}", ["1 ok {\"a\":1}", "2 ok {\"b\":2}"])
        expect("{\"a\":1}\r\n{\"b\":2}\r\n", ["1 ok {\"a\":1}", "2 ok {\"b\":2}"])
        expect("\u{FEFF}{\"a\":1}\n{\"b\":2}", ["1 ok {\"a\":1}", "2 ok {\"b\":2}"])
        expect("\n\n  \n{\"a\":1}\n \t\r\n\n{\"b\":2}\n\n", ["4 ok {\"a\":1}", "7 ok {\"b\":2}"])
        expect("  {\"a\":1}  \n\t{\"b\":2}\t\n", ["1 ok {\"a\":1}", "2 ok {\"b\":2}"])
    }

    @Test func emptyInputHasNoPieces() {
        for input in ["", " ", "\n", "\u{FEFF}", "\r\n\r\n", "[]", " [ ] ", "[\n]\n"] { expect(input, []) }
    }

    @Test func damagedLineLosesOnlyItself() {
        expect(
            "{\"a\":1}\n{\"b\":\n{\"c\":3}\n{\"d\":4}\n",
            ["1 ok {\"a\":1}", "2 truncated {\"b\":", "3 ok {\"c\":3}", "4 ok {\"d\":4}"])
        expect(
            "{\"a\":[1,\n{\"b\":2}\n{\"c\":3}\n", ["1 truncated {\"a\":[1,", "2 ok {\"b\":2}", "3 ok {\"c\":3}"])
        expect(
            "{\"a\":\"x\n{\"b\":\"y\"}\n{\"c\":3}\n",
            ["1 truncated {\"a\":\"x", "2 ok {\"b\":\"y\"}", "3 ok {\"c\":3}"])
        expect(
            "{\"a\":{\"x\":1}\n{\"b\":2}\n{\"c\":3}\n",
            ["1 truncated {\"a\":{\"x\":1}", "2 ok {\"b\":2}", "3 ok {\"c\":3}"])
        expect("{\"a\":1,\n{\"b\":2}", ["1 truncated {\"a\":1,", "2 ok {\"b\":2}"])
        expect("{\"a\":[\n{\"b\":[\n{\"c\":3}\n", ["1 truncated {\"a\":[", "2 truncated {\"b\":[", "3 ok {\"c\":3}"])
        expect("{\"a\":1\r\n{\"b\":2}\r\n", ["1 truncated {\"a\":1", "2 ok {\"b\":2}"])
        expect("{\"a\":[1}\n{\"b\":2}\n", ["1 damaged {\"a\":[1}", "2 ok {\"b\":2}"])
        expect("{\"a\":1}}\n{\"b\":2}\n", ["1 ok {\"a\":1}", "1 damaged }", "2 ok {\"b\":2}"])
        expect("{\"a\":1]\n{\"b\":2}\n", ["1 truncated {\"a\":1]", "2 ok {\"b\":2}"])
    }

    /// A bracket that closes the damaged line by chance does not join it with its neighbours.
    @Test func leftoverBracketsDoNotCloseADamagedLine() {
        expect(
            "{\"a\":[1,\n{\"b\":2}\n}\n{\"c\":3}",
            ["1 truncated {\"a\":[1,", "2 ok {\"b\":2}", "3 damaged }", "4 ok {\"c\":3}"])
        expect(
            "{\"a\":1,\n{\"b\":2}\n}\n{\"c\":3}",
            ["1 truncated {\"a\":1,", "2 ok {\"b\":2}", "3 damaged }", "4 ok {\"c\":3}"])
        expect("{\"a\":[1,\n{\"b\":2}\n]", ["1 truncated {\"a\":[1,", "2 ok {\"b\":2}", "3 damaged ]"])
    }

    @Test func lastLineMayBeTruncated() {
        expect("{\"a\":1}\n{\"b\":", ["1 ok {\"a\":1}", "2 truncated {\"b\":"])
        expect("{\"a\":1}\n{\"b\":\"}", ["1 ok {\"a\":1}", "2 truncated {\"b\":\"}"])
        expect("{\"a\":1}\n{", ["1 ok {\"a\":1}", "2 truncated {"])
        expect("{\"b\":\"\\", ["1 truncated {\"b\":\"\\"])
    }

    @Test func otherBytesArePiecesUpToTheLineEnd() {
        expect(
            "{\"a\":1}\n12\nnull\n\"s{\" {\"x\":1}\nlog: {\"y\":2}\n:\n{\"b\":2}",
            [
                "1 ok {\"a\":1}", "2 ok 12", "3 ok null", "4 damaged \"s{\" {\"x\":1}", "5 damaged log: {\"y\":2}",
                "6 damaged :", "7 ok {\"b\":2}",
            ])
        expect("\"a\":1}\n{\"b\":2}\n", ["1 damaged \"a\":1}", "2 ok {\"b\":2}"])
        expect("12", ["1 ok 12"])
        expect("\u{0}\u{0}\n{\"b\":2}", ["1 damaged \u{0}\u{0}", "2 ok {\"b\":2}"])
        expect("\u{FEFF}x\n{\"b\":2}", ["1 damaged x", "2 ok {\"b\":2}"])
    }

    @Test func strayBracketsAndCommasArePieces() {
        expect("}", ["1 damaged }"])
        expect("]", ["1 damaged ]"])
        expect(",", ["1 damaged ,"])
        expect(
            "}}]],\n}\n{\"a\":1}",
            [
                "1 damaged }", "1 damaged }", "1 damaged ]", "1 damaged ]", "1 damaged ,", "2 damaged }",
                "3 ok {\"a\":1}",
            ])
        expect(
            "{\"a\":1},{\"b\":2},{\"c\":3}",
            [
                "1 ok {\"a\":1}", "1 damaged ,", "1 ok {\"b\":2}", "1 damaged ,", "1 ok {\"c\":3}",
            ])
    }

    // MARK: Texts that follow one another

    @Test func cutsConcatenatedTexts() {
        expect("{\"a\":1}{\"b\":2}{\"c\":3}", ["1 ok {\"a\":1}", "1 ok {\"b\":2}", "1 ok {\"c\":3}"])
        expect(
            "{\"a\":1} {\"b\":2}\t{\"c\":3}\n{\"d\":4}",
            [
                "1 ok {\"a\":1}", "1 ok {\"b\":2}", "1 ok {\"c\":3}", "2 ok {\"d\":4}",
            ])
        expect("{}{}\n{}", ["1 ok {}", "1 ok {}", "2 ok {}"])
        expect("{}[1,2][]{}", ["1 ok {}", "1 ok [1,2]", "1 ok []", "1 ok {}"])
    }

    @Test func cutsPrettyPrintedTexts() {
        let pretty = "{\n  \"a\": [\n    {\n      \"b\": 1\n    },\n    {}\n  ]\n}"
        expect(pretty, ["1 ok \(pretty)"])
        expect("\(pretty)\n\(pretty)\n", ["1 ok \(pretty)", "9 ok \(pretty)"])
        expect("\(pretty)\(pretty)", ["1 ok \(pretty)", "8 ok \(pretty)"])
        expect("  \(pretty)", ["1 ok \(pretty)"])
    }

    @Test func keepsTextsWithoutIndentationWhole() {
        for text in ["{\n\"a\":\n{\n\"b\":\n[\n[\n1\n]\n]\n}\n}", "{\"a\": [\n{\"b\": 1},\n{\"c\": 2}\n]}"] {
            expect(text, ["1 ok \(text)"])
            expect(
                "{\"x\":1}\n\(text)\n{\"y\":1}\n",
                ["1 ok {\"x\":1}", "2 ok \(text)", "\(text.count { $0 == "\n" } + 3) ok {\"y\":1}"])
        }
    }

    @Test func damagedPrettyPrintedTextLosesOnlyItself() {
        let damaged = "{\n  \"a\": [\n    {\n      \"b\": 1\n    }\n"
        expect("\(damaged){\n  \"c\": 2\n}\n", ["1 truncated \(damaged.dropLast())", "6 ok {\n  \"c\": 2\n}"])
        let unescaped = "{\n  \"a\": \"two\nlines\",\n  \"b\": [\n    {\n      \"c\": 1\n    }\n  ]\n}"
        expect("\(unescaped)\n{\"d\":1}", ["1 damaged \(unescaped)", "10 ok {\"d\":1}"])
    }

    @Test func ignoresBracketsInStrings() {
        let text = #"{"a":"}{][,","b\"}":"\\","c":"\\\"{","d":"\u0022}"}"#
        expect(text, ["1 ok \(text)"])
        expect("\(text)\(text)\n\(text)", ["1 ok \(text)", "1 ok \(text)", "2 ok \(text)"])
        expect("[\(text),\(text)]", ["1 ok \(text)", "1 ok \(text)"])
    }

    // MARK: Arrays

    @Test func cutsElementsOfArrays() {
        expect("[{\"a\":1},{\"b\":2}]", ["1 ok {\"a\":1}", "1 ok {\"b\":2}"])
        expect(" [ {\"a\":1} , {\"b\":2} ] \n", ["1 ok {\"a\":1}", "1 ok {\"b\":2}"])
        expect(
            "\u{FEFF}[\n  {\"a\": 1},\n  {\n    \"b\": 2\n  }\n]\n", ["2 ok {\"a\": 1}", "3 ok {\n    \"b\": 2\n  }"])
        expect("[[{\"a\":1}],[]]", ["1 ok [{\"a\":1}]", "1 ok []"])
        expect("[1,\"a,]\",true,null,-1.5e3]", ["1 ok 1", "1 ok \"a,]\"", "1 ok true", "1 ok null", "1 ok -1.5e3"])
        expect("[{\"a\":1}]\n[{\"b\":2}]", ["1 ok {\"a\":1}", "2 ok {\"b\":2}"])
    }

    @Test func tellsWhetherTheInputIsAnArray() {
        for input in ["[]", "[{}]", "[{}", " [", "[{\"a\":", "[{}]x"] { #expect(Cut(input).isArray, "\(input)") }
        for input in ["", "{}", "{\"a\":[]}", "x[", "{}[]"] { #expect(!Cut(input).isArray, "\(input)") }
    }

    @Test func reportsAnUnclosedArrayOnce() {
        expect("[", ["1 truncated "])
        expect("[{\"a\":1}", ["1 ok {\"a\":1}", "1 truncated "])
        expect("[{\"a\":1},\n", ["1 ok {\"a\":1}", "2 truncated "])
        expect("[{\"a\":1},{\"b\":", ["1 ok {\"a\":1}", "1 truncated {\"b\":"])
        expect("[\"a", ["1 truncated \"a"])
    }

    @Test func damagedElementLosesOnlyItself() {
        expect("[{\"a\":1} {\"b\":2}]", ["1 ok {\"a\":1}", "1 ok {\"b\":2}"])
        expect("[{\"a\":1}\n{\"b\":2}[3]]", ["1 ok {\"a\":1}", "2 ok {\"b\":2}", "2 ok [3]"])
        expect("[{\"a\":1}x,{\"b\":2}]", ["1 ok {\"a\":1}", "1 damaged x", "1 ok {\"b\":2}"])
        expect("[{\"a\":1},,{\"b\":2}]", ["1 ok {\"a\":1}", "1 damaged ,", "1 ok {\"b\":2}"])
        expect("[,{\"a\":1}]", ["1 damaged ,", "1 ok {\"a\":1}"])
        expect("[{\"a\":1}},{\"b\":2}]", ["1 ok {\"a\":1}", "1 damaged }", "1 ok {\"b\":2}"])
        expect("[{\"a\":1,]", ["1 truncated {\"a\":1,"])
        expect("[{\"a\":[1},{\"b\":2}]", ["1 damaged {\"a\":[1}", "1 ok {\"b\":2}"])
        expect("[oops,{\"b\":2}]", ["1 damaged oops", "1 ok {\"b\":2}"])
        expect("[oops{\"b\":2}]", ["1 damaged oops", "1 ok {\"b\":2}"])
        expect("[\"a,\n{\"b\":2}]", ["1 damaged \"a,", "2 ok {\"b\":2}"])
        expect("[{\"a\":\"two\nlines\"},{\"b\":2}]", ["1 damaged {\"a\":\"two\nlines\"}", "2 ok {\"b\":2}"])
        expect(
            "[\n{\"a\":[1,\n{\"b\":2},\n{\"c\":3}\n]\n", ["2 truncated {\"a\":[1,", "3 ok {\"b\":2}", "4 ok {\"c\":3}"])
        expect(
            "[\n  {\"a\":\"x},\n  {\"b\":2},\n  {\"c\":3}\n]\n",
            ["2 truncated {\"a\":\"x},", "3 ok {\"b\":2}", "4 ok {\"c\":3}"])
    }

    @Test func continuesBehindAnArray() {
        expect("[{\"a\":1}] x {\"b\":2}\n{\"c\":3}", ["1 ok {\"a\":1}", "1 damaged x {\"b\":2}", "2 ok {\"c\":3}"])
        expect("[{\"a\":1}]]{\"c\":3}", ["1 ok {\"a\":1}", "1 damaged ]", "1 ok {\"c\":3}"])
        expect("[]{\"c\":3}", ["1 ok {\"c\":3}"])
    }

    // MARK: Limits

    private func text(_ size: Int) -> String { "{\"x\":\"" + String(repeating: "y", count: size - 8) + "\"}" }

    @Test func tooLongTextLosesOnlyItself() {
        let lines = [text(20), text(21), text(90), text(20)]
        let expected = [
            "1 ok \(text(20))", "2 tooLong \(text(21).prefix(20))", "3 tooLong \(text(90).prefix(20))",
            "4 ok \(text(20))",
        ]
        expect(lines.joined(separator: "\n"), expected, limit: 20)
        expect(lines.joined(separator: "\n") + "\n", expected, limit: 20)
        let onOne = expected.map { "1" + $0.dropFirst() }
        expect(lines.joined(), onOne, limit: 20)
        expect("[" + lines.joined(separator: ",") + "]", onOne, limit: 20)
    }

    @Test func tooLongTruncatedTextEndsWithItsLine() {
        let long = String(text(60).dropLast(9))
        expect("\(long)\n{\"a\":1}\n", ["1 tooLong \(long.prefix(20))", "2 ok {\"a\":1}"], limit: 20)
        let open = "{\"x\":\"" + String(repeating: "y", count: 40) + "\","
        expect(
            "\(open)\n{\"a\":1}\n{\"b\":2}\n", ["1 tooLong \(open.prefix(20))", "2 ok {\"a\":1}", "3 ok {\"b\":2}"],
            limit: 20)
    }

    @Test func tooLongGarbageLosesOnlyItself() {
        let garbage = String(repeating: "x", count: 50)
        expect("\(garbage)\n{\"a\":1}\n", ["1 tooLong \(garbage.prefix(20))", "2 ok {\"a\":1}"], limit: 20)
        expect(garbage, ["1 tooLong \(garbage.prefix(20))"], limit: 20)
        expect("[\(garbage),{\"a\":1}]", ["1 tooLong \(garbage.prefix(20))", "1 ok {\"a\":1}"], limit: 20)
    }

    @Test func truncatedTextBeforeManyOthersIsNotTooLong() {
        let lines = (0..<50).map { "{\"n\":\($0)}" }
        let input = "{\"a\":[\n" + lines.joined(separator: ",\n")
        #expect(Cut(input, limit: 40).sound == lines)
    }

    /// Each line may begin a text, and none is closed.
    @Test func cutsManyOpenBracketsInLinearTime() {
        let lines = String(repeating: "{\"a\":[\n", count: 100_000)
        let cut = Cut(lines, limit: 4 * 1024 * 1024)
        #expect(cut.pieces.count == 100_000)
        #expect(cut.pieces.allSatisfy { $0.fault == .truncated })
        let array = Cut(String(repeating: "[\n", count: 100_000), limit: 4 * 1024 * 1024)
        #expect(!array.pieces.isEmpty)
        #expect(array.pieces.allSatisfy { $0.fault == .truncated })
    }
}
