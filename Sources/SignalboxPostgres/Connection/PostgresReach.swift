import Synchronization

/// Whether a database can be reached, as far as this process knows. All connections of a store share one instance.
///
/// After a failed attempt to connect, further attempts within ``pause`` fail at once with the same reason: requests do
/// not wait one after another for a host that does not answer. A class because connections on several threads share
/// it.
package final class PostgresReach: Sendable {
    /// How long further attempts fail at once after an attempt that failed.
    static let pause: Duration = .milliseconds(500)

    private struct State {
        /// The reason, and when the attempt ended; nil while the database can be reached.
        var failure: (reason: PostgresFailure, at: ContinuousClock.Instant)?
        /// Called with the reason when the database is gone or the reason changes, and with nil when it is back.
        var report: (@Sendable (String?) -> Void)?
        /// When the server of the last connection started, which tells it from others; nil before the first one.
        var server: Int64?
    }

    private let state = Mutex(State())
    private let renewals = Atomic<Int>(0)
    /// Why no connection is ever made; nil for a database in use.
    private let closed: String?

    /// `closed`: the reason, without a full stop, for the placeholder of a store that is not open yet.
    init(closed: String? = nil) { self.closed = closed }

    /// Reports later changes: the reason when the database cannot be reached any longer, or for another reason than
    /// before, and nil when it can be reached again. `report` is called once for each change, on the thread that found
    /// the change; it must not block.
    package func onChange(_ report: @escaping @Sendable (_ reason: String?) -> Void) {
        state.withLock { $0.report = report }
    }

    /// Throws while no connection should be attempted. A closed target always throws; another one does within ``pause``
    /// after a failed attempt. Several threads may pass at once: only the first failure makes the others fail fast.
    func admit() throws(PostgresFailure) {
        if let closed { throw PostgresFailure(kind: .connection, message: closed) }
        let failure = state.withLock { $0.failure }
        guard let failure, ContinuousClock.now - failure.at < Self.pause else { return }
        throw failure.reason
    }

    /// Records an attempt that failed. The observer is called without the lock, and only if the reason differs from the
    /// last one.
    func failed(_ reason: PostgresFailure) {
        let report = state.withLock { state in
            defer { state.failure = (reason, .now) }
            return state.failure?.reason.words == reason.words ? nil : state.report
        }
        report?(reason.words)
    }

    /// Whether the last attempt to connect succeeded.
    var isReachable: Bool { closed == nil && state.withLock { $0.failure == nil } }

    /// The number of renewals. Connections from before the last renewal are no longer used.
    var generation: Int { renewals.load(ordering: .acquiring) }

    /// Makes every user of the database connect again, and so find the host that accepts writes: a former primary that
    /// was made read-only keeps its sessions, and answers reads with data that no longer change. `generation`: of the
    /// connection whose server is read-only. Has no effect if another thread has renewed after it.
    func renew(after generation: Int) {
        _ = renewals.compareExchange(expected: generation, desired: generation + 1, ordering: .acquiringAndReleasing)
    }

    /// Records the server of a new connection; returns the generation of the connection. When it is another one than
    /// before, every user of the database connects again: after a failover, a former primary that still runs keeps its
    /// sessions. It answers with data that no longer change, and commits that it confirms are lost. `server`: when it
    /// started, in microseconds since 1970; nil for a standby that a pooler reads from, which changes nothing.
    func adopt(server: Int64?) -> Int {
        state.withLock { state in
            guard let server else { return generation }
            let former = exchange(&state.server, with: server)
            if former != nil, former != server { renewals.add(1, ordering: .acquiringAndReleasing) }
            return generation
        }
    }

    /// Records a connection.
    func succeeded() {
        let report = state.withLock { state in
            defer { state.failure = nil }
            return state.failure == nil ? nil : state.report
        }
        report?(nil)
    }
}
