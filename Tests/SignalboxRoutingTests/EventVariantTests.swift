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
        var allowance = VariantAllowance()
        let made = try variant.applied(to: event, within: &allowance, with: JSONParser()) {
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
        var allowance = VariantAllowance()
        let once = try #require(try variant.applied(to: event, within: &allowance, with: JSONParser()) { _ in "" })
        #expect(once != event)
        #expect(try variant.applied(to: once, within: &allowance, with: JSONParser()) { _ in "" } == once)
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
        var allowance = VariantAllowance()
        let made = try #require(writer.variant(of: event, for: target, within: &allowance, with: JSONParser()))
        #expect(
            String(decoding: made, as: UTF8.self)
                == #"{"id":"1","data":{"warnings":[{"code":"route.transform-failed","path":"","message":"The route's transformation failed: the template output is not valid JSON (line 1, column 7)."}]}}"#
        )
        #expect(writer.counts.all["r"] == .init(matched: 0, failed: 1))
    }

    /// The templates of one event share the work; one that exceeds the rest of it fails, and so do all after it.
    @Test func templatesBeyondTheAllowanceFail() throws {
        let route = try Self.route(##""transform": {"template": "{\"l\": [{{#data.l}}1,{{/data.l}}0]}"}"##)
        let event = Array(#"{"id":"1","data":{"l":[1,2,3,4,5,6,7,8]}}"#.utf8)
        let parser = JSONParser()
        let target = try withExtendedLifetime(parser) {
            try #require(try RouteTable(routes: [route]).decide(try parser.parse(event)).targets.first)
        }
        let writer = EventVariantWriter { _ in "" }
        var allowance = VariantAllowance(work: 800)
        let made = try (0..<4).map { _ in
            let bytes = try #require(writer.variant(of: event, for: target, within: &allowance, with: JSONParser()))
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(made[0] == #"{"id":"1","data":{"l":[1,1,1,1,1,1,1,1,0]}}"#)
        #expect(allowance.isExhausted)
        let failure = "The route's transformation failed: the forms of this event for all routes take more than 64 MiB"
        #expect(made[3].contains(failure))
        #expect(Set(made).count == 2, "Each variant is whole, or only the warning.")
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
        var allowance = VariantAllowance()
        let redacted = try #require(
            writer.variant(of: event, for: target, awaitsMedia: true, within: &allowance, with: JSONParser()))
        #expect(String(decoding: redacted, as: UTF8.self) == #"{"id":"1","data":{"n":7}}"#)
        let whole = try #require(
            try target.variant?.transformed(redacted, within: &allowance, with: JSONParser()))
        #expect(String(decoding: whole, as: UTF8.self) == #"{"id":"1","data":{"n":7}}"#)
    }

    /// A route with options, as the config reads it.
    static func route(_ options: String) throws -> Route {
        let config =
            #"{"destinations":{"i":{"builtin":"inbox"}},"routes":[{"name":"r","to":["i"],"match":{},\#(options)}]}"#
        return try #require(try RoutedConfig(Array(config.utf8)).routes.routes.first)
    }
}
