import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxStore

/// Removes media that have been kept long enough or for which there is no room: first from the queue, which knows what is
/// needed, then from the disk.
struct MediaCleanup: Sendable {
    private let queue: SQLiteQueue
    private let store: MediaStore
    private let retention: SQLiteQueue.MediaRetention

    /// Between two steps, so that others get at the queue.
    private static let breath: Duration = .milliseconds(20)

    init(
        _ queue: SQLiteQueue, _ store: MediaStore, retention: GatewayConfig.Media.Retention
    ) {
        self.queue = queue
        self.store = store
        self.retention = .init(unused: retention.age, bytes: retention.bytes)
    }

    /// Returns how many files were forgotten, or known to nobody.
    func run() async throws -> Int {
        let removal = try await removeForgotten()
        return removal.removed + removal.young + (try await removeUnknown())
    }

    /// Forgets files, and takes them off the disk as far as they are old enough.
    func removeForgotten() async throws -> MediaJanitor.Removal {
        let limit = Self.oldest
        var failure: (any Error)?
        var removal = MediaJanitor.Removal()
        // Step by step: what is forgotten when a later step fails is off the disk already.
        let forgotten = try await forget { digests in
            do { removal.removed += try await store.remove(digests, olderThan: limit) } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        removal.young = forgotten - removal.removed
        return removal
    }

    /// Takes files off the disk that nobody knows; returns how many.
    func removeUnknown() async throws -> Int {
        try await store.removeUnknown(olderThan: Self.oldest) { try await queue.knownFiles(of: $0) }
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

    private static var oldest: Date { Date(timeIntervalSinceNow: -(MediaJanitor.youth / .seconds(1))) }
}

extension MediaJanitor.Work {
    /// `retention`: what is kept, asked each time.
    init(
        _ queue: SQLiteQueue, _ store: MediaStore,
        retention: @escaping @Sendable () -> GatewayConfig.Media.Retention
    ) {
        self.init { bytes in
            var kept = retention()
            kept.bytes = bytes
            return try await MediaCleanup(queue, store, retention: kept).removeForgotten()
        } sweep: {
            try await MediaCleanup(queue, store, retention: retention()).removeUnknown()
        } bytes: {
            try await queue.mediaBytes()
        }
    }
}
