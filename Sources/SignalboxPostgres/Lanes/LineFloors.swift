import SignalboxNotification
import Synchronization

/// For each destination, a number below which no delivery with an order key waits or is leased. Ordered searches skip
/// the index entries below it without reading their rows: with an old snapshot, the index keeps the entries of all
/// deliveries that ended, and a row costs far more than an entry.
///
/// Searches learn it on their way: they see the first delivery of each key, so a round over all keys finds the smallest
/// number. Two kinds of deliveries may appear below that number later:
///
/// - A transaction that was in progress during the round commits its deliveries. For example, it takes number 10 and
///   stays open while a round finds 11 as its smallest number. So the floor skips no number beyond the last one that
///   was assigned before an earlier round began, and it applies only once all transactions of that time have ended. A
///   search runs in a transaction and has its transaction ID. A transaction that took a number before an earlier search
///   read the last one (``LinePart/lastAssigned``) is older than the next search. So it has ended when the oldest
///   transaction in progress is not older than that search.
/// - An operator requeues dead letters, which keep their numbers. The same transaction raises `destinations.requeues`;
///   a search that sees another count than the floor's ignores the floor.
///
/// Gateways of earlier releases do not raise this count. To find the deliveries that they requeue, about a fiftieth of
/// the time goes to searches without a floor, as in ``DueHints``. A class because claims share it.
final class LineFloors: Sendable {
    private struct Line {
        /// Skips no entry before the second complete round.
        var floor: LineFloor
        /// The time from which a search ignores the floor; nil for at once.
        var ignoredFrom: ContinuousClock.Instant?
        /// The consecutive searches since the last complete round; nil for none.
        var round: LineRound?
        /// ``LinePart/lastAssigned`` of the last search.
        var last: Int64?
        /// An earlier round: the last delivery number that was assigned before its first search began, and the
        /// transaction ID of that search.
        var earlier: (lastAssigned: Int64, transactionID: Int64)?
    }

    private struct State {
        var lines: [DestinationName: Line] = [:]
        /// Counts ``LineFloors/reset()``.
        var generation = 0
    }

    private let state = Mutex(State())

    /// Called right before a search.
    func floor(of destination: DestinationName, at now: ContinuousClock.Instant = .now) -> LineFloor {
        state.withLock { state in
            guard let line = state.lines[destination], let end = line.ignoredFrom, now < end else {
                return .none(since: state.generation)
            }
            return line.floor
        }
    }

    /// The floor that a search may apply. Called in the transaction of the search, because the incarnation may have
    /// been replaced since ``floor(of:at:)``.
    func valid(_ floor: LineFloor) -> LineFloor {
        state.withLock { $0.generation == floor.generation ? floor : .none(since: floor.generation) }
    }

    /// Records a search. `floor`: the one that it was given. `took`: its time in the database. A part that does not
    /// continue the round begins another one. The floor changes only when a round is complete. Has no effect if
    /// ``reset()`` has been called since the floor was read.
    func record(
        _ destination: DestinationName, _ part: LinePart, _ floor: LineFloor, took: Duration,
        ended: ContinuousClock.Instant = .now
    ) {
        state.withLock { state in
            guard state.generation == floor.generation else { return }
            var line = state.lines[destination] ?? Line(floor: .none(since: state.generation))
            defer { state.lines[destination] = line }
            if floor.isNone { line.ignoredFrom = ended + took * DueHints.restPerSearch }
            if line.round?.add(part) != true { line.round = LineRound(part, lastNumber: line.last) }
            line.last = part.lastAssigned
            guard let round = line.round, round.isComplete else { return }
            line.round = nil
            if let earlier = line.earlier {
                // A transaction of the earlier round may still add deliveries.
                guard round.first.oldest >= earlier.transactionID else { return }
                line.floor = LineFloor(
                    number: min(round.firstDelivery ?? .max, earlier.lastAssigned + 1), requeues: round.first.requeues,
                    generation: state.generation)
            }
            line.earlier = round.lastNumber.map { ($0, round.first.transactionID) }
        }
    }

    /// Forgets everything: after a failover, numbers may be assigned again. Called when an incarnation ends.
    func reset() {
        state.withLock { state in
            state.lines = [:]
            state.generation += 1
        }
    }
}

/// A lower bound of the numbers of deliveries with an order key, as long as `destinations.requeues` is the same.
struct LineFloor: Sendable, Equatable {
    /// Searches skip index entries with a smaller number; 0 skips none.
    let number: Int64
    /// The count of the destination for which the number holds.
    let requeues: Int64
    /// The number of resets before it was learned.
    let generation: Int

    /// Skips no entry. `generation`: the number of resets so far.
    static func none(since generation: Int = 0) -> LineFloor {
        LineFloor(number: 0, requeues: 0, generation: generation)
    }

    /// Whether it skips no entry.
    var isNone: Bool { number == 0 }
}

/// The part of a line that an ordered search saw: the keys after ``after``, up to ``upTo``.
struct LinePart: Sendable {
    /// The key after which the search began; nil for the first key.
    let after: String?
    /// The last key that the search was to cover; nil for no limit.
    let upTo: String?
    /// The last key that it saw, or ``after``; nil for none.
    let lastKey: String?
    /// Whether there may be keys after ``lastKey``, up to ``upTo``.
    let isCut: Bool
    /// The smallest number that it saw; nil for none.
    let firstDelivery: Int64?
    /// The last delivery number that was assigned before its snapshot.
    let lastAssigned: Int64
    /// The oldest transaction that was in progress.
    let oldest: Int64
    /// The ID of its own transaction. It was assigned before ``lastAssigned`` was read.
    let transactionID: Int64
    /// `destinations.requeues` in its snapshot.
    let requeues: Int64
}

/// Consecutive parts that together cover all keys, beginning at any key.
struct LineRound {
    /// Its snapshot decides which transactions were in progress when the round began.
    let first: LinePart
    /// ``LinePart/lastAssigned`` of the search before ``first``; nil for none.
    let lastNumber: Int64?
    /// The smallest number of all parts; nil if none saw a delivery.
    private(set) var firstDelivery: Int64?
    /// The last key of the parts so far; nil at the beginning of the line.
    private var covered: String?
    /// Whether a part has reached the end of the line, or the round began at its start.
    private var hasWrapped: Bool
    /// Whether the parts cover every key.
    private(set) var isComplete = false

    /// An uncut part without a start and an end is a complete round.
    init(_ part: LinePart, lastNumber: Int64?) {
        first = part
        self.lastNumber = lastNumber
        covered = part.after
        hasWrapped = part.after == nil
        extend(by: part)
    }

    /// Returns whether the part continues the round: it begins at or before the end of the parts so far.
    mutating func add(_ part: LinePart) -> Bool {
        switch (covered, part.after) {
        case (let covered?, let after?) where !covered.isLess(than: after): break
        case (nil, nil): break
        default: return false
        }
        extend(by: part)
        return true
    }

    private mutating func extend(by part: LinePart) {
        firstDelivery = [firstDelivery, part.firstDelivery].compactMap(\.self).min()
        let end = part.isCut ? part.lastKey : part.upTo
        if let end {
            covered = end
            if hasWrapped, let start = first.after { isComplete = !end.isLess(than: start) }
            return
        }
        // It saw nothing.
        if part.isCut { return }
        if hasWrapped {
            isComplete = true
        } else {
            hasWrapped = true
            covered = nil
        }
    }
}

extension String {
    /// In the order of the bytes, as the database compares keys.
    fileprivate func isLess(than other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
