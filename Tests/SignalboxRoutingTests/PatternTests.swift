import Foundation
import SignalboxConfig
import SignalboxJSON
import SignalboxRouting
import SignalboxTesting
import Testing

@Suite struct PatternTests {
    /// `{pattern, event, matches}`, and perhaps `mismatch: {pointer, found}` if it does not match.
    @Test(arguments: try FixtureFile.all(in: .module, folder: "patterns"))
    func matchesAsEventBridgeDoes(_ file: FixtureFile) throws {
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            let fixture = try parser.parse(file.bytes)
            let event = try #require(fixture["event"])
            let pattern = try Self.pattern(JSONText(try #require(fixture["pattern"])).string)
            let mismatch = try pattern.mismatch(in: event)
            #expect(try pattern.matches(event) == fixture["matches"]?.bool)
            #expect((mismatch == nil) == fixture["matches"]?.bool)
            guard let expected = fixture["mismatch"] else { return }
            #expect(mismatch?.pointer == expected["pointer"]?.string)
            #expect(mismatch?.found.map { JSONText($0) } == expected["found"].map { JSONText($0) })
        }
    }

    @Test func orderOfFieldsAndKeysDoesNotMatter() throws {
        let event = Array(#"{"z":0,"c":{"y":1,"d":[1,2]},"b":"x","a":null}"#.utf8)
        let parser = JSONParser()
        for pattern in [
            #"{"a":[null],"b":["x"],"c":{"d":[2],"y":[1]}}"#, #"{"c":{"y":[1],"d":[2]},"b":["x"],"a":[null]}"#,
        ] {
            #expect(try Self.pattern(pattern).matches(parser.parse(event)))
        }
    }

    /// A pattern, read as part of a config.
    static func pattern(_ text: String) throws -> Pattern {
        let config = #"{"destinations":{"i":{"builtin":"inbox"}},"routes":[{"name":"r","to":["i"],"match":\#(text)}]}"#
        return try #require(try RoutedConfig(Array(config.utf8)).routes.routes.first).match
    }
}

extension Pattern {
    /// The first mismatch, with its own work counter.
    func mismatch(in event: JSONValue) throws -> (pointer: String, found: JSONValue?)? {
        var work = MatchWork()
        return try mismatch(in: event, work: &work)
    }
}
