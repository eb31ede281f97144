import Testing

@testable import SignalboxServer

/// The request that opens a tunnel, and the refusals of the proxy.
@Suite struct ConnectHeadTests {
    /// `HOST`, `HOST and N bytes`, `incomplete`, or the status of a refusal. The pieces arrive one after the other.
    private func read(_ pieces: [String], limit: Int = 8000) -> String {
        var head = ConnectHead(limit: limit)
        for piece in pieces {
            switch head.receive(Array(piece.utf8)) {
            case .incomplete: continue
            case .tunnel(let host, let rest):
                return rest.isEmpty ? host.name : "\(host.name) and \(rest.count) bytes"
            case .refused(let refusal):
                let line = String(decoding: refusal.response.prefix { $0 != 13 }, as: UTF8.self)
                return String(line.dropFirst("HTTP/1.1 ".count).prefix(3))
            }
        }
        return "incomplete"
    }

    private func read(_ target: String) -> String { read(["CONNECT \(target) HTTP/1.1\r\nhost: \(target)\r\n\r\n"]) }

    @Test(arguments: ProviderHost.all.flatMap { host in host.ports.map { "\(host.name):\($0)" } })
    func opensATunnelToEachHost(target: String) {
        #expect(read(target) == String(target.prefix { $0 != ":" }))
        #expect(read(target.uppercased()) == String(target.prefix { $0 != ":" }))
    }

    @Test(arguments: [
        "example.com:443", "api.push.apple.com:80", "api.push.apple.com:2195", "api.push.apple.com:0",
        "xapi.push.apple.com:443", "api.push.apple.com.example.com:443", "api.push.apple.com.:443",
        ".api.push.apple.com:443", "push.apple.com:443", "127.0.0.1:443", "[::1]:443", "localhost:2197",
        "fcm.googleapis.com:2197", "exp.host:99999",
    ])
    func refusesOtherHostsAndPorts(target: String) {
        #expect(read(target) == "403")
    }

    @Test(arguments: [
        "api.push.apple.com", "api.push.apple.com:", ":443", "api.push.apple.com:443/", "api.push.apple.com:+443",
        "user@api.push.apple.com:443", "user:password@api.push.apple.com:443", "https://api.push.apple.com:443",
        "api.push.apple.com%00:443", "api.push.apple.com:443?", "*", "api.push.apple.com:4430000", "",
        "api.push.apple.com:٤٤٣", "api.push.apple.com:443 x",
    ])
    func refusesTargetsThatAreNotHostAndPort(target: String) {
        #expect(read(target) == "400")
    }

    @Test(arguments: [
        ("GET http://api.push.apple.com/ HTTP/1.1\r\nhost: api.push.apple.com\r\n\r\n", "405"),
        ("POST /3/device/x HTTP/1.1\r\n\r\n", "405"), ("connect exp.host:443 HTTP/1.1\r\n\r\n", "405"),
        ("CONNECT exp.host:443 HTTP/2.0\r\n\r\n", "505"), ("PRI * HTTP/2.0\r\n\r\n", "505"),
        ("CONNECT exp.host:443\r\n\r\n", "400"), ("CONNECT  exp.host:443 HTTP/1.1\r\n\r\n", "400"),
        ("CONNECT exp.host:443 HTTP/1.1\n\n", "400"), ("CONNECT exp.host:443 HTTP/1.1\r\nhost: a\n\r\n", "400"),
        ("CONNECT exp.host:443 HTTP/1.1\rx", "400"), ("CONNECT exp.host:443 HTTP/1.1\r\n a: b\r\n\r\n", "400"),
        ("CONNECT exp.host:443 HTTP/1.1\r\na: b\r\n c\r\n\r\n", "400"),
        ("CONNECT exp.host:443 HTTP/1.1\r\na : b\r\n\r\n", "400"),
        ("CONNECT exp.host:443 HTTP/1.1\r\na\r\n\r\n", "400"),
        ("CONNECT exp.host:443 HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n", "400"),
        ("CONNECT exp.host:443 HTTP/1.1\r\ncontent-length: 5\r\n\r\n", "400"),
        ("CONNECT exp.host:443 HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", "400"),
        ("CONNECT exp.host:443 HTTP/1.1\r\na: \u{0}\r\n\r\n", "400"), ("\r\n\r\n", "400"),
        ("\u{16}\u{3}\u{1}\u{2}", "400"),
    ])
    func refusesOtherRequests(text: String, status: String) {
        #expect(read([text]) == status)
        #expect(read(text.unicodeScalars.map { String($0) }) == status)
    }

    @Test func acceptsTheHeadsOfClients() {
        // Python's http.client; curl; a client that does not wait for the answer.
        #expect(read(["CONNECT fcm.googleapis.com:443 HTTP/1.0\r\n\r\n"]) == "fcm.googleapis.com")
        #expect(
            read([
                "CONNECT exp.host:443 HTTP/1.1\r\nHost: exp.host:443\r\nProxy-Authorization: Basic eDp5\r\n"
                    + "User-Agent: curl/8\r\nProxy-Connection: Keep-Alive\r\ncontent-length: 0\r\n\r\n"
            ]) == "exp.host")
        #expect(read(["CONNECT exp.host:443 HTTP/1.1\r\n\r", "\n\u{16}\u{3}\u{1}"]) == "exp.host and 3 bytes")
    }

    @Test func boundsTheHead() {
        let line = "CONNECT exp.host:443 HTTP/1.1\r\n"
        let filler = "a: " + String(repeating: "x", count: 8000 - line.utf8.count - 7) + "\r\n\r\n"
        #expect(read([line, filler]) == "exp.host")
        #expect(read([line, "a" + filler]) == "431")
        #expect(read([line, filler.replacing("\r\n", with: "")]) == "incomplete")
        #expect(read([line, String(repeating: "x", count: 100_000)]) == "431")
    }

    @Test func namesTheRefusedHost() {
        let text = String(decoding: ConnectRefusal.otherHost("example.com:443").response, as: UTF8.self)
        #expect(
            text == """
                HTTP/1.1 403 Forbidden\r
                content-type: text/plain\r
                content-length: 115\r
                connection: close\r
                \r
                The proxy serves push services only, not example.com:443. Name hosts that the sender reaches directly in NO_PROXY.

                """)
    }

    @Test func eachHostServesItsOwnPathsOnly() {
        let paths: [(String, ProviderService)] = [
            ("/3/device/x", .apnsPushes), ("/4/broadcasts/apps/a", .apnsPushes), ("/1/apps/a/channels", .apnsChannels),
            ("/v1/projects/p/messages:send", .fcm), ("/fcm/send", .fcm), ("/iid/v1:batchAdd", .instanceID),
            ("/token", .accessTokens), ("/oauth2/v4/token", .accessTokens), ("/o/oauth2/token", .accessTokens),
        ]
        for (path, service) in paths {
            #expect((FCMOperation(path: path)?.service ?? APNsEndpoint.service(of: path)) == service)
        }
        #expect(FCMOperation(path: "/v1/projects/-/serviceAccounts/a/allowedLocations")?.service == nil)
        #expect(APNsEndpoint.service(of: "/3/devices/x") == nil)
        let served = ProviderHost.all.flatMap { host in host.services.map { ($0, host.vendor) } }
        #expect(
            served.allSatisfy { service, vendor in
                switch service {
                case .apnsPushes, .apnsChannels: vendor == .apple
                case .fcm, .instanceID, .accessTokens: vendor == .google
                case .expo: vendor == .expo
                }
            })
    }
}
