package import Foundation
import Synchronization

/// The clock of a store, by which deliveries and downloads are due. Notices when the machine's clock is set.
///
/// Due times are wall-clock times, so a clock that is set back would stall them, and one that is set forward would end
/// all waits at once. The store therefore moves them along, in the first transaction that reads the new time. No
/// transaction writes between the two, so every stored time was written by the clock as it was before. A class because
/// the writer and readers share it.
package final class StoreClock: Sendable {
    /// Smaller differences are drift, which a time service corrects all the time.
    package static let tolerance: TimeInterval = 2

    /// By how much the wall clock is ahead of elapsed time, according to the stored times.
    private let offset: Mutex<TimeInterval>
    private let wall: @Sendable () -> Date
    private let elapsed: @Sendable () -> Duration

    /// `elapsed`: time since any start, which advances while the machine is suspended and is never set.
    package init(wall: @escaping @Sendable () -> Date, elapsed: @escaping @Sendable () -> Duration) {
        (self.wall, self.elapsed) = (wall, elapsed)
        offset = Mutex(Self.offset(wall(), elapsed()))
    }

    /// Continues the times of an earlier process, which wrote the last ones at `time`. Has an effect only if the wall
    /// clock was set back since then: the next reading reports that as a jump. A clock that is ahead does not count as
    /// one, because time has passed while no process ran.
    package func continueTimes(from time: Date) {
        offset.withLock { offset in
            let former = Self.offset(time, elapsed())
            if former - offset > Self.tolerance { offset = former }
        }
    }

    /// The wall clock, whether or not the stored times follow it already.
    package var now: Date { wall() }

    /// A time, and how the stored times compare with it.
    package struct Reading: Sendable {
        /// The wall clock at the time of the reading.
        package let now: Date
        /// By how many seconds the stored times must be moved first; nil when they are right.
        package let jump: TimeInterval?
        fileprivate let offset: TimeInterval
    }

    /// Reads the clock. A transaction that sees a jump moves the stored times, then calls ``follow(_:)``.
    package func read() -> Reading {
        offset.withLock { offset in
            let now = wall()
            let current = Self.offset(now, elapsed())
            let jump = current - offset
            guard abs(jump) <= Self.tolerance else { return Reading(now: now, jump: jump, offset: current) }
            offset = current
            return Reading(now: now, jump: nil, offset: current)
        }
    }

    /// Records that the stored times were moved by the jump of a reading.
    package func follow(_ reading: Reading) { offset.withLock { $0 = reading.offset } }

    private static func offset(_ wall: Date, _ elapsed: Duration) -> TimeInterval {
        wall.timeIntervalSince1970 - elapsed / .seconds(1)
    }
}
