package import Foundation
import Synchronization

/// Remembers which categories were noted within the hour, so that the events that have them cost the file nothing.
///
/// A class because the writer fills it and the removal of categories empties it.
package final class KnownCategories: Sendable {
    package init() {}

    private let hours = Mutex<[String: Int]>([:])
    private static let limit = 4096

    package func contains(_ identifier: String, at now: Date) -> Bool {
        hours.withLock { $0[identifier] == Self.hour(now) }
    }

    package func insert(_ identifier: String, at now: Date) {
        hours.withLock { hours in
            if hours.count >= Self.limit { hours.removeAll() }
            hours[identifier] = Self.hour(now)
        }
    }

    /// Those whose transaction was not committed.
    package func remove(_ identifiers: [String]) {
        hours.withLock { hours in
            for identifier in identifiers { hours[identifier] = nil }
        }
    }

    package func removeAll() { hours.withLock { $0.removeAll() } }

    private static func hour(_ date: Date) -> Int { Int((date.timeIntervalSince1970 / 3600).rounded(.down)) }
}
