import Testing

@testable import SignalboxEgress

@Suite struct DescriptorsTests {
    @Test(arguments: [(120, 90), (256, 192), (1024, 960), (1 << 20, (1 << 20) - 64)] as [(Int, Int32)])
    func outgoingConnectionsLeaveTheHighestNumbers(limit: Int, first: Int32) {
        let descriptors = Descriptors(limit)
        #expect(!descriptors.isReserved(first - 1) && descriptors.isReserved(first))
    }

    @Test func noNumberIsReservedWithoutALimit() {
        #expect(!Descriptors(.max).isReserved(.max))
        #expect(Descriptors(.max).idleConnections(atMost: 1024) == 1024)
    }

    @Test(arguments: [(4, 1), (120, 15), (1024, 128), (65_536, 1024)])
    func idleConnectionsAreAPartOfTheLimit(limit: Int, idle: Int) {
        #expect(Descriptors(limit).idleConnections(atMost: 1024) == idle)
    }
}
