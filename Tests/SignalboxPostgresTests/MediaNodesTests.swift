import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Downloads and held deliveries of two nodes on one database.
@Suite(.timeLimit(.minutes(5))) struct MediaNodesTests {
    private static let crm = DestinationName("crm")
    private static let now = ManualDate().now
    private static let urls = (0..<24).map { "https://host\($0).example/x.png" }

    @Test func eachHostAndEachHeldDeliveryBelongsToOneNode() async throws {
        try await Self.withNodes { first, second, clock in
            try await first.append(Self.urls.enumerated().map { Self.event($0, waitingFor: $1) })
            let (mine, others) = (try await Self.due(first), try await Self.due(second))
            #expect(!mine.isEmpty && !others.isEmpty)
            #expect((mine + others).map(\.url).sorted() == Self.urls.sorted())
            clock.advance(by: 60)
            let held = [try await first.heldDeliveries(upTo: 50), try await second.heldDeliveries(upTo: 50)]
            #expect(held.allSatisfy { !$0.isEmpty })
            #expect(Set(held.joined().map(\.delivery)).count == Self.urls.count)
            #expect(held[0].count + held[1].count == Self.urls.count)
        }
    }

    @Test func aNodeDoesNotLookForWaitsOfAnotherOne() async throws {
        try await Self.withNodes { first, second, clock in
            try await first.append(Self.urls.enumerated().map { Self.event($0, waitingFor: $1) })
            clock.advance(by: 60)
            try await first.release(
                try await first.heldDeliveries(upTo: 50).map { MediaRelease($0, body: nil, files: []) })
            #expect(try await first.nextMediaUntil() == nil)
            #expect(try await second.nextMediaUntil() != nil)
        }
    }

    @Test func aNodeTakesOverTheDownloadsAndReleasesOfOneThatIsGone() async throws {
        try await Self.withNodes { first, second, clock in
            try await first.append(Self.urls.enumerated().map { Self.event($0, waitingFor: $1) })
            try Self.end(first)
            #expect(try await Self.due(second).map(\.url).sorted() == Self.urls.sorted())
            clock.advance(by: 60)
            #expect(try await second.heldDeliveries(upTo: 50).count == Self.urls.count)
        }
    }

    @Test func theLateEndOfADownloadDoesNotReplaceThatOfItsSuccessor() async throws {
        try await Self.withNodes { first, second, _ in
            try await first.append([Self.event(1, waitingFor: Self.urls[0])])
            let job = try #require(try await (Self.due(first) + Self.due(second)).first)
            let file = MediaFile(sha256: String(repeating: "a", count: 64), bytes: 7, contentType: "image/png")
            let freshness = MediaFreshness(until: Self.now.addingTimeInterval(600))
            try await second.settle(media: MediaSettlement(job.id, .stored(file, freshness, remarks: [])))
            try await first.settle(media: MediaSettlement(job.id, .failed(MediaFailure(.timeout, "stopped"))))
            #expect(try await first.mediaURLs([.stored, .failed], before: nil, limit: 5).map(\.state) == [.stored])
            #expect(try await first.mediaGauges().stored == 1)
        }
    }

    /// A replay ends its downloads before it ends itself.
    @Test func aNodeThatLeftTheDownloadsOwnsNone() async throws {
        try await Self.withNodes { first, second, _ in
            let events = (0..<20).map { Self.event($0, waitingFor: "https://host-\($0).test/a.png") }
            try await first.append(events)
            #expect(try await Self.due(first).count < 20)
            try await second.closeMedia()
            #expect(try await Self.due(first).count == 20)
            #expect(try await first.lastMediaUntil() == Self.now.addingTimeInterval(60))
        }
    }

    /// In another order, the statement and an append of these URLs could wait for each other.
    @Test(arguments: [true, false]) func locksTheURLsOfAFileInTheirOrder(forgets: Bool) async throws {
        try await Self.withNodes { first, second, _ in
            // Their digests have the opposite order.
            let urls = (1...2).map { "https://host.example/\($0)" }
            try await first.append(urls.enumerated().map { Self.event($0, waitingFor: $1) })
            let file = MediaFile(sha256: String(repeating: "a", count: 64), bytes: 7, contentType: "image/png")
            let freshness = MediaFreshness(until: Self.now.addingTimeInterval(600))
            for job in try await Self.due(first) + Self.due(second) {
                try await first.settle(media: MediaSettlement(job.id, .stored(file, freshness, remarks: [])))
            }
            let session = try PostgresConnection(first.target.with(["idle_in_transaction_session_timeout=0"]))
            let watcher = try PostgresConnection(first.target)
            let own = try session.run("SELECT pg_backend_pid()::bigint").first?.number(0) ?? 0
            func lock(_ url: String) throws -> Int {
                let row = "SELECT FROM media WHERE url = convert_to('\(url)', 'UTF8')"
                return try session.run("\(row) FOR UPDATE SKIP LOCKED").count
            }
            _ = try session.run("BEGIN")
            #expect(try lock(urls[0]) == 1)
            async let end: Void = forgets ? first.forgetMedia([file.sha256]) : first.expireMedia([file.sha256])
            let waiting = "SELECT count(*) FROM pg_stat_activity WHERE \(own) = ANY (pg_blocking_pids(pid))"
            while try watcher.run(waiting).first?.number(0) == 0 { await Task.yield() }
            #expect(try lock(urls[1]) == 1)
            _ = try session.run("COMMIT")
            try await end
        }
    }

    // MARK: Nodes

    private static func due(_ store: PostgresStore) async throws -> [MediaJob] {
        try await store.dueMedia(upTo: 50, perHost: 2, busy: [:], excluding: [])
    }

    private static func withNodes(
        _ body: (PostgresStore, PostgresStore, ManualDate) async throws -> Void
    ) async throws {
        try await PostgresLocation.withLocation { location in
            let clock = ManualDate()
            let nodes = try (0..<2).map { _ in try PostgresStore(location.target, now: { clock.now }) }
            for node in nodes {
                try await node.openMedia {}
                node.openLane(crm, isOrdered: false) {}
            }
            try await body(nodes[0], nodes[1], clock)
        }
    }

    /// Declares a node gone, as another one does after its lifetime.
    private static func end(_ store: PostgresStore) throws {
        store.heartbeat.end()
        let node = try store.membership.current()
        let connection = try PostgresConnection(store.target)
        _ = try connection.run(
            "UPDATE nodes SET seen_at = seen_at - interval '1 hour' WHERE id = $1", [.number(node)])
        _ = try Takeover(connection).run(silent: [node], absent: [], until: .now + .seconds(9))
    }

    private static func event(_ number: Int, waitingFor url: String) -> RoutedEvent {
        let event = Event(
            id: EventID(at: now, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))), source: .default,
            acceptedAt: now, vendor: .unknown, kind: .alert, warnings: [], body: Array(String(number).utf8))
        var order = DeliveryOrder(to: crm)
        order.mediaUntil = now.addingTimeInterval(60)
        return RoutedEvent(event: event, routes: [], deliveries: [order], media: MediaWait(urls: [url]))
    }
}
