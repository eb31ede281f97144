import Foundation
import GRDB
import SignalboxInApp
import SignalboxStore
import Synchronization

/// The bounds and the statements of a step. It runs in the commit group, so that changes of messages are reported in
/// their order.
enum InAppRemoval {
    /// The most messages, users or devices of one step.
    static let count = 50
    /// The most totals of messages that one step removes.
    static let totals = 500

    // MARK: Statements. Arguments: the position, the limit in time, and a number of rows.

    /// The messages that ended or were withdrawn first.
    /// Served by an index over that expression.
    static let overMessages = """
        SELECT coalesce(withdrawn_at, ends_at), \(StoredInAppMessage.columns) FROM inapp_messages
        WHERE (coalesce(withdrawn_at, ends_at), id) > (?, ?) AND coalesce(withdrawn_at, ends_at) < ?
        ORDER BY coalesce(withdrawn_at, ends_at), id LIMIT ?
        """
    /// The addressed messages without an end that were registered first.
    static let endlessMessages = """
        SELECT registered_at, \(StoredInAppMessage.columns) FROM inapp_messages
        WHERE ends_at IS NULL AND withdrawn_at IS NULL AND (user IS NOT NULL OR device IS NOT NULL)
            AND (registered_at, id) > (?, ?) AND registered_at < ? ORDER BY registered_at, id LIMIT ?
        """
    /// Their arguments are the id, and the beginning of the earliest day.
    static let seenUser = "SELECT 1 FROM inapp_users WHERE id = ? AND seen >= ?"
    static let seenDevice = "SELECT 1 FROM inapp_devices WHERE id = ? AND seen >= ?"
    /// The users and the devices that were seen first. A device that is due has offers to be ended first.
    /// Served by partial indexes, which have no rows of owners that a walk has cleared.
    static let unseenUsers = """
        SELECT seen, id FROM inapp_users WHERE (seen, id) > (?, ?) AND seen < ? ORDER BY seen, id LIMIT ?
        """
    static let unseenDevices = """
        SELECT seen, id FROM inapp_devices WHERE (seen, id) > (?, ?) AND seen < ? AND next_due IS NULL
        ORDER BY seen, id LIMIT ?
        """
    /// Its first argument is the message, and it has no limit in time.
    static let totalsOfMessage = """
        SELECT kind, owner FROM inapp_totals WHERE what = 0 AND name = ? AND (kind, owner) > (?, ?)
        ORDER BY kind, owner LIMIT ?
        """
}

/// Called by the janitor, once an hour.
extension SQLiteQueue {
    /// Withdraws addressed messages without an end whose user or device was not seen, and removes messages that were
    /// withdrawn or have ended. Then removes the displays of users and devices that were not seen, with all rows that
    /// no limit counts any longer. `pause` is called between two steps.
    /// Throws the first error of the store; the next call continues where this one stopped.
    func removeInApp(
        beyond retention: InAppRetention, at now: Date, pause: () async -> Void
    ) async throws(StoreError) {
        let lastEndless = inAppUpkeep.withLock { $0.endless }
        // Other processes do not share the file, so it has no log of changes.
        for var walk in InAppWalk.all(beyond: retention, at: now, lastEndless: lastEndless)
        where walk.subject != .changes {
            try checkDisk()
            while case .removed(let next?) = try await commits.write(.removeInApp(walk)) {
                walk = next
                await pause()
                try checkDisk()
            }
            if walk.subject == .endless { inAppUpkeep.withLock { $0.endless = now } }
        }
    }
}

/// The steps of the walks. Each is part of one commit, so a crash removes all rows of a step or none.
extension WriteTransaction {
    /// Returns the next step; nil when there is nothing more to remove.
    /// Part of a commit group. Throws ``DamagedValue`` for rows out of order, so that every walk ends.
    mutating func remove(_ removal: InAppWalk) throws -> InAppWalk? {
        switch removal.subject {
        case .endless: try withdrawEndless(removal)
        case .messages: try removeMessages(removal)
        case .users: try removeOwners(InAppRemoval.unseenUsers, "inapp_users", removal) { .user($0) }
        case .devices: try removeOwners(InAppRemoval.unseenDevices, "inapp_devices", removal) { .device($0) }
        case .changes: nil
        }
    }

    // MARK: Messages

    /// The next messages of a removal, with the number by which it continues. Decodes whole messages, so a damaged one
    /// ends the walk with an error.
    private func messages(
        _ sql: String, _ removal: InAppWalk
    ) throws -> [(at: Int64, message: StoredInAppMessage)] {
        try RowStatement(db, sql: sql).all({ row in
            row.bind(removal.position.number)
            row.bind(removal.position.id)
            row.bind(removal.before)
            row.bind(InAppRemoval.count)
        }) { (at: try $0.number(0), message: try StoredInAppMessage($0, from: 1)) }
    }

    /// Withdraws messages for users and devices that do not come back. They are removed like other withdrawn ones.
    private mutating func withdrawEndless(_ removal: InAppWalk) throws -> InAppWalk? {
        let messages = try self.messages(InAppRemoval.endlessMessages, removal)
        var next = removal
        for (at, message) in messages {
            let id = message.registration.id
            try next.position.advance(to: .init(at, id), in: "inapp_messages")
            let day = removal.firstDay
            let isSeen =
                switch message.registration.address {
                case .user(let user)?: try db.flag(InAppRemoval.seenUser, [user, day])
                case .device(let device)?: try db.flag(InAppRemoval.seenDevice, [device, day])
                case nil: true
                }
            if !isSeen { _ = try withdraw(id) }
        }
        return messages.count == InAppRemoval.count ? next : nil
    }

    /// Removes the totals of a message before the message, so that an interrupted removal is continued.
    /// Observers see a removed message as withdrawn. Its id may be registered again and begins with revision 1.
    private mutating func removeMessages(_ removal: InAppWalk) throws -> InAppWalk? {
        let messages = try self.messages(InAppRemoval.overMessages, removal)
        var next = removal
        var room = InAppRemoval.totals
        for (at, message) in messages {
            let id = message.registration.id
            try removeTotals(of: id, &next.owner, &room)
            guard room > 0 else { return next }
            next.owner = .start
            try next.position.advance(to: .init(at, id), in: "inapp_messages")
            try db.run("DELETE FROM inapp_tallies WHERE message = ?", [id])
            try db.run("DELETE FROM inapp_messages WHERE id = ?", [id])
            effects.messages.append(message.withdrawn(at: now))
        }
        return messages.count == InAppRemoval.count ? next : nil
    }

    /// Removes up to `room` totals of owners after `position`, and counts both on.
    /// Finds rows of cleared owners and of a former version; totals in ledgers end with their owner or on the
    /// owner's next day.
    private func removeTotals(
        of message: MessageID, _ position: inout InAppWalk.Position, _ room: inout Int
    ) throws {
        let owners = try db.rows(InAppRemoval.totalsOfMessage, [message, position.number, position.id, room])
        for row in owners {
            let (kind, id) = (try row.number(0), try row.text(1))
            try position.advance(to: .init(kind, id), in: "inapp_totals")
            try db.run(
                "DELETE FROM inapp_totals WHERE kind = ? AND owner = ? AND what = 0 AND name = ?", [kind, id, message])
            try db.removeUnusedOwner(kind: kind, id: id)
        }
        room -= owners.count
    }

    // MARK: Users and devices

    /// Removes the ledger and, for a device, its offers. The row itself stays while a lifetime limit counts one of
    /// its totals; its column `seen` is empty then, so that no later walk finds it.
    private mutating func removeOwners(
        _ sql: String, _ table: String, _ removal: InAppWalk, _ subject: (String) -> RowChange.Subject
    ) throws -> InAppWalk? {
        var next = removal
        let rows = try db.rows(
            sql, [removal.position.number, removal.position.id, removal.firstDay, InAppRemoval.count])
        for row in rows {
            let (seen, id) = (try row.number(0), try row.text(1))
            try next.position.advance(to: .init(seen, id), in: table)
            if case .device(let device) = subject(id) { try removeOffers(of: device) }
            try removeLedger(of: subject(id), removal)
            try db.run("UPDATE \(table) SET seen = NULL, ledger = NULL WHERE id = ?", [id])
            try db.removeUnusedOwner(kind: Int64(subject(id).key.kind), id: id)
        }
        return rows.count == InAppRemoval.count ? next : nil
    }

    /// Removes all offers of a device, with their list.
    private mutating func removeOffers(of device: DeviceID) throws {
        let numbers = try inApp.offerNumbers(of: device)
        guard !numbers.isEmpty else { return }
        for number in numbers { try inApp.statements(.removeOffer, in: db).run { $0.bind(number) } }
        try db.run("UPDATE inapp_devices SET offers = NULL WHERE id = ?", [device])
    }

    /// Removes the displays of a ledger, and the totals that no limit counts. The other totals become rows of their
    /// own, which the removal of a message finds. The caller removes the column `ledger`.
    private mutating func removeLedger(of subject: RowChange.Subject, _ removal: InAppWalk) throws {
        let (kind, owner) = subject.key
        let ledger = try inApp.ledger(of: subject)
        try removeRows(of: subject)
        let putTotal = try inApp.statements(.putTotal, in: db)
        for (key, total) in ledger.totals where try isCounted(key, removal) {
            try putTotal.run { row in
                row.bind(kind)
                row.bind(owner)
                row.bind(key.columns.what)
                row.bind(key.columns.name)
                row.bind(total.count)
                row.bind(total.last)
            }
        }
    }

    /// The totals of a message are counted while it is stored, because it may never be shown again to the same
    /// person.
    private mutating func isCounted(_ key: Ledger.Key, _ removal: InAppWalk) throws -> Bool {
        guard case .message(let id) = key else { return removal.lifetimeTotals.contains(key) }
        return try inApp.hasMessage(id)
    }
}

/// Removals that more than one walk needs.
extension Database {
    /// Removes a user or a device whose displays upkeep has removed, once no total of it is left. One that was seen
    /// since keeps its row.
    fileprivate func removeUnusedOwner(kind: Int64, id: String) throws {
        let table = kind == 0 ? "inapp_users" : "inapp_devices"
        try run(
            """
            DELETE FROM \(table) WHERE id = :id AND seen IS NULL
                AND NOT EXISTS (SELECT 1 FROM inapp_totals WHERE kind = :kind AND owner = :id)
            """, ["id": id, "kind": kind])
    }
}
