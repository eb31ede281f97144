import Testing

@testable import SignalboxServer

@Suite struct CredentialsTests {
    @Test(
        arguments: [
            (nil, nil, true), ("127.0.0.1:8080", nil, true), ("127.0.0.1", nil, true), ("localhost:8080", nil, true),
            ("localhost", nil, true), ("127.9.9.9:80", nil, true), ("[::1]:8080", nil, true), ("[::1]", nil, true),
            // DNS rebinding: names that only begin like a loopback name.
            ("127.0.0.1.evil.example:8080", nil, false), ("127.0.0.1:8080.evil.example", nil, false),
            ("localhost.evil.example", nil, false), ("localhost:evil", nil, false), ("127.0.0.1:", nil, true),
            ("127.0.0.1:123456", nil, false), ("evil.example", nil, false), ("evil.example:8080", nil, false),
            ("10.0.0.1:8080", nil, false), ("", nil, false),
            // Pages of other sites.
            ("127.0.0.1:8080", "http://localhost:3000", true), ("127.0.0.1:8080", "http://127.0.0.1:8080", true),
            ("127.0.0.1:8080", "https://evil.example", false), ("127.0.0.1:8080", "null", false),
            ("127.0.0.1:8080", "http://127.0.0.1.evil.example", false),
        ] as [(String?, String?, Bool)])
    func recognisesRequestsFromThisMachine(authority: String?, origin: String?, isLocal: Bool) {
        let credentials = Credentials(authority: authority, origin: origin, authorization: nil)
        #expect(credentials.isFromThisMachine == isLocal)
    }
}
