import Synchronization
import Testing

@testable import SignalboxStore

@Suite struct CommitHealthTests {
    private let full = StoreError.unavailable(reason: "the disk is full")
    private let damaged = StoreError.damaged(path: "queue.db", reason: "malformed")

    /// A class because the test moves it and what it tests reads it.
    private final class Time: Sendable {
        private let instant = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { instant.withLock { $0 } }
        func pass(_ time: Duration) { instant.withLock { $0 += time } }
    }

    private func failure(_ reason: StoreError) -> CommitFailure {
        CommitFailure(reason: reason, mayBeOfOneWrite: reason == damaged)
    }

    /// One write that cannot be committed does not make the queue unwritable.
    @Test func aFaultOfOneWriteDoesNotCount() {
        let health = CommitHealth()
        health.failed(CommitFailure(reason: .unavailable(reason: "constraint"), mayBeOfOneWrite: true))
        #expect(health.recentFailure == nil)
    }

    @Test func aFailureCountsForAWhileAndNotBeyondASuccess() {
        let time = Time()
        let health = CommitHealth { time.now }
        #expect(health.recentFailure == nil)
        health.failed(failure(full))
        time.pass(.seconds(9))
        #expect(health.recentFailure == full)
        time.pass(.seconds(1))
        #expect(health.recentFailure == nil)
        health.failed(failure(full))
        health.succeeded()
        #expect(health.recentFailure == nil)
    }

    /// A file that is damaged somewhere takes a small write elsewhere.
    @Test func damageCountsUntilSomethingIsCommitted() {
        let time = Time()
        let health = CommitHealth { time.now }
        health.failed(failure(damaged))
        time.pass(.seconds(3600))
        #expect(health.recentFailure == damaged)
        health.succeeded()
        #expect(health.recentFailure == nil)
    }
}
