import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

/// Files of cases, one theme each: `{pattern, event, matches}`, or `{pattern, errors}` with the JSON Pointers of the
/// mistakes, relative to the pattern. `why` explains a case that is not obvious.
@Suite struct PatternConformanceTests {
    @Test(arguments: try FixtureFile.all(in: .module, folder: "conformance"))
    func decidesEveryCaseAsRulerDoes(_ file: FixtureFile) throws {
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            let cases = try parser.parse(file.bytes)
            for (number, entry) in cases.elements.enumerated() {
                let text = "\(file.name) \(number): \(JSONText(entry).string)"
                let pattern = try #require(entry["pattern"])
                if let errors = entry["errors"] {
                    #expect(Self.errors(pattern) == errors.elements.map { $0.string ?? "" }, "\(text)")
                } else {
                    try expect(pattern, entry, text)
                }
            }
        }
    }

    /// Matches with the pattern, with the matcher of all routes, and with the model that other tests rely on.
    private func expect(_ pattern: JSONValue, _ entry: JSONValue, _ text: String) throws {
        let event = try #require(entry["event"])
        let matches = try #require(entry["matches"])
        let expected = matches.bool == true
        #expect(matches.bool != nil, "\(text)")
        let read = try PatternTests.pattern(JSONText(pattern).string)
        #expect(try read.matches(event) == expected, "\(text)")
        #expect(try (read.mismatch(in: event) == nil) == expected, "\(text)")
        let table = RouteTable(routes: [Route(name: "r", match: read, destinations: [])])
        #expect(try table.decide(event).routes == (expected ? ["r"] : []), "\(text)")
        #expect(RulerModel(pattern).matches(event) == expected, "the model, \(text)")
    }

    private static func errors(_ pattern: JSONValue) -> [String] {
        do {
            _ = try PatternTests.pattern(JSONText(pattern).string)
            return []
        } catch let error as InvalidConfig {
            return error.mistakes.map { mistake in
                mistake.position == nil ? "no position" : String(mistake.pointer.dropFirst("/routes/0/match".count))
            }
        } catch {
            return ["\(error)"]
        }
    }

    /// A missing folder would not fail otherwise.
    @Test func thereAreHundredsOfCases() throws {
        let parser = JSONParser()
        let cases = try FixtureFile.all(in: .module, folder: "conformance").map {
            try parser.parse($0.bytes).elements.count { _ in true }
        }
        #expect(cases.reduce(0, +) >= 700)
    }

    @Test func allPatternsTogetherMatchAsEachAlone() throws {
        let parser = JSONParser()
        var patterns: [Pattern] = []
        var events: [[UInt8]] = []
        for file in try FixtureFile.all(in: .module, folder: "conformance") {
            for entry in try parser.parse(file.bytes).elements {
                guard let event = entry["event"], let pattern = entry["pattern"] else { continue }
                patterns.append(try PatternTests.pattern(JSONText(pattern).string))
                events.append(JSONText(event).bytes)
            }
            parser.reset()
        }
        let table = RouteTable(
            routes: patterns.enumerated().map { Route(name: String($0), match: $1, destinations: []) })
        for event in events {
            parser.reset()
            let root = try parser.parse(event)
            let expected = try patterns.indices.filter { try patterns[$0].matches(root) }.map { String($0) }
            #expect(try table.decide(root).routes == expected, "\(String(decoding: event, as: UTF8.self))")
        }
    }
}
