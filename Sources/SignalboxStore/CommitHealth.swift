import Synchronization

/// Remembers for a while that a commit failed: a disk that is nearly full takes small writes and refuses real ones. That
/// the file is damaged it remembers until something can be committed again: damage does not pass, and need not be where a
/// small write goes.
package final class CommitHealth: Sendable {
    // A class because the writer notes what others ask for.
    private let failure = Mutex<(error: StoreError, time: ContinuousClock.Instant)?>(nil)
    private let now: @Sendable () -> ContinuousClock.Instant
    private static let memory: Duration = .seconds(10)

    package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// A failure of one write says nothing about the others, unless the file is damaged.
    package func failed(_ failure: CommitFailure) {
        if failure.mayBeOfOneWrite, case .unavailable = failure.reason { return }
        self.failure.withLock { [now] in $0 = (failure.reason, now()) }
    }

    package func succeeded() { failure.withLock { $0 = nil } }

    /// The last failure, when it is recent or lasts, and nothing was committed since.
    package var recentFailure: StoreError? {
        failure.withLock { [now] failure in
            guard let failure else { return nil }
            if case .damaged = failure.error { return failure.error }
            return now() - failure.time < Self.memory ? failure.error : nil
        }
    }
}
