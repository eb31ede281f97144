import Dispatch
import Synchronization

/// Calls a function after a delay. Tests pass their own and control the time.
@usableFromInline package struct DelayedCall: Sendable {
    private let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    /// `schedule` must not call the function before it returns.
    package init(_ schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Void) {
        self.schedule = schedule
    }

    /// Uses its own queue, so that blocked threads do not delay the calls that report them.
    @usableFromInline package static let onQueue: DelayedCall = {
        let queue = DispatchQueue(label: "signalbox.delayed-calls")
        return DelayedCall { delay, call in
            queue.asyncAfter(deadline: .now() + .milliseconds(Int(delay / .milliseconds(1))), execute: call)
        }
    }()

    /// Calls a function once, after `delay`. A negative delay counts as zero.
    @usableFromInline package func callAsFunction(after delay: Duration, _ call: @escaping @Sendable () -> Void) {
        schedule(max(.zero, delay), call)
    }
}

extension DelayedCall {
    /// Awaits work for at most `limit`; returns nil when it takes longer. The work then continues, and its result is
    /// discarded.
    package func result<T: Sendable>(within limit: Duration, of work: @escaping @Sendable () async -> T) async -> T? {
        await withCheckedContinuation { continuation in
            let first = FirstResult(continuation)
            // Not structured: the caller must not wait for work that hangs.
            Task { first.resume(returning: await work()) }
            self(after: limit) { first.resume(returning: nil) }
        }
    }

    /// Awaits an answer of the store for at most `limit`, then throws ``StoreError/undecided(after:)``. An abandoned
    /// read or write continues, because a disk that hangs cannot be interrupted.
    package func answer<T: Sendable>(
        of work: @escaping @Sendable () async throws(StoreError) -> T, within limit: Duration = StoreLimits.patience
    ) async throws(StoreError) -> T {
        let result = await result(within: limit) { () async -> Result<T, StoreError> in
            do throws(StoreError) { return .success(try await work()) } catch { return .failure(error) }
        }
        return try (result ?? .failure(.undecided(after: limit))).get()
    }
}

/// Resumes a continuation with the first of several results. A class because the competing tasks share it.
private final class FirstResult<T: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<T?, Never>?>

    init(_ continuation: CheckedContinuation<T?, Never>) { self.continuation = Mutex(continuation) }

    func resume(returning result: T?) { continuation.withLock { $0.take() }?.resume(returning: result) }
}
