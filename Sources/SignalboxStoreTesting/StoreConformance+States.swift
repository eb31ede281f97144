import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Paused and disabled destinations: their deliveries wait, even in other processes, and no attempt begins. Appends
    /// are still accepted. Events for other destinations are not affected.
    ///
    /// A change by another process is seen at the next tick, even if it happened before the first one. Deliveries of
    /// such a destination are not kept in memory, so a crash counts no attempt and an expiry ends them in time.
    static let states = DestinationState.allCases.flatMap { state in
        [
            Self("aDestinationThatIs\(state.rawValue.capitalized)KeepsItsDeliveriesWaiting") { bench in
                let queue = try bench.open()
                try await queue.append([bench.event(1)])
                try await queue.set(state, of: bench.crm)
                try await queue.append([bench.event(2), bench.event(3, to: [DeliveryOrder(to: bench.inbox)])])
                #expect(try await bench.claimNumbers(queue).isEmpty)
                #expect(try await bench.claimNumbers(bench.open()).isEmpty, "in another process, too")
                #expect(try await queue.claim(from: bench.inbox, upTo: 5).map(\.number) == [3])
                #expect(try await bench.count(.waiting, in: queue) == 2)
                try await queue.set(nil, of: bench.crm)
                #expect(try await bench.claimNumbers(queue).sorted() == [1, 2])
            },
            Self("aDestinationThatIs\(state.rawValue.capitalized)BeforeTheFirstTickIsSeenThen") { bench in
                let queue = try bench.open()
                try await bench.open().set(state, of: bench.crm)
                try await queue.tick()
                #expect(!queue.isActive(bench.crm))
            },
            Self("aDestinationThatIs\(state.rawValue.capitalized)ByAnotherProcessIsSeenAtTheNextTick") { bench in
                let queue = try bench.open()
                let other = try bench.open()
                try await queue.tick()
                try await other.set(state, of: bench.crm)
                try await queue.append([bench.event(1)])
                #expect(try await bench.claimNumbers(queue).isEmpty)
                try await other.set(nil, of: bench.crm)
                #expect(try await bench.claimNumbers(queue) == [1])
            },
            Self("aDestinationThatIs\(state.rawValue.capitalized)BeginsNoAttempts") { bench in
                let queue = try bench.open()
                let over = bench.clock.now.addingTimeInterval(60)
                // One is appended before the change, one after it.
                try await queue.append([bench.event(1, to: [DeliveryOrder(to: bench.crm, notAfter: over)])])
                try await queue.set(state, of: bench.crm)
                try await queue.append([bench.event(2)])
                try await queue.tick()
                let next = try bench.open()
                try await next.set(nil, of: bench.crm)
                let leases = try await next.claim(from: bench.crm, upTo: 5)
                #expect(leases.map(\.attempts) == [0, 0], "after a crash")
                for lease in leases { try await next.settle(lease, .returned) }
                bench.clock.advance(by: 60)
                try await queue.tick()
                #expect(try await bench.count(.expired, in: queue) == 1, "no lease keeps it waiting")
            },
        ]
    }
}
