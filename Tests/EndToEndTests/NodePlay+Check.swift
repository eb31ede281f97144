import Foundation
import SignalboxServerTesting
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// The rules that hold after every play.
extension NodePlay {
    /// Deliveries whose holder is not a live node.
    static let abandoned =
        "SELECT count(*) FROM queue WHERE holder NOT IN (SELECT id FROM nodes WHERE is_live)"

    /// Runs a query that returns one number.
    func number(_ sql: String) throws -> Int {
        Int(try PostgresConnection(PostgresTarget(url: primaryURL)).run(sql).first?.number(0) ?? -1)
    }

    /// Runs a query that returns texts.
    private func texts(_ sql: String) throws -> Set<String> {
        Set(try PostgresConnection(PostgresTarget(url: primaryURL)).run(sql).map { try $0.text(0) })
    }

    private static let live = "SELECT count(*) FROM nodes WHERE is_live"

    /// Waits until the database knows each gateway that receives load, and no other one; returns their number. A
    /// gateway that was just started registers when it opens its lanes.
    func registered() async throws -> Int {
        let count = nodes.count(where: \.isUp)
        try await wait("the registration of \(count) gateways") { try number(Self.live) == count }
        return count
    }

    /// Kills a gateway that receives load, and waits until others have taken over its leases. Returns how long that
    /// took.
    @discardableResult
    func kill(_ place: Int) async throws -> Duration {
        let count = try await registered()
        let victim = retire(place)
        let begun = ContinuousClock.now
        await victim.gateway.kill()
        try await wait("the takeover from a killed gateway") {
            try number(Self.live) == count - 1 && number(Self.abandoned) == 0
        }
        return ContinuousClock.now - begun
    }

    /// Waits until every delivery has ended; checks the rules. `directory`: the working directory of the audit.
    func check(in directory: String) async throws {
        let begun = ContinuousClock.now
        try await wait("the end of leases of nodes that are gone") { try number(Self.abandoned) == 0 }
        #expect(ContinuousClock.now - begun < .seconds(20), "seed \(seed)")
        try await wait("the end of all deliveries") { try number("SELECT count(*) FROM queue") == 0 }
        #expect(record.faults.isEmpty, "seed \(seed)")
        try checkOutcomes()
        try checkOverlaps()
        let audit = try await binary.run(["audit", "--store", primaryURL], in: directory)
        #expect(audit.status == 0, "seed \(seed): \(audit.output) \(audit.errors)")
        #expect(
            try number("SELECT count(*) FROM ended") == number("SELECT sum(accepted)::bigint FROM ledger"),
            "accepted are ended, seed \(seed)")
        #expect(try number("SELECT count(*) FROM ended WHERE state <> 'delivered'") == 0, "seed \(seed)")
    }

    /// Every acknowledged event is stored, unless the database has lost commits. Each delivery whose outcome is stored
    /// has arrived.
    private func checkOutcomes() throws {
        let lost = try record.acceptedEvents.subtracting(texts("SELECT id::text FROM events"))
        if record.hasLostOutcomes {
            print("lost with the primary: \(lost.count) of \(record.accepted)")
        } else {
            #expect(lost.isEmpty, "every acknowledged event is stored, seed \(seed)")
        }
        let delivered = try texts(
            "SELECT e.id || ' ' || d.destination FROM ended d JOIN events e ON e.seq = d.event")
        #expect(delivered.subtracting(record.arrived).isEmpty, "delivered ones have arrived, seed \(seed)")
    }

    /// Attempts of a delivery overlap only if the first one lost its lease, for the timeout at most.
    private func checkOverlaps() throws {
        let interrupted = try texts(
            """
            SELECT e.id || ' ' || d.destination FROM ended d JOIN events e ON e.seq = d.event
            WHERE d.error = 'interrupted'
                OR EXISTS (SELECT FROM attempts a WHERE a.delivery = d.id AND a.error = 'interrupted')
            """)
        for (delivery, time) in record.overlaps {
            #expect(time <= Self.timeout, "\(delivery), seed \(seed)")
            // The database has lost the lease too, with the number of its attempt.
            guard !record.hasLostOutcomes else { continue }
            #expect(interrupted.contains(delivery), "\(delivery) was sent twice at once, seed \(seed)")
        }
    }
}
