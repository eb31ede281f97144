import SignalboxServer
import Testing

@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1", 8080, true), ("127.9.9.9:1", "127.9.9.9", 1, true),
        ("localhost:0", "localhost", 0, true), ("[::1]:8080", "::1", 8080, true), ("0.0.0.0:80", "0.0.0.0", 80, false),
        (":8080", "0.0.0.0", 8080, false), ("[::]:8080", "::", 8080, false),
        ("10.0.0.1:65535", "10.0.0.1", 65535, false),
    ])
    func readsHostAndPort(text: String, host: String, port: Int, isLoopback: Bool) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.isLoopback == isLoopback)
    }

    @Test(arguments: [
        "", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+80", "127.0.0.1:-0",
        "::1:8080", "[nope]:1", "a b:1",
    ])
    func refusesAnythingElse(text: String) { #expect(ListenAddress(text) == nil) }
}
