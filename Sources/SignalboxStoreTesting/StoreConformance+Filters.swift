import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Deliveries of three events in a row, to `crm`: one of MCE that was answered with 503, one of Braze that was
    /// refused with 404, one of MCE whose attempt timed out.
    private static func fill(_ bench: StoreBench, _ queue: any Store) async throws {
        let vendors: [VendorID] = [VendorID("mce"), VendorID("braze"), VendorID("mce")]
        for (number, vendor) in vendors.enumerated() { try await queue.append([bench.event(number, by: vendor)]) }
        let ends: [(Outcome, String?)] = [
            (.dead(status: 503, reason: "answered 503"), nil), (.dead(status: 404, reason: "answered 404"), nil),
            (.retry(after: .seconds(60), status: nil, reason: "no answer"), "timeout"),
        ]
        for (lease, end) in zip(try await queue.claim(from: bench.crm, upTo: 3), ends) {
            let attempt = Attempt(startedAt: bench.clock.now, duration: .milliseconds(7), error: end.1)
            try await queue.settle(Settlement(lease, end.0, attempt: attempt))
        }
    }

    /// The numbers of the selected deliveries, by both ways of listing.
    private static func found(_ filter: DeliveryFilter, _ queue: any Store) async throws -> [Int64] {
        let all = try await queue.deliveries(filter, limit: 10).map(\.id)
        let page = try await queue.deliveryPage(filter, limit: 10, examining: 100)
        #expect(page.records.map(\.id) == all)
        return all
    }

    /// Conditions on the vendor and on the last attempt.
    static let filters = [
        Self("aFilterSelectsByVendorAndByTheLastAttempt") { bench in
            let queue = try bench.open()
            try await fill(bench, queue)
            let ids = try await found(DeliveryFilter(), queue)
            func select(_ change: (inout DeliveryFilter) -> Void) async throws -> [Int64] {
                var filter = DeliveryFilter()
                change(&filter)
                return try await found(filter, queue)
            }
            #expect(try await select { $0.vendor = "mce" } == [ids[0], ids[2]])
            #expect(try await select { $0.vendor = "mc" }.isEmpty)
            #expect(try await select { $0.vendor = "%" }.isEmpty)
            #expect(try await select { $0.status = 503...503 } == [ids[2]])
            #expect(try await select { $0.status = 400...599 } == [ids[1], ids[2]])
            #expect(try await select { $0.error = "timeout" } == [ids[0]])
            #expect(try await select { $0.through = ids[1] } == [ids[1], ids[2]])
            #expect(try await select { ($0.vendor, $0.error) = ("braze", "timeout") }.isEmpty)
        },
        Self("aFilterLeavesOutDeliveriesThatEndedLater") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1), bench.event(2), bench.event(3)])
            let leases = try await queue.claim(from: bench.crm, upTo: 2)
            try await queue.settle(leases[0], .refused)
            bench.clock.advance(by: 1)
            var filter = DeliveryFilter()
            filter.endedBefore = bench.clock.now
            try await queue.settle(leases[1], .refused)
            #expect(try await found(filter, queue).contains(leases[0].delivery))
            #expect(try await found(filter, queue).count == 2, "one is waiting")
            filter.endedBefore = bench.clock.now + 1
            #expect(try await found(filter, queue).count == 3)
        },
    ]
}
