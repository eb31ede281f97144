import Foundation
import GRDB
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

@Suite(.timeLimit(.minutes(15))) struct SQLiteQueueTests {
    private let inbox = DestinationName("inbox")
    private let crm = DestinationName("crm")

    @Test(arguments: StoreConformance.all(in: SQLiteLocation.self)) func conforms(_ promise: StoreConformance)
        async throws
    {
        try await promise.run(in: SQLiteLocation.self)
    }

    @Test func isDurableAtEachCommit() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let (journal, synchronous) = try await queue.file.pool.writeWithoutTransaction { db in
                (
                    try String.fetchOne(db, sql: "PRAGMA journal_mode"),
                    try Int.fetchOne(db, sql: "PRAGMA synchronous")
                )
            }
            #expect(journal == "wal")
            #expect(synchronous == 2, "2 is FULL")
        }
    }

    @Test func leasesAnEventOnceToEachDestination() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            queue.openLane(inbox) {}
            queue.openLane(crm) {}
            try await queue.append([event(1, to: [inbox, crm]), event(2, to: [crm]), event(3, to: [])])
            #expect(try await queue.claim(from: inbox, upTo: 10).map(\.body) == [[1]])
            #expect(try await queue.claim(from: crm, upTo: 10).map(\.body) == [[1], [2]])
            #expect(try await queue.claim(from: crm, upTo: 10).isEmpty)
            #expect(try await queue.eventCount() == 3)
        }
    }

    @Test func aNewProcessFindsUnfinishedDeliveries() async throws {
        try await withTemporaryDirectory { directory in
            do {
                let queue = try SQLiteQueue(in: directory)
                queue.openLane(crm) {}
                try await queue.append((1...5).map { event($0, to: [crm]) })
                let leases = try await queue.claim(from: crm, upTo: 3)
                try await queue.settle(leases[0], .delivered(status: 200))
            }
            let queue = try SQLiteQueue(in: directory)
            queue.openLane(crm) {}
            let found = try await queue.claim(from: crm, upTo: 10)
            #expect(found.map(\.body) == [[2], [3], [4], [5]])
            #expect(Set(found.map(\.event)).count == 4)
        }
    }

    @Test func leasesDeliveriesBeyondTheWindow() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            queue.openLane(crm) {}
            let count = HandOff.window * 2 + 100
            for start in stride(from: 0, to: count, by: 500) {
                try await queue.append((start..<min(start + 500, count)).map { event($0, to: [crm]) })
            }
            var seen: Set<Int64> = []
            while case let leases = try await queue.claim(from: crm, upTo: 300), !leases.isEmpty {
                for lease in leases {
                    #expect(seen.insert(lease.delivery).inserted)
                    try await queue.settle(lease, .delivered(status: 204))
                }
            }
            #expect(seen.count == count)
            #expect(try await queue.counts()[crm] == [.delivered: count])
        }
    }

    @Test func keepsDeadDeliveriesUntilTheyAreRetried() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            queue.openLane(crm) {}
            try await queue.append([event(1, to: [crm])])
            let lease = try #require(try await queue.claim(from: crm, upTo: 1).first)
            try await queue.settle(lease, .dead(status: 400, reason: "answered 400"))
            let dead = try #require(try await queue.deliveries(DeliveryFilter(state: .dead), limit: 10).first)
            #expect(dead.reason == "answered 400")
            #expect(dead.attempts == 1)
            try await queue.tick()

            // Another process, such as `deliveries retry`, requeues it.
            let other = try SQLiteQueue.existing(in: directory)
            #expect(try await other.retry(DeliveryFilter(ids: [dead.id])) == 1)
            try await queue.tick()
            let again = try #require(try await queue.claim(from: crm, upTo: 1).first)
            #expect(again.delivery == dead.id)
            #expect(again.attempts == 0)
        }
    }

    @Test func sharesCommitsAmongManyWriters() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            queue.openLane(crm) {}
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<400 { group.addTask { try await queue.append([event(number, to: [crm])]) } }
                try await group.waitForAll()
            }
            #expect(try await queue.eventCount() == 400)
            #expect(try await queue.claim(from: crm, upTo: 1000).count == 400)
        }
    }

    @Test func aFullDiskRejectsEventsUntilThereIsRoom() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            queue.openLane(crm) {}
            try await queue.append([event(1, to: [crm])])
            try await limitPages(of: queue, to: 12)
            let large = RoutedEvent(
                event: Event(Array(repeating: 7, count: 200_000)), routes: [],
                deliveries: [DeliveryOrder(to: crm)])
            await #expect(throws: StoreError.unavailable(reason: "the disk is full")) {
                try await queue.append([large])
            }
            try await limitPages(of: queue, to: 1_000_000)
            try await queue.append([event(2, to: [crm])])
            #expect(try await queue.claim(from: crm, upTo: 10).map(\.body) == [[1], [2]])
        }
    }

    /// Exceptions: the ledger, the counts of media, the queue's identity, and destinations that are paused, disabled,
    /// withheld or backing off.
    @Test func everyTableIsEmptiedByRetention() async throws {
        try await withTemporaryDirectory { directory in
            let clock = ManualDate()
            let queue = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
            queue.openLane(crm) {}
            let request = IdempotentRequest(from: .default, key: "k", digest: [1]) { _ in
                StoredAnswer(status: 202, body: [])
            }
            var order = DeliveryOrder(to: crm)
            order.variant = 0
            var event = Event([1], at: clock.now)
            event.category = DefinedCategory("c", isNamedByDefinition: true) {
                CategoryRecord(identifier: "c", definition: Array("{}".utf8))
            }
            event.payload = [3]
            event.keeping = .withEvent
            let file = MediaFile(sha256: String(repeating: "a", count: 64), bytes: 1, contentType: "text/calendar")
            let first = RoutedEvent(
                event: event, routes: [], deliveries: [order], variants: [[2]], files: [file],
                dedupe: RoutedEvent.Dedupe(key: "d", since: .distantPast), about: "another event")
            try await queue.append([first], of: request)
            for outcome in [Outcome.retry(after: .zero, status: 503, reason: "x"), .delivered(status: 204)] {
                try await queue.tick()
                let lease = try #require(try await queue.claim(from: crm, upTo: 1).first)
                let attempt = Attempt(startedAt: clock.now, duration: .zero)
                try await queue.settle(Settlement(lease, outcome, attempt: attempt))
            }
            try await queue.append([waiting(until: clock.now)])
            for job in try await queue.dueMedia(upTo: 1, perHost: 1) {
                try await queue.settle(media: MediaSettlement(job.id, .failed(MediaFailure(.dns, "no such host"))))
            }
            for number in 0..<3 { try await queue.writeInAppRows(number, at: clock.now) }
            try await queue.endInAppDue(at: clock.now)
            try await queue.spreadLedgers()
            let filled = try await rows(of: queue)
            let empty = filled.filter { $0.value == 0 }.keys.sorted()
            // Actions are bounded by their number instead.
            #expect(
                empty == ["actions", "backoffs", "channels", "destinations", "withheld"],
                "every other table has rows")
            clock.advance(by: 100 * 86_400)
            try await queue.tick()
            _ = try await queue.remove(
                beyond: .init(ended: .seconds(7 * 86_400), dead: .seconds(30 * 86_400), bytes: .max))
            _ = try await queue.removeMedia(beyond: .init(unused: .seconds(86_400), bytes: .max)) { _ in }
            let left = try await rows(of: queue)
            #expect(
                left.filter { $0.value > 0 }.keys.sorted() == ["grdb_migrations", "identity", "ledger", "media_counts"])
        }
    }

    /// An event with a delivery that waits for a file and expires soon after.
    private func waiting(until: Date) -> RoutedEvent {
        var order = DeliveryOrder(to: crm, notAfter: until.addingTimeInterval(1))
        order.mediaUntil = until
        return RoutedEvent(
            event: Event([3], at: until), routes: [], deliveries: [order],
            media: MediaWait(urls: ["https://a.example/x"]))
    }

    private func rows(of queue: SQLiteQueue) async throws -> [String: Int] {
        try await queue.file.pool.read { db in
            let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            return try tables.reduce(into: [:]) { counts, table in
                counts[table] = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)")
            }
        }
    }

    private func limitPages(of queue: SQLiteQueue, to count: Int) async throws {
        try await queue.file.pool.writeWithoutTransaction { db in
            _ = try Int.fetchOne(db, sql: "PRAGMA max_page_count = \(count)")
        }
    }

    /// By the time of the write, a number found earlier may name another delivery.
    @Test func expiresOnlyOverdueDeliveries() async throws {
        try await withTemporaryDirectory { directory in
            let clock = ManualDate()
            let queue = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
            let orders = [nil, clock.now.addingTimeInterval(1), clock.now].map { DeliveryOrder(to: crm, notAfter: $0) }
            try await queue.append(
                orders.map { RoutedEvent(event: Event([1], at: clock.now), routes: [], deliveries: [$0]) })
            try await queue.commit(.expire((1...4).map { SQLiteWrite.Overdue(delivery: $0, destination: crm) }))
            let expired = try await queue.deliveries(DeliveryFilter(state: .expired), limit: 10)
            #expect(expired.map(\.id) == [3])
        }
    }

    /// Damage that the first transaction after a jump meets does not keep the waits from being moved.
    @Test func movesWaitsAfterATransactionThatMetDamage() async throws {
        try await withTemporaryDirectory { directory in
            let clock = ManualDate()
            let queue = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
            queue.openLane(crm) {}
            try await queue.append([event(1, to: [crm], at: clock.now)])
            let lease = try #require(try await queue.claim(from: crm, upTo: 1).first)
            try await queue.settle(lease, .retry(after: .seconds(30), status: 503, reason: "x"))
            clock.set(by: 3600)
            await #expect(throws: StoreError.self) {
                try await queue.write { (_, _) -> Void in throw DamagedValue("x") }
            }
            try await queue.tick()
            let due = try await queue.deliveries(DeliveryFilter(), limit: 1).map(\.due)
            #expect(due == [clock.now.addingTimeInterval(30)])
        }
    }

    @Test func reportsAFileThatIsNotADatabase() async throws {
        try await withTemporaryDirectory { directory in
            try Data("this file is not a database, although it is long".utf8)
                .write(to: URL(fileURLWithPath: directory + "/queue.db"))
            #expect {
                _ = try SQLiteQueue(in: directory)
            } throws: {
                if case .damaged = $0 as? StoreError { true } else { false }
            }
        }
    }

    @Test func reportsAMissingQueue() async throws {
        try await withTemporaryDirectory { directory in
            _ = #expect(throws: StoreError.missing(path: directory)) { _ = try SQLiteQueue.existing(in: directory) }
        }
    }

    private func event(_ number: Int, to destinations: [DestinationName], at date: Date = Date()) -> RoutedEvent {
        RoutedEvent(
            event: Event([UInt8(truncatingIfNeeded: number)], at: date), routes: [],
            deliveries: destinations.map { DeliveryOrder(to: $0) })
    }
}

/// A temporary data directory.
private struct SQLiteLocation: StoreLocation {
    static let followsJumps = true
    static let hasNodes = false

    let directory: String

    static func withLocation(_ body: (SQLiteLocation) async throws -> Void) async throws {
        try await withTemporaryDirectory { try await body(SQLiteLocation(directory: $0)) }
    }

    func open(_ clock: ManualDate) throws(StoreError) -> any Store {
        try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
    }

    /// As a command next to the gateway does.
    func openBeside(_ clock: ManualDate) throws(StoreError) -> any Store {
        try SQLiteQueue(in: directory, migrates: false, now: { clock.now }, elapsed: { clock.elapsed })
    }

    func loseDelivery(_ id: Int64) async throws {
        try await SQLiteQueue(in: directory).file.pool.write {
            try $0.execute(sql: "DELETE FROM deliveries WHERE id = ?", arguments: [id])
        }
    }

    func size() async throws -> Int64 {
        try await SQLiteQueue(in: directory).file.pool.read { db in
            let pages = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            return pages * (try Int64.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
        }
    }
}
