import SignalboxNotification
import Synchronization

/// How long the look leaves an ordered destination alone whose due deliveries are all blocked: ten times as long as the
/// search took that found none, so that searches take a tenth of the time at most. A class because lanes and the look
/// share it.
final class OrderedRests: Sendable {
    /// Bounds the share of searches that find none to a tenth.
    private static let factor = 10

    /// The ends of the rests, by destination. One that has passed has no effect.
    private let ends = Mutex<[DestinationName: ContinuousClock.Instant]>([:])

    /// Records the end of a complete search. Without a rest if it found a delivery.
    func record(_ destination: DestinationName, after duration: Duration, foundNone: Bool) {
        ends.withLock { $0[destination] = foundNone ? .now + duration * Self.factor : nil }
    }

    /// Whether the look may wake the lane for deliveries with a key. True for a destination without a rest.
    func isOver(_ destination: DestinationName) -> Bool {
        ends.withLock { $0[destination].map { $0 <= .now } ?? true }
    }
}
