import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

extension SQLiteWriter {
    /// How exactly it is known when a category was last seen: more often it is not written, since most events have one
    /// that is known already.
    private static let seenEvery: Int64 = 3_600_000

    /// Notes that an event has these buttons. What is known and was seen within the hour costs no write, and where its
    /// definition cannot have changed not even a look at the table; what has changed under its name is replaced.
    func note(_ category: DefinedCategory, in db: Database, _ transaction: inout Transaction) throws {
        if category.isNamedByDefinition, known.contains(category.identifier, at: transaction.now) { return }
        guard let record = category.record else { return }
        let statement = try transaction.category ?? Self.statement(in: db)
        transaction.category = statement
        try statement.run { row in
            row.bind(record.identifier)
            row.bind(record.definition)
            row.bind(transaction.now.milliseconds)
            row.bind(transaction.now.milliseconds)
        }
        known.insert(record.identifier, at: transaction.now)
        transaction.noted.append(record.identifier)
    }

    private static func statement(in db: Database) throws -> RowStatement {
        // A clock that was set back must not make every event a write: hence the absolute value.
        try RowStatement(
            db,
            sql: """
                INSERT INTO categories (identifier, definition, first_seen, last_seen) VALUES (?, ?, ?, ?)
                ON CONFLICT (identifier) DO UPDATE
                    SET definition = excluded.definition, last_seen = excluded.last_seen
                    WHERE definition != excluded.definition OR abs(last_seen - excluded.last_seen) >= \(seenEvery)
                """)
    }
}
