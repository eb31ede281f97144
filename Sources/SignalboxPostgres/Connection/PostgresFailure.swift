import SignalboxStore

/// The failure of a statement or of a connection.
struct PostgresFailure: Error {
    /// The source of the failure, which decides what may help.
    enum Kind: Equatable {
        /// The server answered with an error: its SQLSTATE (PostgreSQL 15, appendix A).
        case statement(sqlState: String)
        /// The connection is gone, or none could be made. A transaction without a COMMIT was rolled back.
        case connection
        /// The server did not answer in time; the connection was closed.
        case timeout
        /// Another database answers at the address; see ``PostgresTarget/identity``. No connection is made.
        case otherDatabase
        /// The connection string, the server or the database cannot be used until an operator changes something.
        case refused
    }

    let kind: Kind
    /// A clause for people, without secrets and values.
    let message: String
    /// A clause that tells an operator to do something; nil when nothing helps, or the message says it.
    var remedy: String?

    /// The message and the remedy, as one clause.
    var words: String { remedy.map { "\(message); \($0)" } ?? message }

    /// Whether the same transaction is expected to succeed when it is run again: a serialisation failure, a deadlock,
    /// or a lock that another transaction held for too long.
    var isTransient: Bool {
        guard case .statement(let state) = kind else { return false }
        return ["40001", "40P01", "55P03"].contains(state)
    }

    /// Whether the connection can no longer be used.
    var endsConnection: Bool {
        guard case .statement(let state) = kind else { return true }
        // Shutdown, crash, administrators and the limit of idle sessions end the session: 57P01 to 57P05. So do the
        // limits of idle transactions and of all transactions.
        return state.hasPrefix("57P") || state == "25P03" || state == "25P04" || state.hasPrefix("08") || isReadOnly
    }

    /// Whether the connection is gone, or the server has ended it, so that the same call may succeed on another one.
    var wasLost: Bool {
        switch kind {
        case .connection: true
        case .statement: endsConnection
        case .timeout, .otherDatabase, .refused: false
        }
    }

    /// Whether the server refused a write, such as a former primary that an operator made read-only before a failover.
    /// Another host of the URL may accept writes.
    var isReadOnly: Bool { kind == .statement(sqlState: "25006") }

    /// Whether the server ended the statement after `statement_timeout`, or at an operator's request.
    var isTooSlow: Bool { kind == .statement(sqlState: "57014") }

    /// Whether one write of a group may be the cause: a violated constraint, or a value that the server rejects.
    /// Classes 22 (data), 23 (constraints) and 54 (limits of the program).
    var mayBeOfOneWrite: Bool {
        guard case .statement(let state) = kind else { return false }
        return state.hasPrefix("22") || state.hasPrefix("23") || state.hasPrefix("54")
    }
}

extension PostgresFailure {
    /// The error for operators and senders.
    fileprivate var asStoreError: StoreError {
        let state: String
        switch kind {
        case .statement(let sqlState): state = sqlState
        case .connection: return .unreachable(reason: words)
        case .timeout: return .unavailable(reason: words)
        case .refused: return .refused(reason: message, remedy: remedy ?? "see the log of the server")
        case .otherDatabase:
            return .refused(reason: message, remedy: "connect it to its database again, or restart it to use this one")
        }
        switch state {
        case "42501": return .refused(reason: "the database refuses access: \(message)", remedy: Self.grant)
        case "3F000":
            return .refused(
                reason: "the schema of the queue is missing: \(message)",
                remedy: "create the schema and grant it to the role, or name another one in gateway.store.schema")
        case "42P01", "42703":
            return .refused(
                reason: "the database lacks a table of the queue: \(message)",
                remedy: "run signalbox store migrate; if no migration was pending, restore a backup of the database")
        case "25006": return .unavailable(reason: "the database is read-only; its operator must make it accept writes")
        case "53100": return .unavailable(reason: "the disk of the database is full; its operator must free space")
        case "53300": return .unreachable(reason: "the database has no free connection: \(message); \(Self.room)")
        case "57014":
            return .unavailable(
                reason: "the database took longer than 10 s for a statement; see its load and its locks")
        case "55P03":
            return .unavailable(
                reason: "another session of the database holds a lock for too long; see pg_stat_activity and pg_locks")
        // A statement that another session prepared, or did not.
        case "42P05", "26000":
            return .unavailable(
                reason: "\(message); the pooler needs the session mode, or version 1.21 with max_prepared_statements")
        case _ where endsConnection: return .unreachable(reason: "the database ended the connection: \(message)")
        default: return .unavailable(reason: message)
        }
    }

    static let room =
        "raise max_connections or the limit of the role, database or pooler, or run fewer gateways and commands"

    private static let grant = "grant the role of the gateway all rights on the tables of its schema"
}

extension StoreError {
    /// Converts an error of this target. Never repeats values.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as PostgresFailure: self = error.asStoreError
        case let error as DamagedValue: self = .damaged(path: "in PostgreSQL", reason: error.reason)
        case let error as CommitFailure: self = error.reason
        case is WriterIsTooOld: self = .otherTables(place: "the database", isNewer: true)
        case is NodeIsGone:
            self = .unavailable(reason: "other gateways have taken over from this one, which begins anew")
        default: self = .unavailable(reason: "\(type(of: error))")
        }
    }
}

extension CommitFailure {
    /// Only errors that one write may cause make the group try its writes alone.
    init(_ error: any Error) {
        switch error {
        case let error as CommitFailure: self = error
        case let error as PostgresFailure: self.init(reason: StoreError(error), mayBeOfOneWrite: error.mayBeOfOneWrite)
        case is DamagedValue: self.init(reason: StoreError(error), mayBeOfOneWrite: true)
        default: self.init(reason: StoreError(error), mayBeOfOneWrite: false)
        }
    }
}
