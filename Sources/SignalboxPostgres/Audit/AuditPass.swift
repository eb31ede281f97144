import SignalboxNotification
import SignalboxStore

/// A pass of the audit through one table, which counts rows that should not be there.
struct AuditPass {
    /// The kinds of findings.
    enum Finding: CaseIterable {
        /// A delivery without its event.
        case orphan
        /// A wait for files without its delivery.
        case strayWait
        /// A row with a value that the gateway never writes.
        case unreadable
        /// A delivery without the body that it carries.
        case lostVariant
        /// A delivery that waits and has ended.
        case doubled
        /// A row without its delivery.
        case stray
    }

    /// The name of the table, and the subject of a line when the table cannot be read.
    let table: String
    /// The clause after `FROM` for a table that has no number of its own; nil for the table itself.
    private var source: String? = nil
    /// One row, in the singular.
    private let noun: String
    /// The number of a row, by which the table is read.
    private let key: String
    /// Conditions over the row `s`. Without `EXISTS`, for which the planner might read a whole table into memory.
    private let conditions: [(finding: Finding, sql: String)]

    /// In the order of the audit.
    static let all = [queue, ended, events, attempts, waits, destinations, actions]

    /// The number of rows for each finding, of the whole table. Reads ``DeliveryWalk/step`` rows at a time, so that no
    /// statement meets the server's time limit. Only the findings of this pass have an entry.
    func counts(on connection: PostgresConnection) throws -> [Finding: Int] {
        var counts: [Finding: Int] = [:]
        let sums = conditions.map { "count(*) FILTER (WHERE \($0.sql))" }.joined(separator: ", ")
        try connection.readAll(
            "SELECT max(\(key)), count(*), \(sums) FROM (SELECT * FROM \(source ?? table) WHERE \(key) > $1 ORDER BY \(key) LIMIT $2) s",
            end: { row -> (last: Int64?, rows: Int)? in
                for (position, condition) in conditions.enumerated() {
                    counts[condition.finding, default: 0] += try row.count(2 + position)
                }
                return (try row.optionalNumber(0), try row.count(1))
            }, each: { _ in })
        return counts
    }

    /// A line for each finding that is not counted elsewhere. Orphans and stray waits have counts of their own in
    /// ``SignalboxStore/Audit``.
    func lines(for counts: [Finding: Int]) -> [String] {
        Finding.allCases.compactMap { finding in
            guard let count = counts[finding], count > 0 else { return nil }
            let rows = Counted.words(count, noun)
            let isOne = count == 1
            return switch finding {
            case .orphan, .strayWait: nil
            case .unreadable: "\(rows) cannot be read, because a word, a time or a count has an unknown value"
            case .lostVariant: "\(rows) \(isOne ? "lacks its body" : "lack their bodies")"
            case .doubled: "\(rows) \(isOne ? "waits and has" : "wait and have") ended"
            case .stray: "\(rows) \(isOne ? "belongs" : "belong") to no delivery"
            }
        }
    }

    // MARK: Tables

    /// A time outside of ``Foundation/Date/storedTimes``. NULL is not wrong: the filter of a count leaves out rows for
    /// which its condition is not true.
    private static func isWrong(times: String...) -> String {
        times.map { "abs(\($0)) > 9007199254740992" }.joined(separator: " OR ")
    }

    /// For rows with the column `event`.
    private static let isOrphan = "(SELECT 1 FROM events WHERE seq = s.event) IS NULL"
    /// For rows of `queue` and `ended`. A delivery without a variant carries the event itself.
    private static let hasLostVariant =
        "variant IS NOT NULL AND (SELECT 1 FROM variants WHERE variants.id = s.variant) IS NULL"
    /// True for a count of attempts that no gateway writes.
    private static let isNegative = "begun < 0 OR attempts < 0 OR forgiven < 0"

    /// A delivery that is in `ended` too is counted here only.
    private static let queue = AuditPass(
        table: "queue", noun: "delivery", key: "id",
        conditions: [
            (.orphan, isOrphan), (.lostVariant, hasLostVariant),
            (.unreadable, "\(isNegative) OR \(isWrong(times: "due", "not_before", "not_after"))"),
            (.doubled, "(SELECT 1 FROM ended WHERE ended.id = s.id) IS NOT NULL"),
        ])
    private static let ended = AuditPass(
        table: "ended", noun: "delivery", key: "id",
        conditions: [
            (.orphan, isOrphan), (.lostVariant, hasLostVariant),
            (
                .unreadable,
                "\(isNegative) OR \(isWrong(times: "due")) OR state NOT IN ('delivered', 'dead', 'expired')"
            ),
        ])
    private static let events = AuditPass(
        table: "events", noun: "event", key: "seq", conditions: [(.unreadable, isWrong(times: "accepted_at"))])
    /// Reads each delivery with earlier attempts once, however many attempts it has.
    private static let attempts = AuditPass(
        table: "attempts",
        source: "(SELECT DISTINCT delivery FROM attempts WHERE delivery > $1 ORDER BY delivery LIMIT $2) a",
        noun: "list of attempts", key: "delivery",
        conditions: [(.stray, "(SELECT 1 FROM deliveries d WHERE d.id = s.delivery LIMIT 1) IS NULL")])
    /// A delivery that has begun keeps its wait until the next look at held deliveries, so only a missing delivery is a
    /// finding.
    private static let waits = AuditPass(
        table: "media_waits", noun: "wait", key: "delivery",
        conditions: [(.strayWait, "(SELECT 1 FROM deliveries d WHERE d.id = s.delivery LIMIT 1) IS NULL")])
    /// Its rows have no number: they are counted in the order in which the server reads them.
    private static let destinations = AuditPass(
        table: "destinations", source: "(SELECT row_number() OVER () AS number, state FROM destinations) d",
        noun: "destination", key: "number",
        conditions: [
            (
                .unreadable,
                "state NOT IN (\(DestinationState.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")))"
            )
        ])
    private static let actions = AuditPass(
        table: "actions", noun: "action", key: "id",
        conditions: [
            (
                .unreadable,
                "via NOT IN (\(OperatorAction.Origin.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")))"
            )
        ])
}

extension AuditPass {
    /// Leases of nodes that were declared gone a minute ago, although a gateway runs that should have taken them over.
    /// Empty while no gateway has run for a minute. Times are the server's. At most one line.
    static func abandonedLeases(on connection: PostgresConnection) throws -> [String] {
        let count =
            try connection.run(
                """
                SELECT count(*) FROM queue
                WHERE holder IS NOT NULL
                    AND NOT EXISTS (
                        SELECT 1 FROM nodes WHERE id = holder
                            AND (is_live OR seen_at > clock_timestamp() - interval '60 s'))
                    AND EXISTS (
                        SELECT 1 FROM nodes WHERE is_live AND seen_at > clock_timestamp() - interval '15 s'
                            AND started_at < (extract(epoch FROM clock_timestamp()) - 60) * 1000)
                """
            ).first?.count(0) ?? 0
        let verb = count == 1 ? "is" : "are"
        return count == 0 ? [] : ["\(Counted.words(count, "delivery")) \(verb) leased to a gateway that has ended"]
    }

    /// The counts that metrics show, against the rows. One line for each kind that differs, without the content of a
    /// row.
    static func mediaCounts(on connection: PostgresConnection) throws -> [String] {
        let counted = try connection.run("SELECT \(MediaCounts.sums) FROM media_counts").first
        var found: [Int] = []
        for pass in media {
            var sums = [Int](repeating: 0, count: pass.count)
            try connection.readAll(
                pass.sql,
                end: { row -> (last: Int64?, rows: Int)? in
                    for position in sums.indices { sums[position] += try row.count(2 + position) }
                    return (try row.optionalNumber(0), try row.count(1))
                }, each: { _ in })
            found += sums
        }
        return try MediaCounts.names.enumerated().compactMap { index, name in
            let count = try counted?.count(index) ?? 0
            return count == found[index] ? nil : "the count of media \(name) is \(count), not \(found[index])"
        }
    }

    /// Statements for ``PostgresConnection/readAll(_:_:end:each:)``, and how many counts each of them has, in the order
    /// of the columns of `media_counts`.
    private static let media: [(count: Int, sql: String)] = [
        (
            3,
            """
            SELECT max(id), count(*), count(*) FILTER (WHERE state IN ('wanted', 'resting')),
                count(*) FILTER (WHERE state = 'stored'), count(*) FILTER (WHERE state = 'failed')
            FROM (SELECT id, state FROM media WHERE id > $1 ORDER BY id LIMIT $2) s
            """
        ),
        (
            2,
            """
            SELECT max(id), count(*), count(*), coalesce(sum(bytes), 0)::bigint
            FROM (SELECT id, bytes FROM files WHERE id > $1 ORDER BY id LIMIT $2) s
            """
        ),
        (
            1,
            """
            SELECT max(delivery), count(*), count(*)
            FROM (SELECT delivery FROM media_waits WHERE delivery > $1 ORDER BY delivery LIMIT $2) s
            """
        ),
    ]
}
