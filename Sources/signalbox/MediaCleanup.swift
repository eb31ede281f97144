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

    /// A file is on disk before the queue hears of it: what was kept a moment ago may be about to be known.
    private static let youth: TimeInterval = 600
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
        let limit = Date(timeIntervalSinceNow: -Self.youth)
        var failure: (any Error)?
        // Step by step: what is forgotten when a later step fails is off the disk already.
        let removed = try await forget { digests in
            do { _ = try await store.remove(digests, olderThan: limit) } catch { failure = failure ?? error }
        }
        let unknown = try await store.removeUnknown(olderThan: limit) { try await queue.knownFiles(of: $0) }
        if let failure { throw failure }
        return removed + unknown
    }

    /// Forgets files, and hands their digests to `gone`, step by step.
    func forget(_ gone: ([String]) async -> Void = { _ in }) async throws -> Int {
        try await queue.removeMedia(beyond: retention) {
            // Cut short by a stop: the next step ends it.
            try? await Task.sleep(for: Self.breath)
        } gone: { digests in
            await gone(digests)
        }
    }
}
