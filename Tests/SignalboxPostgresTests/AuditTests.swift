import Foundation
import SignalboxInApp
import SignalboxNotification
import SignalboxPostgres
import SignalboxStore
import Testing

/// Content that no gateway writes: the audit names it, and other reads fail with an error.
@Suite(.timeLimit(.minutes(5))) struct AuditTests {
    @Test func unknownWordsAndTimesAreReported() async throws {
        try await OperatorBench.with { bench in
            let node = try bench.node()
            try await bench.addDead(3, node)
            try await node.append([bench.event(4), bench.event(5)])
            try await node.set(.paused, of: OperatorBench.inbox, as: OperatorAction(by: "ann", via: .api, "pause"))
            #expect(try await node.audit().isRight)
            try bench.run("UPDATE ended SET state = 'lost' WHERE id = (SELECT min(id) FROM ended)")
            try bench.run("UPDATE queue SET not_before = 9223372036854775807 WHERE id = (SELECT max(id) FROM queue)")
            try bench.run("UPDATE events SET accepted_at = 9007199254740993 WHERE seq = (SELECT max(seq) FROM events)")
            try bench.run("UPDATE destinations SET state = 'asleep' WHERE state IS NOT NULL")
            try bench.run("UPDATE actions SET via = 'pigeon'")
            let damage = try await node.audit().damage
            #expect(
                damage == [
                    "the ledger or a delivery cannot be read: column state does not hold a known word",
                    "1 delivery cannot be read, because a word, a time or a count has an unknown value",
                    "1 delivery cannot be read, because a word, a time or a count has an unknown value",
                    "1 event cannot be read, because a word, a time or a count has an unknown value",
                    "1 destination cannot be read, because a word, a time or a count has an unknown value",
                    "1 action cannot be read, because a word, a time or a count has an unknown value",
                ])
            await #expect(throws: StoreError.self) { try await node.statuses() }
            await #expect(throws: StoreError.self) { try await node.counts() }
            await #expect(throws: StoreError.self) {
                try await node.deliveryPage(DeliveryFilter(), limit: 10, examining: 10)
            }
            await #expect(throws: StoreError.self) {
                try await node.actionPage(ActionFilter(), limit: 10, examining: 10)
            }
            #expect(
                try await node.deliveryPage(DeliveryFilter(state: .dead), limit: 10, examining: 10).records.count == 2)
        }
    }

    @Test func rowsThatLostTheirOwnerAreCounted() async throws {
        try await OperatorBench.with { bench in
            let node = try bench.node()
            try await bench.addDead(4, node)
            try bench.run("DELETE FROM events WHERE seq = (SELECT min(seq) FROM events)")
            try bench.run("INSERT INTO attempts (delivery, number) VALUES (99999, 1)")
            try bench.run("INSERT INTO media_waits (delivery, event, until, ready) VALUES (99998, 1, 0, false)")
            try bench.run("UPDATE ended SET variant = 99997 WHERE id = (SELECT max(id) FROM ended)")
            let audit = try await node.audit()
            #expect(audit.orphans == 1 && audit.strayWaits == 1)
            #expect(
                audit.damage == [
                    "1 delivery lacks its body", "1 list of attempts belongs to no delivery",
                    "the count of media held is 0, not 1",
                ])
            #expect(!audit.accounts.isEmpty)
            #expect(audit.accounts.allSatisfy { $0.missing == 0 && $0.miscounted.isEmpty })
        }
    }

    @Test func aDeliveryThatIsThereTwiceIsFound() async throws {
        try await OperatorBench.with { bench in
            let node = try bench.node()
            try await bench.addDead(2, node)
            try bench.run(
                """
                INSERT INTO queue (id, event, destination, due) OVERRIDING SYSTEM VALUE
                SELECT id, event, destination, due FROM ended LIMIT 1
                """)
            let audit = try await node.audit()
            #expect(audit.damage == ["1 delivery waits and has ended"])
            #expect(audit.accounts.map(\.missing) == [-1])
            #expect(audit.accounts.map(\.miscounted) == [[.waiting]])
        }
    }

    @Test func aChangedLedgerIsFound() async throws {
        try await OperatorBench.with { bench in
            let node = try bench.node()
            try await bench.addDead(2, node)
            try bench.run("UPDATE ledger SET accepted = accepted + 1, dead_now = dead_now - 1 WHERE dead_now > 0")
            let account = try #require(try await node.audit().accounts.first)
            #expect(account.missing == 1 && account.miscounted == [.dead])
            #expect(try await node.gauges()[OperatorBench.crm]?.dead == 1)
        }
    }

    /// Sums with such numbers would overflow.
    @Test func numbersThatNoGatewayWritesAreNotRead() async throws {
        try await OperatorBench.with { bench in
            let node = try bench.node()
            try await bench.addDead(2, node)
            let device = InAppSubject.device("d", user: "u")
            try await node.decide(about: device, tallies: []) { rows in
                InAppStep((), changes: [.device(rows.state.device), .user("u", lastNow: 1)])
            }
            #expect(try await node.rows(of: device, tallies: []).state.device.session == 0)
            for number in [Int64.max, .min] {
                try bench.run("UPDATE inapp_devices SET session = \(number)")
                await #expect(throws: StoreError.self) { try await node.rows(of: device, tallies: []) }
            }
            try bench.run("UPDATE inapp_devices SET session = 0")
            try bench.run("UPDATE ledger SET accepted = \(Int64.min) WHERE dead_now > 0")
            await #expect(throws: StoreError.self) { try await node.accounts() }
            #expect(
                try await node.audit().damage == [
                    "the ledger or a delivery cannot be read: column sum does not hold a number that the gateway writes"
                ])
        }
    }

    @Test func abandonedLeasesAreFound() async throws {
        try await OperatorBench.with { bench in
            let node = try bench.node()
            try await node.append([bench.event(1)])
            _ = try await node.claim(from: OperatorBench.crm, upTo: 1)
            #expect(try await node.audit().damage.isEmpty)
            let other = try bench.node()
            try await other.append([bench.event(2, to: [])])
            // A gateway has run for long enough, and the holder was declared gone long ago.
            try bench.run("UPDATE nodes SET started_at = 0, seen_at = clock_timestamp()")
            var damage: [String] = []
            // A heartbeat may free it before the audit.
            for _ in 0..<50 where damage.isEmpty {
                try bench.run("UPDATE queue SET holder = 999999")
                damage = try await other.audit().damage
            }
            #expect(damage == ["1 delivery is leased to a gateway that has ended"])
        }
    }
}
