package import Foundation
package import SignalboxInApp
import SignalboxNotification

/// One step of the removal of in-app rows: a transaction of milliseconds. Each step continues where the former one
/// ended, so that the walk ends in a damaged table too. A walk goes through one index in its order. A crash between two
/// steps loses nothing: the next walk finds the remaining rows again.
package struct InAppWalk: Sendable {
    /// The rows that a walk looks for, in the order of the walks: a message that is withdrawn here is removed by a
    /// later walk, after the history has passed once more. Owners come last, because the totals of removed messages no
    /// longer keep them. `changes`: the log of a store that several nodes share.
    package enum Subject: Sendable, CaseIterable { case endless, messages, users, devices, changes }

    /// A position in an index. ``start`` precedes every row.
    /// The number is the column that the index begins with: a time or a kind. The id tells rows with the same number
    /// apart.
    package struct Position: Sendable {
        /// In milliseconds since 1970 for times, 0 or 1 for a kind.
        package var number = Int64.min
        /// Compared by its bytes, as the index has it.
        package var id = ""

        package static let start = Position()

        private init() {}

        package init(_ number: Int64, _ id: String) { (self.number, self.id) = (number, id) }

        /// Moves on. Throws ``DamagedValue`` for a position that is not later, as in a table whose rows are out of
        /// order: an index that leads back would let a walk run permanently.
        package mutating func advance(to next: Self, in table: String) throws(DamagedValue) {
            guard (number, ExactText(id)) < (next.number, ExactText(next.id)) else {
                throw DamagedValue("the rows of \(table) are out of order")
            }
            self = next
        }
    }

    /// Chosen by the caller; a walk does not change it.
    package let subject: Subject
    /// In milliseconds since 1970: rows of earlier times are removed.
    package let before: Int64
    /// Totals that stay, besides those of stored messages.
    package let lifetimeTotals: Set<Ledger.Key>
    /// The last message, user or device of the former step.
    package var position = Position.start
    /// The last owner of the totals of the message after `position`, in a store that removes them one by one.
    package var owner = Position.start

    /// Milliseconds.
    package static let day: Int64 = 86_400_000

    /// The beginning of the day of ``before``: owners that were seen on it stay.
    package var firstDay: Int64 { before / Self.day * Self.day }

    /// The first steps of all walks, in their order. `lastEndless`: when a walk through endless messages ended, which
    /// is not repeated within an hour.
    package static func all(
        beyond retention: InAppRetention, at now: Date, lastEndless: Date?
    ) -> [InAppWalk] {
        Subject.allCases.filter { $0 != .endless || isDue(after: lastEndless, at: now) }.map { subject in
            InAppWalk(
                subject: subject, before: (now - retention.history).milliseconds,
                lifetimeTotals: retention.lifetimeTotals)
        }
    }

    /// Whether an hour has passed, or the clock was set. For work that passes over many rows: upkeep runs every minute.
    package static func isDue(after last: Date?, at now: Date) -> Bool {
        last.map { abs(now.timeIntervalSince($0)) >= 3600 } ?? true
    }

    /// The next step; nil if this one found fewer rows than the most of a step.
    package func next(after last: Position?, _ count: Int, of most: Int) -> InAppWalk? {
        guard count == most, let last else { return nil }
        var next = self
        next.position = last
        return next
    }
}
