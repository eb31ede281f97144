import Foundation
import GRDB
import GRDBSQLite
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// Searches of an ordered destination with many keys whose deliveries are not due.
@Suite struct OrderedSearchTests {
    private let crm = DestinationName("crm")

    @Test func oneSearchLooksAtABoundedNumberOfKeys() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try await queue(in: directory, keys: 2500)
            #expect(try await counts(ofRoundIn: queue) == [1000, 1000, 501])
        }
    }

    @Test func aSearchWithFewDueDeliveriesLooksAtNoKey() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try await queue(in: directory, keys: 2500, blocked: 200)
            #expect(try await counts(ofRoundIn: queue) == [0])
        }
    }

    /// Otherwise the whole line is read for each of its deliveries.
    @Test func theLineBehindAKeyIsNotRead() async throws {
        var counts: [Int] = []
        for blocked in [300, 3000] {
            try await withTemporaryDirectory { directory in
                let queue = try await queue(in: directory, keys: 10, blocked: blocked)
                counts.append(try await instructions(ofSearchIn: queue))
            }
        }
        #expect(counts[1] < counts[0] * 2, "\(counts)")
    }

    /// A round goes through the keys after the one that was served last, then through the others.
    @Test func aRoundLooksAtEachKeyOnce() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try await queue(in: directory, keys: 2500)
            try await queue.append([event(under: "k1200x")])
            let lease = try #require(try await queue.claim(from: crm, upTo: 1).first)
            try await queue.settle(lease, .delivered(status: 200))
            #expect(try await counts(ofRoundIn: queue) == [1000, 1000, 501])
        }
    }

    /// Otherwise it would search again at once, and keep the writer busy.
    @Test func aLaneWaitsAfterARoundWithoutAReadyKey() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try await queue(in: directory, keys: 2500)
            #expect(try await queue.claim(from: crm, upTo: 1).isEmpty)
            let mayHaveMore = queue.file.lanes.withHandOff { [crm] in $0.lanes[crm]?.mayHaveMore }
            #expect(mayHaveMore == false)
        }
    }

    /// `keys`: each has a delivery that is due in an hour. `blocked`: due deliveries of one more key behind one that is
    /// due in an hour.
    private func queue(in directory: String, keys: Int, blocked: Int = 300) async throws -> SQLiteQueue {
        let clock = ManualDate()
        let queue = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
        queue.openLane(crm, isOrdered: true) {}
        let later = clock.now + 3600
        try await queue.append((0..<keys).map { event(under: "k\(1000 + $0)", at: later) })
        try await queue.append((0...blocked).map { _ in event(under: "a") })
        let first = try #require(try await queue.claim(from: crm, upTo: 1).first)
        try await queue.settle(first, .retry(after: .seconds(3600), status: 503, reason: "answered 503"))
        return queue
    }

    private func event(under key: String, at date: Date? = nil) -> RoutedEvent {
        RoutedEvent(
            event: Event([1]), routes: [], deliveries: [DeliveryOrder(to: crm, notBefore: date, orderKey: key)])
    }

    /// The instructions that SQLite executes for one search, in hundreds.
    private func instructions(ofSearchIn queue: SQLiteQueue) async throws -> Int {
        let (lanes, now) = (queue.file.lanes, queue.now)
        return try await queue.file.read { [crm] db in
            let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
            count.initialize(to: 0)
            defer {
                sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil)
                count.deallocate()
            }
            let onProgress: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { count in
                count?.assumingMemoryBound(to: Int.self).pointee += 1
                return 0
            }
            sqlite3_progress_handler(db.sqliteConnection, 100, onProgress, count)
            var search = DueSearch(of: crm, limit: 1, lanes)
            try search.run(by: now, in: db)
            #expect(search.found.isEmpty)
            return count.pointee
        }
    }

    /// Searches as claims do, until a search is the last one of its round. Returns the keys that each looked at.
    private func counts(ofRoundIn queue: SQLiteQueue) async throws -> [Int] {
        let (lanes, now) = (queue.file.lanes, queue.now)
        var counts: [Int] = []
        while true {
            lanes.withHandOff { [crm] handOff in _ = handOff.withLane(crm) { $0.claim(upTo: 1) } }
            let search = try await queue.file.read { [crm] db in
                var search = DueSearch(of: crm, limit: 1, lanes)
                try search.run(by: now, in: db)
                return search
            }
            lanes.withHandOff { [crm] handOff in _ = handOff.withLane(crm) { $0.finishReading([], of: search) } }
            #expect(search.found.isEmpty && search.nextDue != nil)
            counts.append(search.keyCount)
            if search.isWhole { return counts }
        }
    }
}
