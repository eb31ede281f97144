import Foundation
import SignalboxNotification
import SignalboxStore
import Testing

@testable import SignalboxPostgres

@Suite struct ClaimSizesTests {
    private static func leases(_ bytes: Int...) -> [Lease] {
        bytes.enumerated().map { number, count in
            Lease(
                delivery: Int64(number), event: "e", destination: NodeBench.crm, attempts: 0, earlier: 0,
                body: [UInt8](repeating: 0x20, count: count), payload: nil, notAfter: nil, orderKey: nil, number: 1,
                holder: 1)
        }
    }

    @Test func aClaimHasAtMostItsBudget() {
        let sizes = ClaimSizes()
        #expect(sizes.limit(of: NodeBench.crm, atMost: 1024) == 256)
        #expect(sizes.limit(of: NodeBench.crm, atMost: 10) == 10)
        sizes.record(NodeBench.crm, Self.leases(1000, 3000))
        #expect(sizes.limit(of: NodeBench.crm, atMost: 1024) == 1024)
        sizes.record(NodeBench.crm, Self.leases(4 << 20))
        #expect(sizes.limit(of: NodeBench.crm, atMost: 1024) == 4)
        sizes.record(NodeBench.crm, [])
        #expect(sizes.limit(of: NodeBench.crm, atMost: 1024) == 4)
        sizes.record(NodeBench.crm, Self.leases(40 << 20))
        #expect(sizes.limit(of: NodeBench.crm, atMost: 1024) == 1)
    }

    @Test func smallerEventsAreFollowedByHalves() {
        let sizes = ClaimSizes()
        sizes.fail(NodeBench.crm)
        let limits = (0..<8).map { _ in
            sizes.record(NodeBench.crm, Self.leases(100))
            return sizes.limit(of: NodeBench.crm, atMost: 1024)
        }
        #expect(limits == [32, 64, 128, 256, 512, 1024, 1024, 1024])
    }
}
