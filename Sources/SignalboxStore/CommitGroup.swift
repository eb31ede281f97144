import Dispatch
import Synchronization

/// Gathers writes from everywhere into few commits: while one commit is being made durable, the next one fills.
///
/// Writes are done in the order in which they came. A class because it is shared state with a queue of its own.
final class CommitGroup<Write: Sendable, Output: Sendable>: Sendable {
    /// Called once, on the thread of the commits: it must not block.
    typealias Done = @Sendable (Result<Output, StoreError>) -> Void

    private struct Pending {
        var writes: [(write: Write, done: Done)] = []
        var isDraining = false
    }

    private let pending = Mutex(Pending())
    // A queue and not a task: SQLite's calls block, which Swift's pool of threads must not.
    private let queue = DispatchQueue(label: "signalbox.commits")
    private let limit: Int
    private let commit: @Sendable ([Write]) throws(StoreError) -> [Output]

    /// `commit` writes all it is given in one transaction, or none of it, and says what came of each. `limit`: the most it
    /// is given at once.
    init(limit: Int, commit: @escaping @Sendable ([Write]) throws(StoreError) -> [Output]) {
        self.limit = limit
        self.commit = commit
    }

    /// Returns when the write is durable, throws when nothing of it was written.
    func write(_ write: Write) async throws(StoreError) -> Output {
        // Unchecked: every request waits here, and `drain` calls what it takes out of the list, each once.
        let result = await withUnsafeContinuation { (done: UnsafeContinuation<Result<Output, StoreError>, Never>) in
            submit(write) { done.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Calls `done` when the write is durable, or when it failed and nothing of it was written.
    func submit(_ write: Write, _ done: @escaping Done) {
        let start = pending.withLock { pending in
            pending.writes.append((write, done))
            defer { pending.isDraining = true }
            return !pending.isDraining
        }
        if start { queue.async { self.drain() } }
    }

    private func drain() {
        while true {
            let batch = pending.withLock { pending in
                let count = min(limit, pending.writes.count)
                let batch = Array(pending.writes[..<count])
                pending.writes.removeSubrange(..<count)
                pending.isDraining = !batch.isEmpty
                return batch
            }
            if batch.isEmpty { return }
            let result = Result { () throws(StoreError) in try commit(batch.map(\.write)) }
            switch result {
            case .success(let outputs):
                for (entry, output) in zip(batch, outputs) { entry.done(.success(output)) }
            case .failure(let error):
                for entry in batch { entry.done(.failure(error)) }
            }
        }
    }
}
