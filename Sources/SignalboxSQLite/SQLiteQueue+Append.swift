import GRDB
package import SignalboxNotification
package import SignalboxStore

/// Accepting events.
extension SQLiteQueue {
    /// Durable when it returns. Throws ``StoreError/undecided(after:)`` when the commit outlasts the deadline: the
    /// events may still be stored. Throws without a write while damage is known: a damaged file accepts no further
    /// event.
    @discardableResult
    package func append(
        _ events: [RoutedEvent], of request: IdempotentRequest?
    ) async throws(StoreError) -> AppendResult {
        guard !events.isEmpty || request != nil else { return .appended(duplicates: [:]) }
        if let damage = health.damage { throw damage }
        let write = SQLiteWrite.append(events, request)
        return try await commits.write(write, weight: events.deliveryCount, hasDeadline: true).appendResult
    }

    /// For a request that its sender does not repeat. `done` runs on the writer's thread.
    package func append(
        _ events: [RoutedEvent], whenDone done: @escaping @Sendable (Result<[Int: String], StoreError>) -> Void
    ) {
        append(events, of: nil) { result in done(result.map(\.duplicates)) }
    }

    /// Calls `done` once, from the writer's thread, after the commit. Callable from any thread; does not block.
    package func append(
        _ events: [RoutedEvent], of request: IdempotentRequest?,
        whenDone done: @escaping @Sendable (Result<AppendResult, StoreError>) -> Void
    ) {
        guard !events.isEmpty || request != nil else { return done(.success(.appended(duplicates: [:]))) }
        if let damage = health.damage { return done(.failure(damage)) }
        commits.submit(.append(events, request), weight: events.deliveryCount, hasDeadline: true) { result in
            done(result.map(\.appendResult))
        }
    }

    /// Returns after all writes that were submitted before. Called at the stop, after the last client.
    package func finish() async {
        // Writes end in their order, even when this one fails.
        _ = try? await commits.write(.giveBack([]))
    }

    /// Makes one small durable write. Throws the fault of the queue if there is one.
    package func probe() async throws(StoreError) {
        if let fault = health.fault { throw fault }
        try checkDisk()
        do {
            try await file.pool.writeWithoutTransaction { [file] db in
                try file.requirePlace(of: db)
                let version = try db.number("PRAGMA user_version") ?? 0
                try db.execute(sql: "PRAGMA user_version = \((version &+ 1) & 0xFFFF)")
            }
        } catch { throw file.failure(error) }
    }
}

extension SQLiteWrite.Output {
    /// Traps for another kind of write.
    fileprivate var appendResult: AppendResult {
        guard case .appended(let result) = self else { preconditionFailure("The write is not an append.") }
        return result
    }
}

extension AppendResult {
    /// Traps for a repeated request: an append without one repeats none.
    fileprivate var duplicates: [Int: String] {
        guard case .appended(let duplicates) = self else { preconditionFailure("The append repeats a request.") }
        return duplicates
    }
}
