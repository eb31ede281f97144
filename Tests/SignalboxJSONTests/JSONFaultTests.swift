import SignalboxJSON
import Testing

@Suite struct JSONFaultTests {
    /// « and » enclose the faulty bytes; a missing token has none.
    @Test(
        arguments: [
            ("{\"a\": 1«,» }", .trailingComma), ("[1, 2«,»\n]", .trailingComma),
            ("[1,«,»2]", .additionalComma), ("{\"a\":1,«,»\"b\":2}", .additionalComma),
            ("{«,»\"a\":1}", .additionalComma),
            ("[1«» 2]", .missingComma), ("{\"a\": 1«»\n \"b\": 2}", .missingComma), ("[{}«» {}]", .missingComma),
            ("{\"a\"«» 1}", .missingColon), ("{\"a\"«»}", .missingColon), ("{\"a\":«» }", .missingValue),
            ("{\"a\":«» , \"b\": 1}", .missingValue), ("{«{»}}", .missingKey), ("{«:» 1}", .missingKey),
            ("{ «//» x\n}", .comment), ("{\"a\": «/*» x */ 1}", .comment), ("{«#» x\n}", .comment),
            ("{«'»a': 1}", .singleQuotes), ("[«'»a']", .singleQuotes), ("[«“»a”]", .typographicQuotes),
            ("{«a»: 1}", .bareKey("a")), ("[«True»]", .bareWord("True")), ("{\"a\": «yes»}", .bareWord("yes")),
            ("[«01»]", .number("01")), ("[«.5»]", .number(".5")), ("[«+1»]", .number("+1")), ("[«1.»]", .number("1.")),
            ("[«0x1F»]", .number("0x1F")), ("[«1e»]", .number("1e")), ("[«-»]", .number("-")),
            ("[«-01»]", .number("-01")), ("[«1.e5»]", .number("1.e5")), ("[«1e+»]", .number("1e+")),
            ("[«1e5.0»]", .number("1e5.0")), ("[«1-2»]", .number("1-2")), ("[«--1»]", .number("--1")),
            ("[«\"a»\n]", .unclosedString), ("[«\"a»", .unclosedString), ("[\"a«\t»\"]", .control),
            ("[\"«\\d»\"]", .escape), ("[\"«\\u»12\"]", .escape), ("[\"«\\ud800»x\"]", .halfSurrogate),
            ("[\"«\\u»+123\"]", .escape), ("[\"«\\udc00»\"]", .halfSurrogate),
            ("[\"«\\ud800»\\u00e9\"]", .halfSurrogate),
            ("[1«}»", .wrongClosing), ("{\"a\":1«]»", .wrongClosing), ("[1]«]»", .furtherText),
            ("{}«{»}", .furtherText),
            ("[1«»", .unclosed), ("{\"a\": [1, {}«»", .unclosed), ("{\"a\": 1«;»}", .unexpected(";")),
            ("[«é»]", .unexpected("é")), ("«»", .missingValue),
        ] as [(String, JSONFault.Kind)])
    func findsTheFaultyBytes(_ marked: String, _ kind: JSONFault.Kind) throws {
        let text = Array(marked.utf8)
        let start = try #require(marked.utf8.firstRange(of: "«".utf8))
        let end = try #require(marked.utf8.firstRange(of: "»".utf8))
        let before = marked.utf8.distance(from: marked.startIndex, to: start.lowerBound)
        let length = marked.utf8.distance(from: start.upperBound, to: end.lowerBound)
        let plain = Array(marked.replacing("«", with: "").replacing("»", with: "").utf8)
        #expect(plain.count == text.count - 4)
        let fault = try #require(JSONFault(in: plain))
        #expect(fault.kind == kind)
        #expect(fault.range == before..<before + length)
    }

    @Test(arguments: [
        "{}", "[]", " [1, -0.5, 1e3, 0, -0, 1.25E-7] ",
        #"{"a": {"b": [true, false, null]}, "c": "\"\\\/\b\f\n\r\t\u00e9"}"#,
        #"["\ud834\udd1e"]"#, "\u{FEFF}{}", "\"x\"", "42",
    ]) func acceptsJSON(_ text: String) { #expect(JSONFault(in: Array(text.utf8)) == nil) }

    /// Takes half a minute if each number is matched with a regular expression.
    @Test func readsManyNumbers() {
        let numbers = Array(repeating: "-12.5e+3", count: 200_000).joined(separator: ",")
        #expect(JSONFault(in: Array("[\(numbers)".utf8))?.kind == .unclosed)
    }

    @Test func findsTheFirstBracketThatIsTooDeep() {
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 257)
        let fault = JSONFault(in: deep)
        #expect(fault?.kind == .tooDeep && fault?.range == 256..<257)
        #expect(JSONFault(in: Array(deep.dropLast()))?.kind == .unclosed)
    }

    @Test func namesTheOpenBracket() {
        #expect(JSONFault(in: Array("{ \"a\": [ 1 }".utf8))?.opening == 7)
        #expect(JSONFault(in: Array("{ \"a\": [ 1, {} ".utf8))?.opening == 7)
        #expect(JSONFault(in: Array("1 ]".utf8))?.opening == nil)
    }

    /// Finds a fault exactly when simdjson rejects the text.
    @Test func agreesWithTheParser() {
        let parser = JSONParser()
        let whole = Array(#"{"a": [1, -2.5e3, "x\n\u00e9"], "b": {"c": null, "d": true}, "e": []}"#.utf8)
        for position in whole.indices {
            for byte in Array("{}[],:\"'x0 \\-/".utf8) {
                var text = whole
                text[position] = byte
                parser.reset()
                let isJSON = (try? parser.parse(text)) != nil
                #expect((JSONFault(in: text) == nil) == isJSON, "\(String(decoding: text, as: UTF8.self))")
            }
            parser.reset()
            let cut = Array(whole[..<position])
            #expect(JSONFault(in: cut) != nil, "\(position)")
        }
    }
}

@Suite struct JSONPositionTests {
    private let text = Array(#"{ "a\"b" : [ "x\"y", {"c": 12}, true ], "z": {} }"#.utf8)

    @Test(
        arguments: [
            ("", "{", nil), ("/a\"b", "[", #""a\"b""#), ("/a\"b/0", #""x\"y""#, nil), ("/a\"b/1", "{", nil),
            ("/a\"b/1/c", "12", #""c""#), ("/a\"b/2", "true", nil), ("/z", "{", #""z""#), ("/z/none", "{", #""z""#),
        ] as [(String, String, String?)])
    func findsTheValueAndItsKey(_ pointer: String, _ value: String, _ key: String?) throws {
        let place = try #require(JSONPosition(of: pointer, in: text))
        #expect(String(decoding: text[place.value], as: UTF8.self) == value)
        #expect(place.key.map { String(decoding: text[$0], as: UTF8.self) } == key)
    }

    @Test(arguments: [
        (#"[«{"a": [1, "]}"], "b\"}": {}}»]"#), #"{"a": «"x\"y"», "b": 1}"#, #"[«[]»]"#, #"[«-1.5e3», 2]"#,
        #"«[{"a": "{"#,
    ])
    func wholeRangeEndsAtTheLastByteOfTheValue(_ marked: String) {
        let parts = marked.split(separator: /[«»]/, omittingEmptySubsequences: false)
        let text = Array(parts.joined().utf8)
        let start = parts[0].utf8.count
        #expect(JSONPosition.whole(from: start, in: text) == start..<start + parts[1].utf8.count)
    }

    @Test func isNilWithoutJSON() { #expect(JSONPosition(of: "", in: []) == nil) }
}
