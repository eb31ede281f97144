import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxNotification

/// Paths of keys alone are looked up; all others are walked. A look-up and a walk find the same value.
@Suite struct CatalogueLookupTests {
    /// The paths of the markers of all entries.
    private static let paths = Catalogue.builtIn.markers.flatMap(\.marker.conditions).compactMap(\.path)

    @Test(arguments: try Fixture.all(in: .module))
    func lookupsFindWhatAWalkFinds(_ fixture: Fixture) throws {
        let parser = JSONParser()
        let payload = try Platforms.recognise(
            try parser.parse(fixture.input), size: fixture.input.count, parser: parser)
        for path in Self.paths {
            let found = payload.value(at: path)
            // Reads every value, so it walks.
            let walked = payload.valuesInEveryLayer(at: path).first
            #expect(found.map { payload.pointer(to: $0) } == walked.map { payload.pointer(to: $0) }, "\(path.text)")
        }
    }

    @Test(
        arguments: [
            ("/a/b", "1"), ("/a/c", nil), ("/n", nil), ("/n/x", nil), ("/s/k", "2"), ("/s/t/k", nil), ("/l/1", "4"),
            ("/l/2", nil), ("/l/x", nil), ("/l/0", "3"), ("/l/+1", nil), ("/l/-0", nil), ("/l/01", nil), ("/l/", nil),
            ("/r", "6"), ("/long-key-of-many-bytes", "7"), ("/long-key-of-many-bytez", nil),
        ] as [(String, String?)])
    func aPathOfKeysLeadsToTheValue(_ text: String, _ expected: String?) throws {
        let json =
            #"{"a":{"b":1},"n":null,"s":"{\"k\":2,\"t\":\"{\\\"k\\\":3}\"}","l":[3,4],"r":5,"r":6,"#
            + #""long-key-of-many-bytes":7}"#
        let parser = JSONParser()
        let bytes = Array(json.utf8)
        let payload = try Platforms.recognise(try parser.parse(bytes), size: bytes.count, parser: parser)
        let path = try #require(CataloguePath(text))
        #expect(payload.value(at: path)?.scalarText == expected)
        #expect(payload.values(at: path).first?.scalarText == expected)
        #expect(payload.valuesInEveryLayer(at: path).first?.scalarText == expected)
    }

    @Test(arguments: ["abc", "K", "1", "true", "\u{212A}", "e\u{301}", "", "ab"])
    func aTextIsComparedAsItsCharacters(_ text: String) throws {
        for json in ["\"abc\"", "\"\u{212A}\"", "\"K\"", "\"\u{e9}\"", "1", "true", "\"\"", "null", "{}", "\"abd\""] {
            let parser = JSONParser()
            let value = try parser.parse(Array(json.utf8))
            #expect(value.isScalar(withText: text) == (value.scalarText == text), "\(json) and \(text)")
        }
    }
}
