import Testing

@testable import SignalboxJSON

@Suite struct ParserErrorTests {
    /// A payload with a large JSON text in each of its strings, as an API client could send it.
    @Test func resetFreesLargeBuffers() throws {
        let parser = JSONParser(limits: JSONParser.Limits())
        let inner = "[" + String(repeating: "1,", count: 30_000) + "1]"
        let texts = Array(repeating: "\"\(inner)\"", count: 60)
        let root = try parser.parse(Array("[\(texts.joined(separator: ","))]".utf8))
        for text in root.elements { _ = try parser.parseText(in: text) }
        #expect(parser.retainedBytes > 10 * JSONParser.mostRetainedBytes)
        parser.reset()
        #expect(parser.retainedBytes <= JSONParser.mostRetainedBytes)

        // The large text came from another payload; these have the size that a parser keeps.
        for _ in 0..<60 { _ = try parser.parse(Array(inner.utf8)) }
        parser.reset()
        #expect(parser.retainedBytes <= JSONParser.mostRetainedBytes)
        let again = try parser.parse(Array("{\"a\":[1]}".utf8))
        #expect(again["a"]?.elements.map(\.integer) == [1])
    }

    @Test(
        arguments: [
            // Empty texts.
            ("", .empty, nil), ("   ", .empty, nil), ("\u{FEFF}", .empty, nil),
            // Not JSON.
            ("nope", .syntax, nil), ("hello", .syntax, nil), ("{'a':1}", .syntax, 1), ("{a:1}", .syntax, 1),
            ("[1,]", .syntax, 3), ("[,1]", .syntax, 1), ("[1 2]", .syntax, 3), ("{\"a\" 1}", .syntax, 5),
            ("{\"a\":1,}", .syntax, 7), ("{\"a\":}", .syntax, 5), ("{\"a\":1 \"b\":2}", .syntax, 7),
            ("[1}", .syntax, 2), ("{\"a\":1]", .syntax, 6), ("{} x", .syntax, 3), ("{}{}", .syntax, 2),
            ("[1]]", .syntax, 3), ("}", .syntax, nil), (":", .syntax, nil), ("1 2", .syntax, nil),
            ("tru", .syntax, nil),
            ("truex", .syntax, nil), ("[nul]", .syntax, 1), ("\u{FEFF}[1,]", .syntax, 6), ("{\"é\":1,}", .syntax, 8),
            ("// comment\n{}", .syntax, nil), ("{\"a\":NaN}", .syntax, 5), ("{\"a\":.5}", .syntax, 5),
            ("{\"a\":+1}", .syntax, 5), ("{\"a\":01}", .invalidNumber, 5), ("{\"a\":1.}", .invalidNumber, 5),
            ("[1e]", .invalidNumber, 1),
            ("[-]", .invalidNumber, 1), ("[0x10]", .invalidNumber, 1),
            // The end is missing.
            ("{", .incomplete, 1), ("[", .incomplete, 1), ("{\"a\"", .incomplete, 4), ("{\"a\":", .incomplete, 5),
            ("{\"a\":1", .syntax, 5), ("[1,[2,3]", .incomplete, 8), ("{\"a\":[{}]\n", .incomplete, 10),
            ("{\"a\":\"b", .unclosedString, 7), ("\"", .unclosedString, 1), ("[\"a\\\"]", .unclosedString, 6),
            // Strings.
            ("\"a\nb\"", .invalidString, 2), ("[\"a\tb\"]", .invalidString, 3),
            ("[\"\u{1}\"]", .invalidString, 2),
            ("{\"a\":\"\u{0}\"}", .invalidString, 6), ("[\"\\x\"]", .invalidString, 5),
            ("[\"\\u12G4\"]", .invalidString, 9), ("[\"a\\ud83d\"]", .invalidString, 10),
            ("[\"\\ude00\"]", .invalidString, 9), ("[\"\\ud83d\\u0041\"]", .invalidString, 15),
            ("[\"\\ud83dx\"]", .invalidString, 10), ("{\"a: 1,\n \"b\": 2}", .invalidString, 7),
            // Numbers beyond 64 bits.
            ("18446744073709551616", .invalidNumber, nil), ("[-9223372036854775809]", .invalidNumber, 1),
            ("{\"a\":1e999}", .invalidNumber, 5), ("[-1e999]", .invalidNumber, 1),
            ("[123456789012345678901234567890]", .invalidNumber, 1),
        ] as [(String, JSONError.Reason, Int?)])
    func reportsReasonAndOffset(_ text: String, _ reason: JSONError.Reason, _ offset: Int?) {
        #expect(failure(of: Array(text.utf8)) == JSONError(reason: reason, offset: offset), "\(text)")
    }

    @Test(
        arguments: [
            ([0x22, 0xFF, 0x22], 1), ([0x22, 0xC3, 0x22], 1), ([0x22, 0xC0, 0x80, 0x22], 1),
            ([0x22, 0xED, 0xA0, 0x80, 0x22], 1), ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1),
            ([0xEF, 0xBB, 0xBF, 0x22, 0x61, 0xFF, 0x22], 5), ([0xFF, 0xFE, 0x7B, 0x00], 0),
            // "a" in UTF-16.
            ([0xFF, 0xFE, 0x22, 0x00, 0x61, 0x00, 0x22, 0x00], 0),
            ([0xFE, 0xFF, 0x00, 0x22, 0x00, 0x61, 0x00, 0x22], 0),
        ] as [([UInt8], Int)])
    func reportsTheFirstInvalidUTF8Byte(_ bytes: [UInt8], _ offset: Int) {
        #expect(failure(of: bytes) == JSONError(reason: .invalidUTF8, offset: offset))
    }

    @Test(arguments: ["[", "{\"a\":"])
    func rejectsTwoThousandLevels(_ opening: String) {
        let closing = opening == "[" ? "]" : "1}"
        let deep = String(repeating: opening, count: 2000) + "1" + String(repeating: closing, count: 2000)
        let failure = failure(of: Array(deep.utf8))
        #expect(failure?.reason == .tooDeep)
    }

    @Test func acceptsLevelsUpToTheLimit() throws {
        var limits = JSONParser.Limits()
        limits.depth = 10
        let parser = JSONParser(limits: limits)
        defer { withExtendedLifetime(parser) {} }
        func nested(_ levels: Int) -> [UInt8] {
            Array((String(repeating: "[", count: levels) + "1" + String(repeating: "]", count: levels)).utf8)
        }
        #expect(try parser.parse(nested(10)).isArray)
        #expect(throws: JSONError(reason: .tooDeep, offset: nil)) { try parser.parse(nested(11)) }
    }

    /// simdjson does not count it. `before`: other values of the text, of every width on the tape.
    @Test(arguments: ["[]", "{}"], ["", #"1.5,18446744073709551615,-1,"[{",true,null,[[],{"a":{}}],"#])
    func anEmptyContainerIsALevel(empty: String, before: String) throws {
        var limits = JSONParser.Limits()
        limits.depth = 10
        let parser = JSONParser(limits: limits)
        defer { withExtendedLifetime(parser) {} }
        func text(_ levels: Int, around value: String) -> [UInt8] {
            let (opening, closing) = (#"{"a":"#, "}")
            let inner = String(repeating: opening, count: levels - 1) + value
            return Array(("[" + before + inner + String(repeating: closing, count: levels - 1) + "]").utf8)
        }
        for levels in 1...9 { #expect(try parser.parse(text(levels, around: empty)).isArray, "\(levels)") }
        #expect(try parser.parse(text(10, around: "1")).isArray)
        for (levels, value) in [(10, empty), (11, empty), (11, "1")] {
            #expect(throws: JSONError(reason: .tooDeep, offset: nil), "\(levels)") {
                try parser.parse(text(levels, around: value))
            }
        }
    }

    @Test func deepTextsAreKeptLikeOthers() throws {
        var limits = JSONParser.Limits()
        (limits.depth, limits.documents) = (3, 3)
        let parser = JSONParser(limits: limits)
        defer { withExtendedLifetime(parser) {} }
        let text = #"{"a":[{"b":1}]}"#
        let deep = try parser.parse(Array(text.utf8))
        let flat = try parser.parse(Array("[2]".utf8))
        #expect(throws: JSONError(reason: .tooDeep, offset: nil)) { try parser.parse(Array(#"{"a":[{"b":[]}]}"#.utf8)) }
        #expect(throws: JSONError.self) { try parser.parse(Array(#"{"a":[{"b":1}"#.utf8)) }
        let other = try parser.parse(Array(text.utf8))
        #expect(JSONText(deep).string == text && JSONText(flat).string == "[2]" && JSONText(other).string == text)
        let inner = try #require(deep.member("a")?.elements.first(where: { _ in true }))
        #expect(parser.pointer(to: inner) == "/a/0")
        for further in ["1", text] {
            #expect(throws: JSONError(reason: .tooManyDocuments, offset: nil)) { try parser.parse(Array(further.utf8)) }
        }
        parser.reset()
        #expect(parser.retainedBytes <= JSONParser.mostRetainedBytes)
        #expect(try parser.parse(Array("[3]".utf8)).isArray)
    }

    @Test func acceptsTextsUpToTheSizeLimit() throws {
        var limits = JSONParser.Limits()
        limits.bytes = 1000
        let parser = JSONParser(limits: limits)
        defer { withExtendedLifetime(parser) {} }
        func text(_ size: Int) -> [UInt8] { Array(("\"" + String(repeating: "x", count: size - 2) + "\"").utf8) }
        #expect(try parser.parse(text(1000)).string?.count == 998)
        #expect(throws: JSONError(reason: .tooLarge, offset: nil)) { try parser.parse(text(1001)) }
        #expect(try parser.parse(text(999)).string?.count == 997)
    }

    @Test func acceptsDocumentsUpToTheLimit() throws {
        var limits = JSONParser.Limits()
        limits.documents = 2
        let parser = JSONParser(limits: limits)
        defer { withExtendedLifetime(parser) {} }
        _ = try parser.parse(Array("1".utf8))
        _ = try parser.parse(Array("2".utf8))
        #expect(throws: JSONError(reason: .tooManyDocuments, offset: nil)) { try parser.parse(Array("3".utf8)) }
        parser.reset()
        #expect(try parser.parse(Array("3".utf8)).integer == 3)
    }

    @Test func rejectedTextLeavesTheParserUsable() throws {
        let parser = JSONParser()
        defer { withExtendedLifetime(parser) {} }
        let kept = try parser.parse(Array("{\"a\":[1,2]}".utf8))
        #expect(throws: JSONError.self) { try parser.parse(Array("{\"b\":".utf8)) }
        #expect(JSONText(kept).string == "{\"a\":[1,2]}")
        #expect(try parser.parse(Array("[3]".utf8)).elements.first(where: { _ in true })?.integer == 3)
        #expect(JSONText(kept).string == "{\"a\":[1,2]}")
    }

    @Test func parsesSmallTextsAfterLargeOnes() throws {
        let parser = JSONParser()
        defer { withExtendedLifetime(parser) {} }
        let big = Array(("[\"" + String(repeating: "y", count: 1_000_000) + "\"]").utf8)
        for _ in 0..<3 {
            #expect(try parser.parse(Array("[1]".utf8)).elements.first(where: { _ in true })?.integer == 1)
            #expect(try parser.parse(big).elements.first(where: { _ in true })?.utf8?.count == 1_000_000)
            parser.reset()
        }
    }

    private func failure(of bytes: [UInt8]) -> JSONError? {
        do throws(JSONError) {
            _ = try JSONParser().parse(bytes)
            return nil
        } catch {
            return error
        }
    }
}
