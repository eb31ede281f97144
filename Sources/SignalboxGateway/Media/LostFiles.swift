import Dispatch
import Logging
import SignalboxNotification
import SignalboxStore
import Synchronization

/// Looks for stored files in their directory, on a thread of its own. A directory on a network may not answer for
/// minutes, and deliveries must not wait for it.
///
/// A class with a lock because the answer may come after the question was given up.
final class LostFiles: Sendable {
    /// Whether a former question has no answer yet.
    private let isAsking = Mutex(false)
    private let queue = DispatchQueue(label: "signalbox.media.lost")

    /// The digests of files that are not there. Nil if the directory does not answer within `patience`, and at once
    /// while a former question has no answer. `exists` may block.
    func find(
        among files: [MediaFile], patience: Duration, exists: @escaping @Sendable (MediaFile) -> Bool
    ) async -> Set<String>? {
        guard begin() else { return nil }
        let (answer, answered) = (Replaceable<Set<String>?>(nil), WakeUp())
        queue.async { [self] in
            answer.replace(by: Set(files.lazy.filter { !exists($0) }.map(\.sha256)))
            isAsking.withLock { $0 = false }
            answered.wake()
        }
        _ = await answered.wait(atMost: patience)
        return answer.value
    }

    /// False while a question has no answer.
    private func begin() -> Bool {
        isAsking.withLock { isAsking in
            defer { isAsking = true }
            return !isAsking
        }
    }
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
            if silence.begins() {
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
