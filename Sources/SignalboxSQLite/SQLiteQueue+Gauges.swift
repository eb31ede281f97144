import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore

/// The counts that metrics show. Their cost does not grow with the queue.
extension SQLiteQueue {
    /// Reads the ledger, and the first waiting delivery of each destination by an index, in one snapshot. `oldestDue`
    /// is nil unless a delivery is overdue. The result has no destination that never had a delivery.
    package func gauges() async throws(StoreError) -> [DestinationName: DestinationGauges] {
        let now = now.milliseconds
        return try await file.read { db in
            var gauges: [DestinationName: DestinationGauges] = [:]
            for row in try db.rows("SELECT destination, accepted, waiting_now, dead_now FROM ledger") {
                let name = try row.text(0)
                var gauge = DestinationGauges()
                gauge.accepted = try row.count(1)
                // A wrong count, of a file that was edited, must not stop the gateway.
                (gauge.waiting, gauge.dead) = (max(0, Int(try row.number(2))), max(0, Int(try row.number(3))))
                if gauge.waiting > 0, let due = try db.firstDue(of: name), due <= now {
                    gauge.oldestDue = Date(milliseconds: due)
                }
                gauges[DestinationName(name)] = gauge
            }
            return gauges
        }
    }

    /// Triggers keep these counts, because few commits change them. Failed downloads that wait for another attempt
    /// count as wanted. One snapshot.
    package func mediaGauges() async throws(StoreError) -> MediaGauges {
        try await file.read { db in
            let rows = try db.rows("SELECT name, number FROM media_counts")
            let counts = Dictionary(
                try rows.map { (try $0.text(0), try $0.number(1)) }, uniquingKeysWith: { first, _ in first })
            func count(_ name: String) -> Int { Int(counts[name] ?? 0) }
            var gauges = MediaGauges()
            gauges.wanted = count(MediaURLRecord.State.wanted.rawValue) + count(MediaURLRecord.State.resting.rawValue)
            gauges.stored = count(MediaURLRecord.State.stored.rawValue)
            gauges.failed = count(MediaURLRecord.State.failed.rawValue)
            (gauges.files, gauges.bytes, gauges.held) = (count("files"), counts["bytes"] ?? 0, count("held"))
            return gauges
        }
    }

    /// The size of the queue's file, its write-ahead log and its shared memory, as the file system counts them. Makes
    /// three or five system calls.
    package func space() throws(StoreError) -> StoreSpace {
        var used: Int64 = 0
        for path in Self.files(of: file.path) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { continue }
            used += Int64(facts.st_size)
        }
        var system = statvfs()
        guard statvfs(file.path, &system) == 0 else {
            throw .unavailable(reason: "the file system of \(file.path) cannot be read (\(errno))")
        }
        let block = Int64(clamping: system.f_frsize)
        return StoreSpace(
            used: used, free: Int64(clamping: system.f_bavail) * block, size: Int64(clamping: system.f_blocks) * block)
    }
}

extension Database {
    /// When the first waiting delivery of a destination is due after a time; nil without one. In milliseconds since
    /// 1970. Takes two steps in the index `deliveries_due`.
    func firstDue(of destination: String, after time: Int64 = .min) throws -> Int64? {
        func first(hasKey: Bool) -> String {
            """
            SELECT min(due) AS due FROM deliveries
            WHERE state = 'waiting' AND destination = :destination AND (order_key IS NULL) = \(hasKey ? 0 : 1)
                AND due > :time
            """
        }
        return try number(
            "SELECT min(due) FROM (\(first(hasKey: false)) UNION ALL \(first(hasKey: true)))",
            ["destination": destination, "time": time])
    }
}
