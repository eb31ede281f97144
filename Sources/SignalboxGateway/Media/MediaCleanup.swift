import Foundation
package import SignalboxConfig
package import SignalboxStore

/// Removes stored files beyond their retention: first from the queue, which knows the files in use, then from the
/// disk. The media janitor uses it while the gateway runs, commands use it without a gateway.
package struct MediaCleanup: Sendable {
    private let queue: any UpkeepStore
    private let store: MediaStore
    private let retention: @Sendable () -> GatewayConfig.Media.Retention

    /// Pause between two steps, so that other work gets access to the queue.
    private static let pause: Duration = .milliseconds(20)

    /// `retention`: read at each step. `queue` and `store` must belong to the same data directory.
    package init(
        _ queue: any UpkeepStore, _ store: MediaStore,
        retention: @escaping @Sendable () -> GatewayConfig.Media.Retention
    ) { (self.queue, self.store, self.retention) = (queue, store, retention) }

    /// Removes files from the queue and the disk; returns how many. Requires that no other process stores files.
    /// Files younger than ``MediaJanitor/youth`` stay on the disk and count as removed from the queue.
    package func run() async throws -> Int {
        let removal = try await remove(beyond: retention().bytes)
        return removal.removed + removal.young + (try await sweep())
    }

    /// Removes files from the queue only; returns how many. Safe while a gateway runs, which deletes them later.
    /// Files that a waiting delivery needs are never forgotten.
    package func forget() async throws -> Int { try await forget(beyond: retention().bytes) { _ in } }

    /// Forgets files that are too old or exceed `bytes`, least recently used first, and deletes those that are
    /// old enough. Throws the first error of the disk after all steps. `young` counts the forgotten files that stay
    /// on the disk for now.
    func remove(beyond bytes: Int64) async throws -> MediaJanitor.Removal {
        let limit = Self.oldest
        var failure: (any Error)?
        var removal = MediaJanitor.Removal()
        // Step by step: if a later step fails, files forgotten before are deleted already.
        let forgotten = try await forget(beyond: bytes) { digests in
            do { removal.removed += try await store.remove(digests, olderThan: limit) } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        removal.young = forgotten - removal.removed
        return removal
    }

    /// Deletes files that the queue does not know; returns how many. Such files come from a crash between the write
    /// of the file and the commit of its record.
    func sweep() async throws -> Int {
        try await store.removeUnknown(olderThan: Self.oldest) { try await queue.knownFiles(of: $0) }
    }

    /// `gone` receives the digests of each step after its commit. Pauses between the steps.
    private func forget(beyond bytes: Int64, _ gone: ([String]) async -> Void) async throws -> Int {
        try await queue.removeMedia(beyond: .init(unused: retention().age, bytes: bytes)) {
            // A stop cancels the sleep; the next step then ends the work.
            try? await Task.sleep(for: Self.pause)
        } gone: {
            await gone($0)
        }
    }

    /// The time before which a file must have been kept to be deleted.
    private static var oldest: Date { Date(timeIntervalSinceNow: -(MediaJanitor.youth / .seconds(1))) }
}

extension MediaJanitor.Work {
    /// `retention`: the config's setting, read at each step because a reload may change it. Among several processes of
    /// one store, only the leader removes files: several processes would together remove more than the quota requires.
    init(
        _ queue: any UpkeepStore, _ store: MediaStore,
        retention: @escaping @Sendable () -> GatewayConfig.Media.Retention
    ) {
        let cleanup = MediaCleanup(queue, store, retention: retention)
        self.init(
            remove: { queue.leads ? try await cleanup.remove(beyond: $0) : MediaJanitor.Removal() },
            sweep: { try await cleanup.sweep() }, bytes: { try await queue.mediaBytes() },
            isShared: queue.fleet != nil)
    }
}
