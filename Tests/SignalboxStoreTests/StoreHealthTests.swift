import Synchronization
import Testing

@testable import SignalboxStore

@Suite struct StoreHealthTests {
    private let full = StoreError.unavailable(reason: "the disk is full")
    private let damaged = StoreError.damaged(path: "queue.db", reason: "malformed")

    /// A clock that the test advances. A class because the test and its subject share it.
    private final class Time: Sendable {
        private let instant = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { instant.withLock { $0 } }
        func pass(_ time: Duration) { instant.withLock { $0 += time } }
    }

    /// One write that cannot be committed does not make the store unwritable.
    @Test func aFailureOfOneWriteIsNotAFault() {
        let health = StoreHealth()
        let constraint = StoreError.unavailable(reason: "constraint")
        health.commitFailed(CommitFailure(reason: constraint, mayBeOfOneWrite: true), ofEvents: true)
        #expect(health.fault == nil)
    }

    @Test func aFailedCommitCountsForTenSecondsOrUntilASuccess() {
        let time = Time()
        let health = StoreHealth { time.now }
        #expect(health.fault == nil)
        let failure = CommitFailure(reason: full, mayBeOfOneWrite: false)
        health.commitFailed(failure, ofEvents: false)
        time.pass(.seconds(9))
        #expect(health.fault == full)
        time.pass(.seconds(1))
        #expect(health.fault == nil)
        health.commitFailed(failure, ofEvents: false)
        health.commitSucceeded(ofEvents: false)
        #expect(health.fault == nil)
    }

    /// A disk that is full for events may have room for the end of a delivery.
    @Test func aFailedCommitOfEventsCountsUntilOneOfEventsSucceeds() {
        let health = StoreHealth()
        health.commitFailed(CommitFailure(reason: full, mayBeOfOneWrite: false), ofEvents: true)
        health.commitFailed(CommitFailure(reason: full, mayBeOfOneWrite: false), ofEvents: false)
        health.commitSucceeded(ofEvents: false)
        #expect(health.fault == full)
        health.commitSucceeded(ofEvents: true)
        #expect(health.fault == nil)
    }

    @Test func anyCommitShowsThatTheStoreIsReached() {
        let health = StoreHealth()
        let failure = CommitFailure(reason: .unreachable(reason: "gone"), mayBeOfOneWrite: false)
        health.commitFailed(failure, ofEvents: true)
        #expect(health.fault == failure.reason)
        health.commitSucceeded(ofEvents: false)
        #expect(health.fault == nil)
    }

    /// A file that is damaged somewhere accepts a small write elsewhere.
    @Test func damageLasts() {
        let time = Time()
        let health = StoreHealth { time.now }
        health.commitFailed(CommitFailure(reason: damaged, mayBeOfOneWrite: true), ofEvents: false)
        time.pass(.seconds(3600))
        health.commitSucceeded(ofEvents: false)
        #expect(health.fault == damaged)
        #expect(health.takeUnreportedDamage() == damaged)
        #expect(health.takeUnreportedDamage() == nil, "reported once")
    }

    @Test func upkeepIsReportedOncePerTransition() {
        let health = StoreHealth()
        let reports = [nil, "x", "y", nil, nil, "x"].map { health.record(.retention, failure: $0) }
        #expect(reports == [.none, .fails, .none, .recovers, .none, .fails])
        #expect(health.failing == [.retention])
        #expect(health.record(.media, failure: "x") == .fails)
        #expect(health.failing == [.media, .retention])
        #expect(health.damage == nil)
    }
}
