import SignalboxStore

/// Statements that change `media_counts` along with the rows that they count.
enum MediaCounts {
    /// A common table expression that adds to the row of the transaction's lane. `values`: select list for `wanted`,
    /// `stored`, `failed`, `files`, `bytes` and `held`; `source`: the expression that has the changed rows. `$1` and
    /// `$2` must be ``place(_:)``. Both are constant text. Writes no row if every sum is zero.
    static func added(_ values: String, from source: String) -> String {
        """
        counted AS (
            INSERT INTO media_counts AS c (node, lane, wanted, stored, failed, files, bytes, held)
            SELECT $1, $2, n.* FROM (SELECT \(values) FROM \(source)) AS n (wanted, stored, failed, files, bytes, held)
            WHERE n.wanted <> 0 OR n.stored <> 0 OR n.failed <> 0 OR n.files <> 0 OR n.bytes <> 0 OR n.held <> 0
            ON CONFLICT (node, lane) DO UPDATE SET
                wanted = c.wanted + excluded.wanted, stored = c.stored + excluded.stored,
                failed = c.failed + excluded.failed, files = c.files + excluded.files,
                bytes = c.bytes + excluded.bytes, held = c.held + excluded.held
        )
        """
    }

    /// The first two arguments of such a statement.
    static func place(_ tx: PostgresTransaction) -> [PostgresValue] { [.number(tx.node), .number(tx.lane.rawValue)] }
}

extension MediaCounts {
    /// The counted kinds, in the order of the columns.
    static let names = ["wanted", "stored", "failed", "files", "bytes", "held"]
    /// A select list with the sum of each kind.
    static let sums = names.map { "coalesce(sum(\($0)), 0)::bigint" }.joined(separator: ", ")

    /// The statement that moves one URL from a state to another; nil when both count alike.
    static func moved(
        from former: MediaURLRecord.State, to state: MediaURLRecord.State, in transaction: PostgresTransaction
    ) -> PostgresStatement? {
        var changes = [Int64](repeating: 0, count: 3)
        changes[column(former)] -= 1
        changes[column(state)] += 1
        guard changes.contains(where: { $0 != 0 }) else { return nil }
        return PostgresStatement(
            "WITH \(added("$3::bigint, $4::bigint, $5::bigint, 0, 0, 0", from: "(SELECT) AS one")) SELECT 1",
            place(transaction) + changes.map { .number($0) })
    }

    /// `wanted` counts URLs that rest too. The position among the first three of ``names``.
    private static func column(_ state: MediaURLRecord.State) -> Int {
        switch state {
        case .wanted, .resting: 0
        case .stored: 1
        case .failed: 2
        }
    }
}
