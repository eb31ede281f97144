import Foundation
import GRDB
import SignalboxNotification
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// Checks of downloads and waits that need the tables.
@Suite(.timeLimit(.minutes(15))) struct MediaQueueTests {
    private let crm = DestinationName("crm")
    private let inbox = DestinationName("inbox")

    private func event(_ number: UInt8, waitingFor urls: [String]?, until: Date, variants: [[UInt8]] = [])
        -> RoutedEvent
    {
        var orders = [crm, inbox].map { DeliveryOrder(to: $0) }
        for position in orders.indices {
            orders[position].mediaUntil = until
            if position < variants.count { orders[position].variant = position }
        }
        return RoutedEvent(
            event: Event([number], at: until), routes: [], deliveries: orders, variants: variants,
            media: urls.map { MediaWait(urls: $0) })
    }

    private func variants(of queue: SQLiteQueue) async throws -> [[UInt8]] {
        try await queue.file.pool.read { try Data.fetchAll($0, sql: "SELECT body FROM variants ORDER BY id") }.map {
            Array($0)
        }
    }

    @Test func deliveriesOfOneEventShareABody() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await queue.append([event(1, waitingFor: [], until: Date(), variants: [[2], [3]])])
            let held = try await queue.heldDeliveries(upTo: 5)
            #expect(held.map(\.body) == [[2], [3]])
            // One after the other, as when their waits end at different times.
            try await queue.release([MediaRelease(held[0], body: [9], files: [])])
            #expect(try await variants(of: queue) == [[3], [9]])
            try await queue.release([MediaRelease(held[1], body: [9], files: [])])
            #expect(try await variants(of: queue) == [[9]])

            try await queue.append([event(1, waitingFor: [], until: Date())])
            let others = try await queue.heldDeliveries(upTo: 5)
            try await queue.release(others.map { MediaRelease($0, body: [1], files: []) })
            #expect(try await variants(of: queue) == [[9]], "the event itself has this body")
        }
    }

    @Test func aFailedReleaseChangesNoRow() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            queue.openLane(crm) {}
            try await queue.append((0..<3).map { event($0, waitingFor: [], until: Date()) })
            let held = try await queue.heldDeliveries(upTo: 10)
            try await queue.file.pool.writeWithoutTransaction { db in
                _ = try Int.fetchOne(db, sql: "PRAGMA max_page_count = 1")
            }
            let large = Array(repeating: UInt8(7), count: 300_000)
            await #expect(throws: StoreError.unavailable(reason: "the disk is full")) {
                try await queue.release(held.map { MediaRelease($0, body: $0.event == 3 ? large : [9], files: []) })
            }
            #expect(try await queue.heldDeliveries(upTo: 10) == held)
            #expect(try await variants(of: queue).isEmpty)
            let next = try SQLiteQueue(in: directory)
            #expect(try await next.heldDeliveries(upTo: 10) == held, "in another process, too")
            #expect(try await next.audit().isRight)
        }
    }

    /// Every statement that runs while the queue of downloads is long finds its rows in an index.
    @Test(arguments: [
        MediaSearch.nextHost, MediaSearch.recentFirst, MediaSearch.earlier, HeldSearch.ready, HeldSearch.over,
        HeldSearch.states, SQLiteQueue.files, "SELECT min(due) FROM media WHERE state = 'resting'",
        "SELECT min(until) FROM media_waits",
        "SELECT id FROM media WHERE state = 'resting' AND due <= ? ORDER BY due LIMIT ?",
        "SELECT id FROM media WHERE state = 'failed' AND checked_at < ? ORDER BY checked_at LIMIT 500",
        "SELECT id FROM media WHERE state = 'stored' AND checked_at < ? ORDER BY checked_at LIMIT 500",
        WriteTransaction.becomeReady, WriteTransaction.becomeDone, Database.endEvent,
        "SELECT id FROM media m WHERE sha256 = ?", "DELETE FROM event_files WHERE event = ?",
    ])
    func readsByIndexWithoutSorting(_ statement: String) async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let plan = try await queue.file.pool.write { db in
                let prepared = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + statement)
                let names = statement.matches(of: /:([a-z]+)/).map { String($0.1) }
                let count = statement.count { $0 == "?" }
                prepared.arguments =
                    names.isEmpty
                    ? StatementArguments((0..<count).map { _ in 1 })
                    : StatementArguments(Dictionary(names.map { ($0, 1) }) { first, _ in first })
                return try Row.fetchAll(prepared).map { $0["detail"] as String }
            }
            #expect(!plan.isEmpty)
            for step in plan {
                let isBounded =
                    step.contains("SEARCH") || step.contains("USING INDEX media_waits_ready")
                    || step.contains("USING COVERING INDEX media_waits_ready") || step.contains("SUBQUERY")
                    || step.contains("USING COVERING INDEX media_waits_until")
                #expect(isBounded, "\(statement): \(plan)")
                #expect(!step.contains("TEMP B-TREE"), "\(statement): \(plan)")
            }
        }
    }

    @Test func eventsWithoutMediaWriteNoMediaRows() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let statements = Statements()
            try await queue.file.pool.writeWithoutTransaction { db in
                db.trace { statements.append("\($0)") }
            }
            try await queue.append([event(1, waitingFor: nil, until: Date())])
            #expect(!statements.all.isEmpty)
            #expect(statements.all.allSatisfy { !$0.contains("media") && !$0.contains("files") })
        }
    }

    @Test(arguments: [
        ("https://A.example/x", "https://a.example"), ("https://a.example:443/x", "https://a.example"),
        ("https://a.example:8443?x", "https://a.example:8443"), ("http://a.example:80#x", "http://a.example"),
        ("http://a.example:443", "http://a.example:443"), ("https://user:secret@a.example/x@y", "https://a.example"),
        ("HTTPS://[2001:DB8::1]:443/", "https://[2001:db8::1]"), ("https:///x", "?"), ("a.example/x", "?"), ("", "?"),
        ("https://a.example\\@b.example/", "https://a.example"),
    ])
    func readsTheHostOfAURL(_ url: String, host: String) {
        #expect(MediaJob.host(of: url) == host)
    }
}

/// Statements that SQLite ran. A class because the queue and the test share it.
private final class Statements: Sendable {
    private let texts = Mutex<[String]>([])
    var all: [String] { texts.withLock { $0 } }
    func append(_ text: String) { texts.withLock { $0.append(text) } }
}
