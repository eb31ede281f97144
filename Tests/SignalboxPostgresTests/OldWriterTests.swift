import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Gateways that run while a newer release makes the tables unfit for them.
@Suite(.timeLimit(.minutes(5))) struct OldWriterTests {
    @Test func aNodeBelowTheOldestWriterCannotWrite() async throws {
        try await NodeBench.withNodes { first, second in
            try await first.append([NodeBench.event(1), NodeBench.event(2)])
            let lease = try #require(try await first.claim(from: NodeBench.crm, upTo: 1).first)
            try await first.giveBackFresh()
            try first.exec("UPDATE meta SET min_writer = 1000")
            let expected = StoreError.otherTables(place: "the database", isNewer: true)
            await #expect(throws: expected) { try await first.append([NodeBench.event(3)]) }
            await #expect(throws: expected) { try await first.settle(lease, .delivered(status: 200)) }
            for node in [first, second] {
                node.wakeAll()
                await #expect(throws: expected) { try await node.claim(from: NodeBench.crm, upTo: 5) }
                await #expect(throws: expected) { try await node.probe() }
            }
            let events = try PostgresConnection(first.target).run("SELECT FROM events")
            #expect(events.count == 2)
        }
    }

    @Test func aNodeBelowTheOldestWriterGivesUpItsPlace() async throws {
        try await PostgresLocation.withLocation { location in
            let store = try PostgresStore(location.target)
            try await store.append([NodeBench.event(1)])
            var pulse = Pulse()
            pulse.beat(store)
            #expect(store.membership.isSafe)
            try store.exec("UPDATE meta SET min_writer = 1000")
            let nodes = "SELECT seen_at::text FROM nodes ORDER BY id"
            let before = try PostgresConnection(store.target).run(nodes).map { try $0.text(0) }
            for _ in 0..<3 { pulse.beat(store) }
            #expect(!store.membership.isSafe)
            let after = try PostgresConnection(store.target).run(nodes).map { try $0.text(0) }
            #expect(after == before, "others take over once its lifetime is over")
        }
    }
}
