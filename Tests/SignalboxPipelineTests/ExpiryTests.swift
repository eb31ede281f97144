import Foundation
import SignalboxNotification
import Testing

/// The gateway expires a message when the push service would.
@Suite struct ExpiryTests {
    private let pipeline = TestPipeline()

    /// Seconds from the test's time; nil if the event has no expiry.
    private func seconds(_ payload: String) throws -> TimeInterval? {
        try pipeline.event(payload).get().notAfter?.timeIntervalSince(TestPipeline.time)
    }

    private func request(_ blocks: String) -> String {
        #"{"message":{"topic":"t","notification":{"title":"x"}\#(blocks.isEmpty ? "" : ",\(blocks)")}}"#
    }

    @Test(
        arguments: [
            ("", nil), (#""android":{"ttl":"60s"}"#, 60), (#""android":{"ttl":"60.5s"}"#, 60),
            (#""android":{"ttl":"0s"}"#, nil), (#""android":{"ttl":"-5s"}"#, nil), (#""android":{"ttl":"x"}"#, nil),
            (#""android":{"ttl":"60s"},"webpush":{"headers":{"TTL":"90"}}"#, 90),
            (#""android":{"ttl":"60s"},"webpush":{"headers":{}}"#, nil), (#""android":{"ttl":"60s"},"apns":{}"#, nil),
            (#""apns":{"headers":{"apns-expiration":"0"}}"#, nil), (#""webpush":{"headers":{"TTL":"30"}}"#, 30),
        ] as [(String, TimeInterval?)]) func aRequestExpiresWithItsLastPlatform(blocks: String, expected: TimeInterval?)
        throws
    {
        let found = try seconds(request(blocks))
        #expect(found == expected)
    }

    @Test func apnsExpirationIsAnAbsoluteTime() throws {
        let end = Int(TestPipeline.time.timeIntervalSince1970) + 100
        let event = try pipeline.event(request(#""apns":{"headers":{"apns-expiration":"\#(end)"}}"#)).get()
        #expect(event.notAfter == Date(timeIntervalSince1970: TimeInterval(end)))
    }

    @Test func timeToLiveOfALegacyRequestBeginsAtItsArrival() throws {
        #expect(try seconds(#"{"to":"t","time_to_live":60,"notification":{"title":"x"}}"#) == 60)
        #expect(try seconds(#"{"to":"t","notification":{"title":"x"}}"#) == nil)
    }

    @Test func timeToLiveOfAMessageToExpoBeginsAtItsArrival() throws {
        #expect(try seconds(#"{"to":"ExponentPushToken[abc]","ttl":60,"title":"x"}"#) == 60)
        #expect(try seconds(#"{"to":["ExpoPushToken[abc]"],"ttl":60,"title":"x"}"#) == 60)
        #expect(try seconds(#"{"to":"ExponentPushToken[abc]","ttl":60,"data":{"k":"v"}}"#) == 60)
        #expect(try seconds(#"{"to":["ExpoPushToken[abc]"],"ttl":60,"data":{"k":"v"}}"#) == 60)
        #expect(try seconds(#"{"to":"someone","ttl":60,"data":{"k":"v"}}"#) == nil)
        #expect(try seconds(#"{"to":"ExponentPushToken[abc]","ttl":0,"title":"x"}"#) == nil)
        #expect(try seconds(#"{"to":"someone","ttl":60,"title":"x"}"#) == nil)
    }

    /// The queue must not receive a date beyond the calendar.
    @Test(arguments: ["9223372036854775807", "9223372036854775", "253402300800"])
    func acceptsAnyTimeToLive(text: String) throws {
        #expect(try seconds(request(#""android":{"ttl":"\#(text)s"}"#)) == nil)
        #expect(try seconds(request(#""apns":{"headers":{"apns-expiration":"\#(text)"}}"#)) == nil)
        #expect(try seconds(#"{"to":"t","time_to_live":\#(text),"notification":{"title":"x"}}"#) == nil)
    }
}
