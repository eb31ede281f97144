package import Foundation
package import SignalboxNotification
import Synchronization

/// Remembers which categories were recorded within the hour, so that events with them cost no read and no write. A
/// class because the writer fills it and the removal of categories empties it. Holds up to 4096 identifiers. A full
/// set is emptied; each category is then written once more. A performance aid only: an empty set changes no result.
/// Safe to use from any thread.
package final class KnownCategories: Sendable {
    /// The last insertion of a category.
    private struct Seen: Equatable {
        let hour: Int
        /// The hash of the definition, by Swift's hash function with the random seed of the process: a sender cannot
        /// choose two definitions with the same one.
        let definition: Int

        /// A record that is inserted now.
        init(_ record: CategoryRecord, at now: Date) {
            hour = KnownCategories.hour(now)
            var hasher = Hasher()
            record.definition.withUnsafeBytes { hasher.combine(bytes: $0) }
            definition = hasher.finalize()
        }
    }

    /// By identifier.
    private let seen = Mutex(ExactTextMap<Seen>())
    /// Bounds the memory: payloads can name any number of categories.
    private static let limit = 4096

    /// No category is known.
    package init() {}

    /// True when the identifier was inserted in the same hour of the wall clock, counted from 1970. For identifiers
    /// that derive from their definition.
    package func contains(_ identifier: String, at now: Date) -> Bool {
        seen.withLock { $0[identifier]?.hour == Self.hour(now) }
    }

    /// True when the identifier was last inserted in the same hour and with an equal definition.
    package func contains(_ record: CategoryRecord, at now: Date) -> Bool {
        seen.withLock { $0[record.identifier] } == Seen(record, at: now)
    }

    /// Called before the commit; ``remove(_:)`` undoes it. Empties the set first if it is full.
    package func insert(_ record: CategoryRecord, at now: Date) {
        let value = Seen(record, at: now)
        seen.withLock { seen in
            if seen.count >= Self.limit { seen.removeAll() }
            seen[record.identifier] = value
        }
    }

    /// Forgets categories whose transaction was not committed.
    package func remove(_ identifiers: [String]) {
        seen.withLock { seen in
            for identifier in identifiers { seen[identifier] = nil }
        }
    }

    /// Called when categories were removed from the store.
    package func removeAll() { seen.withLock { $0.removeAll() } }

    /// A clock that is set back by an hour makes each category unknown once.
    private static func hour(_ date: Date) -> Int { Int((date.timeIntervalSince1970 / 3600).rounded(.down)) }
}
