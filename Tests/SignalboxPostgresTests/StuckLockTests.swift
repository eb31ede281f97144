import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Locks that another node holds and does not release, because it was stopped inside a transaction.
@Suite(.timeLimit(.minutes(5))) struct StuckLockTests {
    private static let line = DestinationName("line")

    @Test func otherClaimsDoNotWaitForAStuckOrderedClaim() async throws {
        try await NodeBench.withNodes { node, _ in
            node.openLane(Self.line, isOrdered: true) {}
            try await node.append([NodeBench.event(1), NodeBench.event(2, under: "k", to: Self.line)])
            try await node.giveBackFresh()
            node.wakeAll()
            let stuck = try PostgresConnection(node.target.with(["idle_in_transaction_session_timeout=0"]))
            let lock = ClaimStatement.lock(Self.line)
            _ = try stuck.run(all: [PostgresStatement("BEGIN"), lock])
            let claims = try node.perform([Self.order(Self.line, isOrdered: true), Self.order(NodeBench.crm)])
            #expect(claims.map(\.leases.count) == [0, 1])
            #expect(try await node.claim(from: Self.line, upTo: 5).isEmpty)
            _ = try stuck.run("ROLLBACK")
            node.wakeAll()
            #expect(try await node.claim(from: Self.line, upTo: 5).count == 1)
        }
    }

    @Test func anOrderedClaimFollowsOneOfAnotherNode() async throws {
        try await NodeBench.withNodes(isOrdered: true) { node, _ in
            try await node.append([NodeBench.event(1, under: "k")])
            let other = try PostgresConnection(node.target.with(["idle_in_transaction_session_timeout=0"]))
            _ = try other.run(all: [PostgresStatement("BEGIN"), ClaimStatement.lock(NodeBench.crm)])
            async let leases = node.claim(from: NodeBench.crm, upTo: 5)
            _ = try other.run("COMMIT")
            var found = try await leases
            while found.isEmpty {
                node.wakeAll()
                found = try await node.claim(from: NodeBench.crm, upTo: 5)
            }
            #expect(found.count == 1)
        }
    }

    @Test func otherAppendsDoNotWaitForAStuckRequest() async throws {
        try await NodeBench.withNodes { node, _ in
            let stuck = try PostgresConnection(node.target.with(["idle_in_transaction_session_timeout=0"]))
            let request = Self.request("k")
            _ = try stuck.run(all: [PostgresStatement("BEGIN"), RepeatedRequests.lock(request)])
            async let waiting = node.append([NodeBench.event(1)], of: request)
            let results = try node.append(
                [
                    AppendWrite(events: [NodeBench.event(2)], request: request),
                    AppendWrite(events: [NodeBench.event(3)], request: Self.request("other")),
                    AppendWrite(events: [NodeBench.event(4)], request: nil),
                ], on: .appends)
            #expect(results == [nil, .appended(duplicates: [:]), .appended(duplicates: [:])])
            _ = try stuck.run("ROLLBACK")
            let result = try await waiting
            #expect(result == .appended(duplicates: [:]))
            #expect(try PostgresConnection(node.target).run("SELECT FROM events").count == 3)
        }
    }

    @Test func anAppendWhoseRequestStaysStuckFails() async throws {
        try await NodeBench.withNodes { node, _ in
            let request = Self.request("k")
            let stuck = try PostgresConnection(node.target.with(["idle_in_transaction_session_timeout=0"]))
            _ = try stuck.run(all: [PostgresStatement("BEGIN"), RepeatedRequests.lock(request)])
            let reference = StoreReference()
            reference.set(node)
            let commits = AppendCommits(reference, patience: .milliseconds(50))
            let result = await withCheckedContinuation { done in
                commits.submit(AppendWrite(events: [NodeBench.event(1)], request: request)) {
                    done.resume(returning: $0)
                }
            }
            #expect(throws: StoreError.self) { try result.get() }
            #expect(try PostgresConnection(node.target).run("SELECT FROM events").isEmpty)
            _ = try stuck.run("ROLLBACK")
        }
    }

    @Test func aNodeIsNotReadyWhileAnAppendIsStuck() async throws {
        try await PostgresLocation.withLocation { location in
            let timer = ManualTimer()
            let node = try PostgresStore(location.target, instant: { timer.now })
            let stuck = try PostgresConnection(node.target.with(["idle_in_transaction_session_timeout=0"]))
            _ = try stuck.run(all: [PostgresStatement("BEGIN"), PostgresStatement("LOCK TABLE events")])
            async let waiting = node.append([NodeBench.event(1)])
            while node.appends.commitTime == nil { await Task.yield() }
            try await node.probe()
            timer.pass(StoreLimits.longestCommit)
            await #expect { try await node.probe() } throws: {
                if case .stalled? = $0 as? StoreError { true } else { false }
            }
            _ = try stuck.run("ROLLBACK")
            _ = try await waiting
            try await node.probe()
        }
    }

    private static func order(_ destination: DestinationName, isOrdered: Bool = false) -> ClaimOrder {
        ClaimOrder(
            destination: destination, limit: 5, isOrdered: isOrdered, after: nil, upTo: nil, floor: .none(),
            unreadable: [], dueSince: .distantPast)
    }

    private static func request(_ key: String) -> IdempotentRequest {
        IdempotentRequest(from: .default, key: key, digest: [1]) { _ in StoredAnswer(status: 202, body: []) }
    }
}
