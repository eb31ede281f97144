package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// Limits of destinations that all nodes share.
extension PostgresStore {
    package var sharesLimits: Bool { true }

    /// Without a round trip: compares the incarnation of the lease with the present one.
    package func holds(_ lease: Lease) -> Bool { membership.isHolder(lease.fence.holder) }

    // MARK: Places

    /// The limit divided by the number of live nodes with a lane for the destination; the rest goes to the first ones
    /// in an order that differs by destination. While that number changes, attempts may exceed the limit until each
    /// node has had a heartbeat and the attempts in flight have ended. Without a round trip. A share of 0 stops the
    /// hand-over in memory: the deliveries are left to nodes with places.
    package func places(of destination: DestinationName, outOf limit: Int) -> Int? {
        let share = membership.rank(for: destination).map { Self.share(of: limit, for: destination, $0, $1) }
        shares.withLock { $0[destination] = share }
        lanes.withHandOff { handOff in _ = handOff.withLane(destination) { $0.hasPlaces = share != 0 } }
        return share
    }

    /// The number of places of one node. `position`: 0 up to `count` - 1. The shares of all positions add up to the
    /// limit.
    static func share(of limit: Int, for destination: DestinationName, _ position: Int, _ count: Int) -> Int {
        // FNV-1a: the same on all nodes, unlike the hashes of Swift.
        let hash = destination.name.utf8.reduce(UInt64(14_695_981_039_346_656_037)) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        let rank = (position + Int(hash % UInt64(count))) % count
        return limit / count + (rank < limit % count ? 1 : 0)
    }

    /// Destinations whose places all belong to other nodes: deliveries are left to these.
    var placeless: [DestinationName] { shares.withLock { $0.filter { $1 == 0 }.map(\.key) } }

    // MARK: Rate

    /// A bucket in the row of the destination, which holds one second's worth. Not synced: after a crash of the server,
    /// some attempts more are permitted. Grants a quarter of a second's worth at most, but at least one attempt once
    /// the bucket has it. Time is the server's. Runs on a connection of the readers, so it does not wait behind other
    /// writes; after a lost connection it may take attempts twice, which then are not made.
    package func takeAttempts(
        of destination: DestinationName, perSecond: Double
    ) async throws(StoreError) -> AttemptShare {
        let rate = Self.rate(perSecond)
        return try await readers.read { connection in
            let results = try connection.run(all: [
                Self.unsynced, Self.bucket(destination),
                PostgresStatement(
                    """
                    UPDATE destinations d SET filled_at = n.at,
                        tokens = n.tokens - least(floor(n.tokens), greatest(1, ceil(n.rate / 4)))
                    FROM (
                        SELECT name, at, rate, least(
                            greatest(1, rate),
                            coalesce(tokens, greatest(1, rate))
                                + greatest(0, at - coalesce(filled_at, at)) * rate / 1000) AS tokens
                        FROM destinations, (
                            SELECT $2 / 1e6::double precision AS rate,
                                (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at
                        ) r WHERE name = $1 FOR UPDATE OF destinations
                    ) n
                    WHERE d.name = n.name RETURNING
                        least(floor(n.tokens), greatest(1, ceil(n.rate / 4)))::bigint,
                        ceil(greatest(0, 1 - n.tokens) / n.rate * 1000)::bigint
                    """, [.destination(destination), .number(rate)]),
            ])
            guard let row = results[2].first else { return AttemptShare(count: 0, wait: .seconds(1)) }
            return AttemptShare(count: try row.count(0), wait: .milliseconds(max(1, try row.number(1))))
        }
    }

    /// Never fills the bucket beyond one second's worth. Has no effect for a destination whose bucket was never used.
    /// Not synced.
    package func returnAttempts(
        _ count: Int, of destination: DestinationName, perSecond: Double
    ) async throws(StoreError) {
        let rate = Self.rate(perSecond)
        try await readers.read { connection in
            _ = try connection.run(all: [
                Self.unsynced,
                PostgresStatement(
                    """
                    UPDATE destinations SET tokens = least(greatest(1, $2 / 1e6::double precision), tokens + $3)
                    WHERE name = $1 AND tokens IS NOT NULL
                    """, [.destination(destination), .number(rate), .number(Int64(count))]),
            ])
        }
    }

    /// Millionths of attempts per second. A config names rates down to one in a day. At most a billion attempts per
    /// second.
    private static func rate(_ perSecond: Double) -> Int64 { max(1, Int64(min(perSecond, 1e9) * 1e6)) }

    /// Lets the commit of the same round trip return before it is on disk (PostgreSQL, "Asynchronous Commit").
    private static let unsynced = PostgresStatement("SELECT set_config('synchronous_commit', 'off', true)")

    /// Adds the row of a destination without one. Writes nothing for the others.
    private static func bucket(_ destination: DestinationName) -> PostgresStatement {
        PostgresStatement(
            """
            INSERT INTO destinations (name) SELECT $1 WHERE NOT EXISTS (SELECT FROM destinations WHERE name = $1)
            ON CONFLICT DO NOTHING
            """, [.destination(destination)])
    }

    // MARK: Probes

    /// A row of `duties` that lasts as long as the breaker stays open after a failed probe. Durable before the probe
    /// begins. The time is the server's. The time to ask again is a second at most.
    package func beginProbe(
        of destination: DestinationName, lasting time: Duration
    ) async throws(StoreError) -> Duration? {
        try await writer(.others).write { transaction in
            let rows = try transaction.run(all: [
                PostgresStatement(
                    """
                    INSERT INTO duties AS d (name, node, until)
                    VALUES ($1, $2, clock_timestamp() + $3 * interval '1 ms')
                    ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = excluded.until
                        WHERE d.until < clock_timestamp() RETURNING node
                    """,
                    [
                        .text(Self.probe(of: destination)), .number(transaction.node),
                        .number(Int64(max(.milliseconds(1), time) / .milliseconds(1))),
                    ]),
                PostgresStatement(
                    """
                    SELECT (extract(epoch FROM until - clock_timestamp()) * 1000)::bigint FROM duties WHERE name = $1
                    """, [.text(Self.probe(of: destination))]),
            ])
            guard rows[0].isEmpty else { return nil }
            // Soon again: the probe may end at any time.
            return min(.seconds(1), .milliseconds(max(1, try rows[1].first?.number(0) ?? 1)))
        }
    }

    /// The name of its row in `duties`; the prefix keeps it apart from other duties.
    static func probe(of destination: DestinationName) -> String { "probe \(destination.name)" }
}
