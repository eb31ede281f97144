import Foundation
package import SignalboxConfig
package import SignalboxStore

/// Removes stored files beyond their retention: first from the queue, which knows the files in use, then from the
/// disk.
package struct MediaCleanup: Sendable {
    private let queue: any UpkeepStore
    private let store: MediaStore
    private let retention: MediaRetention

    /// Pause between two steps, so that other work gets access to the queue.
    private static let pause: Duration = .milliseconds(20)

    package init(_ queue: any UpkeepStore, _ store: MediaStore, retention: GatewayConfig.Media.Retention) {
        self.queue = queue
        self.store = store
        self.retention = .init(unused: retention.age, bytes: retention.bytes)
    }

    /// Removes files from the queue and the disk; returns how many.
    package func run() async throws -> Int {
        let removal = try await removeForgotten()
        return removal.removed + removal.young + (try await removeUnknown())
    }

    /// Forgets files, and deletes those that are old enough.
    func removeForgotten() async throws -> MediaJanitor.Removal {
        let limit = Self.oldest
        var failure: (any Error)?
        var removal = MediaJanitor.Removal()
        // Step by step: if a later step fails, files forgotten before are deleted already.
        let forgotten = try await forget { digests in
            do { removal.removed += try await store.remove(digests, olderThan: limit) } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        removal.young = forgotten - removal.removed
        return removal
    }

    /// Deletes files that the queue does not know; returns how many.
    func removeUnknown() async throws -> Int {
        try await store.removeUnknown(olderThan: Self.oldest) { try await queue.knownFiles(of: $0) }
    }

    /// Removes files from the queue only; passes their digests to `gone`, step by step. Returns how many.
    package func forget(_ gone: ([String]) async -> Void = { _ in }) async throws -> Int {
        try await queue.removeMedia(beyond: retention) {
            // A stop cancels the sleep; the next step then ends the work.
            try? await Task.sleep(for: Self.pause)
        } gone: { digests in
            await gone(digests)
        }
    }

    private static var oldest: Date { Date(timeIntervalSinceNow: -(MediaJanitor.youth / .seconds(1))) }
}

extension MediaJanitor.Work {
    /// `retention`: read at each step.
    init(
        _ queue: any UpkeepStore, _ store: MediaStore,
        retention: @escaping @Sendable () -> GatewayConfig.Media.Retention
    ) {
        self.init { bytes in
            var limited = retention()
            limited.bytes = bytes
            return try await MediaCleanup(queue, store, retention: limited).removeForgotten()
        } sweep: {
            try await MediaCleanup(queue, store, retention: retention()).removeUnknown()
        } bytes: {
            try await queue.mediaBytes()
        }
    }
}
