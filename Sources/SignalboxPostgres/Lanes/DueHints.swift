import Foundation
import SignalboxNotification
import Synchronization

/// The start of searches of long queues: the time at which the last claimed delivery became due. So they skip the
/// index entries of deliveries that were claimed since the last vacuum. Every seventeenth search begins at the first
/// entry, because a delivery that was given back is due as before. A class because claims share it.
final class DueHints: Sendable {
    /// Searches in a row that begin at a hint.
    private static let run = 16

    private struct Hint {
        var due: Date
        var left: Int
    }

    private let hints = Mutex<[DestinationName: Hint]>([:])

    /// The earliest due time that the next search looks at.
    func start(of destination: DestinationName) -> Date {
        hints.withLock { hints in
            guard let hint = hints[destination], hint.left > 0 else { return .distantPast }
            return hint.due
        }
    }

    /// Records the end of a search. `due`: of the last delivery that it found, if there may be more; nil if there are
    /// none after it. Returns whether the search began at the first entry.
    func record(_ destination: DestinationName, _ due: Date?) -> Bool {
        hints.withLock { hints in
            let left = hints[destination]?.left ?? 0
            hints[destination] = due.map { Hint(due: $0, left: left > 0 ? left - 1 : Self.run) }
            return left == 0
        }
    }
}
