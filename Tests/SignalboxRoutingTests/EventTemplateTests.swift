import Foundation
import SignalboxJSON
import SignalboxRouting
import SignalboxTesting
import Testing

@Suite struct EventTemplateTests {
    private func render(_ body: String, _ event: String, as type: String = "text/plain") throws -> String {
        let template = try EventTemplate(body: body, contentType: type)
        return String(decoding: try template.render(Array(event.utf8), with: JSONParser()), as: UTF8.self)
    }

    /// Templates are checked with events of the schema, as the gateway writes them.
    @Test func samplesAreEvents() throws {
        for sample in EventTemplate.samples {
            let parser = JSONParser()
            let event = try parser.parse(sample)
            withExtendedLifetime(parser) { EventRecorder.record(JSONText(event).bytes) }
        }
    }

    @Test func loopsOverLongListsStopAtTheLimit() throws {
        let list = Array(repeating: "1", count: 3000).joined(separator: ",")
        let body = String(repeating: "{{#list}}", count: 6) + "x" + String(repeating: "{{/list}}", count: 6)
        #expect(throws: RenderingFailure.tooLarge) { try render(body, "{\"list\": [\(list)]}") }
    }

    @Test func repeatedLargeValuesStopAtTheLimit() throws {
        let text = String(repeating: "x", count: 1_000_000)
        let list = Array(repeating: "1", count: 100).joined(separator: ",")
        #expect(throws: RenderingFailure.tooLarge) {
            try render("{{#list}}{{text}}{{/list}}", "{\"text\": \"\(text)\", \"list\": [\(list)]}")
        }
        #expect(throws: RenderingFailure.tooLarge) {
            try render("{{#list}}{{{all}}}{{/list}}", "{\"all\": {\"text\": \"\(text)\"}, \"list\": [\(list)]}")
        }
    }

    /// Delimiters end with their section, for the checks as for the library: a deeper template would crash it.
    @Test func delimitersOfASectionDoNotHideTheTagsAfterIt() throws {
        let section = "{{#a}}{{=<% %>=}}<%/a%>"
        let deep = String(repeating: "{{#b}}", count: 40) + String(repeating: "{{/b}}", count: 40)
        for hidden in [deep, "{{>other}}", "{{unknown(id)}}", "{{=| |=}}"] {
            #expect(throws: InvalidTemplate.self) { try render(section + hidden, "{}") }
        }
        #expect(try render(section + "{{id}}<%#id%>", #"{"id": "x"}"#) == "x<%#id%>")
    }

    /// The library compares characters: it does not see a delimiter that a mark joins, and takes U+037E for `;`.
    @Test(arguments: [
        "{{\u{301}{{#b}}{{/b}}", "\u{600}{{ {{#b}}{{/b}}", "{{=;; ;;=}}\u{37E}\u{37E}#b;;;;/b;;",
        "{{=`` ``=}}\u{1FEF}\u{1FEF}#b````/b``", "{{=KK KK=}}\u{212A}\u{212A}#b KKKK/b KK",
    ])
    func charactersDoNotHideTagsFromTheChecks(body: String) {
        #expect(throws: InvalidTemplate.self) { try render(body, "{}") }
    }

    /// The library takes time proportional to their number times the length of the template.
    @Test(arguments: ["{ ", "{{a}}", "{{=<< >>=}}< "])
    func tooManyDelimitersAreRejectedWithAPosition(part: String) throws {
        let body = "\n" + String(repeating: part, count: 65_000 / part.utf8.count)
        let error = #expect(throws: InvalidTemplate.self) { try render(body, "{}") }
        #expect(error?.position?.line == 2 && error?.message.contains("too many tags") == true)
        let line = "{\"a\": \"{{id}}\"}\n"
        let long = String(repeating: line, count: 500)
        #expect(try render(long, #"{"id": "x"}"#).utf8.count == long.utf8.count - 500 * 5)
    }

    @Test func accentsInTheTextOfATemplateAreKept() throws {
        #expect(try render("e\u{301} {{id}} e\u{301}", #"{"id": "x"}"#) == "e\u{301} x e\u{301}")
    }

    @Test func valuesCannotChangeTheStructureOfJSON() throws {
        let texts = [#"\",\"admin\":\"true"#, #"\\"#, #"\u0000\u001f\u2028"#, #"😀\ud83d\ude00"#, "{{id}}", "}}"]
        for text in texts {
            let made = try render(#"{"a": "{{v}}"}"#, "{\"v\": \"\(text)\"}", as: "application/json")
            let read = try #require(
                try JSONSerialization.jsonObject(with: Data(made.utf8)) as? [String: String])
            let wanted = try JSONSerialization.jsonObject(with: Data("{\"v\": \"\(text)\"}".utf8)) as? [String: String]
            #expect(read == ["a": wanted?["v"] ?? "?"])
        }
    }

    @Test(arguments: ["application/xml", "text/xml; charset=utf-8", "application/soap+xml"])
    func valuesLeaveXMLWellFormed(type: String) throws {
        let event = #"{"v": "\u0000a\u001f\t\r\n\uffff<&>\"'😀\u007f"}"#
        let made = try render("<a b=\"{{v}}\"/>", event, as: type)
        #expect(made == "<a b=\"\u{FFFD}a\u{FFFD}\t\r\n\u{FFFD}&lt;&amp;&gt;&quot;&#39;😀\u{7F}\"/>")
    }

    /// Also work that writes little: counting, copying and changing the same value again and again.
    @Test(arguments: [
        "{{#list}}{{count(list)}}{{/list}}", "{{#list}}{{first(list)}}{{/list}}",
        "{{#list}}{{^reversed(list)}}x{{/reversed(list)}}{{/list}}", "{{#list}}{{count(members)}}{{/list}}",
        "{{#text}}" + String(repeating: "{{empty(uppercased(.))}}", count: 100) + "{{/text}}",
    ])
    func repeatedWorkOnLargeValuesStopsAtTheLimit(body: String) {
        let list = Array(repeating: "1", count: 4000).joined(separator: ",")
        let members = (0..<4000).map { "\"\($0)\": 1" }.joined(separator: ",")
        let text = String(repeating: "x", count: 100_000)
        let event = "{\"list\": [\(list)], \"members\": {\(members)}, \"text\": \"\(text)\"}"
        #expect(throws: RenderingFailure.tooLarge) { try render(body, event) }
    }

    @Test func functionsOfStringsWork() throws {
        let event = #"{"v": "ab", "none": ""}"#
        #expect(try render("{{uppercased(v)}} {{reversed(v)}} {{capitalized(v)}}", event) == "AB ba Ab")
        #expect(try render("{{#v}}{{.}}{{v}}{{/v}} {{empty(v)}} {{empty(none)}}", event) == "abab false true")
    }

    @Test func greatestNumbersDoNotTrap() throws {
        for function in ["plusone", "minusone", "even", "odd", "equalzero"] {
            for number in [Int64.max, .min] {
                #expect(try render("[{{\(function)(n)}}]", "{\"n\": \(number)}") == "[]")
            }
        }
    }

    private static let oddEvent = Array(
        #"{"id":9223372036854775807,"data":[{"media":[[],[[]],{},null,true,-0.0,1e308,"",{"":{}}]},[[1]],null],"a":"\u0000"}"#
            .utf8)

    /// Every template is accepted or rejected; none of them traps.
    @Test(arguments: 0..<20)
    func mutatedTemplatesAreAcceptedOrRejected(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let parts = [
            "{{", "}}", "{{{", "}}}", "{{#data}}", "{{/data}}", "{{^data}}", "{{#media}}", "{{/media}}", "{{.}}",
            "{{&id}}",
            "{{! x }}", "{{=<% %>=}}", "<%", "%>", "<%={{ }}=%>", "{{=| |=}}", "|", "{{>p}}", "{{<p}}", "{{$b}}",
            "{{/b}}",
            "{{/p}}", "{{first(data.media)}}", "{{#last()}}", "{{/last()}}", "(", ")", "\n", "\r\n", " ", "{", "}", "é",
            "\u{301}", "\"", "{{plusone(id)}}", "{{count(data)}}", "{{#reversed(data)}}", "{{/reversed(data)}}",
            "{{..}}", "{{.data}}", "{{data.}}", "{{}}", "{{#}}", "{{/}}", "{{*}}", "{{% A: B}}",
        ]
        for _ in 0..<300 {
            let count = Int.random(in: 1...12, using: &random)
            let body = (0..<count).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
            for type in ["text/plain", "application/json"] {
                guard let template = try? EventTemplate(body: body, contentType: type) else { continue }
                _ = try? template.render(Self.oddEvent, with: JSONParser())
            }
        }
    }
}
