import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import Testing

/// Every notation of special-purpose addresses, through the real client.
@Suite(.timeLimit(.minutes(15))) struct LiteralAddressTests {
    @Test(arguments: [
        "2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.01", "127.1", "127.0.1", "127.0.0.%31",
        "127.0.0.2", "0", "0.0.0.0", "169.254.169.254", "169.254.43518", "10.0.0.1", "100.64.0.1", "198.18.0.1",
        "192.88.99.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]",
        "[::127.0.0.1]",
        "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:0:127.0.0.1]", "[::5efe:127.0.0.1]", "[64:ff9b::7f00:1]",
        "[64:ff9b::127.0.0.1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:4136:e378::1]", "[fe80::1]",
        "[fe80::1%25lo]", "[fe80::1%25eth0]", "[fec0::1]", "[fd00:ec2::254]", "[ff02::1]", "[100::1]", "[3fff::1]",
        "[5f00::1]", "localhost", "LocalHost", "user@127.0.0.1", "user:secret@127.0.0.1", "crm.example@127.0.0.1",
    ])
    func isDenied(host: String) async throws {
        let http = OutboundHTTP(policy: AddressPolicy())
        defer { http.stop() }
        for scheme in ["http", "https"] {
            let result = await http.attempt(OutboundRequest(url: "\(scheme)://\(host)/", timeout: .seconds(5)))
            guard case .failure(.denied) = result.answer else {
                Issue.record("\(host): \(result.answer)")
                continue
            }
            #expect(result.remoteAddress == nil)
        }
    }

    /// The resolver may accept some of them; the client must not open a socket.
    @Test(arguments: [
        "127.0.0.1.", "localhost.", "localhost..", "a.localhost", "localhost.localdomain", "ip6-localhost",
        "１２７.0.0.1", "①②⑦.0.0.1", "127。0。0。1", "127.0.0.1%00.example", "127.0.0.1%20", "[127.0.0.1]",
        "0x7f.0x0.0x0.0x1.",
        "127.0.0.1\\@crm.invalid", "crm.invalid#@127.0.0.1", "256.256.256.256", "4294967297", "[::1", "::1",
    ])
    func isNeverConnectedTo(host: String) async throws {
        try await Peer.run(["canned", "--reply", #"HTTP/1.1 204 No Content\r\n\r\n"#]) { peer in
            let http = OutboundHTTP(policy: AddressPolicy())
            defer { http.stop() }
            let result = await http.attempt(
                OutboundRequest(url: "http://\(host):\(peer.port)/", timeout: .seconds(5)))
            guard case .failure = result.answer else {
                Issue.record("\(host): \(result.answer)")
                return
            }
            #expect(result.remoteAddress == nil)
        }
    }
}
