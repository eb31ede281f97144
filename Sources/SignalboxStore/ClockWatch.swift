package import Foundation

/// Tells a wall clock that was set from time that passed, and remembers what was written by the new time already. Pure:
/// both times come in.
package struct ClockWatch: Sendable {
    private var offset: TimeInterval?
    /// Those whose next attempt was set since the last look, with the offset that the clock had then.
    private var written: [Int64: TimeInterval] = [:]
    /// Less than this is drift, which a clock service corrects all the time.
    private static let tolerance: TimeInterval = 2

    /// That the wall clock was moved.
    package struct Jump: Sendable, Equatable {
        package let seconds: TimeInterval
        /// Those whose times were set by the moved clock.
        package let sparing: Set<Int64>
    }

    /// Notes that the time of somebody's next attempt is about to be written.
    package mutating func note(_ id: Int64, wall: Date, elapsed: Duration) {
        written[id] = Self.offset(wall, elapsed)
    }

    /// What was noted since the last look.
    package var noted: Set<Int64> { Set(written.keys) }

    /// By how much the wall clock was moved since the last call; nil when it was not.
    package mutating func jump(wall: Date, elapsed: Duration) -> Jump? {
        let now = Self.offset(wall, elapsed)
        defer {
            offset = now
            written = [:]
        }
        guard let offset, abs(now - offset) > Self.tolerance else { return nil }
        let sparing = written.filter { abs($0.value - now) <= Self.tolerance }
        return Jump(seconds: now - offset, sparing: Set(sparing.keys))
    }

    private static func offset(_ wall: Date, _ elapsed: Duration) -> TimeInterval {
        wall.timeIntervalSince1970 - elapsed / .seconds(1)
    }
}
