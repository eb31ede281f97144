import GRDB

/// Short forms for statements from the connection's cache. For statements whose SQL has few variants.
extension Database {
    /// Runs a statement; returns the number of rows that it changed. `arguments`: by position or by name. Throws
    /// `DatabaseError`.
    @discardableResult
    func run(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Int {
        try cachedStatement(sql: sql).execute(arguments: arguments)
        return changesCount
    }

    /// Returns all rows. For results of bounded size, because they are held in memory at once.
    func rows(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> [StoredRow] {
        try StoredRow.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    /// Returns the first row; nil when there is none. Reads no second row.
    func row(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> StoredRow? {
        try StoredRow.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    /// The first column of the first row; nil when there is no row, or NULL.
    func number(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Int64? {
        try row(sql, arguments)?.optionalNumber(0)
    }

    /// Whether there is a first row, and its first column is true.
    func flag(_ sql: String, _ arguments: StatementArguments = StatementArguments()) throws -> Bool {
        try number(sql, arguments).map { $0 != 0 } ?? false
    }
}
