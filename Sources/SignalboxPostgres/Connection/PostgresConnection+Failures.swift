import CPostgres

extension PostgresConnection {
    /// An error without a SQLSTATE counts as an internal one (XX000).
    static func failure(of result: OpaquePointer) -> PostgresFailure {
        let state = PQresultErrorField(result, Int32(UnicodeScalar("C").value)).map { String(cString: $0) }
        // The primary message alone: the detail repeats values of rows.
        let words = PQresultErrorField(result, Int32(UnicodeScalar("M").value)).map { String(cString: $0) }
        return PostgresFailure(
            kind: .statement(sqlState: state ?? "XX000"), message: words ?? "the server gave no reason")
    }

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
        if reason.contains("too many clients") || reason.contains("connection slots") { return PostgresFailure.room }
        if reason.contains("no pg_hba.conf entry") { return "admit the role in pg_hba.conf" }
        if reason.contains("FATAL:  role") { return "create the role, or name another one in gateway.store" }
        if reason.contains("FATAL:  database") { return "create the database, or name another one in gateway.store" }
        return "check that the server runs, and its address in gateway.store"
    }

    /// The last message of libpq on one line, without its hints and the server's details.
    static func message(of handle: OpaquePointer) -> String {
        String(cString: PQerrorMessage(handle)).split(whereSeparator: \.isNewline)
            // Hints of libpq begin with a tab.
            .filter { line in !["\t", "DETAIL:", "HINT:"].contains { line.hasPrefix($0) } }
            .joined(separator: "; ")
    }
}
