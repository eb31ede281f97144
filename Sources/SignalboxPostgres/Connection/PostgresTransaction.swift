import Foundation
import SignalboxStore

/// A transaction of a writer. Its first statements begin it, in the same round trip; a body without statements begins
/// none. A class because a body and the functions that it calls share its state; it lives on one thread.
final class PostgresTransaction {
    /// The time of all writes of the transaction, by the store's clock. A repeated run gets a later time.
    let now: Date
    /// The incarnation of this process in whose name it writes: `holder` of the rows that it leases.
    let node: Int64
    /// The writer that runs it: the row of the ledger is its own.
    let lane: WriterLane

    private let connection: PostgresConnection
    /// `BEGIN` and the mark, which are sent with the first statements of the body.
    private let opening: [PostgresStatement]
    /// Whether statements were sent. Otherwise there is no transaction to commit.
    private(set) var hasBegun = false

    /// `opening`: begins the transaction; its last statement is ``PostgresWriter/mark``.
    init(_ connection: PostgresConnection, node: Int64, lane: WriterLane, at now: Date, opening: [PostgresStatement]) {
        (self.connection, self.node, self.lane, self.now, self.opening) = (connection, node, lane, now, opening)
    }

    /// Runs one statement in one round trip.
    @discardableResult
    func run(_ sql: String, _ values: [PostgresValue] = []) throws -> PostgresRows {
        guard let rows = try run(all: [PostgresStatement(sql, values)]).first else {
            throw DamagedValue("a statement has no result")
        }
        return rows
    }

    /// Runs statements in one round trip; returns the rows of each. An error ends the transaction. The first call
    /// throws ``NodeIsGone`` when the mark finds no row, and ``WriterIsTooOld`` when `meta.min_writer` is above the
    /// version of this process.
    @discardableResult
    func run(all statements: [PostgresStatement]) throws -> [PostgresRows] {
        guard !hasBegun else { return try connection.run(all: statements) }
        hasBegun = true
        let results = try connection.run(all: opening + statements)
        guard results.count > opening.count - 1, let mark = results[opening.count - 1].first else { throw NodeIsGone() }
        guard try mark.count(0) <= PostgresSchema.version else { throw WriterIsTooOld() }
        return Array(results[opening.count...])
    }
}

/// Another process has declared this incarnation gone, or the server has lost commits that it had confirmed. The
/// transaction has no effect.
struct NodeIsGone: Error {}

/// A newer release has changed the tables so that this one may no longer write them. The transaction has no effect.
struct WriterIsTooOld: Error {}
