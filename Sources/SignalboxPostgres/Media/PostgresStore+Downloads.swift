package import Foundation
package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// Downloads that are due, and their ends.
extension PostgresStore {
    /// Failed downloads, or waits that are over, of one transaction. Bounds the time for which one statement holds its
    /// locks.
    private static let step: Int64 = 1000

    /// Called once, at the start. Held deliveries whose wait ended while no node was running get time for their
    /// release. Each step is a transaction of its own. Throws the first failure; a further call repeats the steps
    /// without harm.
    package func openMedia(wake: @escaping @Sendable () -> Void) async throws(StoreError) {
        let now = now.milliseconds
        var position: Int64? = .min
        while let start = position {
            position = try await writer(.others).write { transaction in
                let row = try transaction.run(
                    Self.grantTime,
                    [
                        .number(transaction.node), .number(now + StoreLimits.releaseGrace), .number(now),
                        .number(start), .number(Self.step),
                    ]
                ).first
                return try row?.number(0) == Self.step ? row?.optionalNumber(1) : nil
            }
        }
        try await joinDownloads()
        lanes.openDownloads(wake)
        wake()
    }

    /// One step; returns the number of its waits, and the last one. Changes nothing while another node downloads.
    private static let grantTime = """
        WITH step AS MATERIALIZED (
            SELECT delivery FROM media_waits WHERE until < $3 AND delivery > $4 ORDER BY delivery LIMIT $5
        ), held AS MATERIALIZED (
            SELECT id FROM queue WHERE id IN (SELECT delivery FROM step) AND begun = 0 AND holder IS NULL AND due < $2
                AND NOT EXISTS (
                    SELECT FROM media_nodes m JOIN nodes n ON n.id = m.node WHERE n.is_live AND m.node <> $1)
            ORDER BY id FOR UPDATE
        ), changed AS (
            UPDATE queue SET due = $2 WHERE id IN (SELECT id FROM held)
        )
        SELECT count(*), max(delivery) FROM step
        """

    /// Tells the other nodes that this incarnation downloads. Removals of media delete the rows of nodes that are gone.
    private func joinDownloads() async throws(StoreError) {
        let former = mediaTurn.withLock(\.node)
        if let node = membership.incarnation?.node, node == former { return }
        let node = try await writer(.others).write { transaction in
            try transaction.run(
                "INSERT INTO media_nodes (node) VALUES ($1) ON CONFLICT DO NOTHING", [.number(transaction.node)])
            return transaction.node
        }
        mediaTurn.withLock { $0.node = node }
    }

    /// Has no effect for a node that has not joined. After a failure, others take over once this node is declared gone.
    package func closeMedia() async throws(StoreError) {
        let former = mediaTurn.withLock { $0.node.take() }
        guard let former else { return }
        try await writer(.others).write { transaction in
            _ = try transaction.run("DELETE FROM media_nodes WHERE node = $1", [.number(former)])
        }
    }

    /// Returns downloads of the hosts that this node owns. Makes no reservation: the caller excludes what it has begun.
    package func dueMedia(
        upTo limit: Int, perHost: Int, busy: [String: Int], excluding: Set<Int64>, dueSince recent: Date
    ) async throws(StoreError) -> [MediaJob] {
        guard limit > 0 else { return [] }
        if mediaTurn.withLock({ $0.node != nil }) { try await joinDownloads() }
        try await requestAgain()
        let start = mediaTurn.withLock(\.host)
        let search = MediaSearch(limit: limit, perHost: perHost, busy: busy, excluding: excluding, recent: recent)
        let jobs = try await readers.read { [membership] connection in
            let node = try membership.current()
            var jobs = try search.jobs(after: start, upTo: nil, of: node, on: connection)
            if jobs.count < limit, !start.isEmpty {
                jobs += try search.jobs(after: "", upTo: start, of: node, on: connection).prefix(limit - jobs.count)
            }
            return jobs
        }
        if let last = jobs.last { mediaTurn.withLock { $0.host = last.host } }
        return jobs
    }

    /// Requests failed downloads again whose pause is over. Writes only if a pause is over. One transaction, for up to
    /// ``step`` of them; the next call requests the others.
    private func requestAgain() async throws(StoreError) {
        guard let next = try await nextMediaDue(), next <= now else { return }
        try await writer(.others).write { transaction in
            _ = try transaction.run(
                """
                UPDATE media SET state = 'wanted' WHERE id IN (
                    SELECT id FROM media WHERE state = 'resting' AND due <= $1 ORDER BY due LIMIT $2
                    FOR UPDATE SKIP LOCKED)
                """, [.time(transaction.now), .number(Self.step)])
        }
    }

    /// When the next failed download is requested again; nil when none waits.
    package func nextMediaDue() async throws(StoreError) -> Date? {
        try await readers.first("SELECT min(due) FROM media WHERE state = 'resting'") { try $0.optionalDate(0) }
    }

    /// Durable when it returns. Has no effect for a URL that was forgotten meanwhile.
    package func settle(media settlement: MediaSettlement) async throws(StoreError) {
        let wakes = try await writer(.others).write { try MediaEnd(settlement).write(in: $0) }
        if wakes { lanes.wakeDownloads() }
    }
}

/// Finds due downloads host by host in an index, so that the waiting downloads of a busy host are not read. Hosts take
/// turns: the search starts after the host that was served last.
private struct MediaSearch: Sendable {
    /// The most downloads to find.
    let limit: Int
    /// The most concurrent downloads of one host.
    let perHost: Int
    /// Downloads in progress, by host.
    let busy: [String: Int]
    /// Downloads in progress, by number.
    let excluding: Set<Int64>
    /// Downloads that became due since this time come first.
    let recent: Date

    /// The downloads of the hosts after one, in their order, up to another.
    func jobs(
        after start: String, upTo end: String?, of node: Int64, on connection: PostgresConnection
    ) throws -> [MediaJob] {
        let busy = busy.sorted { $0.key < $1.key }
        let rows = try connection.run(
            Self.search,
            [
                .number(node), .text(start), .text(end), .texts(busy.map(\.key)),
                .numbers(busy.map { Int64($0.value) }),
                .numbers(excluding.sorted()), .number(Int64(perHost)), .number(Int64(limit)),
                .time(recent),
            ])
        return try rows.map { row in
            MediaJob(
                id: try row.number(0), url: String(decoding: try row.bytes(1), as: UTF8.self), host: try row.text(2),
                attempts: try row.count(3), validators: try MediaValidators(row, from: 4),
                stored: try row.optionalText(6))
        }
    }

    /// Steps from host to host in an index, at most 500 times; the next search continues after the last host.
    private static let search = """
        WITH RECURSIVE \(MediaOwners.live),
        hosts (host, step) AS (
            (SELECT host, 1 FROM media WHERE state = 'wanted' AND host > $2 AND ($3::text IS NULL OR host <= $3)
                ORDER BY host LIMIT 1)
            UNION ALL
            SELECT n.host, h.step + 1 FROM hosts h CROSS JOIN LATERAL (
                SELECT host FROM media
                WHERE state = 'wanted' AND host > h.host AND ($3::text IS NULL OR host <= $3) ORDER BY host LIMIT 1
            ) n WHERE h.step < 500
        ), places AS (
            SELECT h.host, $7 - coalesce(b.count, 0) AS free
            FROM hosts h LEFT JOIN unnest($4::text[], $5::bigint[]) AS b (host, count) ON b.host = h.host COLLATE "C"
            WHERE \(MediaOwners.isMine("h.host"))
        )
        SELECT m.id, m.url, m.host, m.attempts, m.etag, m.last_modified, m.sha256
        FROM places p CROSS JOIN LATERAL (
            (SELECT *, 1 AS part, due AS turn, id AS tie FROM media
                WHERE state = 'wanted' AND host = p.host AND due >= $9 AND id <> ALL ($6)
                ORDER BY due, id LIMIT greatest(p.free, 0))
            UNION ALL
            (SELECT *, 2, -due, -id FROM media
                WHERE state = 'wanted' AND host = p.host AND due < $9 AND id <> ALL ($6)
                ORDER BY due DESC, id DESC LIMIT greatest(p.free, 0))
            ORDER BY part, turn, tie LIMIT greatest(p.free, 0)
        ) m
        ORDER BY m.host, m.part, m.turn, m.tie LIMIT $8
        """
}
