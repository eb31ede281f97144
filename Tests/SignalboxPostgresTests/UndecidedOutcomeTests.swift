import SignalboxStore
import Testing

@testable import SignalboxPostgres

/// Settlements that are retried after a commit whose outcome was not known.
@Suite(.timeLimit(.minutes(5))) struct UndecidedOutcomeTests {
    @Test(arguments: [
        Outcome.delivered(status: 200), .dead(status: 400, reason: "no"),
        .retry(after: .seconds(60), status: 500, reason: "later"),
    ]) func anOutcomeThatWasCommittedIsNotLost(_ outcome: Outcome) async throws {
        try await NodeBench.withNodes { node, _ in
            try await node.append([NodeBench.event(1)])
            let lease = try #require(try await node.claim(from: NodeBench.crm, upTo: 1).first)
            #expect(try await node.settle(lease, outcome) == .recorded)
            #expect(try await node.settle(lease, outcome) == .lost)
            // As if the first commit had been reported as undecided.
            node.undecided.add([lease])
            let lost = node.lost.value
            #expect(try await node.settle(lease, outcome) == .recorded)
            #expect(node.lost.value == lost)
            #expect(try await node.settle(lease, outcome) == .lost, "known once")
            #expect(try await node.audit().isRight)
        }
    }

    @Test func anOutcomeThatWasNotCommittedIsLostAfterATakeover() async throws {
        try await NodeBench.withNodes { first, second in
            try await first.append([NodeBench.event(1)])
            let lease = try #require(try await first.claim(from: NodeBench.crm, upTo: 1).first)
            first.undecided.add([lease])
            try NodeBench.end(first)
            try await second.tick()
            #expect(try await second.claim(from: NodeBench.crm, upTo: 1).count == 1)
            #expect(try await first.settle(lease, .delivered(status: 200)) == .lost)
        }
    }
}
