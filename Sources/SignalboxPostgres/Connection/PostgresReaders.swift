import Dispatch
import SignalboxStore
import Synchronization

/// A few connections that read. Each has a thread of its own; calls take turns. A class because it owns them.
final class PostgresReaders: Sendable {
    /// A connection with its thread.
    private final class Reader: Sendable {
        /// Blocks while its call waits for the server; further calls of the reader queue up behind it.
        let queue: DispatchQueue
        // Used on `queue` only; the lock satisfies the compiler.
        let connection = Mutex<PostgresConnection?>(nil)
        /// Calls that have not ended.
        let pending = Counter()

        init(_ number: Int) { queue = DispatchQueue(label: "signalbox.postgres.reader-\(number)") }
    }

    private let target: PostgresTarget
    /// Never empty. A reader keeps its connection between calls.
    private let readers: [Reader]

    /// `count`: connections at most; each is made when it is first used.
    init(_ target: PostgresTarget, count: Int = 3) {
        self.target = target
        readers = (0..<count).map { Reader($0) }
    }

    /// Runs reads off Swift's threads. Each statement sees the commits before it. `body` may run twice: a lost
    /// connection is replaced once. A body that writes must therefore be harmless when repeated. Throws the error of
    /// the second run.
    func read<T: Sendable>(_ body: @escaping @Sendable (PostgresConnection) throws -> T) async throws(StoreError) -> T {
        let reader = leastBusy()
        reader.pending.add()
        defer { reader.pending.add(-1) }
        return try await reader.queue.run { [target] () throws(StoreError) in
            try reader.connection.withLock { Self.run(body, on: &$0, target) }.get()
        }
    }

    /// Reads the rows of one statement with `value`.
    func rows<T: Sendable>(
        _ sql: String, _ values: [PostgresValue] = [], _ value: @escaping @Sendable (PostgresRow) throws -> T
    ) async throws(StoreError) -> [T] {
        try await read { connection in try connection.run(sql, values).map { try value($0) } }
    }

    /// Reads the first row of one statement with `value`; nil if there is none.
    func first<T: Sendable>(
        _ sql: String, _ values: [PostgresValue] = [], _ value: @escaping @Sendable (PostgresRow) throws -> T?
    ) async throws(StoreError) -> T? {
        try await read { connection in try connection.run(sql, values).first.flatMap { try value($0) } }
    }

    /// Like ``read(_:)``, with one snapshot for all statements. A body that writes fails. The server ends the session
    /// when a body pauses for 5 s between two statements (`idle_in_transaction_session_timeout`).
    func snapshot<T: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> T
    ) async throws(StoreError) -> T {
        try await read { connection in
            _ = try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            do {
                let result = try body(connection)
                _ = try connection.run("COMMIT")
                return result
            } catch {
                connection.rollBack()
                throw error
            }
        }
    }

    /// So that a slow list does not delay the look at the queue while another connection is free.
    private func leastBusy() -> Reader {
        readers.dropFirst().reduce(readers[0]) { $1.pending.value < $0.pending.value ? $1 : $0 }
    }

    /// A lost or ended connection repeats `body`, on a new one. A timeout does not: the caller would wait twice as
    /// long.
    private static func run<T>(
        _ body: (PostgresConnection) throws -> T, on place: inout PostgresConnection?, _ target: PostgresTarget
    ) -> Result<T, StoreError> {
        for isLast in [false, true] {
            do {
                let connection: PostgresConnection
                if let open = place, open.isOpen {
                    connection = open
                } else {
                    connection = try PostgresConnection(target)
                }
                place = connection
                return .success(try body(connection))
            } catch let failure as PostgresFailure where failure.wasLost && !isLast {
                place = nil
            } catch { return .failure(StoreError(error)) }
        }
        return .failure(.unavailable(reason: "the connection was lost twice"))
    }
}
