import SignalboxNotification
import SignalboxStore

/// The deliveries that a filter searches, in the order of their numbers: those that an index finds. The other
/// conditions are evaluated row by row. So the number of different statements stays small, and each is prepared once.
enum DeliveryWalk: CaseIterable {
    /// Waiting deliveries are found in `queue`, and dead and expired ones by a partial index of `ended`. No index has
    /// delivered ones alone: their walk reads all of `ended`.
    case all, waiting, delivered, dead, expired
    /// Deliveries of one event.
    case event
    /// Named deliveries.
    case ids

    /// The most rows of one statement, far below what the server reads within its time limit.
    static let step = 20_000

    /// `d`, with the columns of the view `deliveries`.
    var source: String {
        switch self {
        case .all, .event, .ids: "deliveries d"
        case .waiting: "(SELECT *, 'waiting'::text AS state FROM queue) d"
        case .delivered, .dead, .expired: "(SELECT *, NULL::bigint AS holder FROM ended) d"
        }
    }

    /// Selects the rows of the walk between two numbers: more than `$1`, less than `$2`. States are literals, because
    /// the server uses a partial index for a constant only.
    var condition: String {
        switch self {
        case .all, .waiting, .delivered: "d.id > $1 AND d.id < $2"
        case .dead: "d.state = 'dead' AND d.id > $1 AND d.id < $2"
        case .expired: "d.state = 'expired' AND d.id > $1 AND d.id < $2"
        case .event: "d.event = (SELECT seq FROM events WHERE id = $5::text::uuid) AND d.id > $1 AND d.id < $2"
        case .ids: "d.id = ANY ($4) AND d.id > $1 AND d.id < $2"
        }
    }

    /// The sort key. A walk of named deliveries, or of those of one event, has few rows: the sum keeps the planner from
    /// walking down the primary key to find them.
    var order: String {
        switch self {
        case .event, .ids: "d.id + 0"
        default: "d.id"
        }
    }

    /// All conditions of a filter over `d`, except the bounds of numbers. `state`: the state of a row. The placeholders
    /// are those of ``DeliveryFilter/arguments(after:before:limit:)``; NULL makes a condition match every row.
    static func matches(state: String = "d.state") -> String {
        """
        ($6::text IS NULL OR d.destination = $6) AND ($14::text IS NULL OR \(state) = $14)
            AND ($10::bigint IS NULL OR d.status BETWEEN $10 AND $11) AND ($12::text IS NULL OR d.error = $12)
            AND ($13::bigint IS NULL OR \(state) = 'waiting' OR d.due < $13)
            AND ($5::text IS NULL OR d.event = (SELECT seq FROM events WHERE id = $5::text::uuid))
            AND ($7::bigint IS NULL OR (SELECT accepted_at FROM events WHERE seq = d.event) >= $7)
            AND ($8::bigint IS NULL OR (SELECT accepted_at FROM events WHERE seq = d.event) < $8)
            AND ($9::text IS NULL OR (SELECT starts_with(subject, $9) FROM events WHERE seq = d.event))
        """
    }

    /// Numbers with whether they match, the newest first. `$3`: the number of rows. A condition that is NULL, for
    /// example of a delivery without an attempt, does not match.
    var scan: String {
        """
        SELECT d.id, coalesce(\(Self.matches()), false) FROM \(source) WHERE \(condition) ORDER BY \(order) DESC LIMIT $3
        """
    }

    /// Numbers, the oldest first, with whether they match and a change may touch them. `change`: constant text, a
    /// condition over `d`.
    func search(for change: String) -> String {
        """
        SELECT d.id, coalesce(\(Self.matches()) AND \(change), false) FROM \(source) WHERE \(condition)
        ORDER BY \(order) LIMIT $3
        """
    }

    /// Counts what matches among the next rows, by destination. The row without a destination has the number of
    /// examined rows, and the largest number among them.
    func count(_ change: String) -> String {
        """
        WITH walk AS MATERIALIZED (
            SELECT d.id, d.event, d.destination, d.state, d.due, d.status, d.error, d.holder, d.begun
            FROM \(source) WHERE \(condition) ORDER BY \(order) LIMIT $3
        )
        SELECT d.destination, count(*), min(d.id), max(d.id) FROM walk d WHERE \(Self.matches()) AND \(change)
        GROUP BY d.destination
        UNION ALL SELECT NULL, count(*), NULL, max(id) FROM walk
        """
    }
}

extension DeliveryFilter {
    /// The smallest set that contains all selected deliveries; nil if no event can have the id of the filter.
    var walk: DeliveryWalk? {
        if let event, !PostgresValue.isEventID(event) { return nil }
        if ids != nil { return .ids }
        if event != nil { return .event }
        switch state {
        case nil: return .all
        case .waiting: return .waiting
        case .delivered: return .delivered
        case .dead: return .dead
        case .expired: return .expired
        }
    }

    /// The first number after those that may be selected. Numbers are below it; `Int64.max` without a bound.
    var end: Int64 { min(before ?? .max, through.map { $0 == .max ? .max : $0 + 1 } ?? .max) }

    /// The arguments of the statements of a walk. `lower`, `upper`: exclusive bounds of the numbers of this step.
    func arguments(after lower: Int64, before upper: Int64, limit: Int) -> [PostgresValue] {
        [
            .number(lower), .number(upper), .number(Int64(limit)), .numbers(ids ?? []), .text(event),
            .text(destination?.name), .time(acceptedSince), .time(acceptedBefore), .text(vendor.map { "\($0)/" }),
            .number(status.map { Int64($0.lowerBound) }), .number(status.map { Int64($0.upperBound) }), .text(error),
            .time(endedBefore), .text(state?.rawValue),
        ]
    }
}
