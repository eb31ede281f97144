import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxTesting
import Testing

@Suite struct RecordedEnvelopeTests {
    private let pipeline = TestPipeline()

    private func pointer(_ text: String) throws -> JSONPointer { try #require(JSONPointer(text)) }

    /// The result of each recorded text: the payload and the time in milliseconds, or the code of the rejection.
    private func read(
        _ input: String, _ envelope: RecordedEnvelope, from first: Int = 0, at offsets: Set<Int>? = nil
    ) -> [(payload: String, time: Int64?, token: String?)] {
        var blocks = PayloadBlocks()
        Array(input.utf8).withUnsafeBytes { blocks.append($0) }
        blocks.finish()
        var found: [(String, Int64?, String?)] = []
        blocks.take().forEachPayload(
            in: envelope, from: first, at: offsets, with: Normalizer.makeParser()
        ) { payload in
            found.append(
                (
                    String(decoding: payload.text, as: UTF8.self), payload.time?.milliseconds,
                    payload.token.map { String(decoding: $0, as: UTF8.self) }
                ))
            return true
        } rejected: {
            found.append(("\($0.place.line) \($0.code.rawValue)", nil, nil))
            return true
        }
        return found
    }

    @Test func payloadsAreObjectsOrStringsThatHoldThem() throws {
        let envelope = RecordedEnvelope(payload: try pointer("/log/payload"))
        let input = #"""
            {"log":{"payload":{"aps": {"alert":"x"}}}}
            {"log":{"payload":"{\"aps\":{\"alert\":\"żó\\\"ł\"}}"}}
            {"log":{"payload":7}}
            {"log":{}}
            {"log":{"payload":"no JSON"}}
            """#
        #expect(
            read(input, envelope).map(\.payload) == [
                #"{"aps":{"alert":"x"}}"#, #"{"aps":{"alert":"żó\"ł"}}"#, "3 envelope-malformed",
                "4 envelope-malformed", "no JSON",
            ])
    }

    @Test func timesAreRFC3339OrSecondsOrMilliseconds() throws {
        let envelope = RecordedEnvelope(time: try pointer("/at"))
        let times: [(String, Int64?)] = [
            (#""2026-11-20T21:29:00.123Z""#, 1_795_210_140_123), (#""2026-11-20T22:29:00+01:00""#, 1_795_210_140_000),
            ("1795210140", 1_795_210_140_000), ("1795210140.5", 1_795_210_140_500),
            ("1795210140123", 1_795_210_140_123),
            (#""1795210140123""#, 1_795_210_140_123), ("0", 0), ("-1", -1000), ("99999999999", 99_999_999_999_000),
            ("100000000000", 100_000_000_000), ("1e300", nil), ("null", nil), (#""yesterday""#, nil), ("[]", nil),
            (#""nan""#, nil), (#""inf""#, nil), ("18446744073709551615", nil),
        ]
        for (text, milliseconds) in times {
            let found = try #require(read(#"{"at":\#(text)}"#, envelope).first)
            #expect(found.time == milliseconds, "\(text)")
            #expect((found.payload == "1 envelope-malformed") == (milliseconds == nil), "\(text)")
        }
        #expect(read("{}", envelope).map(\.payload) == ["1 envelope-malformed"])
    }

    @Test func aMissingTokenIsNil() throws {
        let envelope = RecordedEnvelope(token: try pointer("/to"))
        #expect(read(#"{"to":"abc"}"#, envelope).map(\.token) == ["abc"])
        #expect(read(#"{}{"to":null}{"to":""}"#, envelope).map(\.token) == [nil, nil, nil])
        #expect(read(#"{"to":7}"#, envelope).map(\.payload) == ["1 envelope-malformed"])
    }

    @Test func aDamagedEnvelopeDoesNotAffectItsNeighbours() throws {
        let envelope = RecordedEnvelope(payload: try pointer("/p"))
        let good = #"{"p":{}}"#
        #expect(
            read("\(good)\n{\"p\":\n\(good) \(good)\n{\"p\":tru}\n\(good)", envelope).map(\.payload) == [
                "{}", "2 payload-truncated", "{}", "{}", "4 payload-not-json", "{}",
            ])
    }

    @Test func skipsTextsBeforeAPosition() throws {
        let envelope = RecordedEnvelope(token: try pointer("/token"))
        let input = "{\"a\":1}\n{\"a\":2} {\"a\":3}\n{\"a\":4}\n"
        func from(_ first: Int) -> [String] { read(input, envelope, from: first).map(\.payload) }
        #expect(from(0) == [#"{"a":1}"#, #"{"a":2}"#, #"{"a":3}"#, #"{"a":4}"#])
        #expect(from(1) == [#"{"a":2}"#, #"{"a":3}"#, #"{"a":4}"#])
        #expect(from(9) == [#"{"a":3}"#, #"{"a":4}"#])
        #expect(from(17) == [#"{"a":4}"#])
        #expect(from(25).isEmpty)
    }

    @Test func readsTextsAtPositions() throws {
        let envelope = RecordedEnvelope(token: try pointer("/token"))
        let input = "{\"a\":1}\n{\"a\":2} {\"a\":3}\n{\"a\":4}\n"
        func at(_ offsets: Set<Int>) -> [String] { read(input, envelope, at: offsets).map(\.payload) }
        #expect(at([0, 16]) == [#"{"a":1}"#, #"{"a":3}"#])
        #expect(at([16, 24]) == [#"{"a":3}"#, #"{"a":4}"#])
        #expect(at([8, 24]) == [#"{"a":2}"#, #"{"a":3}"#, #"{"a":4}"#])
        #expect(at([7, 9, 23]).isEmpty)
    }

    /// The hash is `printf abc | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707…`, under the key of these tests.
    @Test func hashesATokenNextToAPayload() throws {
        let input = #"{"p":{"aps":{"alert":"x"}},"t":"abc","at":1000}"#
        let envelope = RecordedEnvelope(
            payload: try pointer("/p"), time: try pointer("/at"), token: try pointer("/t"))
        var blocks = PayloadBlocks()
        Array(input.utf8).withUnsafeBytes { blocks.append($0) }
        blocks.finish()
        let normalizer = pipeline.normalizer
        let parser = Normalizer.makeParser()
        var events: [Event] = []
        var json = JSONWriter()
        blocks.take().forEachPayload(in: envelope, with: parser) { payload throws(Rejection) in
            let common = normalizer.envelope(of: pipeline.reception)
            events.append(try normalizer.event(payload, in: common, id: nil, with: parser, by: &json))
            return true
        } rejected: {
            Issue.record("\($0)")
            return true
        }
        let event = try #require(events.first)
        EventRecorder.record(event.body)
        #expect(event.id.description.hasPrefix("0000000f-4240-7"), "1,000,000 milliseconds are 0xf4240")
        try withEvent(event) { body in
            #expect(body["data"]?["target"]?["token"]?.string == Self.hash)
            #expect(body["time"]?.string == "2026-11-20T21:29:00.123Z")
        }
    }

    private static let hash = "sha256:127da4ced6a839b8f6118bc244684d2663e70cb5ff0adeefca89d7e74d5a0525"
}
