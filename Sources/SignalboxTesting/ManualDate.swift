package import Foundation
import Synchronization

/// A clock that moves when it is told to. A class because the test and the tested code share it.
package final class ManualDate: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
    private let passed = Mutex(Duration.zero)

    /// Begins in January 2027, with no time passed.
    package init() {}

    /// The wall clock.
    package var now: Date { date.withLock { $0 } }
    /// A monotonic clock.
    package var elapsed: Duration { passed.withLock { $0 } }

    /// Moves both clocks.
    package func advance(by seconds: TimeInterval) {
        date.withLock { $0 += seconds }
        passed.withLock { $0 += .seconds(seconds) }
    }

    /// Steps the clock, as an operator may. Moves ``now`` only, so the tested code sees a clock that was set.
    package func set(by seconds: TimeInterval) { date.withLock { $0 += seconds } }
}
