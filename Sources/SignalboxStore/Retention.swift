package import Foundation
package import SignalboxInApp

/// How long events are kept, and how many bytes.
package struct Retention: Sendable, Equatable {
    /// How long an event is kept whose deliveries have all ended.
    package var ended: Duration
    /// How long an event with a dead delivery is kept.
    package var dead: Duration
    /// The size of the store beyond which the oldest ended events are removed, with records of requests as old.
    package var bytes: Int64
    /// The bounds of the registry of categories.
    package var categories: CategoryRetention
    /// The bounds of in-app messages and of the rows of users and devices.
    package var inApp: InAppRetention

    /// Takes the bounds as the config states them.
    package init(
        ended: Duration, dead: Duration, bytes: Int64, categories: CategoryRetention = CategoryRetention(),
        inApp: InAppRetention = InAppRetention()
    ) {
        (self.ended, self.dead, self.bytes, self.categories) = (ended, dead, bytes, categories)
        self.inApp = inApp
    }

    /// Decides at one time which events may be removed.
    package struct Limits: Sendable {
        /// Events accepted before this time may be removed if all their deliveries have ended and none is dead.
        package let ended: Date
        /// The same for events with a dead delivery.
        package let dead: Date

        /// Takes two times of the store's clock.
        package init(ended: Date, dead: Date) { (self.ended, self.dead) = (ended, dead) }

        /// Whether events that were stored after one of this time may be removed. An event after `now` does not end the
        /// search: the clock ran ahead when it was accepted, so later ones may be older.
        package func allowRemoval(after acceptedAt: Date, at now: Date) -> Bool {
            acceptedAt < max(ended, dead) || acceptedAt > now
        }

        /// `isWaiting`, `isDead`: whether a delivery of the event is in this state. A waiting one is never removed.
        package func allowRemoval(acceptedAt: Date, isWaiting: Bool, isDead: Bool) -> Bool {
            !isWaiting && acceptedAt < (isDead ? dead : ended)
        }
    }
}

/// How long categories are kept, and how many.
package struct CategoryRetention: Sendable, Equatable {
    /// The time since a category was last seen, give or take two hours.
    package var age: Duration
    /// The number of categories; those seen last are kept.
    package var count: Int

    /// The defaults are 90 days and 1000 categories.
    package init(age: Duration = .seconds(90 * 86_400), count: Int = 1000) { (self.age, self.count) = (age, count) }
}

/// How long files and downloads are kept, and how many bytes.
package struct MediaRetention: Sendable, Equatable {
    /// The time since an event last used a file, give or take an hour, or since a URL was last checked.
    package var unused: Duration
    /// The size of all files beyond which those are removed whose last use is longest ago.
    package var bytes: Int64

    /// Takes the bounds as the config states them.
    package init(unused: Duration, bytes: Int64) { (self.unused, self.bytes) = (unused, bytes) }
}

/// How long in-app rows are kept.
package struct InAppRetention: Sendable, Equatable {
    /// The time since a message was withdrawn or has ended, and since a user or a device was last seen, give or take a
    /// day.
    package var history: Duration
    /// The totals of vendors, of the scope and of named limits that outlive the history, because a limit counts them
    /// without an end. Totals of messages are kept as long as their message.
    package var lifetimeTotals: Set<Ledger.Key>

    /// The default is the history of a ``Policy`` without limits.
    package init(history: Duration = .seconds(35 * 86_400), lifetimeTotals: Set<Ledger.Key> = []) {
        (self.history, self.lifetimeTotals) = (history, lifetimeTotals)
    }
}
