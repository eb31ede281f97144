package import Foundation

/// The time of the live view: nanoseconds of a clock that never jumps, and the wall clock at its start.
///
/// Read for every accepted event, so it avoids `Duration`, whose parts cost a division of 128 bits.
package struct ObservationClock: Sendable {
    /// Nanoseconds since any start; never decreases.
    package let nanoseconds: @Sendable () -> Int64
    /// The wall clock when ``nanoseconds`` was `origin`, in milliseconds since 1970.
    private let start: Int64
    private let origin: Int64

    /// `start`: the wall clock now.
    package init(start: Date, nanoseconds: @escaping @Sendable () -> Int64) {
        self.nanoseconds = nanoseconds
        origin = nanoseconds()
        self.start = Int64((start.timeIntervalSince1970 * 1000).rounded(.down))
    }

    /// The clock of the system.
    package static var system: ObservationClock {
        ObservationClock(start: Date()) {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
    }

    /// Milliseconds since 1970 at a reading of ``nanoseconds``. Follows the wall clock of the start, so a clock that
    /// is set back makes no second occur twice.
    func milliseconds(at nanoseconds: Int64) -> Int64 { start + (nanoseconds - origin) / 1_000_000 }

    /// Whole seconds since 1970.
    func second(at nanoseconds: Int64) -> Int64 { milliseconds(at: nanoseconds) / 1000 }

    /// The time of a reading of ``nanoseconds``.
    func date(at nanoseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds(at: nanoseconds)) / 1000)
    }

    /// The present time.
    package var now: Date { date(at: nanoseconds()) }
}
