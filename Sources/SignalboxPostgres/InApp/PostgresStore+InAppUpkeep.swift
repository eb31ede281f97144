import Foundation
import SignalboxInApp
import SignalboxNotification
import SignalboxStore
import Synchronization

/// Upkeep and audit of in-app rows.
extension PostgresStore {
    /// Withdraws addressed messages without an end whose user or device was not seen, once an hour, and removes
    /// messages that were withdrawn or have ended. Then removes the displays of users and devices that were not seen,
    /// with all rows that no limit counts any longer. `pause` is called between two steps. Throws the first error; the
    /// next call continues where this one stopped.
    func removeInApp(
        beyond retention: InAppRetention, at now: Date, pause: () async -> Void
    ) async throws(StoreError) {
        let lastEndless = lastInAppWalk.withLock { $0 }
        for walk in InAppWalk.all(beyond: retention, at: now, lastEndless: lastEndless) {
            var step: InAppWalk? = walk
            while let current = step {
                step = try await writer(.others).write { [target] transaction in
                    try current.run(in: transaction, schema: target.schema)
                }
                if step != nil { await pause() }
            }
            if walk.subject == .endless { lastInAppWalk.withLock { $0 = now } }
            // Reports messages that were withdrawn or removed.
            if walk.subject == .endless || walk.subject == .messages { try await inAppChanges.lookLater() }
        }
    }

    // MARK: Audit

    /// Findings of the audit about in-app rows, one line for each table with rows that cannot be read or have no owner.
    /// For a snapshot. Reads every row as a decision would, in pages, so its memory is bounded. A line names the table
    /// and the number of rows, never their content.
    static func inAppFindings(on connection: PostgresConnection) throws -> [String] {
        var findings = try [
            unreadable("inapp_messages", StoredInAppMessage.columns, on: connection) { _ = try StoredInAppMessage($0) },
            unreadable("inapp_users", InAppUserRow.columns, on: connection) { _ = try InAppUserRow.read($0) },
            unreadable("inapp_devices", InAppDeviceRow.columns, on: connection) { _ = try InAppDeviceRow.read($0) },
            unreadable("inapp_offers", Offer.columns, on: connection) { _ = try Offer($0) },
        ].compactMap(\.self)
        let orphans = try orphanedOffers(on: connection)
        if orphans > 0 {
            let verb = orphans == 1 ? "belongs" : "belong"
            findings.append("\(Counted.words(orphans, "row")) of inapp_offers \(verb) to no device")
        }
        return findings
    }

    /// Counts the offers without a device, in steps.
    private static func orphanedOffers(on connection: PostgresConnection) throws -> Int {
        var (count, last): (Int, String?) = (0, "")
        while let start = last {
            let row = try connection.run(
                """
                SELECT count(*) FILTER (WHERE (SELECT 1 FROM inapp_devices d WHERE d.id = s.device) IS NULL), max(id)
                FROM (SELECT id, device FROM inapp_offers WHERE id > $1 ORDER BY id LIMIT $2) s
                """, [.text(start), .number(Int64(DeliveryWalk.step))]
            ).first
            count += try row?.count(0) ?? 0
            last = try row?.optionalText(1)
        }
        return count
    }

    /// The rows that `read` rejects. `columns`: the first one is the key.
    private static func unreadable(
        _ table: String, _ columns: String, on connection: PostgresConnection, _ read: (PostgresRow) throws -> Void
    ) throws -> String? {
        let sql = "SELECT \(columns) FROM \(table) WHERE id > $1 ORDER BY id LIMIT 500"
        var (rows, last) = (UnreadableRows(), "")
        while true {
            let page = try connection.run(sql, [.text(last)])
            for row in page {
                last = try row.text(0)
                do { try read(row) } catch let error as DamagedValue { rows.add(error) }
            }
            if page.count < 500 { return rows.finding("row", of: table) }
        }
    }
}
