import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// The lanes and the file agree about destinations, in every order in which tasks continue after their commits. A test
/// cannot choose that order, so each check has many rounds.
@Suite(.timeLimit(.minutes(5))) struct DestinationStatusTests {
    private let crm = DestinationName("crm")
    private let inbox = DestinationName("inbox")

    @Test func theLanesFollowTheLastOfConcurrentChanges() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            for round in 0..<200 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<4 {
                        group.addTask { [crm] in
                            try await queue.set(number.isMultiple(of: 2) ? .paused : nil, of: crm)
                        }
                    }
                    try await group.waitForAll()
                }
                let isPaused = try await queue.statuses()[crm] != nil
                #expect(queue.isActive(crm) != isPaused, "round \(round)")
            }
        }
    }

    @Test func aPauseOutlivesAReadOfOtherChanges() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let other = try SQLiteQueue(in: directory)
            for round in 0..<200 {
                try await other.set(round.isMultiple(of: 2) ? .paused : nil, of: inbox)
                async let ended = queue.tick()
                try await queue.set(.paused, of: crm)
                _ = try await ended
                #expect(!queue.isActive(crm), "round \(round)")
                try await queue.set(nil, of: crm)
            }
        }
    }
}
