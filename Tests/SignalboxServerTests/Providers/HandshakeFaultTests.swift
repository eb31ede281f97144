import NIOCore
import Testing

@testable import SignalboxServer

@Suite struct HandshakeFaultTests {
    private static func cause(_ word: String) -> String {
        "Error: 268435640 error:100000b8:SSL routines:OPENSSL_internal:\(word) at ssl/x.cc:7"
    }

    @Test func namesTheFirstKnownCause() {
        let fault = HandshakeFault(causes: [Self.cause("BAD_ALERT"), Self.cause("NO_SHARED_CIPHER")])
        #expect(fault == HandshakeFault(causes: [Self.cause("NO_SHARED_CIPHER")]))
        #expect(fault.reason == "no cipher in common")
    }

    @Test func spellsUnknownCausesAsTheLibraryDoes() {
        let fault = HandshakeFault(causes: [Self.cause("DIGEST_CHECK_FAILED")])
        #expect(fault.reason == "digest check failed")
        #expect(!fault.isSilent)
    }

    @Test(arguments: [[], ["Error:  EOF during handshake"]])
    func anEndWithoutACauseIsSilent(causes: [String]) {
        #expect(HandshakeFault(causes: causes).isSilent)
    }

    @Test func logsANetworkOnceAMinute() throws {
        let (log, clock) = (LineLog(), MovedClock())
        let handshakes = FailedHandshakes(logger: log.logger) { clock.now }
        let peer = PeerAddress(try SocketAddress(ipAddress: "192.0.2.1", port: 1))
        let fault = HandshakeFault(causes: [Self.cause("HTTP_REQUEST")])
        for _ in 0..<5 { handshakes.record(fault, from: peer, address: "192.0.2.1") }
        handshakes.record(HandshakeFault(causes: []), from: peer, address: "192.0.2.1")
        clock.advance(by: 60)
        handshakes.record(HandshakeFault(causes: [Self.cause("NO_SHARED_GROUP")]), from: peer, address: "192.0.2.1")
        #expect(
            log.lines == [
                "TLS handshake failed. address=192.0.2.1 failures=1 reason=\"the client speaks HTTP without TLS\"",
                "TLS handshake failed. address=192.0.2.1 failures=5 reason=\"no key exchange group in common\"",
            ])
    }
}
