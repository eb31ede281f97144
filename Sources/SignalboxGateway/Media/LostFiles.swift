import Dispatch
import Logging
import SignalboxNotification
import SignalboxStore
import Synchronization

/// Looks for stored files in their directory, on a dispatch queue of its own. A directory on a network may not answer
/// for minutes, and deliveries must not wait for it.
///
/// A class with a lock because a search may end after its caller has stopped waiting.
final class LostFiles: Sendable {
    /// Whether a search is in progress.
    private let isSearching = Mutex(false)
    private let queue = DispatchQueue(label: "signalbox.media.lost")

    /// The digests of files that are missing. Nil if the search takes longer than `patience`, and at once while an
    /// earlier search is in progress. `exists` may block.
    func find(
        among files: [MediaFile], patience: Duration, exists: @escaping @Sendable (MediaFile) -> Bool
    ) async -> Set<String>? {
        guard begin() else { return nil }
        let (answer, answered) = (Replaceable<Set<String>?>(nil), WakeUp())
        queue.async { [self] in
            answer.replace(by: Set(files.lazy.filter { !exists($0) }.map(\.sha256)))
            isSearching.withLock { $0 = false }
            answered.wake()
        }
        _ = await answered.wait(atMost: patience)
        return answer.value
    }

    /// False while a search is in progress.
    private func begin() -> Bool { isSearching.withLock { !exchange(&$0, with: true) } }
}

extension MediaService {
    /// Digests of files that deliveries need and that are not on the disk, or have another size. Empty if the disk does
    /// not answer.
    func missingFiles(of held: [HeldDelivery], by setup: Setup) async -> Set<String> {
        var files: [String: MediaFile] = [:]
        for case .stored(let file, _) in held.flatMap({ $0.media.values }) { files[file.sha256] = file }
        guard !files.isEmpty else { return [] }
        let answer = await lostFiles.find(among: Array(files.values), patience: setup.patience, exists: setup.exists)
        guard let lost = answer else {
            // A cancellation or a stop may have ended the wait.
            if !Task.isCancelled, !gate.isStopping, silence.begins() {
                logger.error(
                    "Media directory does not answer; events link to its files unchecked.",
                    metadata: ["directory": "\(setup.directory)"])
            }
            return []
        }
        if silence.ends() { logger.notice("Media directory answers again.") }
        if lost.isEmpty {
            _ = losses.ends()
        } else if losses.begins() {
            logger.error(
                "Stored media files are missing; the next events download them again.",
                metadata: ["directory": "\(setup.directory)", "files": "\(lost.count)"])
        }
        return lost
    }
}
