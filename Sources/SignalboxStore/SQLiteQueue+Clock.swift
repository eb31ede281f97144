import Foundation
import GRDB
import SignalboxModel
import Synchronization

/// Times of next attempts that are moved along with a clock that was set, as far as that has come.
struct ClockShift: Sendable {
    let jump: ClockWatch.Jump
    /// By the clock as it was when that was noticed.
    let noticedAt: Date
    /// The last delivery that was looked at.
    var place: Int64 = 0
}

/// What the queue does when the machine's clock is set.
extension SQLiteQueue {
    /// Moves the times of next attempts along with a clock that was set, so that waits stay as long as they were: set
    /// back, it would stall them, set forward, all would come at once. What waits for a time of its own is left, and so is
    /// what was written by the moved clock. True when something may have moved. When it throws, the next call goes on where
    /// it came to.
    func followClock(wall: Date, elapsed: Duration) async throws(StoreError) -> Bool {
        let isUnderWay = clockShift.withLock { shift in
            if shift == nil, let jump = clockWatch.withLock({ $0.jump(wall: wall, elapsed: elapsed) }) {
                shift = ClockShift(jump: jump, noticedAt: wall)
            }
            return shift != nil
        }
        while let shift = clockShift.withLock({ $0 }) {
            let last = try await move(shift)
            clockShift.withLock { current in
                if let last { current?.place = last } else { current = nil }
            }
        }
        return isUnderWay
    }

    /// Moves some, and gives the last that was looked at; nil when there are no more.
    private func move(_ shift: ClockShift) async throws(StoreError) -> Int64? {
        let milliseconds = Int64(shift.jump.seconds * 1000)
        return try await write { db in
            let ids = try Int64.fetchAll(
                db, sql: "SELECT id FROM deliveries WHERE state = 'waiting' AND id > ? ORDER BY id LIMIT 2000",
                arguments: [shift.place])
            // Asked here, where nobody else writes: what is written from now on is noted before.
            let spared = self.clockWatch.withLock { $0.noted }.union(shift.jump.sparing)
            let statement = try db.cachedStatement(
                sql: """
                    UPDATE deliveries
                    SET due = iif(attempts = 0, min(due + :jump, max(due, :now)), due + :jump)
                    WHERE id = :id AND (not_before IS NULL OR attempts > 0)
                    """)
            for id in ids where !spared.contains(id) {
                try statement.execute(arguments: [
                    "jump": milliseconds, "now": shift.noticedAt.milliseconds, "id": id,
                ])
            }
            return ids.last
        }
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
