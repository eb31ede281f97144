import Foundation
import SignalboxNotification
import Synchronization

/// The beginning of a search of a destination: the first entry of the index, or a due time up to which earlier
/// searches found everything. So most searches skip the index entries of deliveries that were claimed since the last
/// vacuum; an old snapshot keeps all of these.
///
/// A whole search, from the first entry, is needed now and then, because a delivery may become free and be due as
/// before. About a fiftieth of the time goes to whole searches: after each, the next one waits fifty times as long as
/// it took. A class because claims share it.
final class DueHints: Sendable {
    /// A commit may become visible this much later than its deliveries are due. The next whole search finds later ones.
    /// In seconds.
    static let latest: TimeInterval = 1
    /// After a whole search, the next one waits for this multiple of its duration.
    static let restPerSearch = 50

    private struct Hint {
        var due: Date
        /// When the next search is a whole one.
        var whole: ContinuousClock.Instant
    }

    private struct State {
        var hints: [DestinationName: Hint] = [:]
        /// Counts the times at which hints were removed: the search in progress may not have seen the reason.
        var removals = 0
    }

    /// The start of a search.
    struct Start: Sendable {
        /// The earliest due time that the search looks at.
        let due: Date
        /// Whether it begins at the first entry.
        var isWhole: Bool { due == .distantPast }
        fileprivate let begun: ContinuousClock.Instant
        fileprivate let removals: Int
    }

    private let state = Mutex(State())

    /// Called right before a search. A search from the first entry has the due time ``Foundation/Date/distantPast``.
    func start(of destination: DestinationName, at now: ContinuousClock.Instant = .now) -> Start {
        state.withLock { state in
            let hint = state.hints[destination].flatMap { now < $0.whole ? $0.due : nil }
            return Start(due: hint ?? .distantPast, begun: now, removals: state.removals)
        }
    }

    /// Records the end of a search. `due`: of the last delivery that it found, if there may be more; nil if it found
    /// all that were due at `now`. Returns how long the next search is not a whole one; zero if this one was whole.
    func record(
        _ destination: DestinationName, _ start: Start, _ due: Date?, at now: Date,
        ended end: ContinuousClock.Instant = .now
    ) -> Duration {
        state.withLock { state in
            guard start.removals == state.removals else {
                state.hints[destination] = nil
                return .zero
            }
            let whole =
                start.isWhole
                ? end + (end - start.begun) * Self.restPerSearch : state.hints[destination]?.whole ?? end
            state.hints[destination] = Hint(due: due ?? now - Self.latest, whole: whole)
            return start.isWhole ? .zero : max(.zero, whole - end)
        }
    }

    /// Makes the next search a whole one if a free delivery became due before the searches begin. `firstDue`: of the
    /// first free delivery that another reader saw.
    func note(_ destination: DestinationName, firstDue: Date) {
        state.withLock { state in
            guard let hint = state.hints[destination], firstDue < hint.due else { return }
            state.hints[destination] = nil
            state.removals += 1
        }
    }

    /// Makes the next search of each destination a whole one: deliveries became free.
    func reset() {
        state.withLock { state in
            state.hints = [:]
            state.removals += 1
        }
    }
}
