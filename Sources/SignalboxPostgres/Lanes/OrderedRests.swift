import SignalboxNotification
import Synchronization

/// How long the look leaves an ordered destination alone whose due deliveries are all blocked: ten times as long as the
/// search took that found none, so that searches take a tenth of the time at most. A class because lanes and the look
/// share it.
final class OrderedRests: Sendable {
    private static let factor = 10

    private let ends = Mutex<[DestinationName: ContinuousClock.Instant]>([:])

    /// Records the end of a complete search.
    func record(_ destination: DestinationName, after duration: Duration, foundNone: Bool) {
        ends.withLock { $0[destination] = foundNone ? .now + duration * Self.factor : nil }
    }

    /// Whether the look may wake the lane for deliveries with a key.
    func isOver(_ destination: DestinationName) -> Bool {
        ends.withLock { $0[destination].map { $0 <= .now } ?? true }
    }
}
