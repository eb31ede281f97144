import GRDB
import SignalboxInApp
package import SignalboxStore

/// Reads the queue for a copy into another store. The caller holds the lock of the data directory, so that no gateway
/// changes the queue meanwhile.
extension SQLiteQueue {
    /// The identity and the version of the queue. The version sums up what a gateway changes. The file itself has none:
    /// each connection writes its settings into it. Reads every delivery. Blocks the calling thread. Two calls return
    /// equal versions if no process wrote in between.
    package func copySource() throws(StoreError) -> CopySource {
        do {
            return try file.pool.read { db in
                let record = try QueueRecord(of: db)
                let sums = try Self.changes.map { String(try db.number($0) ?? 0) }
                return CopySource(
                    identity: record.identity, version: sums.joined(separator: " "), lastEvent: record.event,
                    lastDelivery: record.delivery)
            }
        } catch { throw file.failure(error) }
    }

    /// Numbers that change with attempts, removals, requests, downloads, decisions and operators. Remainders keep the
    /// sums small.
    private static let changes = [
        "SELECT max(seq) FROM events", "SELECT count(*) FROM events", "SELECT count(*) FROM deliveries",
        "SELECT sum(begun + 3 * attempts + 5 * forgiven + due % 1000003) FROM deliveries",
        "SELECT sum(unicode(substr(state, 2))) FROM deliveries",
        "SELECT sum(accepted + delivered + dead + expired + waiting) FROM ledger",
        "SELECT count(*) + sum(at % 1000003) FROM requests", "SELECT count(*) + sum(at % 1000003) FROM duplicates",
        "SELECT count(*) + sum(due % 1000003) FROM media", "SELECT count(*) + sum(used_at % 1000003) FROM files",
        "SELECT count(*) + sum(until % 1000003) FROM media_waits", "SELECT max(id) FROM actions",
        "SELECT count(*) + sum(since % 1000003) FROM destinations",
        "SELECT count(*) + sum(since % 1000003) FROM withheld",
        "SELECT sum(revision + coalesce(withdrawn_at, 0) % 1000003) FROM inapp_messages",
        "SELECT sum(last_now % 1000003) FROM inapp_users",
        "SELECT sum(last_now % 1000003 + last_decision % 1000003) FROM inapp_devices",
        "SELECT sum(clicks + unanswered + unicode(state)) FROM inapp_offers", "SELECT count(*) FROM channels",
    ]

    /// The number of waiting deliveries. Cheap. From the ledger, without a look at deliveries. Blocks.
    package func waitingCount() throws(StoreError) -> Int {
        do {
            return try file.pool.read { Int(try $0.number("SELECT sum(waiting_now) FROM ledger") ?? 0) }
        } catch { throw file.failure(error) }
    }

    /// The rows of a table after a position; none at its end. Throws ``StoreError/damaged(path:reason:)`` for a row
    /// that cannot be read. Blocks. At most ``CopiedBatch/rows`` rows, and none further once they have
    /// ``CopiedBatch/bytes``.
    package func copiedRows(of table: CopiedTable, after position: CopyPosition?) throws(StoreError) -> CopiedBatch {
        do {
            return try file.pool.read { db in
                var reading = CopyReading(table)
                try reading.read(after: position, in: db)
                return try reading.batch(in: db)
            }
        } catch { throw file.failure(error) }
    }
}

/// Collects the rows of one batch.
private struct CopyReading {
    /// Ends the statement before its limit.
    private struct IsFull: Error {}

    private let table: CopiedTable
    private let origin: CopyOrigin
    /// An array for each column of the target, of the type that it has there.
    private var columns: [CopiedBatch.Values]
    /// Rows of the batch.
    private var count = 0
    /// Bytes of the texts and BLOBs so far. Numbers do not count, because the number of rows bounds them.
    private var bytes = 0
    /// The key of the last row; nil for an empty batch, which ends the table.
    private var end: CopyPosition?

    init(_ table: CopiedTable) {
        self.table = table
        origin = CopyOrigin(of: table)
        columns = table.columns.map { column in
            switch column.kind {
            case .number, .flag: .numbers([])
            case .text, .orderKey, .eventID, .reference: .texts([])
            case .bytes, .digest: .bytes([])
            }
        }
    }

    /// The row that fills the batch is its last one.
    mutating func read(after position: CopyPosition?, in db: Database) throws {
        let statement = try RowStatement(db, sql: origin.query(table, isFirst: position == nil))
        do {
            try statement.forEach({ row in
                for value in position?.values ?? [] {
                    switch value {
                    case .number(let number): row.bind(number)
                    case .text(let text): row.bind(text)
                    }
                }
            }) { row in try append(row) }
        } catch is IsFull {}
    }

    /// Takes each array out of ``columns`` while it grows: a second reference would make every append copy it. The
    /// columns of the key follow those of the target.
    private mutating func append(_ row: RowColumns) throws {
        for index in columns.indices {
            switch columns[index] {
            case .numbers(var values):
                columns[index] = .numbers([])
                values.append(try row.optionalNumber(index))
                columns[index] = .numbers(values)
            case .texts(var values):
                columns[index] = .texts([])
                let text = try row.optionalText(index)
                bytes += text?.utf8.count ?? 0
                values.append(text)
                columns[index] = .texts(values)
            case .bytes(var values):
                columns[index] = .bytes([])
                let content = try row.optionalBytes(index)
                bytes += content?.count ?? 0
                values.append(content)
                columns[index] = .bytes(values)
            }
        }
        let key = try origin.key.enumerated().map { position, column -> CopyPosition.Value in
            let place = columns.count + position
            return origin.isNumber(column) ? .number(try row.number(place)) : .text(try row.text(place))
        }
        count += 1
        end = CopyPosition(key)
        if bytes > CopiedBatch.bytes { throw IsFull() }
    }

    /// With the ledgers of users and devices whose displays and totals are rows of their own.
    func batch(in db: Database) throws -> CopiedBatch {
        var columns = columns
        if let ledgers = table.columns.firstIndex(where: { $0.name == "ledger" }), case .texts(let ids) = columns[0],
            case .bytes(var values) = columns[ledgers]
        {
            var reader = InAppReader(db)
            for (row, id) in ids.enumerated() where values[row] == nil {
                guard let id else { throw DamagedValue("the table \(table.name) has a row without id") }
                let ledger = try reader.ledger(of: table.name == "inapp_users" ? .user(id) : .device(id))
                values[row] = LedgerFields.write(ledger, of: id)
            }
            columns[ledgers] = .bytes(values)
        }
        return CopiedBatch(columns: columns, count: count, end: end)
    }
}
