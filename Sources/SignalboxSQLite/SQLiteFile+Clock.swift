import Foundation
import GRDB
import SignalboxStore
import Synchronization

// The wall clock of the owner, recorded in the file: the times in the file are by the clock of the process that wrote
// them, so the next owner must know whether the clock was set back while no process ran.

extension SQLiteFile {
    /// Moves the waits of the former owner if the wall clock was set back since it last recorded the time. Called once,
    /// before any other transaction. After a failure, the first transaction that succeeds moves them.
    func followFormerClock() {
        do {
            guard let last = try pool.read({ try $0.recordedTime() }) else { return }
            clock.continueTimes(from: last)
            guard clock.read().jump != nil else { return }
            try pool.writeWithoutTransaction { db in
                try self.transaction(in: db) { now in try db.record(time: now) }
            }
        } catch {
            _ = failure(error)
        }
    }
}

extension SQLiteQueue {
    /// How often a tick records the time, in seconds. Waits last longer by this time at most if the clock is set back
    /// after a crash.
    private static let timeStep: TimeInterval = 30

    /// Records the wall clock of the owner, after ``timeStep`` and after a jump of the clock. `atOnce`: before the
    /// process ends.
    func recordTime(atOnce: Bool = false) async {
        guard isOwner else { return }
        let now = now
        let isDue = recordedTime.withLock { last in
            if !atOnce, let last, abs(now.timeIntervalSince(last)) < Self.timeStep { return false }
            // Before the write, so that a failed one is not repeated at every tick.
            last = now
            return true
        }
        guard isDue else { return }
        do throws(StoreError) {
            try await write { db, now in try db.record(time: now) }
        } catch {
            // No delivery depends on it unless the clock is set back while no process runs.
            return
        }
    }
}

extension Database {
    /// In a table of names and numbers, which every version of the gateway reads by name.
    fileprivate func record(time: Date) throws {
        try run(
            """
            INSERT INTO media_counts (name, number) VALUES ('clock', ?)
            ON CONFLICT (name) DO UPDATE SET number = excluded.number
            """, [time.milliseconds])
    }

    /// Replaces the recorded time, if there is one.
    func correct(time: Date) throws {
        try run("UPDATE media_counts SET number = ? WHERE name = 'clock'", [time.milliseconds])
    }

    /// When the owner last recorded the time; nil for never, and for a value that is not a time before the year 2200.
    fileprivate func recordedTime() throws -> Date? {
        guard let time = try number("SELECT number FROM media_counts WHERE name = 'clock'"),
            (1..<7_258_118_400_000).contains(time)
        else { return nil }
        return Date(milliseconds: time)
    }
}
