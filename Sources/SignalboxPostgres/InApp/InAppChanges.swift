import Dispatch
import Foundation
import SignalboxInApp
import SignalboxStore

/// Reports changes of in-app messages by this node and by others. No report of a message is older than the one before.
///
/// Each transaction that changes messages adds their ids to `inapp_changes`, with its number. A look reads the rows of
/// all transactions from the oldest one that was still open at the former look, which could not see it. Transactions
/// do not commit in the order of their numbers, so a look leaves out rows that were reported, by their key. It then
/// reads the messages. One look runs at a time, so each report of a message is newer than the one before.
///
/// A class because it owns a connection and an observer; calls are serialised by a lock that blocks, so they come from
/// threads of the store.
final class InAppChanges: Sendable {
    private struct Key: Hashable {
        let transaction: Int64
        let number: Int64
    }

    private struct State {
        var observer: (@Sendable ([StoredInAppMessage]) -> Void)?
        var connection: PostgresConnection?
        /// The oldest transaction whose changes may not have been reported; nil before the first look.
        var position: Int64?
        /// The reported changes of transactions from ``position`` on.
        var reported: Set<Key> = []
        /// When the last look ended.
        var lastLook: ContinuousClock.Instant?
    }

    /// Upkeep removes rows after a day; a node that could not look for so long reads all messages instead.
    private static let longestPause: Duration = .seconds(12 * 3600)
    /// Messages that one statement reads.
    private static let page = 500

    private let target: PostgresTarget
    private let clock: @Sendable () -> Date
    private let lock = NSLock()
    // Unchecked: used under `lock` only. Connections are not `Sendable`.
    private nonisolated(unsafe) var state = State()
    // A queue and not a task: libpq's calls block, which Swift's pool of threads must not.
    private let queue = DispatchQueue(label: "signalbox.postgres.in-app-changes")

    init(_ target: PostgresTarget, now: @escaping @Sendable () -> Date) { (self.target, clock) = (target, now) }

    /// Reports the changes from now on. Blocks for a round trip at the first call. When the server cannot be reached,
    /// older changes are reported later too.
    func open(_ observer: @escaping @Sendable ([StoredInAppMessage]) -> Void) {
        lock.withLock {
            if state.position == nil {
                do { _ = try unreported(&state) } catch { state.connection = nil }
            }
            state.observer = observer
        }
    }

    /// Reports the changes since the last look. Blocks: the caller's write answers after the report, so that the next
    /// decision of its sender knows the message. One read for a whole group of writes, and only if one of them changed
    /// a message. A failure leaves the changes to the next look, which every tick makes.
    func look() { do { try report() } catch { close() } }

    /// Like ``look()``, off Swift's threads. Throws the failure.
    func lookLater() async throws(StoreError) {
        let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Void, StoreError>, Never>) in
            queue.async {
                do {
                    try self.report()
                    done.resume(returning: .success(()))
                } catch {
                    self.close()
                    done.resume(returning: .failure(StoreError(error)))
                }
            }
        }
        try result.get()
    }

    private func close() { lock.withLock { state.connection = nil } }

    private func report() throws {
        try lock.withLock {
            guard let observer = state.observer else { return }
            if let last = state.lastLook, ContinuousClock.now - last > Self.longestPause {
                try reportAll(to: observer, &state)
            }
            let ids = try unreported(&state)
            guard !ids.isEmpty else { return }
            var left = ids[...]
            while !left.isEmpty {
                observer(try messages(Array(left.prefix(Self.page)), &state))
                left = left.dropFirst(Self.page)
            }
        }
    }

    // MARK: Reads

    /// Messages that were changed since the last call, in the order of their changes.
    private func unreported(_ state: inout State) throws -> [MessageID] {
        let rows = try connection(&state).run(
            """
            SELECT oldest, transaction, number, message
            FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest) AS snapshot
            LEFT JOIN inapp_changes ON transaction >= coalesce($1, oldest) ORDER BY transaction, number
            """, [.number(state.position)])
        guard let oldest = try rows.first?.number(0) else { return [] }
        if let position = state.position, oldest < position {
            // Another server took over without the latest transactions: numbers begin again.
            (state.position, state.reported) = (0, [])
            return try unreported(&state)
        }
        let isFirst = state.position == nil && state.observer == nil
        var (ids, reported): ([MessageID], Set<Key>) = ([], [])
        var known: Set<MessageID> = []
        for row in rows {
            guard let transaction = try row.optionalNumber(1) else { continue }
            let key = Key(transaction: transaction, number: try row.number(2))
            if transaction >= oldest { reported.insert(key) }
            let id = try row.text(3)
            if !state.reported.contains(key), known.insert(id).inserted { ids.append(id) }
        }
        (state.position, state.reported, state.lastLook) = (oldest, reported, .now)
        return isFirst ? [] : ids
    }

    /// In the order of `ids`. A removed message counts as withdrawn.
    private func messages(_ ids: [MessageID], _ state: inout State) throws -> [StoredInAppMessage] {
        let rows = try connection(&state).run(
            "SELECT \(StoredInAppMessage.columns) FROM inapp_messages WHERE id = ANY($1)", [.texts(ids)])
        var found: [MessageID: StoredInAppMessage] = [:]
        for message in try rows.map({ try StoredInAppMessage($0) }) { found[message.registration.id] = message }
        return ids.map { id in
            found[id]
                ?? StoredInAppMessage(
                    InAppRegistration(id: id, body: []), revision: 0, registeredAt: 0,
                    withdrawnAt: clock().milliseconds)
        }
    }

    /// Reports every message, withdrawn or not.
    private func reportAll(
        to observer: @Sendable ([StoredInAppMessage]) -> Void, _ state: inout State
    ) throws {
        var last = ""
        while true {
            let page = try connection(&state).run(
                "SELECT \(StoredInAppMessage.columns) FROM inapp_messages WHERE id > $1 ORDER BY id LIMIT \(Self.page)",
                [.text(last)]
            ).map { try StoredInAppMessage($0) }
            guard let end = page.last else { return }
            observer(page)
            last = end.registration.id
        }
    }

    private func connection(_ state: inout State) throws -> PostgresConnection {
        if let connection = state.connection, connection.isOpen { return connection }
        let connection = try PostgresConnection(target)
        state.connection = connection
        return connection
    }
}
