import CPostgres
import SignalboxStore

extension PostgresConnection {
    /// An error without a SQLSTATE counts as an internal one (XX000).
    static func failure(of result: OpaquePointer) -> PostgresFailure {
        let state = PQresultErrorField(result, Int32(UnicodeScalar("C").value)).map { String(cString: $0) }
        // The primary message alone: the detail repeats values of rows.
        let words = PQresultErrorField(result, Int32(UnicodeScalar("M").value)).map { String(cString: $0) }
        return PostgresFailure(
            kind: .statement(sqlState: state ?? "XX000"), message: words ?? "the server gave no reason")
    }

    /// The remedy for a role without the right to connect to the database.
    static let noConnectRight = "grant the role CONNECT on the database"

    /// The action by which an operator makes a failed connection possible. `reason`: libpq's, in English unless the
    /// server translates it.
    static func remedy(for reason: String, needsPassword: Bool) -> String {
        if needsPassword { return "set gateway.store.password, PGPASSWORD or PGPASSFILE" }
        if reason.contains("authentication failed") {
            return "check the user in gateway.store and its password: gateway.store.password, PGPASSWORD or PGPASSFILE"
        }
        if reason.hasSuffix("session is read-only") {
            return "make the server accept writes, or name its primary in gateway.store"
        }
        // The limits of the server, of a role or database, and of PgBouncer.
        if ["too many", "connection slots", "more connections"].contains(where: reason.contains) {
            return PostgresFailure.room
        }
        // It is starting, recovering from a crash, or stopping (SQLSTATE 57P03).
        if reason.contains("FATAL:  the database system is ") {
            return "wait until the server accepts connections; its log says what it is doing"
        }
        if reason.contains("could not write init file") { return "free space on the disk of the server" }
        if reason.contains("pg_hba.conf") {
            let admission = "admit the role in pg_hba.conf"
            return reason.contains("no encryption") && !reason.contains("SSL encryption")
                ? "set sslmode=require in gateway.store, or \(admission)" : admission
        }
        if ["certificate", "private key file", "SSL was required", "channel binding"].contains(where: reason.contains) {
            return "check the parameters of TLS in gateway.store, such as sslmode and sslrootcert, and the server's "
                + "certificate"
        }
        // These roles and databases exist.
        if reason.contains("is not permitted to log in") {
            return "permit it with ALTER ROLE ... LOGIN, or name another role in gateway.store"
        }
        if reason.contains("FATAL:  permission denied for database") { return noConnectRight }
        if reason.contains("is not currently accepting connections") {
            return "permit them with ALTER DATABASE ... ALLOW_CONNECTIONS true, or name another database in "
                + "gateway.store"
        }
        if reason.contains("FATAL:  role") { return "create the role, or name another one in gateway.store" }
        if reason.contains("FATAL:  database") { return "create the database, or name another one in gateway.store" }
        return "check that the server runs, and its address in gateway.store"
    }

    /// The failure of the first statements of a session, for operators. A pooler accepts a session that has to wait for
    /// a place in its pool.
    static func beginning(_ failure: PostgresFailure, of target: PostgresTarget) -> PostgresFailure {
        var failure = failure
        switch failure.kind {
        case .timeout:
            failure.remedy = "see its load and its locks; if it is behind a pooler, raise the size of the pool"
        case .connection:
            failure = PostgresFailure(
                kind: .connection, message: "\(target.place) cannot be reached: \(failure.message)",
                remedy: remedy(for: failure.message, needsPassword: false))
        case .statement, .otherDatabase, .refused: break
        }
        return failure
    }

    /// Whether the connection string is at fault, so that libpq cannot use it at all. `reason`: libpq's. Its reasons
    /// about the value of a parameter begin with the words below (fe-connect.c).
    static func isFaultOfURL(_ reason: String, _ url: String) -> Bool {
        guard let options = PQconninfoParse(url, nil) else { return true }
        PQconninfoFree(options)
        return reason.hasPrefix("invalid ") || reason.hasPrefix("could not match ")
    }

    /// Why no store can use a database, as the rest of a sentence about it; nil if one can.
    static func flaw(of handle: OpaquePointer) -> (reason: String, remedy: String)? {
        guard PQserverVersion(handle) >= 130_000 else { return ("is older than PostgreSQL 13", "upgrade the server") }
        // A database with the encoding SQL_ASCII stores bytes as they are. A pooler may not tell the encoding.
        guard let encoding = PQparameterStatus(handle, "server_encoding").map({ String(cString: $0) }),
            !["UTF8", "SQL_ASCII"].contains(encoding)
        else { return nil }
        return (
            "has the encoding \(encoding), which lacks characters of events",
            "create the database with ENCODING 'UTF8'"
        )
    }

    /// Throws the kind `refused` for a session without the settings of ``PostgresTarget/parameters`` on which events
    /// and their order depend: a pooler may ignore them. A schema that does not exist is left to the first statement
    /// about a table. Returns when the server started, for ``PostgresReach/adopt(server:)``; nil for a standby. One
    /// round trip.
    func checkSettings(_ target: PostgresTarget) throws(PostgresFailure) -> Int64? {
        let row = try run(
            """
            SELECT current_schema()::text, current_setting('synchronous_commit'),
                current_setting('default_transaction_isolation'), CASE WHEN NOT pg_is_in_recovery()
                THEN (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint END
            """
        ).first
        let (current, durability, isolation, start): (String?, String, String, Int64?)
        do throws(DamagedValue) {
            guard let row else { throw DamagedValue("it sent no settings") }
            (current, durability, isolation) = (try row.optionalText(0), try row.text(1), try row.text(2))
            start = try row.optionalNumber(3)
        } catch { throw PostgresFailure(kind: .connection, message: "the settings of the session: \(error.reason)") }
        let missing: String
        if let schema = target.schema, let current, current != schema {
            missing = "search_path = '\(schema)'"
        } else if durability == "off" {
            missing = "synchronous_commit = 'on'"
        } else if isolation != "read committed" {
            missing = "default_transaction_isolation = 'read committed'"
        } else {
            return start
        }
        throw PostgresFailure(
            kind: .refused, message: "\(target.place) ignores the setting \(missing) of the gateway, as poolers do",
            remedy: "set it for the role with ALTER ROLE")
    }

    /// Ignores notices except one. After an operator has canceled the wait of a commit for its standby
    /// (`pg_cancel_backend`), the server confirms the commit with a warning of this function (syncrep.c). A failover
    /// may lose it, so the call must not succeed. The next connection finds out whether it is committed, and waits
    /// again.
    func receiveNotices(of handle: OpaquePointer) {
        PQsetNoticeReceiver(
            handle,
            { connection, notice in
                guard let connection, let function = PQresultErrorField(notice, Int32(UnicodeScalar("R").value)),
                    String(cString: function) == "SyncRepWaitForLSN"
                else { return }
                Unmanaged<PostgresConnection>.fromOpaque(connection).takeUnretainedValue().isUnreplicated = true
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Ends a transaction that has failed. Closes the connection if it cannot.
    func rollBack() {
        guard isOpen else { return }
        do throws(PostgresFailure) { _ = try run("ROLLBACK") } catch { close() }
    }

    /// The last message of libpq on one line, without its hints and the server's details.
    static func message(of handle: OpaquePointer) -> String {
        String(cString: PQerrorMessage(handle)).split(whereSeparator: \.isNewline)
            // Hints of libpq begin with a tab.
            .filter { line in !["\t", "DETAIL:", "HINT:"].contains { line.hasPrefix($0) } }
            .map { line in line.hasSuffix(".") ? line.dropLast() : line }
            .joined(separator: "; ")
    }
}
