import SignalboxInApp
import Synchronization

/// Wakes the timer when a decision brings forward the next work. A class because decisions and the timer share it.
/// A superfluous wake-up costs one pass. A missing one would delay the work until the device's next request.
package final class InAppAlarm: Sendable {
    /// The signal that only the timer waits for.
    let wakeUp = WakeUp()
    /// The time until which the timer sleeps.
    private let until = Mutex(Instant.min)

    package init() {}

    /// Wakes the timer if it would sleep beyond `due`. Callable from any thread.
    func note(_ due: Instant?) {
        guard let due else { return }
        let isEarlier = until.withLock { until in
            guard due < until else { return false }
            until = due
            return true
        }
        if isEarlier { wakeUp.wake() }
    }

    /// Called before the timer reads the next due time: from now on, every decision wakes it.
    func reset() { until.withLock { $0 = .max } }

    /// Returns the time until which the timer sleeps: `due`, or an earlier time that a decision noted since
    /// ``reset()``.
    func sleeps(until due: Instant?) -> Instant {
        until.withLock { until in
            until = min(until, due ?? .max)
            return until
        }
    }
}
