import SignalboxConfig
import SignalboxJSON
import SignalboxRouting
import Testing

/// A config is bounded in size, depth and count; an excess is rejected with its position.
@Suite struct ConfigBoundsTests {
    private func mistakes(_ text: String) -> [ConfigMistake] {
        do throws(InvalidConfig) {
            return try RoutedConfig(Array(text.utf8)).config.warnings
        } catch {
            return error.mistakes
        }
    }

    private func list(_ count: Int, _ entry: (Int) -> String) -> String {
        (0..<count).map(entry).joined(separator: ",")
    }

    @Test func namesTheBracketThatNestsTooDeep() throws {
        #expect(mistakes(String(repeating: "[", count: 256)).first?.message.contains("nested") == false)
        let deep = "{\"a\":\n  " + String(repeating: "[", count: 400) + String(repeating: "]", count: 400) + "}"
        let mistake = try #require(mistakes(deep).first)
        #expect(mistake.position?.line == 2)
        #expect(mistake.position?.column == 258)
        #expect(mistake.message.contains("more than 256 levels"))
        let quoted = "{\"[[\\\"[\":" + String(repeating: "[", count: 300) + String(repeating: "]", count: 300) + "}"
        #expect(mistakes(quoted).first?.position?.column == 9 + 256)
    }

    /// Each word might begin a key, up to the end of the line.
    @Test(.timeLimit(.minutes(1))) func hidesSecretsAmongManyWordsInLinearTime() {
        let text = "{\"secret\": {" + String(repeating: "true ", count: 60_000) + "\n\"a\": \"hidden-value\""
        let found = mistakes(text)
        #expect(found.first?.position?.line == 1)
        let report = ConfigReport(of: [ConfigText(name: "f", bytes: Array(text.utf8))]).text(of: found)
        #expect(report.contains("f:1:") && !report.contains("hidden-value"))
    }

    @Test func boundsAllFilesTogether() throws {
        let blank = [UInt8](repeating: 0x20, count: 9 << 20)
        let files = ["a", "b", "c"].map { ConfigText(name: $0, bytes: blank) }
        let error = #expect(throws: InvalidConfig.self) { try RoutedConfig(files) }
        #expect(error?.mistakes.map(\.file) == [1])
        #expect(error?.mistakes.first?.message == "with this file the config is larger than 16 MiB")
    }

    @Test func keepsTheFirst100Mistakes() {
        let destinations = list(3_000) { "\"d\($0)\":{\"builtin\":\"inbox\",\"x\":1}" }
        #expect(mistakes("{\"destinations\":{\(destinations)}}").count == 100)
        let routes = list(3_000) { _ in "{\"name\":\"r\",\"to\":[\"nowhere\"],\"match\":{\"a\":1}}" }
        #expect(mistakes("{\"routes\":[\(routes)]}").count == 100)
        // A pattern after the last listed error is rejected too.
        let many = list(200) { "\"x\($0)\":1" }
        #expect(
            mistakes("{\(many),\"routes\":[{\"name\":\"r\",\"to\":[],\"match\":{\"a\":{\"b\":[1]},\"a\":[1]}}]}").count
                == 100)
    }

    @Test(arguments: [
        ("destinations", 10_001, "more than 10000 destinations"), ("sources", 10_001, "more than 10000 sources"),
    ])
    func boundsNamedObjects(_ kind: String, _ count: Int, _ words: String) {
        let found = mistakes("{\"\(kind)\":{\(list(count) { "\"n\($0)\":{}" })}}")
        #expect(found.count == 1)
        #expect(found.first?.pointer == "/\(kind)")
        #expect(found.first?.message.contains(words) == true)
    }

    @Test func boundsLists() {
        let names = list(1_001) { _ in "\"i\"" }
        let destinations = "\"destinations\":{\"i\":{\"builtin\":\"inbox\"}}"
        let found = mistakes(
            "{\(destinations),\"routes\":[{\"name\":\"r\",\"match\":{},\"to\":[\(names)]}],\"fallback\":[\(names)]}")
        #expect(found.map(\.pointer) == ["/routes/0/to", "/fallback"])
        #expect(
            mistakes("{\"detectors\":{\"chain\":[\(list(5_000) { "\"d\($0)\"" })]}}").map(\.pointer) == [
                "/detectors/chain"
            ])
    }

    @Test func boundsPointers() {
        let deep = String(repeating: "/x", count: 40)
        let long = "/" + String(repeating: "x", count: 1_100)
        for pointer in [deep, long] {
            let route =
                "{\"name\":\"r\",\"match\":{},\"to\":[\"i\"],\"redact\":[\"/data\(pointer)\"],\"transform\":{\"map\":{\"a\":\"\(pointer)\"}}}"
            let found = mistakes("{\"destinations\":{\"i\":{\"builtin\":\"inbox\"}},\"routes\":[\(route)]}")
            #expect(found.map(\.pointer) == ["/routes/0/redact/0", "/routes/0/transform/map/a"])
        }
    }

    @Test func repeatsLongNamesInPart() throws {
        let name = String(repeating: "k", count: 1 << 20)
        let found = mistakes("{\"\(name)\":1,\"destinations\":{\"\(name)\":{}}}")
        #expect(found.allSatisfy { $0.message.utf8.count < 1_100 })
        let report = ConfigReport(of: [ConfigText(name: "f", bytes: [])])
        #expect(found.count > 1 && report.text(of: found.map { $0 }).utf8.count < 100_000)
    }

    @Test func listsSomeOfManyNames() throws {
        let destinations = list(5_000) { "\"d\($0)\":{\"builtin\":\"inbox\"}" }
        let found = mistakes(
            "{\"destinations\":{\(destinations)},\"routes\":[{\"name\":\"r\",\"match\":{},\"to\":[\"quite another\"]}]}"
        )
        #expect(found.first?.message.hasSuffix("and 4940 more") == true)
    }

    /// Would take minutes if errors beyond the listed ones had suggestions, or if names of any length were compared.
    @Test func suggestionsForManyLongNamesAreBounded() {
        let (short, long) = (String(repeating: "n", count: 56), String(repeating: "n", count: 86))
        let destinations = list(1_000) { "\"\(short)\(1_000 + $0)\":{\"builtin\":\"inbox\"}" }
        let routes = list(1_000) { "{\"name\":\"r\($0)\",\"match\":{},\"to\":[\"\(long)\(1_000 + $0)\"]}" }
        let found = mistakes("{\"destinations\":{\(destinations)},\"routes\":[\(routes)]}")
        #expect(found.count == 100)
        #expect(found.allSatisfy { $0.message.contains("; known here: ") })
    }
}

/// Names that reach a log or a terminal.
@Suite struct ConfigLineTests {
    private func mistakes(_ members: String) -> [String] {
        do throws(InvalidConfig) {
            let config = "{\"destinations\":{\"i\":{\"builtin\":\"inbox\"}},\(members)}"
            _ = try RoutedConfig(Array(config.utf8))
            return []
        } catch {
            return error.mistakes.map { "\($0.pointer) \($0.message)" }
        }
    }

    @Test(arguments: [
        #""routes":[{"name":"aX","match":{},"to":["i"]}]"#, #""gateway":{"listen":"X127.0.0.1:80"}"#,
        #""gateway":{"dataDir":"/tmp/X"}"#, #""gateway":{"publicUrl":"https://a.exampleX/"}"#,
        #""categories":{"static":{"cX":{"actions":[{"identifier":"a","title":"A"}]}}}"#,
        #""categories":{"static":{"c":{"actions":[{"identifier":"aX","title":"A"}]}}}"#,
        #""actions":{"types":{"wX":{}}}"#, #""admin":{"auth":{"bearer":["env:TX"]}}"#,
        #""media":{"tls":{"ca":"/x/X"}}"#, #""media":{"proxy":"http://proxyX:80"}"#,
        #""routes":[{"name":"r","match":{},"to":["i"]}],"sources":{"sX":{"auth":{"bearer":["env:T"]}}}"#,
        #""routes":[{"name":"r","match":{},"to":["i","dX"]}]"#,
    ])
    func rejectsControlCharacters(_ members: String) {
        for control in ["\\n", "\\u001b[31m", "\\u0000", "\\u007f", "\\u009b", "\\u2028", "\\u202e"] {
            #expect(!mistakes(members.replacing("X", with: control)).isEmpty, "\(control)")
        }
    }

    @Test func acceptsEveryVisibleName() {
        for name in ["braze alerts", "größe", "日本", "👩‍💻", "a/b (c)"] {
            #expect(mistakes("\"routes\":[{\"name\":\"\(name)\",\"match\":{},\"to\":[\"i\"]}]").isEmpty)
        }
        let long = String(repeating: "n", count: 1_025)
        #expect(mistakes("\"routes\":[{\"name\":\"\(long)\",\"match\":{},\"to\":[\"i\"]}]").count == 1)
    }
}
