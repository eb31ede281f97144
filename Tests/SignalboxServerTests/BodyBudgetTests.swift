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

    /// Takes pieces of one byte until there is no room; returns how many.
    private static func fill(_ shares: inout BodyShares, for holder: BodyHolder) -> Int {
        var count = 0
        while shares.take(1, for: holder) { count += 1 }
        return count
    }

    @Test func aSourceHoldsNoMoreThanItLeaves() throws {
        var shares = BodyShares(bytes: 1200)
        #expect(Self.fill(&shares, for: try Self.holder("a")) == 600)
        #expect(shares.left == 600)
    }

    /// Also behind one proxy, whose address all requests share.
    @Test func greedySourcesLeaveRoomForOthers() throws {
        var shares = BodyShares(bytes: 1200)
        _ = Self.fill(&shares, for: try Self.holder("a"))
        #expect(Self.fill(&shares, for: try Self.holder("b")) == 200)
        #expect(Self.fill(&shares, for: try Self.holder("b", at: 2)) == 100)
        #expect(shares.left == 300)
        #expect(Self.fill(&shares, for: try Self.holder("c", at: 3)) == 150)
    }

    @Test func aPeerHoldsNoMoreThanTwiceWhatItLeaves() throws {
        var shares = BodyShares(bytes: 1200)
        var held = 0
        for number in 0..<50 { held += Self.fill(&shares, for: try Self.holder("\(number)")) }
        #expect(held == 800)
        #expect(Self.fill(&shares, for: try Self.holder(nil, at: 2)) == 266)
    }

    @Test func whatIsCommittedHasNoShare() {
        var shares = BodyShares(bytes: 10)
        let (isTaken, isTakenTwice) = (shares.take(10, for: nil), shares.take(1, for: nil))
        #expect(isTaken && !isTakenTwice)
        shares.giveBack(10, of: nil)
        #expect(shares.left == 10)
    }

    @Test func getsBackWhatAFailureHeld() async throws {
        struct Broken: Error {}
        let budget = BodyBudget(bytes: 2)
        let holder = try Self.holder("a")
        await #expect(throws: Broken.self) {
            try await budget.withPurse(for: holder) { purse in
                try purse.take(1)
                throw Broken()
            }
        }
        try await budget.withPurse(for: holder) { purse in
            try purse.take(1)
            let isRefused = refuses(1, from: purse)
            #expect(isRefused)
        }
        #expect(budget.take(2))
    }

    private func refuses(_ count: Int, from purse: borrowing BodyBudget.Purse) -> Bool {
        do throws(Problem) {
            try purse.take(count)
            return false
        } catch {
            return true
        }
    }
}
