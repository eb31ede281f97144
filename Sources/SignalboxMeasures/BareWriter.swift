import CPostgres
import Foundation
import SignalboxPostgres

/// The statements of the store's writes, run by a bare client under a node of its own. Unchecked: each is used by one
/// thread.
final class BareWriter: @unchecked Sendable {
    private let client: BareClient
    /// For settlements, whose sessions have other settings.
    private let settler: BareClient
    private let body: [UInt8]
    private let lane: Int64
    private let node: Int64
    private var number: Int64 = 0
    /// When the last claimed delivery became due: like the store's, a claim begins there.
    private var since: Int64 = 0

    init(url: String, body: [UInt8], lane: Int64) throws {
        client = try BareClient(url: Self.url(url, FrequentStatements.leaseSettings))
        settler = try BareClient(url: Self.url(url, FrequentStatements.settleSettings))
        (self.body, self.lane) = (body, lane)
        var node: Int64 = 0
        try client.run([
            (
                """
                WITH made AS (
                    INSERT INTO nodes (name, version, key, started_at, seen_at, is_live)
                    VALUES ('bare', '', '', 0, clock_timestamp() + interval '1 hour', true) RETURNING id
                )
                INSERT INTO marks (node, lane, number) SELECT id, 0, 0 FROM made UNION ALL SELECT id, 1, 0 FROM made
                RETURNING node
                """, Arguments()
            )
        ]) { node = Self.number($1, 0, 0) }
        self.node = node
    }

    /// With the settings of the sessions that lease and settle in the store. Without `jit=off`, which all sessions of
    /// the store have, the server would compile plans that avoid sequential scans: 40 ms for each transaction.
    private static func url(_ url: String, _ settings: [String]) -> String {
        let options = (["jit=off"] + settings).map { "-c%20" + $0.replacing("=", with: "%3D") }
        return url + (url.contains("?") ? "&" : "?") + "options=" + options.joined(separator: "%20")
    }

    private static func number(_ result: OpaquePointer, _ row: Int, _ column: Int) -> Int64 {
        UnsafeRawPointer(PQgetvalue(result, Int32(row), Int32(column))).map {
            Int64(bigEndian: $0.loadUnaligned(as: Int64.self))
        } ?? 0
    }

    private static func numbers(_ result: OpaquePointer, _ column: Int) -> [Int64] {
        (0..<Int(PQntuples(result))).map { number(result, $0, column) }
    }

    /// The beginning of a transaction.
    private func opening() -> [(String, Arguments)] {
        number += 1
        var arguments = Arguments()
        for value in [node, lane, number] { arguments.add(value) }
        return [("BEGIN", Arguments()), (FrequentStatements.mark, arguments)]
    }

    private func commit(on client: BareClient) throws {
        try client.run([(FrequentStatements.commit, Arguments()), ("COMMIT", Arguments())])
    }

    private var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    /// Returns the numbers of the deliveries.
    func append(_ count: Int, isFresh: Bool) throws -> [Int64] {
        var events = Arguments()
        events.addIDs(count)
        events.add("default", times: count)
        events.add("unknown/alert", times: count)
        events.add([Int64](repeating: now, count: count))
        events.add(body, times: count)
        events.addNulls((1001, 17), times: count)
        var numbers: [Int64] = []
        try client.run(opening() + [(FrequentStatements.events, events)]) {
            if $0 == 2 { numbers = Self.numbers($1, 0) }
        }
        var deliveries = Arguments()
        deliveries.add(node)
        deliveries.add(numbers)
        deliveries.add("crm", times: count)
        deliveries.add([Int64](repeating: now, count: count))
        deliveries.addNulls((1016, 20), times: count)
        deliveries.addNulls((1016, 20), times: count)
        deliveries.addNulls((1009, 25), times: count)
        deliveries.addNulls((1016, 20), times: count)
        deliveries.add(isFresh, times: count)
        try client.run([
            (FrequentStatements.deliveries, deliveries),
            (FrequentStatements.ledger, ledger(accepted: count, waiting: count, delivered: 0)),
        ]) { if $0 == 0 { numbers = Self.numbers($1, 0) } }
        try commit(on: client)
        return numbers
    }

    private func ledger(accepted: Int, waiting: Int, delivered: Int) -> Arguments {
        var arguments = Arguments()
        arguments.add(node)
        arguments.add(lane)
        arguments.add("crm", times: 1)
        for value in [accepted, waiting, 0, delivered, 0] { arguments.add([Int64(value)]) }
        return arguments
    }

    func claim(_ count: Int) throws -> [Int64] {
        var claim = Arguments()
        claim.add("crm")
        claim.add(now)
        claim.add(Int64(count))
        claim.add(node)
        claim.add([Int64]())
        claim.add(since)
        var next = Arguments()
        next.add("crm")
        next.add(now)
        var numbers: [Int64] = []
        try client.run(opening() + [(FrequentStatements.claim, claim), (FrequentStatements.nextDue, next)]) {
            guard $0 == 2 else { return }
            numbers = Self.numbers($1, 2)
            since = Self.numbers($1, 15).last ?? 0
        }
        try commit(on: client)
        return numbers
    }

    func settle(_ deliveries: [Int64]) throws {
        let count = deliveries.count
        var ended = Arguments()
        ended.add(node)
        ended.add(deliveries)
        ended.add([Int64](repeating: 1, count: count))
        ended.add("delivered", times: count)
        ended.add([Int64](repeating: now, count: count))
        ended.add([Int64](repeating: 200, count: count))
        ended.addNulls((1009, 25), times: count)
        ended.add([Int64](repeating: now, count: count))
        ended.add([Int64](repeating: 3, count: count))
        ended.addNulls((1009, 25), times: count)
        ended.add("127.0.0.1:443", times: count)
        ended.addNulls((1001, 17), times: count)
        ended.addNulls((1001, 17), times: count)
        try settler.run(opening() + [(FrequentStatements.ended, ended)])
        try settler.run([(FrequentStatements.ledger, ledger(accepted: 0, waiting: -count, delivered: count))])
        try commit(on: settler)
    }
}
