import Foundation
import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Testing

@testable import SignalboxEgress

@Suite(.timeLimit(.minutes(15))) struct ProxyTests {
    private let reply = ["--reply", #"HTTP/1.1 204 No Content\r\n\r\n"#]

    @Test func tunnelsHTTPSThroughTheProxy() async throws {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            let server = ["canned", "--certificate", files.path("good.pem"), "--key", files.path("server.key")] + reply
            try await Peer.run(server) { server in
                try await Peer.run(["proxy"]) { proxy in
                    let http = OutboundHTTP(policy: try loopback())
                    defer { http.stop() }
                    let result = await http.attempt(
                        OutboundRequest(
                            url: "https://localhost:\(server.port)/hook", headers: [("x-api-key", "hunter2")],
                            transport: TransportOptions(
                                tls: .init(authorities: files.path("ca.pem")),
                                proxy: .address("http://127.0.0.1:\(proxy.port)"))))
                    #expect(try result.answer.get().status == 204)
                    #expect(result.remoteAddress == "127.0.0.1:\(proxy.port)")
                    let connect = try #require(try await proxy.next())
                    #expect(connect.line == "CONNECT localhost:\(server.port) HTTP/1.1")
                    #expect(connect.headers["x-api-key"] == nil)
                    #expect(try await server.next()?.headers["x-api-key"] == "hunter2")
                }
            }
        }
    }

    @Test func sendsHTTPRequestsToTheProxy() async throws {
        try await Peer.run(["canned"] + reply) { proxy in
            let http = OutboundHTTP(policy: AddressPolicy(allow: [try #require(AddressRange("127.0.0.0/8"))]))
            defer { http.stop() }
            let transport = TransportOptions(proxy: .address("http://127.0.0.1:\(proxy.port)"))
            _ = try await http.send(OutboundRequest(url: "http://crm.example/hook", transport: transport))
            #expect(try await proxy.next()?.line == "POST http://crm.example/hook HTTP/1.1")
        }
    }

    @Test func reportsADecliningProxy() async throws {
        try await Peer.run(["proxy", "--status", "403"]) { proxy in
            let http = OutboundHTTP(policy: try loopback())
            defer { http.stop() }
            let transport = TransportOptions(proxy: .address("http://127.0.0.1:\(proxy.port)"))
            let result = await http.attempt(OutboundRequest(url: "https://crm.example/", transport: transport))
            #expect(result.answer == .failure(.refused("the proxy answered 403")))
            // The next request with the same handle must not inherit the status.
            let direct = await http.attempt(OutboundRequest(url: "http://name.invalid/"))
            guard case .failure(.unresolved) = direct.answer else {
                Issue.record("\(direct.answer)")
                return
            }
        }
    }

    /// Without a tunnel, the answer looks like one of the server.
    @Test func reportsAProxyThatRequiresCredentials() async throws {
        let reply = ["--reply", #"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"#]
        try await Peer.run(["canned"] + reply) { proxy in
            let http = OutboundHTTP(policy: try loopback())
            defer { http.stop() }
            let transport = TransportOptions(proxy: .address("http://127.0.0.1:\(proxy.port)"))
            let result = await http.attempt(OutboundRequest(url: "http://crm.example/hook", transport: transport))
            #expect(result.answer == .failure(.refused("the proxy answered 407")))
        }
    }

    /// In a tunnel, the answer is the server's, which a proxy cannot change.
    @Test func aServerBehindATunnelMayAnswerAsAProxyDoes() async throws {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            let reply = ["--reply", #"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"#]
            let server = ["canned", "--certificate", files.path("good.pem"), "--key", files.path("server.key")] + reply
            try await Peer.run(server) { server in
                try await Peer.run(["proxy"]) { proxy in
                    let http = OutboundHTTP(policy: try loopback())
                    defer { http.stop() }
                    let transport = TransportOptions(
                        tls: .init(authorities: files.path("ca.pem")),
                        proxy: .address("http://127.0.0.1:\(proxy.port)"))
                    let url = "https://localhost:\(server.port)/hook"
                    let result = await http.attempt(OutboundRequest(url: url, transport: transport))
                    #expect(try result.answer.get().status == 407)
                }
            }
        }
    }

    @Test func hangingProxyIsATimeoutBeforeTheRequest() async throws {
        try await Peer.run(["mute"]) { proxy in
            let http = OutboundHTTP(policy: try loopback())
            defer { http.stop() }
            let transport = TransportOptions(proxy: .address("http://127.0.0.1:\(proxy.port)"))
            let result = await http.attempt(
                OutboundRequest(url: "https://crm.example/", timeout: .milliseconds(150), transport: transport))
            guard case .failure(.timeoutConnecting) = result.answer else {
                Issue.record("\(result.answer)")
                return
            }
        }
    }

    /// The client connects to the proxy, so the policy applies to it.
    @Test func policyAppliesToTheProxy() async throws {
        let http = OutboundHTTP(policy: AddressPolicy())
        defer { http.stop() }
        let transport = TransportOptions(proxy: .address("http://127.0.0.1:9"))
        let result = await http.attempt(OutboundRequest(url: "https://crm.example/", transport: transport))
        #expect(
            result.answer == .failure(.denied("127.0.0.1 is loopback; egress.allow in the config can name it")))
    }

    /// The proxy would connect to the address.
    @Test(arguments: [
        "10.0.0.1", "0x0a000001", "167772161", "012.1", "10.0.0.1.", "10.0.0.1..", "169.254.169.254", "[::1]", "[::]",
        "[fe80::1%25eth0]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "0.0.0.0", "0", "10.0.0.%31", "user@10.0.0.1",
    ])
    func policyAppliesToAddressesBehindAProxy(host: String) async throws {
        try await Peer.run(["canned"] + reply) { proxy in
            // Allows only the proxy.
            let http = OutboundHTTP(policy: AddressPolicy(allow: [try #require(AddressRange("127.0.0.1"))]))
            defer { http.stop() }
            for scheme in ["http", "https"] {
                let result = await http.attempt(
                    OutboundRequest(
                        url: "\(scheme)://\(host)/",
                        transport: TransportOptions(proxy: .address("http://127.0.0.1:\(proxy.port)"))))
                guard case .failure(.denied) = result.answer else {
                    Issue.record("\(host): \(result.answer)")
                    continue
                }
            }
        }
    }

    @Test(arguments: ["localhost", "LOCALHOST", "localhost.", "a.localhost", "127.0.0.1", "2130706433"])
    func deniesLoopbackBehindAProxy(host: String) async throws {
        let http = OutboundHTTP(policy: AddressPolicy(allow: [try #require(AddressRange("10.0.0.0/8"))]))
        defer { http.stop() }
        let result = await http.attempt(
            OutboundRequest(
                url: "https://\(host)/", transport: TransportOptions(proxy: .address("http://10.0.0.1:3128"))))
        #expect(
            result.answer == .failure(.denied("127.0.0.1 is loopback; egress.allow in the config can name it")))
    }

    @Test func readsLiteralAddressesAsLibcurlDoes() throws {
        let ten = try #require(IPAddress("10.0.0.1"))
        for host in ["10.0.0.1", "0xA.1", "10.0.0.1."] {
            #expect(OutboundURL.literalAddress(in: "https://\(host):8443/a?b") == ten, "\(host)")
        }
        // libcurl's versions differ in whether they read full-width digits or reject the URL.
        for host in ["１０.0.0.1", "１６７７７２１６１"] {
            let read = OutboundURL.literalAddress(in: "https://\(host):8443/a?b")
            #expect(read == ten || read == nil, "\(host)")
        }
        for host in ["crm.example", "10.0.0.1.example", "1.2.3.4.5", "a10.0.0.1", ""] {
            #expect(OutboundURL.literalAddress(in: "https://\(host)/") == nil, "\(host)")
        }
    }
}
