import Foundation
import Synchronization

/// Remembers which categories were recorded within the hour, so that events with them cost no read and no write. A
/// class because the writer fills it and the removal of categories empties it. Holds up to 4096 identifiers. A full
/// set is emptied; each category is then written once more. A performance aid only: an empty set changes no result.
/// Safe to use from any thread.
final class KnownCategories: Sendable {
    /// The hour of the last insertion, by identifier.
    private let hours = Mutex<[String: Int]>([:])
    /// Bounds the memory: payloads can name any number of categories.
    private static let limit = 4096

    /// True when the identifier was inserted in the same hour of the wall clock, counted from 1970.
    func contains(_ identifier: String, at now: Date) -> Bool {
        hours.withLock { $0[identifier] == Self.hour(now) }
    }

    /// Called before the commit; ``remove(_:)`` undoes it. Empties the set first if it is full.
    func insert(_ identifier: String, at now: Date) {
        hours.withLock { hours in
            if hours.count >= Self.limit { hours.removeAll() }
            hours[identifier] = Self.hour(now)
        }
    }

    /// Forgets categories whose transaction was not committed.
    func remove(_ identifiers: [String]) {
        hours.withLock { hours in
            for identifier in identifiers { hours[identifier] = nil }
        }
    }

    /// Called when categories were removed from the file.
    func removeAll() { hours.withLock { $0.removeAll() } }

    /// A clock that is set back by an hour makes each category unknown once.
    private static func hour(_ date: Date) -> Int { Int((date.timeIntervalSince1970 / 3600).rounded(.down)) }
}
