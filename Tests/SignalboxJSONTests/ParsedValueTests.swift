import SignalboxJSON
import Testing

@Suite struct ParsedValueTests {
    private let parser = JSONParser()

    private func parse(_ text: String) throws -> JSONValue { try parser.parse(Array(text.utf8)) }

    @Test func findsARunTimeKeyOfEachLength() throws {
        let keys = (0...20).map { String("abcdefghijklmnopqrstuvwxyz".prefix($0)) }
        let object = try parse("{" + keys.map { "\"\($0)\":\($0.count)" }.joined(separator: ",") + "}")
        let known = JSONKeyPath(keys.map { Array($0.utf8) })
        let unknown = JSONKeyPath(keys.map { Array(($0 + "?").utf8) })
        withExtendedLifetime((known, unknown)) {
            for (position, key) in keys.enumerated() {
                #expect(known.keys[position].bytes.elementsEqual(key.utf8))
                #expect(object.member(searching: known.keys[position])?.integer == Int64(key.count))
                #expect(JSONObject(object).member(searching: known.keys[position])?.integer == Int64(key.count))
                #expect(object.member(searching: unknown.keys[position]) == nil)
                #expect(JSONObject(object).member(searching: unknown.keys[position]) == nil)
            }
        }
    }

    @Test func aRunTimeKeyFindsTheLastOfRepeatedKeys() throws {
        let object = try parse(#"{"a":1,"b":2,"a":3}"#)
        let path = JSONKeyPath([Array("a".utf8)])
        withExtendedLifetime(path) {
            #expect(object.member(searching: path.keys[0])?.integer == 3)
            #expect(JSONObject(object).member(searching: path.keys[0])?.integer == 3)
            #expect(object["b"]?.member(searching: path.keys[0]) == nil)
        }
    }

    @Test func skipsAByteOrderMark() throws {
        #expect(try parse("\u{FEFF}{\"a\":1}")["a"]?.integer == 1)
    }

    @Test func keepsAnEscapedNull() throws {
        let value = try parse("{\"a\\u0000b\":\"x\\u0000y\"}")
        #expect(value.member("a\u{0}b")?.string == "x\u{0}y")
        #expect(value.member("a\u{0}b")?.utf8?.count == 3)
        #expect(value["a"] == nil)
    }

    @Test(
        arguments: [
            ("0", .integer), ("-0", .integer), ("9223372036854775807", .integer), ("-9223372036854775808", .integer),
            ("9223372036854775808", .unsigned), ("18446744073709551615", .unsigned), ("1.0", .double), ("1e2", .double),
            ("true", .bool), ("false", .bool), ("null", .null), ("\"\"", .string), ("[]", .array), ("{}", .object),
        ] as [(String, JSONValue.Kind)])
    func tellsKindsApart(_ text: String, _ kind: JSONValue.Kind) throws {
        #expect(try parse(text).kind == kind)
    }

    @Test(
        arguments: [
            ("3", 3), ("3.0", 3), ("-0.0", 0), ("3.5", nil), ("9223372036854775807", .max),
            ("9223372036854775808", nil),
            ("-9223372036854775808", .min), ("1e3", 1000), ("1e300", nil), ("\"3\"", nil), ("true", nil), ("null", nil),
        ] as [(String, Int64?)])
    func integerIsExactOrNil(_ text: String, _ expected: Int64?) throws {
        #expect(try parse(text).integer == expected)
    }

    @Test(
        arguments: [("3", 3), ("18446744073709551615", 18_446_744_073_709_551_616), ("1e-999", 0), ("\"3\"", nil)]
            as [(String, Double?)])
    func doubleRoundsAnyNumber(_ text: String, _ expected: Double?) throws {
        #expect(try parse(text).double == expected)
    }

    @Test func booleansAreOnlyTrueAndFalse() throws {
        #expect(try parse("true").bool == true)
        #expect(try parse("false").bool == false)
        for text in ["1", "0", "\"true\"", "null", "[]"] { #expect(try parse(text).bool == nil) }
    }

    @Test func lastOfRepeatedKeysWins() throws {
        let value = try parse("{\"a\":1,\"b\":2,\"a\":3,\"\\u0061\":4}")
        #expect(value["a"]?.integer == 4)
        #expect(value.member("a")?.integer == 4)
        #expect(JSONText(value).string == "{\"b\":2,\"a\":4}")
        #expect(value.repeats(upTo: 9).count == 2)
        #expect(value.repeats(upTo: 1).count == 1)
    }

    @Test(arguments: [1, 63, 64, 65, 66, 200, 20_000])
    func findsRepeatedKeysInObjectsOfAnySize(_ count: Int) throws {
        let members = (0..<count).map { "\"key\($0)\":\($0)" } + ["\"key0\":-1"]
        let value = try parse("{" + members.joined(separator: ",") + "}")
        #expect(value.repeats(upTo: 5).map(\.integer) == [-1])
        var keys = 0
        value.forEachMember { key, value in
            keys += 1
            if key.equals("key0") { #expect(value.integer == -1) }
        }
        #expect(keys == count)
        #expect(value["key0"]?.integer == -1)
    }

    @Test func scalarsHaveNoMembersOrElements() throws {
        for text in ["1", "\"a\"", "null", "[]", "1.5"] { #expect(Array(try parse(text).members).isEmpty) }
        for text in ["1", "\"a\"", "null", "{}", "1.5"] { #expect(Array(try parse(text).elements).isEmpty) }
        #expect(try parse("[[]]").isEmptyContainer == false)
        #expect(try parse("[]").isEmptyContainer)
        #expect(try parse("\"\"").isEmptyContainer == false)
    }

    @Test func comparesWholeStrings() throws {
        let value = try parse("[\"alert\",\"alerts\",\"aler\",\"\"]")
        #expect(value.elements.map { $0.equals("alert") } == [true, false, false, false])
        #expect(value.elements.map { $0.equals("") } == [false, false, false, true])
        #expect(value.elements.map { $0.utf8?.hasPrefix("aler") } == [true, true, true, false])
    }

    // MARK: Texts in strings

    @Test func parsesTextsInStringsAndContinuesPointers() throws {
        let root = try parse(#"{"extra":"{\"cid\":\"7\",\"deep\":\"[{\\\"x\\\":1}]\"}","list":["{\"k\":[0,5]}"]}"#)
        let extra = try #require(root["extra"])
        let inner = try parser.parseText(in: extra)
        let deep = try #require(inner["deep"])
        let innermost = try parser.parseText(in: deep)
        let x = try #require(innermost.elements.first(where: { _ in true })?["x"])
        #expect(x.integer == 1)
        #expect(parser.pointer(to: inner) == "/extra")
        #expect(parser.pointer(to: x) == "/extra/deep/0/x")
        let listed = try #require(root["list"]?.elements.first(where: { _ in true }))
        let five = try #require(try parser.parseText(in: listed)["k"]?.elements.dropFirst().first(where: { _ in true }))
        #expect(parser.pointer(to: five) == "/list/0/k/1")
    }

    @Test func parsesATextInAStringOnce() throws {
        var limits = JSONParser.Limits()
        limits.documents = 2
        let parser = JSONParser(limits: limits)
        defer { withExtendedLifetime(parser) {} }
        let root = try parser.parse(Array(#"["{}"]"#.utf8))
        let string = try #require(root.elements.first(where: { _ in true }))
        for _ in 0..<10 { #expect(try parser.parseText(in: string).isObject) }
    }

    @Test func throwsForTextsThatAreNotJSONStrings() throws {
        let root = try parse(#"[1,"{"]"#)
        for value in root.elements { #expect(throws: JSONError.self) { try parser.parseText(in: value) } }
    }

    // MARK: Pointers

    @Test func pointersLeadToEveryValue() throws {
        let root = try parse(#"{"":0,"a/b":{"m~n":[true,[null,{"x":"y"}]]},"é":1.5,"a":[],"b":{},"/":"","~1":2}"#)
        var found: [String] = []
        func visit(_ value: JSONValue) {
            found.append(parser.pointer(to: value))
            for (_, member) in value.members { visit(member) }
            for element in value.elements { visit(element) }
        }
        visit(root)
        #expect(
            found == [
                "", "/", "/a~1b", "/a~1b/m~0n", "/a~1b/m~0n/0", "/a~1b/m~0n/1", "/a~1b/m~0n/1/0", "/a~1b/m~0n/1/1",
                "/a~1b/m~0n/1/1/x", "/é", "/a", "/b", "/~1", "/~01",
            ])
    }

    @Test(arguments: [
        ("", ""), ("plain", "plain"), ("a/b", "a~1b"), ("m~n", "m~0n"), ("~1", "~01"), ("//~~", "~1~1~0~0"),
        ("/\u{301}", "~1\u{301}"),
    ])
    func escapesTokens(_ token: String, _ escaped: String) {
        #expect(JSONPointer.escape(token) == escaped)
    }

    // MARK: Key filters

    @Test func objectFindsEveryKey() throws {
        let value = try parse(#"{"":1,"a":2,"ab":3,"notification-action":4,"category-actions":5,"aps":6}"#)
        let object = JSONObject(value)
        for key in ["", "a", "ab", "notification-action", "category-actions", "aps"] as [StaticString] {
            #expect(object[key] != nil)
        }
        #expect(object["issuer"] == nil)
    }
}
