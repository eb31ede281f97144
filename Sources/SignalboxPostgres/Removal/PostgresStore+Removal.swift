import Foundation
package import SignalboxStore

/// Removal of events and records beyond the retention. Several nodes may remove at once: the second one finds less to
/// remove.
extension PostgresStore {
    /// The most rows that one step removes. Small steps hold locks for a short time only.
    static let removalStep = 500

    /// Many small transactions, so a crash in between loses no consistency. Returns the number of removed events.
    /// `pause` runs between the steps, without a lock. In this order: ended events, payloads, requests, keys of
    /// `dedupe`, in-app rows, events beyond the bytes, categories, actions. The server reuses
    /// the space of removed rows for new ones. Throws at the first failure; the steps before it stay.
    package func remove(beyond retention: Retention, pause: () async -> Void) async throws(StoreError) -> Int {
        let now = now
        let limits = Retention.Limits(ended: now - retention.ended, dead: now - retention.dead)
        var removed = 0
        var position: Int64? = .min
        while let start = position {
            let step = try await removeStep(limits, after: start)
            removed += step.removed
            position = step.next
            if position != nil { await pause() }
        }
        try await forgetPayloads(pause: pause)
        // Before the limit of bytes, so that expired records do not cost events.
        while try await forget(.requests, before: now - StoreLimits.requestMemory).isFull { await pause() }
        while try await forget(.duplicates, before: now - StoreLimits.longestDedupe).isFull { await pause() }
        try await removeInApp(beyond: retention.inApp, at: now, pause: pause)
        removed += try await remove(beyondBytes: retention.bytes, at: now, pause: pause)
        try await forgetCategories(beyond: retention.categories, at: now, pause: pause)
        try await forgetActions(pause: pause)
        return removed
    }

    /// Removes the oldest ended events, and requests that are as old, until the content is small enough. Events with
    /// waiting deliveries stay, so the content may remain larger. In-app rows do not count, because their own retention
    /// bounds them. `pause` is called between the steps.
    private func remove(
        beyondBytes limit: Int64, at now: Date, pause: () async -> Void
    ) async throws(StoreError) -> Int {
        guard try await readers.read({ try ContentSize.allocated(on: $0) }) > limit else { return 0 }
        var excess = try await readers.read({ try ContentSize.estimate(on: $0) }) - limit
        let youngest = now - StoreLimits.shortestRequestMemory
        let limits = Retention.Limits(ended: .distantFuture, dead: .distantFuture)
        var removed = 0
        var position: Int64? = .min
        while let start = position, excess > 0 {
            let step = try await removeStep(limits, after: start, upTo: excess)
            removed += step.removed
            excess -= step.bytes
            position = step.next
            // After the last event, every request that may be removed.
            let age = min(step.last ?? youngest, youngest)
            while excess > 0 {
                let forgotten = try await forget(.requests, before: age)
                excess -= forgotten.bytes
                guard forgotten.isFull else { break }
                await pause()
            }
            await pause()
        }
        return removed
    }

    /// The result of one step.
    private struct RemovalStep: Sendable {
        var removed = 0
        /// The approximate size of the removed events.
        var bytes: Int64 = 0
        /// The last event that was read; nil when no later one can be removed.
        var next: Int64?
        /// When that event was accepted.
        var last: Date?
    }

    /// Reads events after `start`, the oldest first, and removes those beyond the limits, until they have as many
    /// bytes. At most ``removalStep`` events are read, whether or not they can be removed. Finds candidates without a
    /// lock; the transaction checks again that no delivery of them waits.
    private func removeStep(
        _ limits: Retention.Limits, after start: Int64, upTo bytes: Int64 = .max
    ) async throws(StoreError) -> RemovalStep {
        let now = now
        let (found, candidates) = try await readers.read { connection -> (RemovalStep, [Int64]) in
            let rows = try connection.run(Self.oldest, [.number(start), .number(Int64(Self.removalStep))])
            var (step, candidates): (RemovalStep, [Int64]) = (RemovalStep(), [])
            var (mayHaveMore, left) = (false, bytes)
            for row in rows where left > 0 {
                let accepted = try row.date(1)
                mayHaveMore = mayHaveMore || limits.allowRemoval(after: accepted, at: now)
                (step.next, step.last) = (try row.number(0), accepted)
                let isOld = limits.allowRemoval(
                    acceptedAt: accepted, isWaiting: try row.flag(2), isDead: try row.flag(3))
                guard isOld else { continue }
                candidates.append(try row.number(0))
                left -= try row.number(4)
            }
            if left > 0, rows.count < Self.removalStep || !mayHaveMore { (step.next, step.last) = (nil, nil) }
            return (step, candidates)
        }
        guard !candidates.isEmpty else { return found }
        return try await writer(.others).write { transaction in
            var step = found
            (step.removed, step.bytes) = try Self.remove(events: candidates, in: transaction)
            return step
        }
    }

    /// Removes the events without a waiting delivery; returns their number and approximate size.
    private static func remove(
        events candidates: [Int64], in transaction: PostgresTransaction
    ) throws -> (count: Int, bytes: Int64) {
        let rows = try transaction.run(all: [
            PostgresStatement(EventRemoval.lock, [.numbers(candidates)]),
            PostgresStatement(EventRemoval.ended, [.numbers(candidates)]),
        ])[1]
        var removals = DeliveryRemovals()
        var (events, bytes): ([Int64], Int64) = ([], 0)
        for row in rows {
            guard try row.optionalText(0) != nil else {
                events.append(try row.number(2))
                bytes += try row.number(3)
                continue
            }
            removals.add(try row.count(2), try row.word(1), of: try row.destination(0))
        }
        guard !events.isEmpty else { return (0, 0) }
        try transaction.run(
            all: MediaWaits.remove(events: events, in: transaction)
                + [removals.statement(in: transaction)].compactMap(\.self))
        return (events.count, bytes + Int64(removals.total) * ContentSize.endedRow)
    }

    /// The oldest events, with whether a delivery waits, whether one is dead, and their size. For `EXISTS` the planner
    /// might read all deliveries, to look them up in memory. For the state alone, it might read the partial index of
    /// all dead ones for each event.
    private static let oldest = """
        SELECT seq, accepted_at, (SELECT 1 FROM queue WHERE event = seq LIMIT 1) IS NOT NULL,
            (SELECT 1 FROM ended WHERE event = seq AND state || '' = 'dead' LIMIT 1) IS NOT NULL,
            \(EventRemoval.bytes)
        FROM events WHERE seq > $1 ORDER BY seq LIMIT $2
        """
}
