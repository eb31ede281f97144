import Foundation
import SignalboxMedia
import SignalboxRouting
import SignalboxStore

/// Removes media that have been kept long enough or for which there is no room: first from the queue, which knows what is
/// needed, then from the disk.
struct MediaCleanup: Sendable {
    private let queue: SQLiteQueue
    private let store: MediaStore
    private let retention: SQLiteQueue.MediaRetention

    /// What nobody knows may be about to be known: a file is on disk before the queue hears of it.
    private static let unknownAge: TimeInterval = 3600
    /// Between two steps, so that others get at the queue.
    private static let breath: Duration = .milliseconds(20)

    init(
        _ queue: SQLiteQueue, _ store: MediaStore, retention: GatewayConfig.Media.Retention
    ) {
        self.queue = queue
        self.store = store
        self.retention = .init(unused: retention.age, bytes: retention.bytes)
    }

    /// Returns how many files were removed.
    func run() async throws -> Int {
        let removed = try await forget { digests, limit in
            _ = try await store.remove(digests, olderThan: limit)
        }
        return removed + (try await removeUnknown())
    }

    /// Forgets files, and hands them to `remove` with the time before which they were decided to leave.
    func forget(_ remove: ([String], Date) async throws -> Void) async throws -> Int {
        let limit = Date()
        var gone: [String] = []
        let removed = try await queue.removeMedia(beyond: retention) {
            // Cut short by a stop: the next step ends it.
            try? await Task.sleep(for: Self.breath)
        } gone: { digests in
            gone += digests
        }
        try await remove(gone, limit)
        return removed
    }

    /// Removes files on disk that the queue does not know.
    func removeUnknown() async throws -> Int {
        try await store.removeUnknown(olderThan: Date(timeIntervalSinceNow: -Self.unknownAge)) { digests in
            try await queue.knownFiles(of: digests)
        }
    }
}
