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
        let first = FirstResult<T>()
        // Not structured: the caller must not wait for work that hangs.
        Task { first.set(await work()) }
        self(after: limit) { first.set(nil) }
        return await first.value()
    }

    /// Awaits work that may hang, such as that of a disk: after a cancellation of the task for at most `limit`; then
    /// returns nil. The cancelled work continues, and its result is discarded.
    package func result<T: Sendable>(
        afterCancellation limit: Duration, of work: @escaping @Sendable () async -> T
    ) async -> T? {
        let first = FirstResult<T>()
        // Not structured: a read or write of a disk cannot be interrupted.
        let task = Task { first.set(await work()) }
        return await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            task.cancel()
            self(after: limit) { first.set(nil) }
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

/// The first of several results, such as the end of some work and the end of the patience with it. A class because the
/// competing tasks share it.
package final class FirstResult<T: Sendable>: Sendable {
    private let state = Mutex<(result: T??, waiting: CheckedContinuation<T?, Never>?)>((nil, nil))

    /// There is no result yet.
    package init() {}

    /// Has no effect after the first result. Nil gives up. Callable from any thread.
    package func set(_ result: T?) {
        let waiting = state.withLock { state -> CheckedContinuation<T?, Never>? in
            if state.result == nil { state.result = .some(result) }
            return state.waiting.take()
        }
        waiting?.resume(returning: result)
    }

    /// Waits for the first result. Call it once.
    package func value() async -> T? {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state -> T?? in
                if state.result == nil { state.waiting = continuation }
                return state.result
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}
