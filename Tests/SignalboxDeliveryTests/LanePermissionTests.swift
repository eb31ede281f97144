import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Synchronization
import Testing

/// A lane of a destination that needs permission, on a clock that the test moves.
@Suite(.timeLimit(.minutes(15))) struct LanePermissionTests {
    private let bench = LaneBench()
    private static let no = Permission.withheld(reason: "no permission to send: x", retryAfter: nil)

    private func destination(concurrency: Int = 16, perSecond: Double? = nil, age: Duration = .seconds(86_400))
        -> Destination
    {
        var destination = bench.destination(concurrency: concurrency, perSecond: perSecond)
        var webhook = Destination.Webhook(url: "https://crm.example", secrets: [])
        webhook.handshake = Destination.Handshake(origin: "gateway.example.com")
        webhook.handshake?.age = age
        destination.endpoint = .webhook(webhook)
        return destination
    }

    @Test func isAskedOnceBeforeTheFirstDelivery() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let sender = AskedSender([.given(perMinute: nil)])
            try await queue.append(bench.events(1...50))
            let dispatcher = bench.dispatcher(destination(), sender, queue)
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            #expect(sender.questions == 1)
            #expect(sender.order.first == "question")
            #expect(try await queue.counts() == [bench.crm: [.delivered: 50]])
        }
    }

    @Test func asksNoQuestionWithoutDeliveries() async throws {
        try await withTemporaryDirectory { directory in
            let sender = AskedSender([.given(perMinute: nil)])
            let dispatcher = bench.dispatcher(destination(), sender, try bench.open(directory))
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            #expect(sender.questions == 0)
        }
    }

    @Test func sendsNoEventWithoutPermissionAndRecordsWhy() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let sender = AskedSender([Self.no])
            try await queue.append(bench.events(1...50))
            let dispatcher = bench.dispatcher(destination(), sender, queue)
            async let running: Void = dispatcher.runUntilDrained()
            await bench.clock.waitForSleeper(until: .seconds(30))
            let status = try #require(try await queue.statuses()[bench.crm])
            #expect(status.word == "withheld")
            #expect(status.reason == "no permission to send: x")
            dispatcher.drain()
            await running
            #expect(sender.order == ["question"])
            let deliveries = try await queue.deliveries(DeliveryFilter(), limit: 100)
            #expect(deliveries.count == 50 && deliveries.allSatisfy { $0.state == .waiting && $0.attempts == 0 })
            #expect(deliveries.compactMap(\.reason) == ["no permission to send: x"], "of the one that asked")
            let next = try bench.open(directory, ahead: 60)
            next.openLane(bench.crm) {}
            #expect(try await next.claim(from: bench.crm, upTo: 100).map(\.earlier) == Array(repeating: 0, count: 50))
        }
    }

    @Test func isAskedAgainUntilItGivesPermission() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory, ahead: 60)
            let sender = AskedSender([Self.no, Self.no, .given(perMinute: nil)])
            try await queue.append(bench.events(1...3))
            let dispatcher = bench.dispatcher(destination(), sender, queue)
            async let running: Void = dispatcher.runUntilDrained()
            await advance { sender.questions == 3 }
            #expect(bench.clock.elapsed >= .seconds(90), "30 and 60 seconds after it was asked")
            await advance { sender.deliveries == 3 }
            dispatcher.drain()
            await running
            #expect(try await queue.counts() == [bench.crm: [.delivered: 3]])
            #expect(try await queue.statuses().isEmpty)
        }
    }

    /// Advances the clock, and yields to all tasks, until the condition holds.
    private func advance(until isSo: () -> Bool) async {
        while !isSo() {
            bench.clock.advance(by: .milliseconds(200))
            await Task.yield()
        }
    }

    @Test func asksAtOnceAfterResume() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let sender = AskedSender([Self.no, .given(perMinute: nil)])
            try await queue.append(bench.events(1...2))
            let dispatcher = bench.dispatcher(destination(), sender, queue)
            async let running: Void = dispatcher.runUntilDrained()
            await bench.clock.waitForSleeper(until: .seconds(30))
            try await queue.set(nil, of: bench.crm)
            await sender.waitFor(deliveries: 1)
            #expect(sender.questions == 2)
            #expect(bench.clock.elapsed == .zero)
            dispatcher.drain()
            await running
        }
    }

    @Test(
        arguments: [(nil, 120, 2, 500), (1, 120, 1, 1000), (10, 120, 2, 500), (1, nil, 1, 1000)]
            as [(Double?, Int?, Int, Int)])
    func keepsTheLowerOfItsRateAndThePermittedRate(
        own: Double?, allowed: Int?, atOnce: Int, milliseconds: Int
    ) async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let sender = AskedSender([.given(perMinute: allowed)])
            try await queue.append(bench.events(1...4))
            let dispatcher = bench.dispatcher(destination(perSecond: own), sender, queue)
            async let running: Void = dispatcher.runUntilDrained()
            await sender.waitFor(deliveries: atOnce)
            await bench.clock.waitForSleeper(until: .milliseconds(milliseconds))
            #expect(sender.deliveries == atOnce)
            bench.clock.advance(by: .milliseconds(milliseconds))
            await sender.waitFor(deliveries: atOnce + 1)
            await bench.clock.waitForSleeper(until: .milliseconds(2 * milliseconds))
            #expect(sender.deliveries == atOnce + 1)
            dispatcher.drain(within: .seconds(5))
            await running
            #expect(sender.questions == 1)
        }
    }

    @Test func isAskedAgainWhenThePermissionHasReachedItsAge() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let sender = AskedSender([.given(perMinute: nil)])
            let dispatcher = bench.dispatcher(destination(age: .seconds(60)), sender, queue)
            async let running: Void = dispatcher.runUntilDrained()
            try await queue.append(bench.events(1...1))
            await sender.waitFor(deliveries: 1)
            bench.clock.advance(by: .seconds(59))
            try await queue.append(bench.events(2...2))
            await sender.waitFor(deliveries: 2)
            #expect(sender.questions == 1)
            bench.clock.advance(by: .seconds(1))
            try await queue.append(bench.events(3...3))
            await sender.waitFor(deliveries: 3)
            #expect(sender.questions == 2)
            dispatcher.drain()
            await running
        }
    }

    @Test(arguments: [403, 429]) func isAskedAgainWhenItTakesItsPermissionBack(status: Int) async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            let sender = AskedSender([.given(perMinute: nil)]) { number in
                .replied(status: number == 1 ? status : 200, retryAfter: nil)
            }
            try await queue.append(bench.events(1...3))
            let dispatcher = bench.dispatcher(destination(concurrency: 1), sender, queue)
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            #expect(sender.order == ["question", "delivery", "question", "delivery", "delivery"])
        }
    }

    /// A config without handshake removes the record that permission was withheld.
    @Test func forgetsWithheldPermissionWithoutHandshake() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try bench.open(directory)
            try await queue.withhold("x", by: bench.crm)
            try await queue.append(bench.events(1...1))
            let sender = AskedSender([Self.no])
            let dispatcher = bench.dispatcher(bench.destination(), sender, queue)
            dispatcher.drain()
            await dispatcher.runUntilDrained()
            #expect(sender.order == ["delivery"])
            #expect(try await queue.statuses().isEmpty)
        }
    }
}

/// A sender with given answers to requests for permission; the last one repeats.
private final class AskedSender: Sender {
    // A class because lane and test share it.
    private let answers: Mutex<[Permission]>
    private let made = Mutex<[String]>([])
    private let script: @Sendable (Int) -> RetryPolicy.Answer
    private let count: AsyncStream<Int>
    private let counting: AsyncStream<Int>.Continuation

    init(
        _ answers: [Permission],
        _ script: @escaping @Sendable (Int) -> RetryPolicy.Answer = { _ in .replied(status: 200, retryAfter: nil) }
    ) {
        self.answers = Mutex(answers)
        self.script = script
        (count, counting) = AsyncStream.makeStream(of: Int.self)
    }

    var order: [String] { made.withLock(\.self) }
    var questions: Int { order.count { $0 == "question" } }
    var deliveries: Int { order.count { $0 == "delivery" } }

    func waitFor(deliveries wanted: Int) async {
        for await count in count where count >= wanted { return }
    }

    func askPermission() async -> Permission {
        made.withLock { $0.append("question") }
        return answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    }

    func send(
        _ leases: [Lease], if mayBegin: @escaping @Sendable () -> Bool,
        whenDone done: @escaping @Sendable (_ result: @escaping @Sendable () -> SendResult?) -> Void
    ) {
        guard mayBegin() else { return done { nil } }
        let total = made.withLock { made in
            made.append("delivery")
            return made.count { $0 == "delivery" }
        }
        counting.yield(total)
        done { [script] in SendResult(script(total), Attempt(startedAt: .distantPast, duration: .zero)) }
    }
}
