import Foundation
import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxNotification

@Suite struct PlatformsTests {
    @Test(arguments: try Fixture.all(in: .module))
    func opensEveryEnvelopeAsExpected(_ fixture: Fixture) throws {
        let opened = try Opened(fixture.input)
        let differences = try JSONDifference.lines(
            expected: fixture.expected, actual: opened.json, optional: ["message"])
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }

    @Test func everyEnvelopeHasFixturesThatItOpens() throws {
        #expect(Envelope.allCases.map(\.rawValue).sorted() == (try Fixture.folders(in: .module)))
        for fixture in try Fixture.all(in: .module) {
            #expect(try Opened(fixture.input).envelope.rawValue == fixture.folder, "\(fixture)")
        }
    }

    @Test(arguments: ["[]", "1", "\"aps\"", "null"])
    func rejectsValuesThatAreNotObjects(_ text: String) throws {
        let parser = JSONParser()
        let root = try parser.parse(Array(text.utf8))
        do {
            _ = try Platforms.recognise(root, size: text.utf8.count, parser: parser)
            Issue.record("\(text) was accepted as a payload")
        } catch {
            #expect(error == .notAnObject)
        }
    }

    @Test func aHugeObjectOfRepeatedKeysHasFewWarnings() throws {
        let members = (0..<50_000).map { "\"k\($0 % 25_000)\":{\"aps\":1,\"aps\":2}" }.joined(separator: ",")
        let opened = try Opened(Array("{\"aps\":{},\(members)}".utf8))
        #expect(opened.warnings.count == 32)
        #expect(opened.warnings.allSatisfy { $0.code == "json.duplicate-key" })
    }
}

/// A recognised payload in the form of the expected files.
private struct Opened {
    let json: [UInt8]
    let envelope: Envelope
    let warnings: [Warning]

    init(_ bytes: [UInt8]) throws {
        let parser = JSONParser()
        let payload = try Platforms.recognise(try parser.parse(bytes), size: bytes.count, parser: parser)
        (envelope, warnings) = (payload.envelope, payload.warnings)
        var writer = JSONWriter()
        writer.payload(payload)
        json = writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func payload(_ payload: borrowing PlatformPayload) {
        beginObject()
        key("platform")
        string(payload.platform.rawValue)
        key("envelope")
        string(payload.envelope.rawValue)
        pointer("aps", to: payload.aps, payload.parser)
        pointers("fields", to: payload.fields.layers.map(\.object), payload.parser)
        pointers("notifications", to: payload.notifications, payload.parser)
        key("target")
        beginObject()
        pointer("token", to: payload.target.token, payload.parser)
        pointer("topic", to: payload.target.topic, payload.parser)
        pointer("condition", to: payload.target.condition, payload.parser)
        endObject()
        key("warnings")
        beginArray()
        for warning in payload.warnings {
            beginObject()
            key("code")
            string(warning.code)
            key("path")
            string(warning.path)
            key("message")
            string(warning.message)
            endObject()
        }
        endArray()
        endObject()
    }

    private mutating func pointer(_ name: StaticString, to value: JSONValue?, _ parser: JSONParser) {
        guard let value else { return }
        key(name)
        string(parser.pointer(to: value))
    }

    private mutating func pointers(_ name: StaticString, to values: [JSONValue], _ parser: JSONParser) {
        key(name)
        beginArray()
        for value in values { string(parser.pointer(to: value)) }
        endArray()
    }
}
