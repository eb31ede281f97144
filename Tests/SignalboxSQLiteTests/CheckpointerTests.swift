import Foundation
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

@Suite(.timeLimit(.minutes(15))) struct CheckpointerTests {
    private static let page = 8192

    private func append(pages: Int, to queue: SQLiteQueue) async throws {
        for _ in 0..<pages / 50 {
            let events = (0..<50).map { _ in RoutedEvent([UInt8](repeating: 32, count: 8000)) }
            try await queue.append(events)
        }
    }

    private func size(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    @Test func checkpointsRunAsideUntilTheLogIsLong() {
        var state = Checkpointer.State()
        #expect(state.step(after: 999) == .none)
        #expect(state.step(after: 1) == .aside)
        #expect(state.step(after: 300) == .none, "one at a time")
        // The log does not start anew while others write, although the checkpoint copied all that it found.
        state.end((1000, 1000))
        #expect(state.step(after: 699) == .none)
        #expect(state.step(after: 1) == .aside)
        #expect(state.step(after: 1999) == .none)
        state.end(nil)
        #expect(state.step(after: 1) == .here, "four thousand pages in all")
        state.end((4000, 4000))
        #expect(state.step(after: 999) == .none, "the log has started anew")
        #expect(state.step(after: 1) == .aside)
    }

    @Test func theWriterWaitsWhenTheLogIsTooLong() {
        var state = Checkpointer.State()
        #expect(state.step(after: 1000) == .aside)
        #expect(state.step(after: 6999) == .none)
        #expect(state.step(after: 1) == .afterTheOther)
        state.end((1000, 1000))
        state.begin()
        // A reader keeps some pages from being copied.
        state.end((8000, 5000))
        #expect(state.step(after: 1) == .here)
    }

    /// Without the checkpointer, SQLite copies pages only once the log has eight thousand.
    @Test func copiesWrittenPagesIntoTheDatabase() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await append(pages: 1500, to: queue)
            queue.file.checkpointer.waitUntilIdle()
            #expect(try size(directory + "/queue.db") > 500 * Self.page)
        }
    }

    /// Otherwise the file keeps its size until a thousand further pages are written.
    @Test func aRemovalShortensTheFile() async throws {
        try await withTemporaryDirectory { directory in
            // The events are an hour old.
            let queue = try SQLiteQueue(in: directory, now: { Date(timeIntervalSinceNow: 3600) })
            try await append(pages: 1500, to: queue)
            queue.file.checkpointer.waitUntilIdle()
            let retention = Retention(ended: .seconds(60), dead: .seconds(60), bytes: .max)
            #expect(try await queue.remove(beyond: retention) > 0)
            #expect(try size(directory + "/queue.db") < 300 * Self.page)
        }
    }

    @Test func theLogStaysShortDuringLongWrites() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await append(pages: 12_000, to: queue)
            #expect(try size(directory + "/queue.db-wal") < (2 * Checkpointer.longestLog + 500) * Self.page)
            #expect(try await queue.audit().isRight)
        }
    }
}
