import GRDB
package import SignalboxNotification
package import SignalboxStore

/// Accepting events.
extension SQLiteQueue {
    /// Calls `done` from the writer's thread, after the commit. A damaged file accepts no further event.
    package func append(
        _ events: [RoutedEvent], of request: IdempotentRequest?,
        whenDone done: @escaping @Sendable (Result<AppendResult, StoreError>) -> Void
    ) {
        guard !events.isEmpty || request != nil else { return done(.success(.appended(duplicates: [:]))) }
        if let damage = health.damage { return done(.failure(damage)) }
        commits.submit(.append(events, request), weight: events.deliveryCount, hasDeadline: true) { result in
            done(
                result.map { output in
                    guard case .appended(let result) = output else {
                        preconditionFailure("The write is not an append.")
                    }
                    return result
                })
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
