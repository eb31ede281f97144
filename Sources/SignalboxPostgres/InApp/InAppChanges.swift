import Dispatch
import Foundation
import SignalboxInApp
import SignalboxNotification
import SignalboxStore

/// Reports changes of in-app messages by this node and by others. No report of a message is older than the previous
/// report.
///
/// Each transaction that changes messages adds their ids to `inapp_changes`, with its number. Transactions do not
/// commit in the order of their numbers. So each look remembers its snapshot: the transactions whose changes it could
/// see. The next look reads the changes that this snapshot did not contain, so that it reads each change once, however
/// long other transactions last. It then reads the messages. One look runs at a time, so each report of a message is
/// newer than the previous report.
///
/// A server that lost its latest transactions gives their numbers again. After a lost connection, a look reads all
/// changes that are still stored.
///
/// A class because it owns a connection and an observer; calls are serialised by a lock that blocks, so they come from
/// threads of the store.
final class InAppChanges: Sendable {
    private typealias Observer = @Sendable ([StoredInAppMessage]) -> Void

    private struct State {
        /// Nil until ``open(_:)``; looks read nothing without one.
        var observer: Observer?
        var connection: PostgresConnection?
        /// The changes that were reported.
        var reported = TransactionSnapshot.empty
        /// When the last look ended.
        var lastLook: ContinuousClock.Instant?
        var rowsRead = 0
    }

    /// Upkeep removes rows after a day; a node that could not look for so long reads all messages instead.
    private static let longestPause: Duration = .seconds(12 * 3600)
    /// The most changes, or messages, that one statement reads.
    static let page = 500

    /// Each statement reads a few rows by a key. The planner would read a table that has grown since its last analysis.
    private static let settings = ["enable_seqscan=off"]

    private let target: PostgresTarget
    private let clock: @Sendable () -> Date
    private let lock = NSLock()
    // Unchecked: used under `lock` only. Connections are not `Sendable`.
    private nonisolated(unsafe) var state = State()
    // A queue and not a task: libpq's calls block, which Swift's pool of threads must not.
    private let queue = DispatchQueue(label: "signalbox.postgres.in-app-changes")

    init(_ target: PostgresTarget, now: @escaping @Sendable () -> Date) {
        (self.target, clock) = (target.with(Self.settings), now)
    }

    /// The rows of `inapp_changes` that looks have read.
    var rowsRead: Int { lock.withLock { state.rowsRead } }

    /// Reports the changes from now on. Blocks for a round trip at the first call. When the server cannot be reached,
    /// older changes are reported later too.
    func open(_ observer: @escaping @Sendable ([StoredInAppMessage]) -> Void) {
        lock.withLock {
            if state.observer == nil {
                do { try begin(&state) } catch { state.connection = nil }
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
        try await queue.run { () throws(StoreError) in
            do { try self.report() } catch {
                self.close()
                throw StoreError(error)
            }
        }
    }

    /// Ends the connection. The next look makes another one.
    func close() { lock.withLock { state.connection = nil } }

    /// Holds the lock during its reads and during the calls of the observer.
    private func report() throws {
        try lock.withLock {
            guard let observer = state.observer else { return }
            if let last = state.lastLook, ContinuousClock.now - last > Self.longestPause {
                try reportAll(to: observer, &state)
            }
            try reportChanges(to: observer, &state)
            state.lastLook = .now
        }
    }

    // MARK: Reads

    /// Leaves out the changes until now.
    private func begin(_ state: inout State) throws {
        let row = try connection(&state).run("SELECT pg_current_snapshot()::text").first
        if let row { state.reported = try TransactionSnapshot(row.text(0)) }
        state.lastLook = .now
    }

    /// Changes that the snapshot `$5` contains and the former one did not: those of transactions that were open then,
    /// `$1`, and of later ones, from `$2` on. In pages, after the key `($3, $4)`. Nil as `$5` takes a snapshot.
    private static let unreported = """
        SELECT taken, transaction, number, message
        FROM (SELECT coalesce($5, pg_current_snapshot()::text) AS taken) AS look LEFT JOIN LATERAL (
            (\(changes("transaction = ANY ($1)"))) UNION ALL (\(changes("transaction >= $2")))
            ORDER BY transaction, number LIMIT \(page)
        ) AS changes ON true
        """

    private static func changes(_ condition: String) -> String {
        """
        SELECT transaction, number, message FROM inapp_changes
        WHERE \(condition) AND (transaction, number) > ($3, $4)
            AND pg_visible_in_snapshot(transaction::text::xid8, taken::pg_snapshot)
        ORDER BY transaction, number LIMIT \(page)
        """
    }

    /// Reports the changes that are not in ``State/reported``, in their order. Those of the last page are reported
    /// before the snapshot is replaced: after a failure, the next look reads all of them again.
    private func reportChanges(to observer: Observer, _ state: inout State) throws {
        let connection = try connection(&state)
        let former = state.reported
        var last: (transaction: Int64, number: Int64) = (0, 0)
        var taken: TransactionSnapshot?
        while true {
            let rows = try connection.run(
                Self.unreported,
                [
                    .numbers(former.open), .number(former.next), .number(last.transaction), .number(last.number),
                    .text(taken?.text),
                ])
            guard let first = rows.first else { return }
            let snapshot = try TransactionSnapshot(first.text(0))
            guard snapshot.next >= former.next else { return try reportStored(to: observer, &state) }
            taken = snapshot
            let changes = try rows.filter { try $0.optionalNumber(1) != nil }
            state.rowsRead += changes.count
            try report(try changes.map { try $0.text(3) }, to: observer, &state)
            guard changes.count == Self.page, let end = changes.last else { break }
            last = (try end.number(1), try end.number(2))
        }
        if let taken { state.reported = taken }
    }

    /// Reports all changes that are still stored: another server took over without the latest transactions.
    private func reportStored(to observer: Observer, _ state: inout State) throws {
        state.reported = .empty
        try reportChanges(to: observer, &state)
    }

    /// Each message once, in its present state, however often it is among the ids.
    private func report(_ ids: [MessageID], to observer: Observer, _ state: inout State) throws {
        guard !ids.isEmpty else { return }
        var known: ExactTextSet = []
        observer(try messages(ids.filter { known.insert($0) }, &state))
    }

    /// In the order of `ids`. A removed message counts as withdrawn.
    private func messages(_ ids: [MessageID], _ state: inout State) throws -> [StoredInAppMessage] {
        let rows = try connection(&state).run(
            "SELECT \(StoredInAppMessage.columns) FROM inapp_messages WHERE id = ANY($1)", [.texts(ids)])
        var found = ExactTextMap<StoredInAppMessage>()
        for message in try rows.map({ try StoredInAppMessage($0) }) { found[message.registration.id] = message }
        return ids.map { id in
            found[id]
                ?? StoredInAppMessage(
                    InAppRegistration(id: id, body: []), revision: 0, registeredAt: 0,
                    withdrawnAt: clock().milliseconds)
        }
    }

    /// Reports every message, withdrawn or not.
    private func reportAll(to observer: Observer, _ state: inout State) throws {
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

    /// A new connection forgets the reported snapshot, so that the next look reads all changes that are stored.
    private func connection(_ state: inout State) throws -> PostgresConnection {
        if let connection = state.connection, connection.isOpen { return connection }
        let connection = try PostgresConnection(target)
        (state.connection, state.reported) = (connection, .empty)
        return connection
    }
}
