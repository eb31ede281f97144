package import Foundation
import Synchronization

/// Watches the clock by which deliveries and downloads are due, and remembers which times were set since the last look.
///
/// A class because writer and timer share it.
package final class ClockNotes: Sendable {
    private let watches = Mutex((deliveries: ClockWatch(), media: ClockWatch()))
    private let now: @Sendable () -> Date
    private let elapsed: @Sendable () -> Duration

    package init(now: @escaping @Sendable () -> Date, elapsed: @escaping @Sendable () -> Duration) {
        self.now = now
        self.elapsed = elapsed
    }

    /// Notes that a time is about to be written by which a delivery waits.
    package func note(delivery: Int64) {
        watches.withLock { [now, elapsed] in $0.deliveries.note(delivery, wall: now(), elapsed: elapsed()) }
    }

    /// Notes that the time of a download's next attempt is about to be written.
    package func note(media: Int64) {
        watches.withLock { [now, elapsed] in $0.media.note(media, wall: now(), elapsed: elapsed()) }
    }

    /// Those that were noted since the last look.
    package var deliveries: Set<Int64> { watches.withLock { $0.deliveries.noted } }
    package var media: Set<Int64> { watches.withLock { $0.media.noted } }

    /// By how much the clock was moved since the last look, and which downloads it spares; nil when it was not.
    package func jump(wall: Date, elapsed: Duration) -> (jump: ClockWatch.Jump, media: Set<Int64>)? {
        watches.withLock { watches in
            let media = watches.media.jump(wall: wall, elapsed: elapsed)
            return watches.deliveries.jump(wall: wall, elapsed: elapsed).map { ($0, media?.sparing ?? []) }
        }
    }
}
