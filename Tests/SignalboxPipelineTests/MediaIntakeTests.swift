import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

@Suite struct MediaIntakeTests {
    private static let payload =
        #"{"aps":{"alert":"x","mutable-content":1},"media-attachment":"https://a.example/i.png","notification-action":{"type":"openApp"}}"#

    /// One route for each media setting, to a destination with the same name.
    private func routed(_ media: [(String, RouteMedia)], including: EventParts = [], payload: String = payload) throws
        -> RoutedEvent
    {
        let routes = RouteTable(
            routes: media.map { name, media in
                Route(
                    name: name, match: .everything, destinations: [DestinationName(name)], including: including,
                    media: media)
            })
        var pipeline = TestPipeline()
        pipeline.normalizer = Normalizer(
            chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: TestPipeline.key), showsPayloads: true,
            mediaStatus: .skipped)
        let event = pipeline.event(payload)
        return try ParserPool.events.withParser {
            try routes.route(event, with: $0, variants: EventVariants(tokens: TokenHash(key: TestPipeline.key))).get()
        }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func holdsDeliveriesForStoredMedia() throws {
        let event = try routed([("a", .stored(wait: .seconds(30))), ("b", .link), ("c", .stored(wait: .zero))])
        #expect(event.media == MediaWait(urls: ["https://a.example/i.png"]))
        #expect(
            event.deliveries.map(\.mediaUntil) == [
                TestPipeline.time.addingTimeInterval(30), nil, TestPipeline.time,
            ])
        #expect(event.variants.isEmpty && event.deliveries.allSatisfy { $0.variant == nil })
    }

    @Test func marksMediaSkippedForLinks() throws {
        let event = try routed([("a", .link)])
        #expect(event.media == nil && event.deliveries.map(\.mediaUntil) == [nil])
        #expect(
            text(event.event.body).contains(
                #""media":[{"url":"https://a.example/i.png","role":"attachment","kind":"image","status":"skipped"}]"#))
    }

    @Test func removesMediaIfTheRouteSaysSo() throws {
        let event = try routed([("a", .none), ("b", .link), ("c", .none)])
        #expect(event.deliveries.map(\.variant) == [0, nil, 0] && event.variants.count == 1)
        EventRecorder.record(event.variants[0])
        #expect(!text(event.variants[0]).contains("a.example"))
        #expect(text(event.event.body).contains("a.example"))
    }

    @Test func addsTheShownPayloadWithAndWithoutMedia() throws {
        let event = try routed([("a", .none), ("b", .stored(wait: .seconds(1)))], including: .apns)
        #expect(event.deliveries.map(\.variant) == [0, 1])
        #expect(text(event.variants[0]).contains(#""apns":{"#) && !text(event.variants[0]).contains(#""media":["#))
        #expect(text(event.variants[1]).contains(#""apns":{"#) && text(event.variants[1]).contains(#""media":["#))
    }

    @Test func doesNotHoldAnEventWithoutMedia() throws {
        let event = try routed([("a", .stored(wait: .seconds(30)))], payload: #"{"aps":{"alert":"x"}}"#)
        #expect(event.media == nil && event.deliveries.map(\.mediaUntil) == [nil])
        #expect(try routed([("a", .none)], payload: #"{"aps":{"alert":"x"}}"#).variants.isEmpty)
    }

    @Test func limitsTheNumberAndLengthOfURLs() throws {
        let links = (0..<150).map { #"{"url":"https://a.example/\#($0 % 120).png","text":"x"}"# }
        let long = "https://a.example/" + String(repeating: "x", count: MediaLimits.longestURL)
        let event = try routed(
            [("a", .stored(wait: .zero))],
            payload:
                #"{"aps":{"alert":"x"},"media-attachment":"\#(long)","notification-action":{"type":"openApp"},"carousel":{"items":[\#(links.joined(separator: ","))]}}"#
        )
        let urls = event.media?.urls ?? []
        #expect(!urls.contains(long) && Set(urls).count == RouteMedia.limit && urls.count == RouteMedia.limit)
    }
}
