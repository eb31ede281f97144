import SignalboxInApp
import Synchronization

/// Wakes the timer when a decision brings forward the next work. A class because decisions and the timer share it.
/// A wake-up that is not needed costs one pass and nothing else; one that were missing would leave work to the
/// device's next request.
package final class InAppAlarm: Sendable {
    /// Waited for by the timer alone.
    let wakeUp = WakeUp()
    /// Until when the timer sleeps.
    private let until = Mutex(Instant.min)

    package init() {}

    /// Wakes the timer if it sleeps longer than until then. Callable from any thread.
    func note(_ due: Instant?) {
        guard let due else { return }
        let isEarlier = until.withLock { until in
            guard due < until else { return false }
            until = due
            return true
        }
        if isEarlier { wakeUp.wake() }
    }

    /// The timer is about to read the next due time: every decision from now on wakes it.
    func reset() { until.withLock { $0 = .max } }

    /// The timer sleeps until then, unless a decision noted an earlier time since ``reset()``. Returns the time.
    func sleeps(until due: Instant?) -> Instant {
        until.withLock { until in
            until = min(until, due ?? .max)
            return until
        }
    }
}
