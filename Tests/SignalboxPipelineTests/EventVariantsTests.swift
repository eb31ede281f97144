import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

/// Variants of events, made before they are stored.
@Suite struct EventVariantsTests {
    private static let tokens = TokenHash(key: TestPipeline.key)
    private static let payload =
        #"{"aps":{"alert":"Hi","mutable-content":1},"media-attachment":"https://a.example/i.png","notification-action":{"type":"openApp"},"email":"a@b.c"}"#

    private func config(_ routes: String) throws -> RouteTable {
        let text =
            #"{"destinations":{"a":{"builtin":"inbox"},"b":{"builtin":"inbox"},"c":{"builtin":"inbox"}},"routes":[\#(routes)]}"#
        return try RoutedConfig(Array(text.utf8)).routes
    }

    private func normalizer() -> Normalizer {
        Normalizer(
            chain: VendorChain(), gateway: "demo", tokens: Self.tokens, showsPayloads: true, mediaStatus: .skipped)
    }

    private func routed(_ routes: String) throws -> RoutedEvent {
        var pipeline = TestPipeline()
        pipeline.normalizer = normalizer()
        let table = try config(routes)
        return try ParserPool.events.withParser {
            try table.route(pipeline.event(Self.payload), with: $0, variants: EventVariants(tokens: Self.tokens)).get()
        }
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func eachFormIsMadeOnce() throws {
        let event = try routed(
            #"{"name":"r","match":{},"to":["a","b"],"redact":["/data/custom/email"]},{"name":"s","match":{},"to":["c"]}"#
        )
        #expect(event.deliveries.map(\.variant) == [0, 0, nil])
        #expect(event.variants.count == 1)
        #expect(!text(event.variants[0]).contains("a@b.c") && text(event.event.body).contains("a@b.c"))
        #expect(event.deliveries.allSatisfy { $0.transformRoute == nil })
    }

    @Test func hashesValuesAsTokensAreHashed() throws {
        let event = try routed(#"{"name":"r","match":{},"to":["a"],"redact":{"/data/custom/email":"hash"}}"#)
        #expect(text(event.variants[0]).contains(#""email":"\#(Self.tokens.name(of: Array("a@b.c".utf8)))""#))
    }

    /// Twenty copies of an event of 4 MB; those beyond 64 MiB are replaced by a warning, and hide everything.
    @Test func boundsTheVariantsOfOneEvent() throws {
        let routes = (0..<20).map {
            #"{"name":"r\#($0)","match":{},"to":["d\#($0)"],"redact":["/data/custom/email","/data/custom/k\#($0)"]}"#
        }
        let destinations = (0..<20).map { #""d\#($0)":{"builtin":"inbox"}"# }
        let config =
            #"{"destinations":{\#(destinations.joined(separator: ","))},"routes":[\#(routes.joined(separator: ","))]}"#
        let table = try RoutedConfig(Array(config.utf8)).routes
        let filling = String(repeating: "x", count: 4_000_000)
        let pipeline = TestPipeline()
        let event = try ParserPool.events.withParser {
            try table.route(
                pipeline.event(#"{"aps":{"alert":"Hi"},"email":"a@b.c","text":"\#(filling)"}"#), with: $0,
                variants: EventVariants(tokens: Self.tokens)
            ).get()
        }
        #expect(event.deliveries.map(\.variant) == (0..<20).map { $0 })
        let whole = event.variants.count { $0.count > 4_000_000 }
        #expect(whole == VariantAllowance.bytes / event.variants[0].count + 1)
        #expect(event.variants[whole...].allSatisfy { text($0).contains("route.transform-failed") })
        #expect(event.variants.allSatisfy { !text($0).contains("a@b.c") })
    }

    @Test func makesNoVariantWithoutAMatch() throws {
        let event = try routed(#"{"name":"r","match":{},"to":["a"],"redact":["/data/custom/phone"]}"#)
        #expect(event.deliveries.map(\.variant) == [nil] && event.variants.isEmpty)
    }

    /// The payload as a device shows it is part of the event before values are redacted.
    @Test func redactsTheShownPayload() throws {
        let event = try routed(
            #"{"name":"r","match":{},"to":["a"],"include":["apns"],"redact":["/data/apns/email","/data/custom/email"]}"#
        )
        #expect(text(event.variants[0]).contains(#""apns":{"aps":"#))
        #expect(!text(event.variants[0]).contains("a@b.c"))
    }

    @Test func redactsADeliveryThatWaitsForFilesAndRecordsItsRoute() throws {
        let event = try routed(
            #"{"name":"r","match":{},"to":["a"],"media":"stored","redact":["/data/custom/email"],"transform":{"map":{"m":"/data/media"}}}"#
        )
        #expect(event.deliveries.map(\.transformRoute) == ["r"])
        #expect(event.deliveries.first?.mediaUntil != nil)
        #expect(text(event.variants[0]).contains(#""media":[{"url":"https://a.example/i.png""#))
        #expect(!text(event.variants[0]).contains("a@b.c"))
    }

    @Test func transformsAtOnceWithoutMedia() throws {
        let event = try routed(
            #"{"name":"r","match":{},"to":["a"],"media":"none","transform":{"map":{"v":"/data/vendor","m":"/data/media"}}}"#
        )
        #expect(event.deliveries.map(\.transformRoute) == [nil])
        #expect(text(event.variants[0]).hasSuffix(#","data":{"v":"mce"}}"#))
    }

    @Test func countsMatchesAfterTheCommit() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let counts = RouteCounts()
            let source = SourceName("mobile")
            let sources =
                #"{"sources":{"mobile":{"auth":{"bearer":["env:T"]},"dedupe":{"key":"/data/custom/email","window":"1d"}}}}"#
            let intake = Intake(
                normalizer: normalizer(),
                routes: try config(
                    #"{"name":"r","match":{},"to":["a"]},{"name":"s","match":{"data":{"vendor":["braze"]}},"to":["a"]}"#
                ),
                queue: queue, sources: try RoutedConfig(Array(sources.utf8)).config.sources,
                counts: counts)
            _ = try await intake.accept(Array(Self.payload.utf8), from: source)
            _ = try await intake.accept(Array(Self.payload.utf8), from: source)
            _ = try await intake.accept(Array("nonsense".utf8), from: source)
            #expect(counts.all == ["r": .init(matched: 1)])
        }
    }

    /// A large batch is counted in runs of events that match the same routes.
    @Test func countsTheEventsOfEachRoute() async throws {
        try await withTemporaryDirectory { directory in
            let counts = RouteCounts()
            let routes = try config(
                #"{"name":"m","match":{"data":{"vendor":["mce"]}},"to":["a"]},{"name":"n","match":{},"to":["b"]}"#)
            let intake = Intake(
                normalizer: normalizer(), routes: routes, queue: try SQLiteQueue(in: directory), counts: counts)
            let plain = #"{"aps":{"alert":"x"}}"#
            let batch = [plain, Self.payload, Self.payload, plain, plain, Self.payload, "nonsense"]
            _ = try await intake.accept(Array(batch.joined(separator: "\n").utf8), from: .default)
            #expect(counts.all == ["m": .init(matched: 3), "n": .init(matched: 6)])
        }
    }

    /// If the decision is uniform, events are not parsed for it; their deliveries must equal those of a parsed event.
    @Test(arguments: ["", #","ignore":["notAfter"]"#, #","ignore":["notBefore","notAfter"]"#, #","stop":true"#])
    func uniformRoutingGivesTheSameDeliveries(options: String) async throws {
        let request = #"{"message":{"topic":"t","notification":{"title":"x"}TTL}}"#
        let payloads = [
            Self.payload, request.replacing("TTL", with: ""),
            request.replacing("TTL", with: #","android":{"ttl":"60s"}"#),
            "[]", #"{"aps":{}}"#,
        ]
        func deliveries(matching pattern: String) async throws -> [[DeliveryOrder]?] {
            let table = try config(
                #"{"name":"r","match":\#(pattern),"to":["a","b"]\#(options)},{"name":"s","match":\#(pattern),"to":["c","a"]}"#
            )
            #expect((table.uniformDecision == nil) == (pattern != "{}"))
            return try await withTemporaryDirectory { directory in
                let intake = Intake(
                    normalizer: normalizer(), routes: table, queue: try SQLiteQueue(in: directory),
                    now: { TestPipeline.time })
                let answer = try await intake.accept(Array(payloads.joined(separator: "\n").utf8), from: .default)
                guard case .report(let report) = answer else { return [] }
                return report.items.map { try? $0.get().deliveries }
            }
        }
        let read = try await deliveries(matching: #"{"specversion":["1.0"]}"#)
        #expect(read.contains { $0?.contains { $0.notAfter != nil } ?? false }, "one of them expires")
        #expect(try await deliveries(matching: "{}") == read)
    }
}
