import SignalboxNotification
import Synchronization

/// Pauses between searches (rests) for ordered destinations whose due deliveries are all blocked. During a rest, ticks
/// do not wake the lane for deliveries with a key. A rest is ten times as long as the search that found none, so
/// searches take at most a tenth of the time. A class because lanes and ticks share it.
final class OrderedRests: Sendable {
    /// Bounds the share of searches that find none to a tenth.
    private static let factor = 10

    /// The ends of the rests, by destination. An end that has passed has no effect.
    private let ends = Mutex<[DestinationName: ContinuousClock.Instant]>([:])

    /// Records the end of a complete search. Begins a rest unless the search found a delivery.
    func record(_ destination: DestinationName, after duration: Duration, foundNone: Bool) {
        ends.withLock { $0[destination] = foundNone ? .now + duration * Self.factor : nil }
    }

    /// Whether a tick may wake the lane for deliveries with a key. True for a destination without a rest.
    func isOver(_ destination: DestinationName) -> Bool {
        ends.withLock { $0[destination].map { $0 <= .now } ?? true }
    }
}
