import Synchronization

/// Remembers for a while that a commit failed: a disk that is nearly full takes small writes and refuses real ones.
final class CommitHealth: Sendable {
    // A class because the writer notes what others ask for.
    private let failure = Mutex<(error: StoreError, time: ContinuousClock.Instant)?>(nil)
    private static let memory: Duration = .seconds(10)

    func failed(_ error: StoreError) { failure.withLock { $0 = (error, .now) } }

    func succeeded() { failure.withLock { $0 = nil } }

    /// The last failure, when it is recent and nothing was committed since.
    var recentFailure: StoreError? {
        failure.withLock { failure in
            guard let failure, ContinuousClock.now - failure.time < Self.memory else { return nil }
            return failure.error
        }
    }
}
