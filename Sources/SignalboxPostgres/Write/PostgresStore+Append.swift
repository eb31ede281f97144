package import SignalboxNotification
package import SignalboxStore

/// Accepting events.
extension PostgresStore {
    /// Calls `done` from the thread of the commits.
    package func append(
        _ events: [RoutedEvent], of request: IdempotentRequest?,
        whenDone done: @escaping @Sendable (Result<AppendResult, StoreError>) -> Void
    ) {
        guard !events.isEmpty || request != nil else { return done(.success(.appended(duplicates: [:]))) }
        if let damage = health.damage { return done(.failure(damage)) }
        appends.submit(AppendWrite(events: events, request: request), done)
    }

    package func finish() async {
        await appends.finish()
        // Writes of the group end in their order, even when this one fails.
        _ = try? await commits.settlements.write(.giveBack([]))
    }

    /// A transaction of its own, which the server syncs. It uses another connection and other tables than appends, so
    /// an append that waits for a lock does not delay it.
    package func probe() async throws(StoreError) {
        if let fault = health.fault { throw fault }
        if let time = appends.commitTime, time >= StoreLimits.longestCommit { throw .stalled(for: time) }
        // Writes may still succeed, but nothing is sent, and other nodes take over.
        if let fault = membership.fault(isReachable: target.reach.isReachable) { throw fault }
        try await writer(.others).write { _ = try $0.run("SELECT 1") }
    }
}

// MARK: Groups

extension PostgresStore {
    /// Appends the events of a group of requests in one transaction; returns the result of each request. Nil: nothing
    /// was appended, because another node is accepting an equal request.
    func append(_ writes: [AppendWrite], on lane: WriterLane) throws(CommitFailure) -> [AppendResult?] {
        try commit(on: lane) { transaction, effects in
            var batch = AppendBatch(self, transaction)
            defer { effects = batch.effects }
            let results = try batch.append(writes)
            try batch.finish()
            return results
        }
    }
}

extension AppendBatch {
    /// Appends the events of requests. A request that repeats an earlier one adds no event: its result is the stored
    /// answer, or `conflicting` for another body. Events are checked one after the other, so a request may repeat its
    /// own events. Nil for a request that must be retried.
    mutating func append(_ writes: [AppendWrite]) throws -> [AppendResult?] {
        var requests = try RepeatedRequests(of: writes, in: transaction)
        var new: [AppendedEvent] = []
        for (write, content) in writes.enumerated() where requests.isNew(write) {
            new += content.events.enumerated().map { AppendedEvent(write: write, position: $0, routed: $1) }
        }
        var duplicates: [Int: [Int: String]] = [:]
        let repeats = try RepeatedEvents(among: new, in: transaction)
        for (event, earlier) in zip(new, repeats.earlier) {
            if let earlier { duplicates[event.write, default: [:]][event.position] = earlier }
        }
        if !repeats.isEmpty { new = zip(new, repeats.earlier).compactMap { $1 == nil ? $0 : nil } }
        for (event, isInserted) in zip(new, try insert(new.map(\.routed))) where !isInserted {
            duplicates[event.write, default: [:]][event.position] = event.routed.event.id.description
        }
        let results = requests.results(duplicates)
        add(requests.statements + repeats.statements)
        return results
    }
}

/// An event of a group of requests.
struct AppendedEvent {
    /// The index of its request.
    let write: Int
    /// Its index in the request.
    let position: Int
    let routed: RoutedEvent
}
