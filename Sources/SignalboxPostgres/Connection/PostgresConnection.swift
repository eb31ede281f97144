import CPostgres
import Foundation

/// A statement and its arguments: `$1` is the first one.
struct PostgresStatement {
    /// One command with placeholders. Equal texts share one prepared statement of a connection.
    let sql: String
    /// One for each placeholder. The first use of a text fixes the types of its placeholders on a connection, so a text
    /// must always come with the same kinds of values.
    let values: [PostgresValue]

    init(_ sql: String, _ values: [PostgresValue] = []) { (self.sql, self.values) = (sql, values) }
}

/// One connection to the server. Its calls block until the server has answered, or until a deadline after which the
/// connection is closed. A class because it owns libpq's connection. Unchecked: its owner uses it on one thread at a
/// time.
///
/// Each distinct text is prepared once. Statements of one call are sent together (libpq's pipeline mode), so that they
/// cost one round trip.
final class PostgresConnection: @unchecked Sendable {
    /// How long the server may take for one call. Longer than the server's own `statement_timeout`, which ends with a
    /// definite answer. When it runs out, the call throws a failure of the kind `timeout` and closes the connection.
    var patience: Duration = .seconds(12)

    /// How long the server keeps plans. A plan that was made while a table was small reads the whole table when it has
    /// grown, until a vacuum or an analysis of it, which may not come for minutes. A new plan takes milliseconds.
    var planLife: Duration = .seconds(10)

    /// The server parses texts beyond this number each time. Their number has no limit, because some are assembled from
    /// conditions. They use the unnamed prepared statement, which lasts until the next one (PostgreSQL, "Message Flow":
    /// extended query).
    private static let mostPrepared = 400

    private let handle: OpaquePointer
    /// Names of prepared statements by their texts. A text is added once its whole call has succeeded: after an error,
    /// the server ignores the preparations that follow it.
    private var prepared: [String: String] = [:]
    /// Grows with each preparation, even one that failed: the server keeps some of them.
    private var preparations = 0
    /// When the server last forgot its plans.
    private var plannedAt = ContinuousClock.now
    /// False after ``close()``, a lost connection, a timeout or ``PostgresReach/renew(after:)``, and never true again:
    /// the owner makes another connection.
    var isOpen: Bool { !isClosed && generation == reach.generation }
    private var isClosed = false
    /// Set by ``receiveNotices(of:)``.
    var isUnreplicated = false
    private let reach: PostgresReach
    /// ``PostgresReach/generation`` when the connection was made.
    private var generation: Int

    /// Connects to the first host of the target that accepts. Throws a failure of the kind `connection` with libpq's
    /// reasons, without the password. Throws the kind `otherDatabase` when the database at the address is not the one
    /// that ``PostgresTarget/identity`` names. Throws the kind `refused` for a connection string that libpq cannot
    /// use, a server before version 13, a database whose encoding lacks characters, and a session that did not get
    /// its settings. Blocks for 3 s for each address that does not answer. Within ``PostgresReach/pause`` after a
    /// failed attempt, throws its reason again without a further attempt.
    init(_ target: PostgresTarget) throws(PostgresFailure) {
        try target.reach.admit()
        reach = target.reach
        var reasons: [String] = []
        var needsPassword = false
        var opened: OpaquePointer?
        for parameters in target.attempts {
            guard let connection = Self.connect(parameters, PQconnectdbParams) else {
                throw PostgresFailure(kind: .connection, message: "not enough memory for a connection")
            }
            if PQstatus(connection) == CONNECTION_OK {
                opened = connection
                break
            }
            let reason = target.masked(Self.message(of: connection))
            if !reasons.contains(reason) { reasons.append(reason) }
            needsPassword = needsPassword || PQconnectionNeedsPassword(connection) == 1
            PQfinish(connection)
        }
        guard let connection = opened else {
            let reason = reasons.joined(separator: "; ")
            let message = "\(target.place) cannot be reached: \(reason)"
            let failure =
                Self.isFaultOfURL(reason, target.url)
                ? PostgresFailure(kind: .refused, message: message, remedy: "correct the URL in gateway.store")
                : PostgresFailure(
                    kind: .connection, message: message,
                    remedy: Self.remedy(for: reason, needsPassword: needsPassword))
            target.reach.failed(failure)
            throw failure
        }
        (handle, generation) = (connection, target.reach.generation)
        if let flaw = Self.flaw(of: connection) {
            throw PostgresFailure(kind: .refused, message: "\(target.place) \(flaw.reason)", remedy: flaw.remedy)
        }
        PQsetnonblocking(connection, 1)
        receiveNotices(of: connection)
        PQenterPipelineMode(connection)
        do throws(PostgresFailure) {
            generation = reach.adopt(server: try checkSettings(target))
            try check(target)
        } catch {
            let failure = Self.beginning(error, of: target)
            target.reach.failed(failure)
            throw failure
        }
        target.reach.succeeded()
    }

    /// Calls one of libpq's functions that connect. `open`: `PQconnectdbParams`, which blocks, or
    /// `PQconnectStartParams`, which does not. Later parameters override earlier ones. Nil if libpq has no memory; a
    /// failed connection is not nil, and its reason is in `PQerrorMessage`.
    static func connect(
        _ parameters: [(String, String)],
        _ open: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>, CInt) -> OpaquePointer?
    ) -> OpaquePointer? {
        let keywords = parameters.map { strdup($0.0) } + [nil]
        let values = parameters.map { strdup($0.1) } + [nil]
        defer { for text in keywords + values { free(text) } }
        // libpq treats the value of `dbname` as a connection string when the last argument is 1.
        return open(keywords.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 1)
    }

    /// Throws for a database that is not the expected one. An empty table `meta` counts as another one; a missing table
    /// throws the server's error. One round trip.
    private func check(_ target: PostgresTarget) throws(PostgresFailure) {
        guard let identity = target.identity else { return }
        let row = try run("SELECT id = $1 FROM meta", [.text(identity)]).first
        let isExpected: Bool
        do { isExpected = try row?.flag(0) ?? false } catch { isExpected = false }
        guard isExpected else {
            throw PostgresFailure(
                kind: .otherDatabase, message: "\(target.place) is not the database that the gateway opened")
        }
    }

    deinit { PQfinish(handle) }

    /// Ends the connection at once, even while it is still referred to: the server rolls its transaction back.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        // libpq closes the socket at the end of this object.
        shutdown(PQsocket(handle), Int32(SHUT_RDWR))
    }

    // MARK: Statements

    /// Runs one statement in one round trip. Outside of a transaction, the server commits it at once.
    func run(_ sql: String, _ values: [PostgresValue] = []) throws(PostgresFailure) -> PostgresRows {
        guard let rows = try run(all: [PostgresStatement(sql, values)]).first else {
            throw PostgresFailure(kind: .connection, message: "the server sent no result")
        }
        return rows
    }

    /// Runs statements in one round trip; returns the rows of each. Throws the first error; the statements after it
    /// were not run. Outside of a transaction, they are one transaction. Closes the connection after a failure that
    /// ends it. The server then rolls the transaction back, unless the call contained a COMMIT: its outcome is unknown.
    /// All rows are in memory when it returns.
    func run(all statements: [PostgresStatement]) throws(PostgresFailure) -> [PostgresRows] {
        guard isOpen else {
            // A connection that is only out of date is closed too: its transaction would keep its locks.
            close()
            throw PostgresFailure(kind: .connection, message: "the connection was closed")
        }
        // Only outside of a transaction, because a failed one accepts only its end. In a separate round trip, because
        // no statement may read before the BEGIN with which the call may begin.
        if ContinuousClock.now - plannedAt >= planLife, PQtransactionStatus(handle) == PQTRANS_IDLE {
            plannedAt = .now
            _ = try exchange([PostgresStatement("DISCARD PLANS")])
        }
        return try exchange(statements)
    }

    private func exchange(_ statements: [PostgresStatement]) throws(PostgresFailure) -> [PostgresRows] {
        do throws(PostgresFailure) {
            var added: [(String, String)] = []
            var results: [Bool] = []
            for statement in statements { try send(statement, &added, &results) }
            guard PQpipelineSync(handle) == 1 else { throw lost() }
            let rows = try receive(results, until: ContinuousClock.now + patience)
            if isUnreplicated {
                throw PostgresFailure(kind: .connection, message: "an operator canceled the wait for a standby")
            }
            for (sql, name) in added { prepared[sql] = name }
            return rows
        } catch {
            // The plan may read a whole table: the next call discards all plans.
            if error.isTooSlow { plannedAt = .now - planLife }
            if error.isReadOnly { reach.renew(after: generation) }
            if error.endsConnection { close() }
            throw error
        }
    }

    /// Prepares the text if it is new, and sends the statement. `results`: for each result to come, whether it is of a
    /// statement and not of its preparation. Does not block: libpq keeps the bytes that the socket does not accept yet.
    private func send(
        _ statement: PostgresStatement, _ added: inout [(String, String)], _ results: inout [Bool]
    ) throws(PostgresFailure) {
        let name: String
        if let known = prepared[statement.sql] ?? added.first(where: { $0.0 == statement.sql })?.1 {
            name = known
        } else {
            preparations += 1
            name = preparations > Self.mostPrepared ? "" : "s\(preparations)"
            let types = statement.values.map(\.type)
            guard PQsendPrepare(handle, name, statement.sql, Int32(types.count), types) == 1 else { throw lost() }
            if !name.isEmpty { added.append((statement.sql, name)) }
            results.append(false)
        }
        var buffer: [UInt8] = []
        let ranges = statement.values.map { value -> Range<Int>? in
            let start = buffer.count
            return value.encode(into: &buffer) ? start..<buffer.count : nil
        }
        // An empty value needs an address too: NULL is a null pointer.
        if buffer.isEmpty { buffer.append(0) }
        let lengths = ranges.map { Int32($0?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: ranges.count)
        let sent = buffer.withUnsafeBytes { bytes in
            let pointers = ranges.map { range in
                range.flatMap { bytes.baseAddress?.advanced(by: $0.lowerBound).assumingMemoryBound(to: CChar.self) }
            }
            return PQsendQueryPrepared(handle, name, Int32(ranges.count), pointers, lengths, formats, 1)
        }
        guard sent == 1 else { throw lost() }
        results.append(true)
    }

    /// Reads the results up to the end of the pipeline. Also reads the results after an error, because the connection
    /// can be used again only at the end of the pipeline. Then throws the first error.
    private func receive(
        _ results: [Bool], until deadline: ContinuousClock.Instant
    ) throws(PostgresFailure) -> [PostgresRows] {
        var rows: [PostgresRows] = []
        var failure: PostgresFailure?
        for isStatement in results {
            guard let result = try next(until: deadline) else { throw lost() }
            switch PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                if isStatement { rows.append(PostgresRows(result)) } else { PQclear(result) }
            case PGRES_PIPELINE_ABORTED: PQclear(result)
            default:
                if failure == nil { failure = Self.failure(of: result) }
                PQclear(result)
            }
            // Each statement's results end with a null pointer.
            if let extra = try next(until: deadline) { PQclear(extra) }
        }
        guard let sync = try next(until: deadline) else { throw lost() }
        PQclear(sync)
        if let failure { throw failure }
        return rows
    }

    /// The next result; nil ends the results of one statement. Sends buffered statements meanwhile: a server whose
    /// results are not read stops reading statements.
    private func next(until deadline: ContinuousClock.Instant) throws(PostgresFailure) -> OpaquePointer? {
        while true {
            let unsent = PQflush(handle)
            guard unsent >= 0 else { throw lost() }
            if unsent == 0, PQisBusy(handle) == 0 { return PQgetResult(handle) }
            try wait(forWriting: unsent == 1, until: deadline)
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    /// Blocks until the socket can be read or, with `forWriting`, read or written. Throws at the deadline, after it has
    /// closed the connection.
    private func wait(forWriting: Bool, until deadline: ContinuousClock.Instant) throws(PostgresFailure) {
        var place = pollfd(fd: PQsocket(handle), events: Int16(POLLIN | (forWriting ? POLLOUT : 0)), revents: 0)
        while true {
            let left = deadline - ContinuousClock.now
            guard left > .zero else {
                close()
                throw PostgresFailure(
                    kind: .timeout, message: "the database did not answer for \(patience.components.seconds) s",
                    remedy: "see its load and its locks")
            }
            let found = poll(&place, 1, Int32(clamping: Int64(left / .milliseconds(1)) + 1))
            if found > 0 { return }
            guard found == 0 || errno == EINTR else { throw lost() }
        }
    }

    /// Also closes the connection, so that its owner makes another one.
    private func lost() -> PostgresFailure {
        close()
        return PostgresFailure(kind: .connection, message: "the connection was lost: \(Self.message(of: handle))")
    }
}
