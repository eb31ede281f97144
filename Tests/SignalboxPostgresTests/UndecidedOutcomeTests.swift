import SignalboxStore
import SignalboxStoreTesting
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

    /// A return whose outcome is not known is repeated. Meanwhile the node may have leased the delivery again.
    @Test func aRepeatedReturnEndsNoLaterLease() async throws {
        try await NodeBench.withNodes { node, _ in
            try await node.append([NodeBench.event(1)])
            let first = try #require(try await node.claim(from: NodeBench.crm, upTo: 1).first)
            #expect(try await node.settle(first, .returned) == .recorded)
            let second = try #require(try await node.claim(from: NodeBench.crm, upTo: 1).first)
            #expect(second.delivery == first.delivery && second.earlier == 0)
            #expect(try await node.settle(first, .returned) == .lost)
            #expect(try await node.claim(from: NodeBench.crm, upTo: 1).isEmpty, "the second lease is held")
            #expect(try await node.settle(second, .delivered(status: 200)) == .recorded)
            #expect(try await node.audit().isRight)
        }
    }

    /// A delivery that an operator sends again has been leased before.
    @Test func aRepeatedOutcomeEndsNoLeaseAfterARetry() async throws {
        try await NodeBench.withNodes { node, _ in
            try await node.append([NodeBench.event(1)])
            let first = try #require(try await node.claim(from: NodeBench.crm, upTo: 1).first)
            #expect(try await node.settle(first, .dead(status: 400, reason: "no")) == .recorded)
            var dead = DeliveryFilter()
            dead.state = .dead
            #expect(try await node.retry(dead) == 1)
            try await node.tick()
            let second = try #require(try await node.claim(from: NodeBench.crm, upTo: 1).first)
            #expect(try await node.settle(first, .returned) == .lost)
            #expect(try await node.settle(second, .delivered(status: 200)) == .recorded)
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
