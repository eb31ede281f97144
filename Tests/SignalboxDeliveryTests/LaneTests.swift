import Foundation
import Logging
import SignalboxConfig
import SignalboxEgress
import SignalboxJSON
import SignalboxNotification
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxGateway
@testable import SignalboxRouting

/// A lane and the answers of its destination, on a clock that the test moves.
@Suite(.timeLimit(.minutes(15))) struct LaneTests {
    private let crm = DestinationName("crm")
    private let clock = ManualClock()
    private let start = Date()

    @Test func aBreakerThatOpensStopsAttemptsAndOneProbeClosesIt() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let sender = sender { total in
                total <= 4 ? .replied(status: 500, retryAfter: nil) : .replied(status: 200, retryAfter: nil)
            }
            var destination = destination("crm")
            destination.breaker.failures = 3
            destination.breaker.probe = .seconds(30)
            try await queue.append((1...10).map { event($0, to: ["crm"]) })
            let dispatcher = dispatcher([(destination, sender)], queue)
            async let running: Void = dispatcher.runUntilDrained()

            // Three attempts open it; the lane sleeps before the next one.
            await clock.waitForSleeper(until: .seconds(30))
            #expect(sender.attempts == 3)
            clock.advance(by: .seconds(30))
            await clock.waitForSleeper(until: .seconds(60))
            #expect(sender.attempts == 4, "one probe, which failed")
            clock.advance(by: .seconds(30))
            await sender.waitFor(attempts: 10)
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [crm: [.delivered: 6, .waiting: 4]])
        }
    }

    @Test func aRateIsKept() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let sender = ScriptedSender { _, _ in .replied(status: 200, retryAfter: nil) }
            var destination = destination("crm", concurrency: 16)
            destination.perSecond = 2
            try await queue.append((1...8).map { event($0, to: ["crm"]) })
            let dispatcher = dispatcher([(destination, sender)], queue)
            async let running: Void = dispatcher.runUntilDrained()
            for (begun, step) in zip(2..., 0..<6) {
                await clock.waitForSleeper(until: .milliseconds(500 * (step + 1)))
                // The lane sleeps before those that it began have had their turn.
                await sender.begun(begun)
                #expect(sender.attempts == begun, "after \(step) half seconds")
                clock.advance(by: .milliseconds(500))
            }
            await sender.waitFor(attempts: 8)
            // The lane asks whether there is more to send when it may send it.
            await clock.waitForSleeper(until: .milliseconds(3500))
            dispatcher.drain()
            clock.advance(by: .milliseconds(500))
            await running
            #expect(try await queue.counts() == [crm: [.delivered: 8]])
        }
    }

    @Test func retryAfterQuietsTheWholeDestination() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let sender = sender { total in
                total == 1 ? .replied(status: 429, retryAfter: .seconds(90)) : .replied(status: 200, retryAfter: nil)
            }
            try await queue.append((1...5).map { event($0, to: ["crm"]) })
            let dispatcher = dispatcher([(destination("crm"), sender)], queue)
            async let running: Void = dispatcher.runUntilDrained()
            await clock.waitForSleeper(until: .seconds(90))
            #expect(sender.attempts == 1)
            clock.advance(by: .seconds(90))
            await sender.waitFor(attempts: 5)
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [crm: [.delivered: 4, .waiting: 1]])
        }
    }

    @Test func sendsNoEventAfter410() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let sender = ScriptedSender { _, _ in .replied(status: 410, retryAfter: nil) }
            try await queue.append((1...5).map { event($0, to: ["crm"]) })
            let dispatcher = dispatcher([(destination("crm"), sender)], queue)
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            let state = try #require(try await queue.statuses()[crm])
            #expect(state.word == "disabled")
            #expect(state.reason == "answered 410: it is gone")
            let counts = try #require(try await queue.counts()[crm])
            // The state applies from its commit on: attempts started before continue.
            #expect(counts[.dead] == sender.attempts)
            #expect(counts[.waiting, default: 0] + sender.attempts == 5)
            #expect(try await queue.audit().isRight)
        }
    }

    @Test func doesNotSendExpiredDeliveries() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let sender = ScriptedSender { _, _ in .replied(status: 200, retryAfter: nil) }
            let dispatcher = dispatcher([(destination("crm"), sender)], queue)
            // Over already, so that it is over in memory.
            queue.openLane(crm) {}
            try await queue.append([
                event(1, [DeliveryOrder(to: crm, notAfter: start)]), event(2, to: ["crm"]),
            ])
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            #expect(sender.attempts == 1)
            #expect(try await queue.counts() == [crm: [.expired: 1, .delivered: 1]])
        }
    }

    /// A push that is not kept.
    @Test func aDeliveryWithOneAttemptIsNotRetried() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let sender = ScriptedSender { _, _ in .replied(status: 503, retryAfter: nil) }
            let dispatcher = dispatcher([(destination("crm"), sender)], queue)
            queue.openLane(crm) {}
            try await queue.append([event(1, [DeliveryOrder(to: crm, notAfter: .afterFirstAttempt)])])
            async let running: Void = dispatcher.runUntilDrained()
            await sender.waitFor(attempts: 1)
            dispatcher.drain()
            await running
            try await queue.tick()
            #expect(sender.attempts == 1)
            #expect(try await queue.counts() == [crm: [.expired: 1]])
        }
    }

    @Test func aDeadDeliveryMakesAnEventForTheRouteThatAsksForIt() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let crmSender = ScriptedSender { _, _ in .replied(status: 400, retryAfter: nil) }
            // The delivery of the event about it fails too, and makes no further event.
            let opsSender = ScriptedSender { _, _ in .replied(status: 400, retryAfter: nil) }
            let dispatcher = dispatcher(
                [(destination("crm"), crmSender), (destination("ops"), opsSender)], queue,
                deadLetters: DeadLetterEvents(
                    gateway: "test", routes: try Self.deadLetterRoutes(to: "ops"),
                    variants: EventVariants(tokens: TokenHash(key: [UInt8](repeating: 7, count: 32)))))
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.append([event(1, to: ["crm"])])
            await opsSender.waitFor(attempts: 1)
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [crm: [.dead: 1], DestinationName("ops"): [.dead: 1]])
            #expect(try await queue.eventCount() == 2)
        }
    }

    @Test func oneThatHangsAndOneThatRefusesHoldUpNoThird() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let (never, release) = AsyncStream.makeStream(of: Void.self)
            let hangs = ScriptedSender { _, _ in
                for await _ in never {}
                return .replied(status: 200, retryAfter: nil)
            }
            let refuses = ScriptedSender { _, _ in .failed(.refused("no")) }
            let good = ScriptedSender { _, _ in .replied(status: 200, retryAfter: nil) }
            let dispatcher = dispatcher(
                [(destination("hangs"), hangs), (destination("refuses"), refuses), (destination("good"), good)], queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.append((1...300).map { event($0, to: ["hangs", "refuses", "good"]) })
            await good.waitFor(attempts: 300)
            #expect(hangs.attempts <= 1)
            #expect(refuses.attempts <= 20, "then its breaker is open")
            release.finish()
            dispatcher.drain()
            await running
            #expect(try await queue.counts()[DestinationName("good")] == [.delivered: 300])
        }
    }

    // MARK: Dead letters by themselves

    private static func deadLetterRoutes(to name: String) throws -> RouteTable {
        let config = try RoutedConfig(
            Array(
                """
                { "destinations": { "\(name)": { "builtin": "inbox" }, "rest": { "builtin": "inbox" } },
                  "routes": [ { "name": "all", "match": {}, "to": ["rest"] },
                    { "name": "dead", "match": { "type": ["io.signalbox.delivery.dead"] }, "to": ["\(name)"] } ],
                  "fallback": ["rest"] }
                """.utf8))
        return config.routes
    }

    private func lease(_ body: String) -> Lease {
        Lease(delivery: 7, event: "e", destination: crm, attempts: 1, earlier: 4, body: Array(body.utf8))
    }

    @Test func anEventAboutADeadDeliveryDescribesTheDelivery() throws {
        let events = DeadLetterEvents(
            gateway: "test", routes: try Self.deadLetterRoutes(to: "ops"),
            variants: EventVariants(tokens: TokenHash(key: [UInt8](repeating: 7, count: 32))))
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let routed = try #require(
            events.event(about: lease(#"{"subject":"mce/alert"}"#), status: 400, reason: "answered 400", at: now))
        #expect(routed.destinations.map(\.name) == ["ops"], "neither a route that asks for no type nor the fallback")
        #expect(routed.routes == ["dead"])
        let id = routed.event.id
        let expected = """
            {"specversion":"1.0","id":"\(id)","source":"/signalbox/test","type":"io.signalbox.delivery.dead",
             "subject":"destination/crm","time":"2027-01-15T08:00:00.000Z","datacontenttype":"application/json",
             "data":{"delivery":7,"destination":"crm","event":"e","subject":"mce/alert","attempts":5,"status":400,
             "reason":"answered 400"}}
            """
        #expect(try JSONDifference.lines(expected: Array(expected.utf8), actual: routed.event.body).isEmpty)
        let event = try JSONSerialization.jsonObject(with: Data(routed.event.body)) as? [String: Any]
        #expect((event?["data"] as? [String: Any])?.keys.sorted() == DeadLetterEvents.members)
    }

    @Test func noEventIsMadeThatNoRouteAsksForNorOneAboutAnother() throws {
        let now = Date()
        let asked = DeadLetterEvents(
            gateway: "test", routes: try Self.deadLetterRoutes(to: "ops"),
            variants: EventVariants(tokens: TokenHash(key: [UInt8](repeating: 7, count: 32))))
        let about = try #require(asked.event(about: lease("{}"), status: nil, reason: "x", at: now))
        let body = String(decoding: about.event.body, as: UTF8.self)
        #expect(asked.event(about: lease(body), status: nil, reason: "x", at: now) == nil, "it would never end")
        let unasked = DeadLetterEvents(
            gateway: "test", routes: RouteTable(fallback: [crm]),
            variants: EventVariants(tokens: TokenHash(key: [UInt8](repeating: 7, count: 32))))
        #expect(unasked.event(about: lease("{}"), status: nil, reason: "x", at: now) == nil)
    }

    /// An event is made for every dead letter, for any body.
    @Test(arguments: ["no JSON", #"{"subject":"a","padding":""# + String(repeating: "a", count: 17 << 20) + #""}"#])
    func anEventIsMadeOfABodyThatIsLargeOrCannotBeRead(_ body: String) throws {
        let asked = DeadLetterEvents(
            gateway: "test", routes: try Self.deadLetterRoutes(to: "ops"),
            variants: EventVariants(tokens: TokenHash(key: [UInt8](repeating: 7, count: 32))))
        let about = try #require(asked.event(about: lease(body), status: nil, reason: "x", at: Date()))
        let text = String(decoding: about.event.body, as: UTF8.self)
        #expect(text.contains(#""reason":"x""#))
        #expect(text.contains(#""subject":"a""#) == (body.first == "{"))
    }

    // MARK: Parts

    /// A queue whose time stands still: retries stay waiting.
    private func open(_ directory: String) throws -> SQLiteQueue {
        try SQLiteQueue(in: directory, now: { [start] in start }, elapsed: { .zero })
    }

    /// One whose answers depend on how many attempts were made.
    private func sender(_ answer: @escaping @Sendable (Int) -> RetryPolicy.Answer) -> ScriptedSender {
        let total = Counter()
        return ScriptedSender { _, _ in answer(total.next()) }
    }

    private final class Counter: Sendable {
        // A class because the sender's attempts share it.
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    private func dispatcher(
        _ lanes: [(Destination, ScriptedSender)], _ queue: SQLiteQueue, deadLetters: DeadLetterEvents? = nil
    ) -> Dispatcher {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return Dispatcher(
            lanes.map { (destination: $0.0, sender: $0.1) }, queue: queue, deadLetters: deadLetters, logger: logger,
            clock: clock, elapsed: { [clock] in clock.elapsed })
    }

    private func destination(_ name: String, concurrency: Int = 1) -> Destination {
        var destination = Destination(name: DestinationName(name), endpoint: .inbox)
        destination.retry = .init(attempts: 5, base: .seconds(3600), max: .seconds(7200))
        destination.concurrency = concurrency
        return destination
    }

    private func event(_ number: Int, to destinations: [String]) -> RoutedEvent {
        event(number, destinations.map { DeliveryOrder(to: DestinationName($0)) })
    }

    private func event(_ number: Int, _ orders: [DeliveryOrder]) -> RoutedEvent {
        RoutedEvent(
            event: Event(
                id: EventID(at: start, random: (UInt64(number), UInt64.random(in: 0 ... .max))), source: .default,
                acceptedAt: start, vendor: .unknown, kind: .alert, warnings: [], body: Array("{}".utf8)),
            routes: [], deliveries: orders)
    }
}
