import Foundation
import SignalboxModel
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxStore

@Suite(.timeLimit(.minutes(2))) struct CheckpointerTests {
    private static let page = 8192

    private func append(pages: Int, to queue: SQLiteQueue) async throws {
        let now = Date()
        for _ in 0..<pages / 50 {
            let events = (0..<50).map { _ in
                let id = EventID(at: now, random: (.random(in: 0 ... .max), .random(in: 0 ... .max)))
                let body = [UInt8](repeating: 32, count: 8000)
                return RoutedEvent(
                    event: Event(
                        id: id, source: .default, acceptedAt: now, vendor: .unknown, kind: .alert, warnings: [],
                        body: body),
                    routes: [], deliveries: [])
            }
            try await queue.append(events)
        }
    }

    private func size(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    /// Without it nothing would be there before the log has four thousand pages.
    @Test func whatWasWrittenIsCarriedIntoTheDatabase() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await append(pages: 1500, to: queue)
            queue.checkpointer.waitUntilIdle()
            #expect(try size(directory + "/queue.db") > 500 * Self.page)
        }
    }

    @Test func theLogStaysShortHoweverMuchIsWritten() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await append(pages: 12_000, to: queue)
            #expect(try size(directory + "/queue.db-wal") < 3 * Checkpointer.longestLog * Self.page)
            #expect(try await queue.audit().isRight)
        }
    }
}
