import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

/// The backoff of a destination that a reload changes.
@Suite(.timeLimit(.minutes(5))) struct SuccessionTests {
    private let bench = LaneBench()

    private func sender(_ url: String, _ answer: RetryPolicy.Answer) -> ScriptedSender {
        ScriptedSender(to: url) { _, _ in answer }
    }

    /// Replaces a lane that sleeps until `time`. Returns once its successor sleeps or has begun an attempt.
    private func replace(
        in dispatcher: Dispatcher, by destination: Destination, _ sender: ScriptedSender, sleepingUntil time: Duration
    ) async {
        await bench.clock.waitForSleeper(until: time)
        let sleeps = bench.clock.sleeps
        dispatcher.replace([(destination, sender)], deadLetters: nil) { _ in true }
        while bench.clock.sleeps == sleeps, sender.attempts == 0 { await Task.yield() }
    }

    /// A pause that the destination asked for, and an open breaker.
    @Test(arguments: [1, 20]) func aChangedDestinationKeepsItsBackoff(failures: Int) async throws {
        let old = sender("a", .replied(status: 503, retryAfter: failures == 1 ? nil : .seconds(30)))
        let new = sender("a", .replied(status: 204, retryAfter: nil))
        var destination = bench.destination()
        destination.breaker.failures = failures
        destination.breaker.probe = .seconds(30)
        try await bench.run(destination, old) { dispatcher, queue in
            try await queue.append(bench.events(1...3))
            try await bench.waitForStatus(true, in: queue)
            let before = try await queue.statuses()[bench.crm]
            var changed = destination
            changed.concurrency = 2
            await replace(in: dispatcher, by: changed, new, sleepingUntil: .seconds(30))
            #expect(new.attempts == 0, "the backoff is not over")
            #expect(try await queue.statuses()[bench.crm] == before)
            bench.clock.advance(by: .seconds(30))
            await new.begun(2)
            try await bench.waitForStatus(false, in: queue)
            #expect(old.attempts == 1)
        }
    }

    @Test func anotherURLStartsWithoutBackoff() async throws {
        let old = sender("a", .replied(status: 503, retryAfter: .seconds(86_400)))
        let new = sender("b", .replied(status: 204, retryAfter: nil))
        try await bench.run(bench.destination(), old) { dispatcher, queue in
            try await queue.append(bench.events(1...3))
            try await bench.waitForStatus(true, in: queue)
            dispatcher.replace([(bench.destination(), new)], deadLetters: nil) { _ in false }
            await new.begun(2)
            #expect(bench.clock.elapsed == .zero)
            try await bench.waitForStatus(false, in: queue)
        }
    }

    /// Many reloads must not multiply the rate.
    @Test func aChangedDestinationKeepsItsRate() async throws {
        let old = sender("a", .replied(status: 204, retryAfter: nil))
        let new = sender("a", .replied(status: 204, retryAfter: nil))
        try await bench.run(bench.destination(perSecond: 2), old) { dispatcher, queue in
            try await queue.append(bench.events(1...6))
            await old.waitFor(attempts: 2)
            let changed = bench.destination(concurrency: 4, perSecond: 2)
            await replace(in: dispatcher, by: changed, new, sleepingUntil: .milliseconds(500))
            #expect(new.attempts == 0)
            bench.clock.advance(by: .seconds(1))
            await new.waitFor(attempts: 2)
        }
    }
}
