import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore

/// Backoffs are stored in the file so that other processes see them. They belong to the delivering process and mean
/// nothing to the next one.
extension SQLiteQueue {
    /// Records a backoff, or its end with nil. An extended backoff keeps its start time.
    package func record(_ backoff: DestinationBackoff?, of destination: DestinationName) async throws(StoreError) {
        try await write { db in
            guard let backoff else {
                return try db.execute(sql: "DELETE FROM backoffs WHERE destination = ?", arguments: [destination.name])
            }
            try db.execute(
                sql: """
                    INSERT INTO backoffs (destination, kind, reason, since, until) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (destination) DO UPDATE SET reason = excluded.reason, until = excluded.until,
                        since = iif(kind = excluded.kind, since, excluded.since), kind = excluded.kind
                    """,
                arguments: [
                    destination.name, backoff.kind.rawValue, backoff.reason, backoff.since.milliseconds,
                    backoff.until.milliseconds,
                ])
        }
    }

    /// Removes the backoffs of an earlier process. Call it before anything is delivered.
    package func forgetBackoffs() async throws(StoreError) {
        guard !(try await read { try DestinationBackoff.all(in: $0) }).isEmpty else { return }
        try await write { try $0.execute(sql: "DELETE FROM backoffs") }
    }
}

extension DestinationBackoff {
    static func all(in db: Database) throws -> [DestinationName: DestinationBackoff] {
        var all: [DestinationName: DestinationBackoff] = [:]
        for row in try StoredRow.fetchAll(db, sql: "SELECT destination, kind, reason, since, until FROM backoffs") {
            all[DestinationName(try row.text(0))] = DestinationBackoff(
                try row.word(1), reason: try row.text(2), since: try row.date(3), until: try row.date(4))
        }
        return all
    }
}
