import NIOCore
import Testing

@testable import SignalboxServer

@Suite struct ConnectionLedgerTests {
    private static func peer(_ number: Int) throws -> PeerAddress {
        PeerAddress(try SocketAddress(ipAddress: "192.0.2.\(number)", port: 1000))
    }

    private static func idle(since second: Int64) -> ConnectionActivity {
        ConnectionActivity(idleSince: .uptimeNanoseconds(0) + .seconds(second))
    }

    private static func busy() -> ConnectionActivity {
        let activity = idle(since: 0)
        activity.markBusy()
        return activity
    }

    @Test func aPeerAtItsShareLosesItsLongestIdleConnection() throws {
        var ledger = ConnectionLedger<Int>(capacity: 8)
        let peer = try Self.peer(1)
        for id in 0..<4 { #expect(ledger.open(id, by: peer, Self.idle(since: Int64(10 - id))) == .accepted) }
        #expect(ledger.open(4, by: peer, Self.idle(since: 20)) == .acceptedInsteadOf(3))
        ledger.close(3, by: peer)
        #expect(ledger.open(5, by: peer, Self.idle(since: 21)) == .acceptedInsteadOf(2))
    }

    /// A closing connection that keeps its place does not lend it to several new ones.
    @Test func doesNotEvictAConnectionTwice() throws {
        var ledger = ConnectionLedger<Int>(capacity: 4)
        let peer = try Self.peer(1)
        for id in 0..<2 { #expect(ledger.open(id, by: peer, Self.idle(since: Int64(id))) == .accepted) }
        #expect(ledger.open(2, by: peer, Self.busy()) == .acceptedInsteadOf(0))
        #expect(ledger.open(3, by: peer, Self.busy()) == .acceptedInsteadOf(1))
        #expect(ledger.open(4, by: peer, Self.busy()) == .refused)
    }

    @Test func refusesAPeerAtItsShareWithOnlyBusyConnections() throws {
        var ledger = ConnectionLedger<Int>(capacity: 4)
        let activities = [Self.busy(), Self.busy()]
        for (id, activity) in activities.enumerated() {
            #expect(ledger.open(id, by: try Self.peer(1), activity) == .accepted)
        }
        #expect(ledger.open(2, by: try Self.peer(1), Self.idle(since: 1)) == .refused)
        #expect(ledger.open(3, by: try Self.peer(2), Self.idle(since: 1)) == .accepted)
        activities[1].markIdle(at: .uptimeNanoseconds(5))
        #expect(ledger.open(4, by: try Self.peer(1), Self.idle(since: 2)) == .acceptedInsteadOf(1))
    }

    /// 5,000 idle connections of one peer do not block others.
    @Test func whenConnectionsRunOutThePeerWithTheMostLosesOne() throws {
        var ledger = ConnectionLedger<Int>(capacity: 6)
        for id in 0..<3 { _ = ledger.open(id, by: try Self.peer(1), Self.idle(since: 10 + Int64(id))) }
        for id in 3..<5 { _ = ledger.open(id, by: try Self.peer(2), Self.idle(since: 1)) }
        #expect(ledger.open(5, by: try Self.peer(3), Self.idle(since: 2)) == .accepted)
        #expect(ledger.open(6, by: try Self.peer(4), Self.idle(since: 3)) == .acceptedInsteadOf(0))
    }

    @Test func skipsAPeerWithoutIdleConnections() throws {
        var ledger = ConnectionLedger<Int>(capacity: 4)
        for id in 0..<2 { _ = ledger.open(id, by: try Self.peer(1), Self.busy()) }
        _ = ledger.open(2, by: try Self.peer(2), Self.idle(since: 1))
        _ = ledger.open(3, by: try Self.peer(3), Self.busy())
        #expect(ledger.open(4, by: try Self.peer(4), Self.busy()) == .acceptedInsteadOf(2))
    }

    @Test func withoutIdleConnectionsANewOneIsAccepted() throws {
        var ledger = ConnectionLedger<Int>(capacity: 2)
        for id in 0..<5 { #expect(ledger.open(id, by: try Self.peer(id), Self.busy()) == .accepted) }
    }

    @Test func closedConnectionsDoNotCount() throws {
        var ledger = ConnectionLedger<Int>(capacity: 2)
        for id in 0..<100 {
            #expect(ledger.open(id, by: try Self.peer(1), Self.idle(since: 1)) == .accepted)
            ledger.close(id, by: try Self.peer(1))
            ledger.close(id, by: try Self.peer(1))
        }
    }

    @Test(
        arguments: [
            ("2001:db8:1:2::1", "2001:db8:1:2:ffff::2", true), ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
            ("::ffff:192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("::1", "0.0.0.0", false),
        ])
    func anIPv6PrefixIsOnePeer(_ first: String, _ second: String, areOne: Bool) throws {
        let (first, second) = (
            PeerAddress(try SocketAddress(ipAddress: first, port: 1)),
            PeerAddress(try SocketAddress(ipAddress: second, port: 2))
        )
        #expect((first == second) == areOne)
    }
}
