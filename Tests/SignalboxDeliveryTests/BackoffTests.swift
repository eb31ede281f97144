import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxNotification
import SignalboxSQLite
import SignalboxTesting
import Testing

@testable import SignalboxGateway
@testable import SignalboxStore

@Suite(.timeLimit(.minutes(15))) struct BackoffTests {
    private let bench = LaneBench()

    @Test func recordsNewBackoffsOnly() {
        var record = BackoffRecord()
        func open(_ seconds: Int) -> BackoffRecord.Backoff { .init(kind: .breakerOpen, until: .seconds(seconds)) }
        let begins = [record.begin(), record.begin()]
        #expect(begins == [true, false], "one at a time")
        let steps = [record.next(open(30)), record.next(open(30)), record.next(nil), record.next(nil)]
        #expect(steps == [.record(open(30)), .done, .record(nil), .done])
        let later = [
            record.next(open(30)), record.next(open(60)), record.next(.init(kind: .retryAfter, until: .seconds(60))),
        ]
        #expect(!later.contains(.done))
        #expect(record.recorded?.kind == .retryAfter)
    }

    @Test func retriesAFailedRecord() {
        var record = BackoffRecord()
        let open = BackoffRecord.Backoff(kind: .breakerOpen, until: .seconds(30))
        for isFirst in [true, false] {
            let begins = record.begin()
            let step = record.next(open)
            let isNews = record.fail(before: nil)
            #expect(begins && step == .record(open) && isNews == isFirst)
        }
    }

    @Test func recordsABackoffThatBeganAfterAnEnd() {
        var record = BackoffRecord()
        let begins = record.begin()
        #expect(begins)
        _ = record.next(.init(kind: .breakerOpen, until: .seconds(30)))
        record.end(at: .seconds(1))
        let same = record.next(.init(kind: .breakerOpen, until: .seconds(1)))
        #expect(same == .done, "the queue shows the end already")
        let again = BackoffRecord.Backoff(kind: .breakerOpen, until: .seconds(31))
        let steps = [record.next(again), record.next(nil)]
        #expect(steps == [.record(again), .record(nil)])
    }

    /// A day's pause that the destination asked for, with and without an open breaker.
    @Test(arguments: [1, 20]) func aResumeEndsTheBackoffAtOnce(failures: Int) async throws {
        let sender = ScriptedSender { [calls = Counter()] _, _ in
            calls.next() == 1
                ? .replied(status: 503, retryAfter: .seconds(86_400)) : .replied(status: 204, retryAfter: nil)
        }
        var destination = bench.destination()
        destination.breaker.failures = failures
        try await bench.run(destination, sender) { _, queue in
            try await queue.append(bench.events(1...3))
            try await bench.waitForStatus(true, in: queue)
            #expect(sender.attempts == 1)
            try await queue.set(nil, of: bench.crm)
            await sender.begun(3)
            #expect(bench.clock.elapsed == .zero)
            try await bench.waitForStatus(false, in: queue)
        }
    }

    /// The queue records an open breaker, and removes the record once an attempt succeeds.
    @Test func recordsABreakerWhileItIsOpen() async throws {
        let sender = ScriptedSender { [calls = Counter()] _, _ in
            .replied(status: calls.next() == 1 ? 503 : 204, retryAfter: nil)
        }
        var destination = bench.destination()
        destination.breaker.failures = 1
        destination.breaker.probe = .seconds(30)
        try await bench.run(destination, sender) { _, queue in
            try await queue.append(bench.events(1...2))
            try await bench.waitForStatus(true, in: queue)
            let status = try #require(try await queue.statuses()[bench.crm])
            #expect(status.word == "breaker_open")
            #expect(status.reason == "circuit breaker open after 1 failures in a row, the last: answered 503")
            #expect(sender.attempts == 1)
            await bench.clock.waitForSleeper(until: .seconds(30))
            bench.clock.advance(by: .seconds(30))
            await sender.begun(2)
            try await bench.waitForStatus(false, in: queue)
        }
    }
}
