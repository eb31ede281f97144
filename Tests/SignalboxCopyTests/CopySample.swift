import GRDB
import SignalboxInApp
import SignalboxNotification
import SignalboxSQLite
import SignalboxStore
import SignalboxStoreTesting

/// A queue in SQLite with rows in each of its tables.
enum CopySample {
    /// More than two batches.
    static let events = 2_300
    /// The last number that was assigned, of an event that was removed.
    static let lastEvent: Int64 = 5_000

    /// Makes the queue, and returns it with the directory that locks it.
    static func make(in path: String) async throws -> (DataDirectory, SQLiteQueue) {
        let directory = try DataDirectory(path: path)
        let queue = try SQLiteQueue(of: directory)
        try await decide(queue)
        let file = try DatabaseQueue(path: path + "/queue.db")
        try await file.write { try $0.execute(sql: statements) }
        try file.close()
        return (directory, try SQLiteQueue.existing(in: path))
    }

    private static func decide(_ queue: SQLiteQueue) async throws {
        _ = try await queue.register(
            InAppRegistration(id: "welcome", body: Array("{}".utf8), address: .user("ann"), end: 7))
        for device in ["phone", "web"] {
            try await queue.decide(about: .device(device, user: "ann"), tallies: []) { rows in
                var row = rows.state.device
                row.user = "ann"
                row.activity = Array(repeating: 3, count: 24)
                let total = Ledger.Total(count: 2, last: 5)
                let changes: [RowChange] = [
                    .user("ann", lastNow: 9), .device(row), .total(.user("ann"), .message("welcome"), total),
                ]
                return InAppStep((), changes: changes, nextDue: 11)
            }
        }
    }

    private static let id = "printf('01234567-89ab-7def-8123-%012x', value)"

    private static let statements = """
        CREATE TABLE numbers AS WITH RECURSIVE n(value) AS (
            SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < \(events)
        ) SELECT value FROM n;
        INSERT INTO events (seq, id, source, subject, accepted_at, body, payload)
            SELECT value, \(id), 'apns', 'braze/alert', 1000 + value, CAST('{"n":' || value || '}' AS BLOB),
                iif(value % 3, NULL, x'00ff') FROM numbers;
        INSERT INTO variants (id, event, body, plain) SELECT value, value, x'7b7d', value % 2 FROM numbers
            WHERE value <= 50;
        INSERT INTO deliveries (id, event, destination, state, due, begun, attempts, forgiven, not_before, not_after,
                order_key, variant, manual, started_at, duration, status, error, reason, remote, excerpt, exchange)
            SELECT value, value, iif(value % 2, 'crm', 'erp'),
                CASE value % 5 WHEN 0 THEN 'delivered' WHEN 1 THEN 'dead' WHEN 2 THEN 'expired' ELSE 'waiting' END,
                9000 + value, value % 4, value % 3, value % 2, iif(value % 7, NULL, 50), iif(value % 11, NULL, 99999),
                iif(value % 3, NULL, 'key ' || (value % 9)), iif(value <= 50, value, NULL), value % 2, 77, 5, 503,
                'timeout', 'server error', '192.0.2.1:443', x'01', x'7b7d' FROM numbers;
        INSERT INTO attempts SELECT value, 1, 70, 4, 500, NULL, 'server error', NULL, NULL, NULL FROM numbers;
        INSERT INTO ledger (destination, accepted, delivered, dead, expired, waiting, undelivered_since, waiting_now,
                dead_now, delivered_now, expired_now)
            SELECT destination, count(*) + 10, 1, 2, 3, 4, 123, sum(state = 'waiting'), sum(state = 'dead'),
                sum(state = 'delivered'), sum(state = 'expired') FROM deliveries GROUP BY destination;
        INSERT INTO requests SELECT 'apns', 'key ' || value, x'aa', x'bb', 202, value FROM numbers WHERE value < 1500;
        INSERT INTO duplicates SELECT 'apns', 'key' || char(0) || value, \(id), value FROM numbers WHERE value < 1500;
        INSERT INTO payloads SELECT value, value % 2, x'c0ffee' FROM numbers WHERE value < 5;
        INSERT INTO reports SELECT \(id), value FROM numbers WHERE value < 5;
        INSERT INTO reports VALUES ('of another gateway', 6);
        INSERT INTO actions VALUES (40, 1, 'ann', NULL, NULL, 'api', 'pause', 'crm', '{}', 1, 'why', 'done');
        INSERT INTO categories VALUES ('reply', x'7b7d', 1, 2);
        INSERT INTO channels VALUES ('com.example', 'c1', 1, 5, 'apns');
        INSERT INTO destinations VALUES ('crm', 'paused', 'maintenance', 5, 6);
        INSERT INTO withheld VALUES ('erp', '403', 8);
        INSERT INTO files VALUES (3, 'abc', 70, 'image/png', 1, 2, NULL, 4, 5);
        INSERT INTO media (id, url, host, state, due, wanted_at, sha256) VALUES
            (7, 'https://example.com/a.png', 'example.com', 'stored', 1, 2, 'abc'),
            (8, 'https://example.com/b.png', 'example.com', 'resting', 1, 2, NULL);
        INSERT INTO event_files VALUES (3, 1);
        INSERT INTO media_events VALUES (3, 8, 0);
        INSERT INTO media_waits VALUES (3, 3, 99999, 1, 'route');
        INSERT INTO inapp_tallies VALUES ('welcome', 3, 1);
        INSERT INTO inapp_offers VALUES (1, 'phone', 'of_1', 'ann', 'welcome', 1, 'own', 'modal', 'O', 1, 2, NULL, 3, 1,
            1, NULL, 9, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, 'home', NULL);
        UPDATE inapp_devices SET offers = '1' WHERE id = 'phone';
        INSERT INTO inapp_users VALUES ('old', 5, NULL, NULL);
        INSERT INTO inapp_totals VALUES (0, 'old', 0, 'welcome', 3, 4);
        UPDATE identity SET last_event = \(lastEvent), last_delivery = \(lastEvent);
        DROP TABLE numbers;
        """
}
