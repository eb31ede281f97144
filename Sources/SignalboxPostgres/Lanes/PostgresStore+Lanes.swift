import Foundation
package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// Leases of this node. The row of a leased delivery names the node; the lanes in memory know which of these are fresh.
extension PostgresStore {
    /// Starts the heartbeat with the first lane, and has it tell the other nodes about the lane at once.
    package func openLane(_ destination: DestinationName, isOrdered: Bool, wake: @escaping @Sendable () -> Void) {
        lanes.open(destination, isOrdered: isOrdered, wake: wake)
        heartbeat.hurry()
    }

    /// Throws when fresh deliveries cannot be returned to the table. The lane is then still open in memory.
    package func closeLane(_ destination: DestinationName) async throws(StoreError) {
        var fresh = lanes.withHandOff { $0.withLane(destination) { $0.beginClosing() } ?? [] }
        // A commit in progress may still hand something over. None does after it has ended.
        repeat {
            try await giveBack(fresh)
            await finish()
            fresh = lanes.withHandOff { $0.takeFresh(of: [destination]) }
        } while !fresh.isEmpty
        lanes.close(destination)
    }

    /// Returns no leases while this node cannot prove that it is alive. The first claim of a process registers it.
    package func claim(from destination: DestinationName, upTo limit: Int) async throws(StoreError) -> [Lease] {
        guard limit > 0, lanes.isActive(destination), membership.isSafe || membership.incarnation == nil else {
            return []
        }
        return try await lanes.claim(from: destination, upTo: limit) { () throws(StoreError) in
            try await read(destination, upTo: limit)
        }
    }

    /// A result is ``StoreError/undecided(after:)`` when the outcome of its commit is unknown: a second call with the
    /// same settlement then records it, or finds it recorded.
    package func settle(_ settlements: [Settlement]) async -> [Result<SettlementResult, StoreError>] {
        defer { if settlements.contains(where: \.outcome.keepsDue) { hints.reset() } }
        return await commits.settlements.write(settlements.map { .settle($0) })
    }

    /// In one transaction for all lanes.
    package func giveBackFresh() async throws(StoreError) { try await giveBackFresh(of: nil) }

    /// Returns fresh deliveries to the table, of a destination or of all. Any node may claim them then.
    func giveBackFresh(of destination: DestinationName?) async throws(StoreError) {
        try await giveBack(
            lanes.withHandOff { handOff in
                destination.map { handOff.takeFresh(of: [$0]) } ?? handOff.takeFresh(of: handOff.lanes.keys)
            })
    }

    /// Returns leases that were never begun to the table. When that fails, releases them in memory only: the sweep
    /// frees their rows later. Neither counts an attempt.
    func giveBack(_ leases: [Lease]) async throws(StoreError) {
        guard !leases.isEmpty else { return }
        defer { hints.reset() }
        do throws(StoreError) {
            _ = try await commits.settlements.write(.giveBack(leases))
        } catch {
            let now = now
            lanes.withHandOff { handOff in
                for lease in leases { handOff.withLane(lease.destination) { $0.release(lease, due: now) } }
            }
            membership.requestSweep()
            throw error
        }
    }

    /// Also forgets ``hints``, so that the next search of each destination begins at the first entry.
    package func wakeAll() {
        hints.reset()
        lanes.wakeAll(at: now)
    }

    package func mayHaveMore(of destination: DestinationName) -> Bool { lanes.mayHaveMore(of: destination) }

    package func readingNumber(of destination: DestinationName) -> Int? { lanes.readingNumber(of: destination) }

    /// Without a round trip. False before the first registration, and while the last heartbeat is older than
    /// ``NodeMembership/safety``.
    package func isActive(_ destination: DestinationName) -> Bool { lanes.isActive(destination) && membership.isSafe }

    package func isWithheld(by destination: DestinationName) -> Bool { lanes.isWithheld(by: destination) }

    // MARK: Reading

    /// Leases due deliveries from the table, fewer than `limit` if their events are large, and tells the lane. Runs at
    /// most once at a time for a lane. After a failure, the leases of an unknown commit are left to a sweep.
    private func read(_ destination: DestinationName, upTo limit: Int) async throws(StoreError) -> [Lease] {
        let limit = sizes.limit(of: destination, atMost: limit)
        var search = DueSearch(of: destination, limit: limit, lanes)
        let leases: [Lease]
        do throws(StoreError) {
            if search.isOrdered || keyed.withLock({ $0.contains(destination) }) {
                leases = try await readOrdered(&search, upTo: limit)
            } else {
                leases = try await readUnordered(&search, upTo: limit)
            }
        } catch {
            sizes.fail(destination)
            throw error
        }
        sizes.record(destination, leases)
        for lease in leases { search.add(DueSearch.Due(id: lease.delivery, key: lease.orderKey)) }
        let ended = search
        lanes.withHandOff { handOff in
            _ = handOff.withLane(destination) { $0.finishReading(leases, of: ended) }
        }
        return leases
    }

    /// The order of an event is decided when it is accepted, and its key is stored. So a lane that does not order its
    /// destination claims deliveries with keys as an ordered one does: nodes with different configs keep the order.
    private func readUnordered(_ search: inout DueSearch, upTo limit: Int) async throws(StoreError) -> [Lease] {
        let start = hints.start(of: search.destination)
        let begun = now
        let claimed = try await commits.claims.write(order(search, limit: limit, since: start.due))
        await note(claimed, &search)
        if claimed.hasKeys { keyed.withLock { _ = $0.insert(search.destination) } }
        let isShort = claimed.rows < limit
        let rest = hints.record(search.destination, start, isShort ? nil : claimed.lastDue, at: begun)
        search.isComplete = isShort && !claimed.hasKeys
        // A search that began later may have left out deliveries that became due earlier.
        if isShort, !start.isWhole { search.nextDue = min(search.nextDue ?? .distantFuture, now + rest / .seconds(1)) }
        return claimed.leases
    }

    /// Goes through the keys after the one that was served last, then through the others, in short transactions: other
    /// nodes claim in between. Returns what it has when a later transaction fails, because it is leased.
    private func readOrdered(_ search: inout DueSearch, upTo limit: Int) async throws(StoreError) -> [Lease] {
        let begun = ContinuousClock.now
        var leases: [Lease] = []
        var (rows, hasKeys, hasExpired) = (0, false, false)
        var (after, upTo): (String?, String?) = (search.lastKey, nil)
        while rows < limit {
            let claimed: Claimed
            let floor = floors.floor(of: search.destination)
            do throws(StoreError) {
                claimed = try await claimInTurn(
                    order(search, limit: limit - rows, inOrder: true, floor: floor, after: after, upTo: upTo))
            } catch {
                if leases.isEmpty { throw error }
                return leases
            }
            await note(claimed, &search)
            if let part = claimed.part { floors.record(search.destination, part, floor, took: claimed.took) }
            hasKeys = hasKeys || claimed.hasKeys || claimed.isBusy
            guard !claimed.isBusy else {
                // Without a lease, the lane would search again at once.
                search.isComplete = leases.isEmpty
                search.nextDue = min(search.nextDue ?? .distantFuture, now + Self.longestTurn / .seconds(1))
                return leases
            }
            leases += claimed.leases
            rows += claimed.rows
            hasExpired = hasExpired || claimed.expired > 0
            search.resumeKey = claimed.isCut ? claimed.lastKey : nil
            if claimed.isCut {
                after = claimed.lastKey
            } else if rows < limit, upTo == nil, let last = search.lastKey {
                (after, upTo) = (nil, last)
            } else {
                break
            }
        }
        // After an expired delivery, the next one of its key can be leased now.
        search.isComplete = rows < limit && !hasExpired
        if !hasKeys { keyed.withLock { _ = $0.remove(search.destination) } }
        rests.record(search.destination, after: ContinuousClock.now - begun, foundNone: leases.isEmpty)
        return leases
    }

    /// How long a claim waits, in all, for the claims of other nodes. A node that was stopped may never end its claim.
    private static let longestTurn: Duration = .milliseconds(500)

    /// Claims from an ordered destination once other nodes do not, or gives up. Waits between transactions, so that
    /// claims of other destinations are not delayed.
    private func claimInTurn(_ order: ClaimOrder) async throws(StoreError) -> Claimed {
        var (pause, waited): (Duration, Duration) = (.milliseconds(2), .zero)
        while true {
            let claimed = try await commits.claims.write(order)
            guard claimed.isBusy, waited < Self.longestTurn, (try? await Task.sleep(for: pause)) != nil else {
                return claimed
            }
            waited += pause
            // Short ones, so that a claim soon follows that of another node.
            pause = min(pause * 2, .milliseconds(16))
        }
    }

    /// `since`: the due time at which an unordered search begins.
    private func order(
        _ search: DueSearch, limit: Int, since: Date = .distantPast, inOrder: Bool = false,
        floor: LineFloor = .none(), after: String? = nil, upTo: String? = nil
    ) -> ClaimOrder {
        let destination = search.destination
        // An undamaged table has none.
        let unreadable =
            health.damage == nil
            ? []
            : lanes.withHandOff { handOff in
                handOff.lanes[destination]?.held.filter { $0.value == 0 }.keys.sorted() ?? []
            }
        return ClaimOrder(
            destination: destination, limit: limit, isOrdered: inOrder, after: after, upTo: upTo,
            floor: floor, unreadable: unreadable, dueSince: since)
    }

    /// Remembers what a claim found besides leases.
    private func note(_ claimed: Claimed, _ search: inout DueSearch) async {
        search.nextDue = [search.nextDue, claimed.nextDue].compactMap { $0 }.min()
        let unreadable = await damaged(of: claimed.unreadable)
        search.unreadable += unreadable
        if let damaged = unreadable.first {
            health.recordDamage(StoreError(DamagedValue("delivery \(damaged) has lost its event or its variant")))
        }
    }

    /// The deliveries whose event or variant is missing in a new snapshot. A claim locks the newest version of a row
    /// and reads the other tables as they were before, so it misses a variant that was stored meanwhile. Empty if the
    /// database cannot be read: the next claim finds the suspects again.
    private func damaged(of suspects: [Int64]) async -> [Int64] {
        guard !suspects.isEmpty else { return [] }
        do throws(StoreError) {
            return try await readers.rows(
                """
                SELECT id FROM queue q WHERE id = ANY ($1) AND (
                    NOT EXISTS (SELECT FROM events e WHERE e.seq = q.event)
                    OR variant IS NOT NULL AND NOT EXISTS (SELECT FROM variants v WHERE v.id = q.variant))
                ORDER BY id
                """, [.numbers(suspects)]
            ) { try $0.number(0) }
        } catch { return [] }
    }
}
