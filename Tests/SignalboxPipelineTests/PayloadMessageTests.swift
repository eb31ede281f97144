import Foundation
import SignalboxInApp
import SignalboxJSON
import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// Payloads and the in-app messages that they bring. A separate program derived the expected files from the payloads.
@Suite struct PayloadMessageTests {
    private static let seed: UInt64 = 20_261_122
    private let pipeline = TestPipeline()

    // MARK: Fixtures

    /// Names that begin with `near-miss` bring no message.
    @Test(arguments: try Fixture.all(in: .module, root: "Messages"))
    func payloadsBringTheirMessages(_ fixture: Fixture) throws {
        let event = try pipeline.event(fixture.input, of: Self.source(of: fixture)).get()
        let differences = try JSONDifference.lines(expected: fixture.expected, actual: try Self.summary(of: event))
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
        #expect(event.messages.isEmpty == fixture.name.hasPrefix("near-miss"))
        for message in event.messages {
            let form = try MessageForm.read(message.body, id: message.id, revision: 1, registeredAt: Self.arrival)
            #expect(form.write() == message.body)
            #expect(form.end == message.end)
        }
    }

    @Test func everyVendorWithCodeHasFixtures() throws {
        let vendors = Vendors.all.compactMap { $0 as? any VendorDetector }.map(\.vendor.name)
        #expect(try Fixture.folders(in: .module, root: "Messages") == (vendors + ["unknown"]).sorted())
    }

    private static let arrival = Timestamp(TestPipeline.time).milliseconds

    private static func source(of fixture: Fixture) -> VendorID? {
        Vendors.namedBySource.contains(fixture.folder) ? VendorID(fixture.folder) : nil
    }

    /// The messages, and the warnings about them.
    private static func summary(of event: Event) throws -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.array("messages", of: event.messages) { json, message in
            json.beginObject()
            json.member("id", message.id)
            json.member("end", message.end.flatMap { Timestamp(milliseconds: $0)?.text })
            json.key("form")
            json.raw(message.body)
            json.endObject()
        }
        try withEvent(event) { body in
            let all = body["data"]?["warnings"]?.elements.map { $0 } ?? []
            let warnings = all.compactMap { warning -> String? in
                guard let code = warning["code"]?.string, let path = warning["path"]?.string else { return nil }
                return Self.codes.contains { code.hasSuffix($0) } ? "\(code) \(path)" : nil
            }
            guard !warnings.isEmpty else { return }
            json.key("warnings")
            json.strings(warnings)
        }
        json.endObject()
        return json.bytes
    }

    private static let codes = [".message-not-registered", ".condition-unknown"]

    /// The samples of the vendors' test target.
    @Test func samplesBringMessages() throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let root = tests.appendingPathComponent("SignalboxVendorsTests/Samples", isDirectory: true)
        var counts: [String: Int] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: root.path)
        where path.hasSuffix(".json") && path != "index.json" {
            let payload = [UInt8](try Data(contentsOf: root.appendingPathComponent(path)))
            let folder = String(path.prefix { $0 != "/" })
            let source = Vendors.namedBySource.contains(folder) ? VendorID(folder) : nil
            let event = try pipeline.event(payload, of: source).get()
            #expect(event.messages.isEmpty || [event.vendor.name, "mixed"].contains(folder), "\(path)")
            if !event.messages.isEmpty { counts[folder, default: 0] += event.messages.count }
            // Its two triggers share an id.
            let isPair = path == "braze/iam_priority_pair.inapp.json"
            let isRejected = event.warnings.contains { code in Self.codes.contains { code.hasSuffix($0) } }
            #expect(isRejected == isPair, "\(path)")
        }
        #expect(counts == ["braze": 16, "synerise": 8, "mce": 5, "sourse": 13, "granify": 4, "mixed": 1])
    }

    // MARK: Properties

    /// Unknown keys next to the known ones, in the payload and in each trigger.
    @Test(arguments: try Fixture.all(in: .module, root: "Messages"))
    func unknownKeysDoNotChangeMessages(_ fixture: Fixture) throws {
        let source = Self.source(of: fixture)
        let plain = try pipeline.event(fixture.input, of: source).get()
        let text = String(decoding: fixture.input, as: UTF8.self)
        for marker in ["\"trigger_condition\":", "\"inApp\":", "\"handler\":", "\"issuer\":", "\"name\":"] {
            let other = text.replacing(marker, with: #""zz-unknown": "x", \#(marker)"#)
            // Braze's conditions and MCE's content have names too, and the message has the same content.
            guard marker != "\"name\":" || fixture.folder == "granify" else { continue }
            #expect(try pipeline.event(Array(other.utf8), of: source).get().messages == plain.messages, "\(marker)")
        }
    }

    /// The engine accepts every message of a payload with strange values.
    @Test(arguments: try Fixture.all(in: .module, root: "Messages"))
    func strangeValuesBringValidMessagesOrNone(_ fixture: Fixture) throws {
        var random = SeededGenerator(seed: Self.seed)
        for _ in 0..<200 {
            let payload = try StrangePayload(fixture.input, using: &random).bytes
            let event = try pipeline.event(payload, of: Self.source(of: fixture)).get()
            #expect(throws: Never.self, "seed \(Self.seed)") { try Self.check(event.messages) }
        }
    }

    /// Payloads of every vendor's tests, strange values included.
    @Test(arguments: try PayloadFixture.all())
    func messagesOfOtherFixturesAreValid(_ fixture: PayloadFixture) throws {
        var random = SeededGenerator(seed: Self.seed)
        for round in 0..<20 {
            let payload = round == 0 ? fixture.input : try StrangePayload(fixture.input, using: &random).bytes
            let event = try pipeline.event(payload, of: fixture.vendor).get()
            #expect(throws: Never.self, "seed \(Self.seed)") { try Self.check(event.messages) }
        }
    }

    /// Throws for a message that the engine rejects.
    private static func check(_ messages: [InAppRegistration]) throws {
        for message in messages {
            let form = try MessageForm.read(message.body, id: message.id, revision: 1, registeredAt: arrival)
            _ = try Definition(form.message)
        }
    }

    @Test func equalPayloadsOfOneDayMakeEqualRegistrations() throws {
        for fixture in try Fixture.all(in: .module, root: "Messages") {
            let source = Self.source(of: fixture)
            let first = try pipeline.event(fixture.input, of: source).get().messages
            let later = try event(fixture.input, of: source, after: 3600).messages
            #expect(first.map(\.id) == later.map(\.id) && first.map(\.body) == later.map(\.body), "\(fixture)")
        }
        let news = #"{"handler":"com.sourse.notification","title":"T","message":"M"}"#
        let (today, tomorrow) = (try event(Array(news.utf8)), try event(Array(news.utf8), after: 86_400))
        #expect(today.messages.map(\.id) == tomorrow.messages.map(\.id))
        #expect(today.messages.map(\.body) != tomorrow.messages.map(\.body))
    }

    private func event(_ payload: [UInt8], of vendor: VendorID? = nil, after seconds: TimeInterval = 0) throws -> Event
    {
        let parser = Normalizer.makeParser()
        let reception = Reception(
            from: SourceName("mobile"), at: TestPipeline.time.addingTimeInterval(seconds), vendor: vendor)
        return try payload.withUnsafeBufferPointer {
            try pipeline.normalizer.event($0, as: reception, at: PayloadPosition(), with: parser)
        }
    }
}
