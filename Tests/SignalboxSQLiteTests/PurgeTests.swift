import GRDB
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// Purges of deliveries whose attempt has begun.
@Suite(.timeLimit(.minutes(5))) struct PurgeTests {
    private let crm = DestinationName("crm")

    private func open(_ directory: String) throws -> SQLiteQueue {
        let queue = try SQLiteQueue(in: directory)
        queue.openLane(crm) {}
        return queue
    }

    /// The owner knows that no process makes these attempts. A command cannot know it.
    @Test func theOwnerRemovesWhatACrashInterrupted() async throws {
        try await withTemporaryDirectory { directory in
            let crashed = try open(directory)
            try await crashed.append((0..<3).map { RoutedEvent([UInt8($0)], to: crm) })
            #expect(try await crashed.claim(from: crm, upTo: 1).count == 1)
            let command = try SQLiteQueue.existing(in: directory)
            let waiting = DeliveryFilter(state: .waiting)
            #expect(try await command.purge(waiting) == 0)
            #expect(try await command.inProgressCount(waiting) == 3)
            let owner = try open(directory)
            #expect(try await owner.preview(.purge, of: waiting).count == 3)
            #expect(try await owner.purge(waiting) == 3)
            #expect(try await owner.audit().isRight)
        }
    }

    /// The transaction after a claim may be a step of a purge, and come before the lane has the leases.
    @Test func aClaimIsHeldBeforeItsCommit() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await queue.append([RoutedEvent([1], to: crm)])
            queue.openLane(crm) {}
            let isHeld = try await queue.file.pool.write { [file = queue.file, crm] db in
                var transaction = WriteTransaction(file: file, db: db, now: file.clock.now)
                let leases = try transaction.claim(from: crm, upTo: 1, of: nil)
                return !leases.isEmpty && file.lanes.withHandOff { $0.isHeld(leases[0].delivery, of: crm) }
            }
            #expect(isHeld)
        }
    }

    /// The steps of a command follow each other at once, and the gateway only polls for the lock.
    @Test func aCommandRestsAsLongAsItsStepTook() {
        func rest(_ time: Duration) -> Duration { SQLiteQueue.rest(after: time, isOwner: false) }
        #expect(rest(.milliseconds(20)) == .milliseconds(20))
        #expect(rest(.zero) == .milliseconds(1))
        #expect(rest(.seconds(7)) == .milliseconds(100))
        #expect(SQLiteQueue.rest(after: .milliseconds(20), isOwner: true) == .zero)
    }
}
