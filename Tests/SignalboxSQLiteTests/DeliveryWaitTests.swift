import Foundation
import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

@Suite struct DeliveryWaitTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let crm = DestinationName("crm")

    private func record(
        state: DeliveryRecord.State = .waiting, attempts: Int = 0, due: TimeInterval = -1,
        notBefore: TimeInterval? = nil, _ change: (inout DeliveryRecord) -> Void = { _ in }
    ) -> DeliveryRecord {
        var record = DeliveryRecord(
            id: 2, event: "e", subject: "s", destination: crm, state: state, attempts: attempts, due: now + due,
            notBefore: notBefore.map { now + $0 }, notAfter: nil, acceptedAt: now, last: nil)
        change(&record)
        return record
    }

    private func reason(
        _ record: DeliveryRecord, status: DestinationStatus? = nil, isKnown: Bool = true, hasRate: Bool = false
    ) -> DeliveryWait.Reason? {
        DeliveryWait(of: record, status: status, isKnown: isKnown, hasRate: hasRate, at: now)?.reason
    }

    @Test func namesTheReasonOfAWait() {
        #expect(reason(record(state: .delivered)) == nil)
        #expect(reason(record()) == .queued)
        #expect(reason(record(), hasRate: true) == .rateLimit)
        #expect(reason(record(attempts: 1, due: 60)) == .retry)
        #expect(reason(record(due: 60, notBefore: 60)) == .scheduled)
        #expect(reason(record(due: 60) { $0.mediaUntil = now + 30 }) == .media)
        #expect(reason(record { $0.predecessor = 1 }) == .predecessor)
        #expect(reason(record { $0.isInProgress = true }) == .inProgress)
        #expect(reason(record(), isKnown: false) == .unknownDestination)
    }

    /// The destination's status comes first, unless it ends before the delivery is due.
    @Test func namesTheReasonThatEndsLast() {
        let paused = DestinationStatus(.paused, since: now)
        let failing = DestinationStatus(
            word: "breaker_open", reason: "r", since: now, until: now + 30, wait: .breakerOpen)
        #expect(reason(record(attempts: 1, due: 60), status: paused) == .paused)
        #expect(reason(record(), status: failing) == .breakerOpen)
        #expect(reason(record(attempts: 1, due: 60), status: failing) == .retry)
        let (unknown, claimed) = (
            record { $0.isInProgress = true }, record { ($0.isInProgress, $0.isClaimed) = (true, true) }
        )
        for status in [paused, failing] {
            #expect(reason(unknown, status: status) == status.wait, "it may wait in the memory of the gateway")
            #expect(reason(claimed, status: status) == .inProgress)
        }
        let wait = DeliveryWait(of: record(), status: failing, isKnown: true, hasRate: false, at: now)
        #expect(wait?.until == now + 30 && wait?.detail == "r")
    }

    @Test func findsThePredecessorOfADelivery() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let events = (0..<3).map { number in
                RoutedEvent(
                    event: Event(
                        id: EventID(at: now, random: (1, UInt64(number))), source: .default, acceptedAt: now,
                        vendor: .unknown, kind: .alert, warnings: [], body: [1]),
                    routes: [], deliveries: [DeliveryOrder(to: crm, orderKey: number == 1 ? "other" : "key")])
            }
            try await queue.append(events)
            let records = try await queue.deliveries(DeliveryFilter(), limit: 5)
            #expect(records.map(\.predecessor) == [1, nil, nil])
        }
    }

    /// The owner knows that no process makes the attempt. Operators would take a wait for the rate for an attempt.
    @Test func aDeliveryThatACrashLeftIsNotInProgress() async throws {
        try await withTemporaryDirectory { directory in
            let crashed = try SQLiteQueue(in: directory)
            crashed.openLane(crm) {}
            try await crashed.append([RoutedEvent([1], to: crm)])
            #expect(try await crashed.claim(from: crm, upTo: 1).count == 1)
            let owner = try SQLiteQueue(in: directory)
            owner.openLane(crm) {}
            func areInProgress() async throws -> [Bool] {
                let page = try await owner.deliveryPage(DeliveryFilter(), limit: 5, examining: 5).records
                return try await (page + owner.deliveries(DeliveryFilter(), limit: 5)).map(\.isInProgress)
            }
            #expect(try await areInProgress() == [false, false])
            #expect(try await owner.claim(from: crm, upTo: 1).count == 1)
            #expect(try await areInProgress() == [true, true])
        }
    }

    /// Only dead deliveries have an index. A page of another state ends after its rows, also if none matches.
    @Test(arguments: [DeliveryRecord.State.waiting, .delivered, .expired])
    func aPageOfAStateWithoutAnIndexIsBounded(_ state: DeliveryRecord.State) async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await queue.append((UInt8(0)..<9).map { RoutedEvent([$0], to: crm) })
            let filter = DeliveryFilter(state: state, destination: DestinationName("other"))
            let page = try await queue.deliveryPage(filter, limit: 5, examining: 4)
            #expect(page.records.isEmpty && !page.isComplete && page.next == 6)
        }
    }

    // MARK: Backoffs

    /// The lane continues to wait, so operators must not see an active destination, and no resume by another process.
    @Test(arguments: [3600.0, -3600]) func aBackoffFollowsAClockThatWasSet(by jump: Double) async throws {
        let clock = ManualDate()
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
            queue.openLane(crm) {}
            let end = clock.now + 30
            try await queue.record(DestinationBackoff(.retryAfter, reason: "r", since: clock.now, until: end), of: crm)
            clock.set(by: jump)
            try await queue.tick()
            #expect(!queue.takeResumed(crm))
            let seen = try #require(try await queue.statuses()[crm])
            #expect(seen.word == "throttled" && seen.since == clock.now && seen.until == clock.now + 30)
            // The next tick sees the change. The record of an open breaker outlasts its end.
            try await queue.tick()
            clock.advance(by: 31)
            try await queue.tick()
            #expect(!queue.takeResumed(crm))
            clock.set(by: jump)
            for _ in 0..<2 { try await queue.tick() }
            #expect(!queue.takeResumed(crm))
            try await queue.set(nil, of: crm)
            #expect(try await queue.statuses().isEmpty)
        }
    }

    @Test func otherProcessesSeeABackoffUntilItEnds() async throws {
        let clock = ManualDate()
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
            let other = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
            let begun = clock.now
            func backoff(_ kind: DestinationBackoff.Kind) -> DestinationBackoff {
                DestinationBackoff(kind, reason: "r", since: clock.now, until: clock.now + 30)
            }
            try await queue.record(backoff(.breakerOpen), of: crm)
            clock.advance(by: 40)
            var seen = try #require(try await other.statuses()[crm])
            #expect(seen.word == "breaker_open" && seen.isDown, "until an attempt succeeds")
            try await queue.record(backoff(.breakerOpen), of: crm)
            seen = try #require(try await other.statuses()[crm])
            #expect(seen.since == begun && seen.until == clock.now + 30, "the backoff was extended")

            try await queue.record(backoff(.retryAfter), of: crm)
            seen = try #require(try await other.statuses()[crm])
            #expect(seen.word == "throttled" && !seen.isDown && seen.since == clock.now)
            clock.advance(by: 30)
            #expect(try await other.statuses().isEmpty)

            try await queue.record(backoff(.breakerOpen), of: crm)
            try await queue.forgetBackoffs()
            #expect(try await other.statuses().isEmpty)
        }
    }
}
