import Foundation

/// Tells a wall clock that was set from time that passed. Pure: both times come in.
struct ClockWatch: Sendable {
    private var offset: TimeInterval?
    /// Less than this is drift, which a clock service corrects all the time.
    private static let tolerance: TimeInterval = 2

    /// By how much the wall clock was moved since the last call; nil when it was not.
    mutating func jump(wall: Date, elapsed: Duration) -> TimeInterval? {
        let now = wall.timeIntervalSince1970 - elapsed / .seconds(1)
        defer { offset = now }
        guard let offset, abs(now - offset) > Self.tolerance else { return nil }
        return now - offset
    }
}
