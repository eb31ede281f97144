import GRDB
import SignalboxNotification
package import SignalboxStore

/// Channels for broadcasts: few rows that change seldom.
extension SQLiteQueue {
    /// Counts the channels of the app in its part of the primary key, and those of all apps in the whole.
    package func create(
        _ channel: BroadcastChannel, upTo most: Int, ofAll total: Int
    ) async throws(StoreError) -> Bool {
        try await write(requiringPlace: true) { db, now in
            let count = try db.number("SELECT count(*) FROM channels WHERE app = ?", [channel.app]) ?? 0
            guard count < most, try db.number("SELECT count(*) FROM channels") ?? 0 < total else { return false }
            try db.run(
                "INSERT INTO channels (app, id, stores_last, created_at, source) VALUES (?, ?, ?, ?, ?)",
                [channel.app, channel.id, channel.storesLast, now.milliseconds, channel.source?.name])
            return true
        }
    }

    /// One lookup by the primary key.
    package func channel(_ id: String, of app: String) async throws(StoreError) -> BroadcastChannel? {
        try await file.read { db in
            try db.row("SELECT \(BroadcastChannel.columns) FROM channels WHERE app = ? AND id = ?", [app, id])
                .map { try BroadcastChannel($0, of: app) }
        }
    }

    /// In the order of the primary key.
    package func channels(of app: String) async throws(StoreError) -> [BroadcastChannel] {
        try await file.read { db in
            try db.rows("SELECT \(BroadcastChannel.columns) FROM channels WHERE app = ? ORDER BY id", [app])
                .map { try BroadcastChannel($0, of: app) }
        }
    }

    /// Durable when it returns.
    package func removeChannel(_ id: String, of app: String) async throws(StoreError) -> Bool {
        try await write(requiringPlace: true) { db, _ in
            try db.run("DELETE FROM channels WHERE app = ? AND id = ?", [app, id]) > 0
        }
    }
}
