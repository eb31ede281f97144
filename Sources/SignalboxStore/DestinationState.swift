package import Foundation
import GRDB
import SignalboxNotification

/// That a destination takes nothing for now, why, and since when. Its deliveries wait.
package struct DestinationState: Sendable, Equatable {
    package enum Word: String, Sendable, CaseIterable {
        /// By an operator.
        case paused
        /// By the destination itself, which is gone (410).
        case disabled
    }

    package let word: Word
    package let reason: String?
    package let since: Date

    package init(_ word: Word, reason: String? = nil, since: Date) {
        self.word = word
        self.reason = reason
        self.since = since
    }
}

extension DestinationState {
    func write(for destination: DestinationName, in db: Database) throws {
        try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO destinations (name, state, reason, since) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [destination.name, word.rawValue, reason, since.milliseconds])
    }

    static func all(in db: Database) throws -> [DestinationName: DestinationState] {
        var states: [DestinationName: DestinationState] = [:]
        for row in try StoredRow.fetchAll(db, sql: "SELECT name, state, reason, since FROM destinations") {
            states[DestinationName(try row.text(0))] = DestinationState(
                try row.word(1), reason: try row.optionalText(2), since: try row.date(3))
        }
        return states
    }
}
