import Foundation
import SignalboxNotification
import Synchronization
import Testing

@testable import SignalboxStore

/// Decisions that every store shares.
@Suite struct DecisionTests {
    private let crm = DestinationName("crm")
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    // MARK: Due deliveries

    private func search(limit: Int, leasing leases: [Lease]) -> DueSearch {
        let lanes = Lanes()
        lanes.open(crm, isOrdered: true) {}
        var leased = DueSearch(of: crm, limit: leases.count, lanes)
        for lease in leases { leased.add(.init(id: lease.delivery, key: lease.orderKey)) }
        lanes.withHandOff { [crm] handOff in handOff.withLane(crm) { $0.finishReading(leases, of: leased) } }
        return DueSearch(of: crm, limit: limit, lanes)
    }

    @Test func skipsLeasedDeliveriesAndTheirKeys() {
        let lease = Lease(delivery: 1, event: "e", destination: crm, attempts: 0, body: [], orderKey: "a")
        let search = search(limit: 5, leasing: [lease])
        #expect(!search.accepts(.init(id: 1, key: nil)))
        #expect(!search.accepts(.init(id: 2, key: "a")), "it would overtake its successor")
        #expect(search.accepts(.init(id: 3, key: "b")) && search.accepts(.init(id: 4, key: nil)))
        #expect(search.lastKey == "a" && search.isOrdered)
    }

    @Test func findsNoMoreThanItsLimitAndKnowsWhetherThereIsMore() {
        var search = search(limit: 2, leasing: [])
        for id in 1...3 where search.wantsMore { search.add(.init(id: Int64(id), key: "k\(id)")) }
        search.isComplete = true
        #expect(search.found.map(\.id) == [1, 2])
        #expect(search.servedKey == "k2")
        #expect(!search.wantsMore && !search.isWhole)
    }

    /// The lane must notice its end, and other work.
    @Test func aClaimEndsThoughTheStoreAlwaysHasMore() async throws {
        let lanes = Lanes()
        let wakes = Mutex(0)
        lanes.open(crm, isOrdered: true) { wakes.withLock { $0 += 1 } }
        let reads = Mutex(0)
        let before = wakes.withLock(\.self)
        let leases = try await lanes.claim(from: crm, upTo: 1) { [crm] () throws(StoreError) in
            reads.withLock { $0 += 1 }
            lanes.withHandOff { handOff in
                handOff.withLane(crm) { lane in
                    var search = DueSearch(of: crm, limit: 1, Lanes())
                    search.isComplete = true
                    lane.finishReading([], of: search)
                    lane.leaveToStore()
                }
            }
            return []
        }
        #expect(leases.isEmpty && lanes.mayHaveMore(of: crm))
        #expect(reads.withLock(\.self) == 16 && wakes.withLock(\.self) == before + 1)
    }

    /// The key may be one that the round has passed.
    @Test func aChangeOfAnyKeyBeginsANewRound() {
        let lease = Lease(delivery: 1, event: "e", destination: crm, attempts: 0, body: [])
        func rest(after change: (inout HandOff) -> Void) -> DueSearch.Rest? {
            var handOff = HandOff()
            handOff.open(crm, isOrdered: true)
            handOff.withLane(crm) { _ = $0.claim(upTo: 1) }
            var search = DueSearch(of: crm, limit: 1, Lanes())
            (search.unfinished, search.resumeKey) = (DueSearch.Rest.upTo("k"), "a")
            handOff.withLane(crm) { $0.finishReading([lease], of: search) }
            change(&handOff)
            return handOff.lanes[crm]?.rest
        }
        let unchanged = DueSearch.Rest.upTo("k")
        #expect(rest { _ in } == unchanged)
        #expect(rest { _ = $0.wake(at: now, all: false) } == unchanged, "it only continues")
        #expect(rest { _ = $0.wake(at: now, all: true) } == nil)
        #expect(rest { handOff in handOff.withLane(crm) { $0.leaveToStore() } } == nil)
        #expect(rest { handOff in handOff.withLane(crm) { $0.release(lease, due: nil) } } == nil)
    }

    // MARK: Retention

    @Test(arguments: [
        (age: 8.0, isWaiting: false, isDead: false, isOld: true), (7, false, false, false), (8, false, true, false),
        (31, false, true, true), (31, true, false, false),
    ])
    func removesEndedEventsAfterAWeekAndDeadOnesAfterAMonth(
        age: Double, isWaiting: Bool, isDead: Bool, isOld: Bool
    ) {
        let limits = Retention.Limits(ended: now - 7 * 86_400, dead: now - 30 * 86_400)
        let accepted = now - age * 86_400
        #expect(limits.allowRemoval(acceptedAt: accepted, isWaiting: isWaiting, isDead: isDead) == isOld)
    }

    // MARK: Destinations

    @Test func aPausePrecedesAMissingPermissionWhichPrecedesABackoff() {
        let paused = DestinationStatus(.paused, since: now)
        let withheld = DestinationStatus(withheld: "x", since: now)
        let open = DestinationBackoff(.breakerOpen, reason: "x", since: now, until: now - 1)
        func word(
            _ state: DestinationStatus? = nil, _ withheld: DestinationStatus? = nil,
            _ backoff: DestinationBackoff? = nil
        ) -> String? {
            func table<T>(_ value: T?) -> [DestinationName: T] { value.map { [crm: $0] } ?? [:] }
            return DestinationStatus.all(
                states: table(state), withheld: table(withheld), backoffs: table(backoff), at: now)[crm]?.word
        }
        #expect(word(paused, withheld, open) == "paused")
        #expect(word(nil, withheld, open) == "withheld")
        #expect(word(nil, nil, open) == "breaker_open", "until an attempt succeeds")
        #expect(word(nil, nil, DestinationBackoff(.retryAfter, reason: "x", since: now, until: now + 1)) == "throttled")
        #expect(word(nil, nil, DestinationBackoff(.retryAfter, reason: "x", since: now, until: now)) == nil)
    }
}
