import Foundation
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

/// Times of the file: whole milliseconds since 1970, so that they sort and compare as numbers.
extension Date {
    /// Milliseconds since 1970, rounded down. A date that the file cannot hold becomes the nearest one that it can.
    var milliseconds: Int64 {
        let exact = (timeIntervalSince1970 * 1000).rounded(.down)
        let limits = StoredRow.numbers
        return exact.isNaN ? 0 : Int64(min(max(exact, Double(limits.lowerBound)), Double(limits.upperBound)))
    }

    /// The inverse of ``milliseconds``. Exact to the millisecond for every number that the file may hold.
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// Fractions of a millisecond are kept until the date is stored.
    static func + (date: Date, wait: Duration) -> Date { date + wait / .seconds(1) }
    static func - (date: Date, wait: Duration) -> Date { date - wait / .seconds(1) }
}
