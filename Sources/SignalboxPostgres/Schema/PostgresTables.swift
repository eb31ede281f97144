import CPostgres
import Foundation
import SignalboxStore

/// How a process treats the tables of the database that it opens.
package enum PostgresTables: Sendable {
    /// Makes missing tables, and applies pending migrations. If the role may not create tables, requires current ones.
    case migrated
    /// Requires that no migration is pending. Throws ``StoreError/otherTables(place:isNewer:)`` otherwise, and changes
    /// nothing.
    case current
    /// Also opens a database that a copy is filling. Requires current tables, too.
    case copying

    /// Connects; returns the key by which tokens are hashed, and the target for connections to this database alone.
    /// Blocks. Throws like the initialiser of ``PostgresStore``. With pending migrations, waits for those of another
    /// process.
    func open(_ target: PostgresTarget) throws(StoreError) -> (tokenKey: [UInt8], target: PostgresTarget) {
        let connection = try PostgresTables.connect(target)
        do {
            var status = try PostgresSchema.status(connection)
            if !status.pending.isEmpty, !status.isTooNew, self == .migrated {
                do {
                    try PostgresSchema.migrate(connection)
                } catch let error as PostgresFailure where error.kind == .statement(sqlState: "42501") {
                    // The role of the gateway may write, but not make tables.
                }
                status = try PostgresSchema.status(connection)
            }
            guard !status.isTooNew, status.pending.isEmpty else {
                throw StoreError.otherTables(place: target.place, isNewer: status.isTooNew)
            }
            if self != .copying, try connection.run("SELECT 1 FROM copies WHERE NOT is_done").first != nil {
                throw CopyAdmission.incomplete(target)
            }
            guard let row = try connection.run("SELECT token_key, id FROM meta").first else {
                throw DamagedValue("the table meta is empty")
            }
            return (try row.bytes(0), target.expecting(try row.text(1)))
        } catch { throw StoreError(error) }
    }

    /// Connects, and finds out why it fails. Throws ``StoreError/refused(reason:remedy:)`` when another attempt would
    /// fail too.
    static func connect(_ target: PostgresTarget) throws(StoreError) -> PostgresConnection {
        do throws(PostgresFailure) {
            return try PostgresConnection(target)
        } catch {
            guard error.kind == .connection else { throw StoreError(error) }
            let remedy: String
            switch PostgresConnection.sqlState(of: target) {
            // Classes 28 and 3D: authorization, unknown database.
            case "28P01":
                remedy =
                    "check the user in gateway.store and the password: gateway.store.password, PGPASSWORD or PGPASSFILE"
            case "28000": remedy = PostgresConnection.remedy(for: error.message, needsPassword: false)
            case "3D000": remedy = "create the database, or name another one in gateway.store"
            case "42501": remedy = PostgresConnection.noConnectRight
            default: throw StoreError(error)
            }
            throw .refused(reason: error.message, remedy: remedy)
        }
    }
}

extension PostgresConnection {
    /// The first SQLSTATE with which a host refuses a connection; nil if none does. Blocks for 3 s a host at most.
    /// libpq reports it only as text, and only of a connection that is made step by step.
    static func sqlState(of target: PostgresTarget) -> String? {
        target.attempts.lazy.compactMap { sqlState(with: $0) }.first
    }

    /// The same for one attempt.
    private static func sqlState(with parameters: [(String, String)]) -> String? {
        guard let handle = connect(parameters, PQconnectStartParams) else { return nil }
        defer { PQfinish(handle) }
        PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE)
        let end = ContinuousClock.now + .seconds(3)
        var state = PGRES_POLLING_WRITING
        while state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING {
            let events = state == PGRES_POLLING_WRITING ? POLLOUT : POLLIN
            var place = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
            let left = Int64((end - ContinuousClock.now) / .milliseconds(1))
            guard left > 0, poll(&place, 1, Int32(left)) > 0 else { return nil }
            state = PQconnectPoll(handle)
        }
        let message = String(cString: PQerrorMessage(handle))
        // "FATAL:  28P01" ends it. A port before it may have five digits, too.
        return message.split(whereSeparator: \.isWhitespace).last.flatMap { word in
            word.utf8.count == 5 && word.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
                ? String(word) : nil
        }
    }
}
