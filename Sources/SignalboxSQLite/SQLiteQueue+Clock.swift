import Foundation
import GRDB
import SignalboxStore
import Synchronization

/// Times of next attempts that are moved along with a clock that was set, as far as that has come.
struct ClockShift: Sendable {
    let jump: ClockWatch.Jump
    /// Downloads whose times were set by the moved clock.
    let sparingMedia: Set<Int64>
    /// By the clock as it was when that was noticed.
    let noticedAt: Date
    /// The last delivery that was looked at, and then the last download.
    var place: Int64 = 0
    /// Downloads come after deliveries.
    var isAtMedia = false

    fileprivate var milliseconds: Int64 { Int64(jump.seconds * 1000) }

    /// What is left once one step has looked at those up to `last`; nil when nothing is.
    fileprivate func next(behind last: Int64?) -> ClockShift? {
        var next = self
        next.place = last ?? 0
        next.isAtMedia = isAtMedia || last == nil
        return isAtMedia && last == nil ? nil : next
    }
}

/// What the queue does when the machine's clock is set.
extension SQLiteQueue {
    /// How many are moved in one step.
    private static let step = 2000

    /// Moves the times of next attempts along with a clock that was set, so that waits stay as long as they were: set
    /// back, it would stall them, set forward, all would come at once. So it is with those of downloads, and with waits for
    /// them. What waits for a time of its own is left, and so is what was written by the moved clock. Whoever goes by
    /// these times calls it first; where something moved, all are woken who may wait for it. When it throws, the next
    /// call goes on where it came to.
    func followClock() async throws(StoreError) {
        let isUnderWay = clockShift.withLock { [now, elapsed] shift in
            // Both are asked here: of two who look at once, none judges by an earlier time than the other.
            let wall = now()
            if shift == nil, let (jump, media) = clockNotes.jump(wall: wall, elapsed: elapsed()) {
                shift = ClockShift(jump: jump, sparingMedia: media, noticedAt: wall)
            }
            return shift != nil
        }
        guard isUnderWay else { return }
        do throws(StoreError) {
            while try await moveSome() {}
        } catch {
            guard case .damaged = error else { throw error }
            // It would fail permanently and block all deliveries. The times stay as they are.
            clockShift.withLock { $0 = nil }
        }
        lookAgain()
    }

    /// Makes one step; false when there was none to make. Several may be at it at once.
    private func moveSome() async throws(StoreError) -> Bool {
        do {
            return try await pool.writeWithoutTransaction { db in
                guard let shift = self.clockShift.withLock({ $0 }) else { return false }
                var last: Int64?
                try db.inTransaction(.immediate) {
                    last = try shift.isAtMedia ? self.moveMedia(shift, in: db) : self.move(shift, in: db)
                    return .commit
                }
                // Noted here, where nobody else writes: no step is made twice.
                self.clockShift.withLock { $0 = shift.next(behind: last) }
                return true
            }
        } catch {
            throw failure(error)
        }
    }

    /// Moves some, and gives the last that was looked at; nil when there are no more.
    private func move(_ shift: ClockShift, in db: Database) throws -> Int64? {
        let ids = try Int64.fetchAll(
            db, sql: "SELECT id FROM deliveries WHERE state = 'waiting' AND id > ? ORDER BY id LIMIT ?",
            arguments: [shift.place, Self.step])
        // Asked here, where nobody else writes: what is written from now on is noted before.
        let spared = clockNotes.deliveries.union(shift.jump.sparing)
        let wait = try db.cachedStatement(sql: "UPDATE media_waits SET until = until + ? WHERE delivery = ?")
        let held = try db.cachedStatement(
            sql: """
                UPDATE deliveries
                SET due = iif(not_before IS NULL, due + :jump, max(not_before, :grace
                    + (SELECT until FROM media_waits WHERE delivery = id)))
                WHERE id = :id AND begun = 0
                """)
        let other = try db.cachedStatement(
            sql: """
                UPDATE deliveries
                SET due = iif(attempts = 0, min(due + :jump, max(due, :now)), due + :jump)
                WHERE id = :id AND (not_before IS NULL OR attempts > 0)
                """)
        let grace = Int64(SQLiteWriter.releaseGrace * 1000)
        for id in ids where !spared.contains(id) {
            try wait.execute(arguments: [shift.milliseconds, id])
            if db.changesCount > 0 {
                try held.execute(arguments: ["jump": shift.milliseconds, "grace": grace, "id": id])
            } else {
                try other.execute(arguments: [
                    "jump": shift.milliseconds, "now": shift.noticedAt.milliseconds, "id": id,
                ])
            }
        }
        return try ids.last?.advanced(beyond: shift.place, in: "deliveries")
    }

    /// As above, downloads that are to be tried again.
    private func moveMedia(_ shift: ClockShift, in db: Database) throws -> Int64? {
        let ids = try Int64.fetchAll(
            db, sql: "SELECT id FROM media WHERE state = 'resting' AND id > ? ORDER BY id LIMIT ?",
            arguments: [shift.place, Self.step])
        let spared = clockNotes.media.union(shift.sparingMedia)
        let statement = try db.cachedStatement(sql: "UPDATE media SET due = due + ? WHERE id = ?")
        for id in ids where !spared.contains(id) {
            try statement.execute(arguments: [shift.milliseconds, id])
        }
        return try ids.last?.advanced(beyond: shift.place, in: "media")
    }
}

extension Outcome {
    /// Whether it says when the next attempt is due.
    var namesATime: Bool {
        switch self {
        case .retry, .postponed: true
        case .delivered, .dead, .expired, .returned: false
        }
    }
}
