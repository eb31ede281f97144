package import Foundation
package import SignalboxNotification
package import SignalboxStore

/// Deliveries that wait for files, and their release.
extension PostgresStore {
    /// When the next wait of an event that this node owns ends; nil when none is held. Includes deliveries whose files
    /// are ready. The waits of other nodes do not count: a node that is stopped does not release them, and this one
    /// would look for them without a pause.
    package func nextMediaUntil() async throws(StoreError) -> Date? { try await mediaUntil("ORDER BY until") }

    /// The same of the last one.
    package func lastMediaUntil() async throws(StoreError) -> Date? { try await mediaUntil("ORDER BY until DESC") }

    /// `order`: constant text. Registers this node if it has no incarnation.
    private func mediaUntil(_ order: String) async throws(StoreError) -> Date? {
        try await readers.read { [membership] connection in
            try connection.run(
                """
                WITH \(MediaOwners.live)
                SELECT until FROM media_waits WHERE \(MediaOwners.isMine("event::text")) \(order) LIMIT 1
                """, [.number(try membership.current())]
            ).first?.optionalDate(0)
        }
    }

    /// Of the events that this node owns: ready ones first, then those whose wait is over. Removes waits of ended
    /// deliveries on the way.
    package func heldDeliveries(upTo limit: Int) async throws(StoreError) -> [HeldDelivery] {
        guard limit > 0 else { return [] }
        let now = now.milliseconds
        while true {
            let page = try await readers.snapshot { [membership] connection in
                try HeldPage(upTo: limit, at: now, of: membership.current(), on: connection)
            }
            if !page.ended.isEmpty {
                try await writer(.others).write { transaction in
                    _ = try transaction.run(all: MediaWaits.end(of: page.ended, in: transaction))
                }
            }
            // Deliveries after those that have ended can be found now.
            if !page.held.isEmpty || page.ended.isEmpty { return page.held }
        }
    }

    /// All releases in one transaction, durable when it returns. Released deliveries are due at once, unless they are
    /// scheduled. Throws ``StoreError/damaged(path:reason:)`` if a delivery with a new body has lost its event.
    package func release(_ releases: [MediaRelease]) async throws(StoreError) {
        guard !releases.isEmpty else { return }
        let destinations = try await writer(.others).write { try ReleaseGroup(releases).write(in: $0) }
        lanes.withHandOff { handOff in
            for destination in destinations { handOff.withLane(destination) { $0.leaveToStore() } }
        }
        lanes.wake(destinations)
    }
}

/// Held deliveries that can be released, with the states of their files. Bounded by the number of deliveries and by the
/// bytes of their bodies.
private struct HeldPage: Sendable {
    /// Bytes of the bodies. The first body may have any size.
    private static let bytes: Int64 = 16 << 20

    /// In the order of ``HeldPage/page``: ready ones by number, then the others by the end of their wait.
    private(set) var held: [HeldDelivery] = []
    /// Deliveries that no longer wait for files: they ended, were begun, or are held by a lane.
    private(set) var ended: [Int64] = []

    init(upTo limit: Int, at now: Int64, of node: Int64, on connection: PostgresConnection) throws {
        let rows = try connection.run(
            Self.page, [.number(node), .number(now), .number(Int64(limit)), .number(Self.bytes)])
        let found = try rows.compactMap { row -> (row: PostgresRow, event: Int64, isOver: Bool)? in
            guard try row.flag(6) else { return (row, try row.number(1), try row.flag(2)) }
            ended.append(try row.number(0))
            return nil
        }
        let states = try Self.states(of: Set(found.map(\.event)).sorted(), on: connection)
        held = try found.map { row, event, isOver in
            HeldDelivery(
                delivery: try row.number(0), event: event, destination: try row.destination(3),
                body: try row.bytes(4),
                media: try (states[event] ?? []).reduce(into: ExactTextMap()) { media, row in
                    media[String(decoding: try row.bytes(1), as: UTF8.self)] =
                        try MediaState(row, from: 2, isOver: isOver)
                },
                transformRoute: try row.optionalText(5))
        }
    }

    /// A body beyond the bytes is left to the next page.
    private static let page = """
        WITH \(MediaOwners.live),
        ready AS MATERIALIZED (
            SELECT delivery, event, until, route, 0 AS rank FROM media_waits
            WHERE ready AND \(MediaOwners.isMine("event::text")) ORDER BY delivery LIMIT $3
        ), over AS MATERIALIZED (
            SELECT delivery, event, until, route, 1 AS rank FROM media_waits
            WHERE NOT ready AND until <= $2 AND \(MediaOwners.isMine("event::text"))
            ORDER BY until LIMIT $3 - (SELECT count(*) FROM ready)
        ), found AS (
            SELECT w.*, d.id AS id, d.destination, e.seq, coalesce(v.id, 0) AS variant,
                sum(octet_length(coalesce(v.body, e.body))) OVER line AS bytes, row_number() OVER line AS place
            FROM (SELECT * FROM ready UNION ALL SELECT * FROM over) w
                LEFT JOIN queue d ON d.id = w.delivery AND d.begun = 0 AND d.holder IS NULL
                LEFT JOIN events e ON e.seq = d.event LEFT JOIN variants v ON v.id = d.variant
            WINDOW line AS (ORDER BY w.rank, CASE w.rank WHEN 0 THEN w.delivery ELSE w.until END, w.delivery)
        )
        SELECT f.delivery, f.event, f.until <= $2, f.destination, coalesce(v.body, e.body), f.route, f.seq IS NULL
        FROM found f LEFT JOIN events e ON e.seq = f.seq LEFT JOIN variants v ON v.id = f.variant
        WHERE f.place = 1 OR f.bytes <= $4 OR f.seq IS NULL
        ORDER BY f.place
        """

    /// The state of each URL of some events, as rows that ``MediaState`` reads. An event without an entry has no URL,
    /// or its wait has ended.
    private static func states(of events: [Int64], on connection: PostgresConnection) throws -> [Int64: [PostgresRow]] {
        guard !events.isEmpty else { return [:] }
        let rows = try connection.run(
            """
            SELECT e.event, m.url, m.state, e.done, m.reason, m.words, m.remarks,
                m.sha256, f.bytes, f.type, f.width, f.height, f.duration
            FROM media_events e JOIN media m ON m.id = e.media LEFT JOIN files f ON f.sha256 = m.sha256
            WHERE e.event = ANY ($1)
            """, [.numbers(events)])
        return try rows.reduce(into: [:]) { $0[try $1.number(0), default: []].append($1) }
    }
}
