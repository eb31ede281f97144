import NIOCore
import SignalboxNotification
import Testing

@testable import SignalboxServer

@Suite struct BodyBudgetTests {
    private static func holder(_ source: String?, at peer: Int = 1) throws -> BodyHolder {
        BodyHolder(
            source: source.map { SourceName($0) },
            peer: PeerAddress(try SocketAddress(ipAddress: "192.0.2.\(peer)", port: 1)))
    }

    /// Reserves single bytes until none is available; returns their number.
    private static func fill(_ shares: inout BodyShares, for holder: BodyHolder) -> Int {
        var count = 0
        while shares.reserve(1, for: holder) { count += 1 }
        return count
    }

    @Test func aSourceHoldsNoMoreThanItLeaves() throws {
        var shares = BodyShares(bytes: 1200)
        #expect(Self.fill(&shares, for: try Self.holder("a")) == 600)
        #expect(shares.left == 600)
    }

    /// Even behind one proxy, whose address all requests share.
    @Test func greedySourcesLeaveRoomForOthers() throws {
        var shares = BodyShares(bytes: 1200)
        _ = Self.fill(&shares, for: try Self.holder("a"))
        #expect(Self.fill(&shares, for: try Self.holder("b")) == 200)
        #expect(Self.fill(&shares, for: try Self.holder("b", at: 2)) == 100)
        #expect(shares.left == 300)
        #expect(Self.fill(&shares, for: try Self.holder("c", at: 3)) == 150)
    }

    @Test func aPeerHoldsAtMostTwiceTheFreeMemory() throws {
        var shares = BodyShares(bytes: 1200)
        var held = 0
        for number in 0..<50 { held += Self.fill(&shares, for: try Self.holder("\(number)")) }
        #expect(held == 800)
        #expect(Self.fill(&shares, for: try Self.holder(nil, at: 2)) == 266)
    }

    @Test func bodiesInACommitCountForNoHolder() {
        var shares = BodyShares(bytes: 10)
        let (isTaken, isTakenTwice) = (shares.reserve(10, for: nil), shares.reserve(1, for: nil))
        #expect(isTaken && !isTakenTwice)
        shares.release(10, of: nil)
        #expect(shares.left == 10)
    }

    @Test func aReservationEndsWithItsScope() throws {
        struct Broken: Error {}
        let budget = BodyBudget(bytes: 6)
        let holder = try Self.holder("a")
        func fail() throws {
            var reservation = BodyReservation(in: budget, for: holder)
            try reservation.grow(by: 3)
            #expect(throws: Problem.self) { try reservation.grow(by: 1) }
            #expect(!budget.reserve(4))
            throw Broken()
        }
        #expect(throws: Broken.self) { try fail() }
        #expect(budget.reserve(6))
    }
}
