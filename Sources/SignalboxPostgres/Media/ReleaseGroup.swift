import SignalboxNotification
import SignalboxStore

/// Releases of held deliveries, in a fixed number of round trips.
struct ReleaseGroup: Sendable {
    private let releases: [Int64: MediaRelease]
    /// In the order in which they are locked.
    private var deliveries: [Int64] { releases.keys.sorted() }

    /// Of several releases of a delivery, the last one counts.
    init(_ releases: [MediaRelease]) {
        self.releases = Dictionary(releases.map { ($0.held.delivery, $0) }, uniquingKeysWith: { $1 })
    }

    /// A delivery that is still held.
    private struct Held {
        let delivery: Int64
        let event: Int64
        let destination: DestinationName
        /// `variants.id` of the present body; nil for that of the event.
        let variant: Int64?
        /// Whether its body is the stored event except for its media.
        let isPlain: Bool
        /// The scheduled time in milliseconds since 1970; nil for none.
        let notBefore: Int64?
        let release: MediaRelease
    }

    /// Gives deliveries their final bodies and makes them due. Returns their destinations. A delivery that has begun,
    /// ended or was purged keeps its body; only its wait is removed. A variant that no delivery carries afterwards is
    /// removed.
    func write(in transaction: PostgresTransaction) throws -> Set<DestinationName> {
        let held = try lock(in: transaction)
        let variants = try variants(of: held.filter { $0.release.body != nil }, in: transaction)
        let now = transaction.now.milliseconds
        let new = held.map { held in held.release.body == nil ? held.variant : variants[held.delivery] ?? nil }
        let former = zip(held, new).compactMap { $0.variant == $1 ? nil : $0.variant }
        let files = held.flatMap { held in held.release.files.map { (held.event, $0) } }
        try transaction.run(
            all: [
                PostgresStatement(
                    """
                    UPDATE queue q SET due = greatest($1, q.not_before), variant = i.variant
                    FROM unnest($2::bigint[], $3::bigint[]) AS i (id, variant) WHERE q.id = i.id
                    """, [.number(now), .numbers(held.map(\.delivery)), .numbers(new)]),
                PostgresStatement(
                    """
                    DELETE FROM variants v WHERE id = ANY ($1) AND NOT EXISTS (
                        SELECT FROM deliveries d WHERE d.event = v.event AND d.variant = v.id)
                    """, [.numbers(Set(former).sorted())]),
                PostgresStatement(
                    """
                    UPDATE files SET used_at = $1 WHERE id IN (
                        SELECT id FROM files WHERE sha256 = ANY ($2) AND abs(used_at - $1) >= \(StoreLimits.usedEvery)
                        ORDER BY sha256 FOR NO KEY UPDATE)
                    """, [.number(now), .texts(Set(files.map(\.1)).sorted())]),
                MediaIntake(transaction).use(events: files.map(\.0), digests: files.map(\.1)),
            ] + MediaWaits.end(of: deliveries, in: transaction))
        return Set(held.map(\.destination))
    }

    /// Waits first, then deliveries by number. Leaves out those that have begun, are leased or have ended.
    private func lock(in transaction: PostgresTransaction) throws -> [Held] {
        let list = PostgresValue.numbers(deliveries)
        let rows = try transaction.run(all: [
            PostgresStatement(MediaWaits.lock, [list]),
            PostgresStatement(
                """
                SELECT d.id, d.event, d.destination, d.variant, d.not_before,
                    coalesce((SELECT v.plain FROM variants v WHERE v.id = d.variant), true)
                FROM queue d
                WHERE d.id = ANY ($1) AND d.begun = 0 AND d.holder IS NULL
                    AND EXISTS (SELECT FROM media_waits w WHERE w.delivery = d.id)
                ORDER BY d.id FOR UPDATE OF d
                """, [list]),
        ])
        return try rows[1].compactMap { row in
            let delivery = try row.number(0)
            guard let release = releases[delivery] else { return nil }
            return Held(
                delivery: delivery, event: try row.number(1), destination: try row.destination(2),
                variant: try row.optionalNumber(3), isPlain: try row.flag(5), notBefore: try row.optionalNumber(4),
                release: release)
        }
    }

    /// The row of the body that each delivery carries: nil for the event's own, one that another delivery has, or a new
    /// one. Equal bodies are stored once per event.
    private func variants(of held: [Held], in transaction: PostgresTransaction) throws -> [Int64: Int64?] {
        guard !held.isEmpty else { return [:] }
        let rows = try transaction.run(
            """
            SELECT e.body = i.body,
                (SELECT v.id FROM variants v WHERE v.event = i.event AND v.plain = i.plain AND v.body = i.body LIMIT 1)
            FROM unnest($1::bigint[], $2::boolean[], $3::bytea[]) WITH ORDINALITY AS i (event, plain, body, place)
                JOIN events e ON e.seq = i.event
            ORDER BY i.place
            """,
            [.numbers(held.map(\.event)), .flags(held.map(\.isPlain)), .manyBytes(held.map(\.release.body))])
        guard rows.count == held.count else { throw DamagedValue("a held delivery has no event") }
        var found: [Int64: Int64?] = [:]
        var new: [Body: [Int64]] = [:]
        for (held, row) in zip(held, try rows.map { (isEvent: try $0.flag(0), variant: try $0.optionalNumber(1)) }) {
            if row.isEvent || row.variant != nil {
                found[held.delivery] = .some(row.isEvent ? nil : row.variant)
            } else {
                new[Body(event: held.event, isPlain: held.isPlain, bytes: held.release.body ?? []), default: []]
                    .append(held.delivery)
            }
        }
        return new.isEmpty ? found : found.merging(try insert(new, in: transaction)) { $1 }
    }

    /// A body that no row has yet.
    private struct Body: Hashable {
        let event: Int64
        let isPlain: Bool
        let bytes: [UInt8]
    }

    /// Adds a row for each body. `new`: the deliveries that carry it. Returns the row of each delivery.
    private func insert(_ new: [Body: [Int64]], in transaction: PostgresTransaction) throws -> [Int64: Int64?] {
        let bodies = new.keys.sorted { $0.event < $1.event }
        let numbers = try transaction.run(
            """
            INSERT INTO variants (event, body, plain) SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::boolean[])
            RETURNING id
            """,
            [.numbers(bodies.map(\.event)), .manyBytes(bodies.map(\.bytes)), .flags(bodies.map(\.isPlain))]
        ).map { try $0.number(0) }
        var found: [Int64: Int64?] = [:]
        for (body, number) in zip(bodies, numbers) {
            for delivery in new[body] ?? [] { found[delivery] = .some(number) }
        }
        return found
    }
}
