import Foundation
import SignalboxNotification
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

/// Records of destinations that have not given permission.
@Suite(.timeLimit(.minutes(15))) struct PermissionTests {
    private let crm = DestinationName("crm")

    @Test func keepsTheLastReasonAndTheFirstTime() async throws {
        try await withTemporaryDirectory { directory in
            let date = ManualDate()
            let start = date.now
            let queue = try SQLiteQueue(in: directory, now: { date.now })
            try await queue.withhold("first", by: crm)
            date.advance(by: 60)
            try await queue.withhold("second", by: crm)
            let other = try SQLiteQueue(in: directory)
            let kept = try #require(try await other.statuses()[crm])
            #expect(kept.word == "withheld" && kept.reason == "second")
            #expect(abs(kept.since.timeIntervalSince(start)) < 0.001)
            #expect(other.isWithheld(by: crm), "a new process knows it")
            try await queue.permit(by: crm)
            #expect(!queue.isWithheld(by: crm))
            #expect(try await queue.statuses().isEmpty)
        }
    }

    @Test func aPausePrecedesAMissingPermissionAndResumingEndsBoth() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let other = try SQLiteQueue(in: directory)
            try await queue.tick()
            try await queue.withhold("x", by: crm)
            try await other.set(.paused, of: crm)
            #expect(try await queue.statuses()[crm]?.word == "paused")
            try await queue.permit(by: crm)
            #expect(try await queue.statuses()[crm]?.word == "paused", "the operator paused it")
            try await queue.withhold("x", by: crm)
            try await other.set(nil, of: crm)
            try await queue.tick()
            #expect(!queue.isWithheld(by: crm), "seen at the next tick")
        }
    }
}
