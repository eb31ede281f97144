import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Changes of many rows, and passes with nothing to change.
@Suite(.timeLimit(.minutes(5))) struct StepTests {
    @Test func heldDeliveriesGetTimeForTheirReleaseInSteps() async throws {
        try await PostgresLocation.withLocation { location in
            let store = try PostgresStore(location.target)
            try store.exec(
                "INSERT INTO queue (event, destination, due) SELECT 1, 'crm', 0 FROM generate_series(1, 2500)")
            try store.exec("INSERT INTO media_waits SELECT id, event, 1, false FROM queue")
            try await store.openMedia {}
            let rows = try PostgresConnection(store.target).run(
                "SELECT count(*), min(due) FROM queue GROUP BY xmin::text"
            ).map { (count: try $0.number(0), due: try $0.number(1)) }
            #expect(rows.reduce(0) { $0 + $1.count } == 2500)
            #expect(rows.allSatisfy { $0.count <= 1000 && $0.due > 0 })
        }
    }

    @Test func aPassWithoutOldPayloadsDoesNotWrite() async throws {
        try await NodeBench.withNodes { store, _ in
            try await store.append([NodeBench.event(1), NodeBench.event(2)])
            try await store.giveBackFresh()
            // Of an event that waits, and of one without deliveries.
            try store.exec("INSERT INTO payloads SELECT seq, false, '' FROM events")
            let connection = try PostgresConnection(store.target)
            func writes() throws -> Int64? {
                try connection.run("SELECT sum(number)::bigint FROM marks WHERE lane = 5").first?.number(0)
            }
            let before = try writes()
            try await store.forgetPayloads {}
            #expect(try writes() == before)
            try store.exec("DELETE FROM queue WHERE event = 1")
            try await store.forgetPayloads {}
            #expect(try connection.run("SELECT event FROM payloads").map { try $0.number(0) } == [2])
        }
    }
}
