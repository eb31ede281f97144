import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

@Suite struct EventVariantTests {
    /// `{redact, transform, event}`, the first two as in a route. The expected file has the variant, or `null` for an
    /// event that is unchanged.
    @Test(arguments: try FixtureFile.all(in: .module, folder: "variants"))
    func variantsAreAsExpected(_ file: FixtureFile) throws {
        let parser = JSONParser()
        let (event, options) = try withExtendedLifetime(parser) {
            let fixture = try parser.parse(file.bytes)
            let options = ["redact", "transform"].compactMap { key in
                fixture.member(key).map { "\"\(key)\": \(JSONText($0).string)" }
            }
            return (JSONText(try #require(fixture["event"])).bytes, options.joined(separator: ", "))
        }
        let variant = try #require(try Self.route(options).variant)
        let made = try variant.applied(to: event, with: JSONParser()) {
            "hash of " + String(decoding: $0, as: UTF8.self)
        }
        let differences = try JSONDifference.lines(
            expected: Array(file.expected.utf8), actual: made ?? Array("null".utf8))
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
        // Lists of events have one event a line.
        #expect(made?.contains(UInt8(ascii: "\n")) != true)
    }

    @Test func maskingTwiceEqualsMaskingOnce() throws {
        let variant = try #require(try Self.route(#""redact": {"/data/list/*": "mask"}"#).variant)
        let texts = [0, 1, 15, 16, 63, 64, 5000].map { "\"" + String(repeating: "x", count: $0) + "\"" }
        let event = Array("{\"data\":{\"list\":[\(texts.joined(separator: ","))]}}".utf8)
        let once = try #require(try variant.applied(to: event, with: JSONParser()) { _ in "" })
        #expect(once != event)
        #expect(try variant.applied(to: once, with: JSONParser()) { _ in "" } == once)
    }

    /// A failed transformation may not show data that it should have hidden.
    @Test func failedTransformationLeavesOnlyAWarning() throws {
        let route = try Self.route(
            #""transform": {"template": "{\"n\": {{#data.n}}{{data.n}}{{/data.n}}{{^data.n}}0{{/data.n}}}"}"#)
        let crm = DestinationName("i")
        let table = RouteTable(routes: [route])
        let parser = JSONParser()
        let event = Array(#"{"id":"1","dataschema":"urn:x","data":{"n":"no number","secret":"hunter2"}}"#.utf8)
        let target = try #require(
            try withExtendedLifetime(parser) { try table.decide(try parser.parse(event)) }.targets.first)
        #expect(target.destination == crm)
        let writer = EventVariantWriter { _ in "" }
        let made = try #require(writer.variant(of: event, for: target, with: JSONParser()))
        #expect(
            String(decoding: made, as: UTF8.self)
                == #"{"id":"1","data":{"warnings":[{"code":"route.transform-failed","path":"","message":"The route's transformation failed: the template output is not valid JSON (line 1, column 7)."}]}}"#
        )
        #expect(writer.counts.all["r"] == .init(matched: 0, failed: 1))
    }

    @Test func eventThatAwaitsItsMediaIsRedactedAtOnceAndTransformedLater() throws {
        let route = try Self.route(
            #""redact": ["/data/secret"], "transform": {"map": {"n": "/data/n", "s": "/data/secret"}}"#)
        let event = Array(#"{"id":"1","data":{"n":7,"secret":"hunter2"}}"#.utf8)
        let parser = JSONParser()
        let target = try withExtendedLifetime(parser) {
            try #require(try RouteTable(routes: [route]).decide(try parser.parse(event)).targets.first)
        }
        let writer = EventVariantWriter { _ in "" }
        let redacted = try #require(writer.variant(of: event, for: target, awaitsMedia: true, with: JSONParser()))
        #expect(String(decoding: redacted, as: UTF8.self) == #"{"id":"1","data":{"n":7}}"#)
        let whole = try #require(try target.variant?.transformed(redacted, with: JSONParser()))
        #expect(String(decoding: whole, as: UTF8.self) == #"{"id":"1","data":{"n":7}}"#)
    }

    /// A route with options, as the config reads it.
    static func route(_ options: String) throws -> Route {
        let config =
            #"{"destinations":{"i":{"builtin":"inbox"}},"routes":[{"name":"r","to":["i"],"match":{},\#(options)}]}"#
        return try #require(try RoutedConfig(Array(config.utf8)).routes.routes.first)
    }
}
