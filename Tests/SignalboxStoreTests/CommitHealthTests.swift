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

    @Test func aFailureCountsForAWhileAndNotBeyondASuccess() {
        let time = Time()
        let health = CommitHealth { time.now }
        #expect(health.recentFailure == nil)
        health.failed(full)
        time.pass(.seconds(9))
        #expect(health.recentFailure == full)
        time.pass(.seconds(1))
        #expect(health.recentFailure == nil)
        health.failed(full)
        health.succeeded()
        #expect(health.recentFailure == nil)
    }

    /// A file that is damaged somewhere takes a small write elsewhere.
    @Test func damageCountsUntilSomethingIsCommitted() {
        let time = Time()
        let health = CommitHealth { time.now }
        health.failed(damaged)
        time.pass(.seconds(3600))
        #expect(health.recentFailure == damaged)
        health.succeeded()
        #expect(health.recentFailure == nil)
    }
}
