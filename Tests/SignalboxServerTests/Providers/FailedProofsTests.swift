import NIOCore
import Testing

@testable import SignalboxServer

@Suite struct FailedProofsTests {
    private let log = LineLog()
    private let clock = MovedClock()

    private func makeProofs() -> FailedProofs {
        FailedProofs(logger: log.logger) { [clock] in clock.now }
    }

    private static func connection(_ address: String) throws -> ProviderConnection {
        let peer = PeerAddress(try SocketAddress(ipAddress: address, port: 1))
        return ProviderConnection(peer: peer, address: address, isLoopback: false)
    }

    @Test func anIPv6NetworkCountsOnce() throws {
        let proofs = makeProofs()
        for host in 1...20 { proofs.record(.expo, from: try Self.connection("2001:db8::\(host)")) }
        clock.advance(by: 60)
        proofs.record(.expo, from: try Self.connection("2001:db8::ffff"))
        #expect(
            log.lines == [
                "Provider endpoint rejected a proof of identity. address=2001:db8::1 failures=1 reason=UNAUTHORIZED",
                "Provider endpoint rejected a proof of identity. address=2001:db8::ffff failures=20 reason=UNAUTHORIZED",
            ])
    }

    @Test func slowsDownANetworkWithManyFailures() throws {
        let proofs = makeProofs()
        let (guesser, other) = (try Self.connection("192.0.2.1"), try Self.connection("192.0.2.2"))
        let delays = (0..<12).map { _ in proofs.record(.expo, from: guesser) }
        #expect(delays == Array(repeating: nil, count: 10) + [.seconds(1), .seconds(1)])
        #expect(proofs.record(.expo, from: other) == nil)
        #expect(proofs.slowed == 2)
        clock.advance(by: 60)
        #expect(proofs.record(.expo, from: guesser) == nil)
        #expect(proofs.slowed == 2)
    }

    /// These networks share a count, and most of them did nothing wrong.
    @Test func networksBeyondTheBoundAreNotSlowedDown() throws {
        let proofs = makeProofs()
        for network in 0..<1_000 {
            proofs.record(.expo, from: try Self.connection("10.1.\(network >> 8).\(network & 255)"))
        }
        let delays = try (0..<50).map { _ in proofs.record(.expo, from: try Self.connection("10.9.9.9")) }
        #expect(delays.allSatisfy { $0 == nil })
    }

    @Test func networksBeyondTheBoundCountTogether() throws {
        let proofs = makeProofs()
        func fail(_ network: Int) throws {
            proofs.record(.expo, from: try Self.connection("10.0.\(network >> 8).\(network & 255)"))
        }
        for network in 0..<1_003 { try fail(network) }
        #expect(log.lines.count == 1_001)
        #expect(log.lines.last?.contains("address=others failures=1 ") == true)
        // Room again, after the counts are a minute old.
        clock.advance(by: 61)
        try fail(1_003)
        #expect(log.lines.last?.contains("address=10.0.3.235 failures=1 ") == true)
    }
}
