import Foundation
import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct TLSTests {
    /// Sends a request to a peer with one of the certificates.
    private func ask(
        _ certificate: String, _ more: [String] = [], host: String = "localhost",
        options: (TestCertificates) throws -> TransportOptions.TLS = {
            TransportOptions.TLS(authorities: $0.path("ca.pem"))
        }
    ) async throws -> OutboundResult {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            let arguments =
                ["canned", "--certificate", files.path(certificate), "--key", files.path("server.key")]
                + ["--reply", #"HTTP/1.1 204 No Content\r\n\r\n"#]
                + more.map { $0.replacing("{}", with: directory) }
            return try await Peer.run(arguments) { peer in
                let http = OutboundHTTP(policy: try loopback())
                defer { http.stop() }
                return await http.attempt(
                    OutboundRequest(
                        url: "https://\(host):\(peer.port)/", timeout: .seconds(20),
                        transport: TransportOptions(tls: try options(files))))
            }
        }
    }

    private func expectTLS(_ result: OutboundResult, _ words: String, sourceLocation: SourceLocation = #_sourceLocation)
    {
        guard case .failure(.tls(let why)) = result.answer else {
            Issue.record("\(result.answer)", sourceLocation: sourceLocation)
            return
        }
        #expect(why.contains(words), sourceLocation: sourceLocation)
    }

    private func expectBadCertificate(
        _ result: OutboundResult, _ words: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .failure(.certificate(let why)) = result.answer else {
            Issue.record("\(result.answer)", sourceLocation: sourceLocation)
            return
        }
        #expect(why.contains(words), sourceLocation: sourceLocation)
    }

    @Test(arguments: ["localhost", "127.0.0.1"]) func acceptsCertificatesOfAddedAuthorities(host: String)
        async throws
    {
        let result = try await ask("good.pem", host: host)
        let reply = try result.answer.get()
        #expect(reply.status == 204)
        #expect(result.remoteAddress?.hasPrefix("127.0.0.1:") == true)
    }

    @Test func acceptsUnorderedChains() async throws {
        for chain in ["chain.pem", "chain-out-of-order.pem"] {
            let reply = try await ask(chain).answer.get()
            #expect(reply.status == 204)
        }
    }

    @Test func acceptsAddedSelfSignedCertificates() async throws {
        let result = try await ask("self-signed.pem") { TransportOptions.TLS(authorities: $0.path("self-signed.pem")) }
        #expect(try result.answer.get().status == 204)
    }

    @Test(arguments: [
        ("expired.pem", "certificate has expired"), ("other-name.pem", "no alternative certificate subject name"),
        ("self-signed.pem", "self-signed certificate"), ("unknown-issuer.pem", "unable to get local issuer"),
        ("incomplete.pem", "unable to get local issuer"),
        // A common name is not the name of a host (RFC 9525, 2).
        ("name-in-subject-only.pem", "hostname mismatch"),
    ])
    func reportsBadCertificates(certificate: String, words: String) async throws {
        expectBadCertificate(try await ask(certificate), words)
    }

    @Test func rejectsUnknownAuthorities() async throws {
        expectBadCertificate(try await ask("good.pem") { _ in TransportOptions.TLS() }, "unable to get local issuer")
    }

    @Test func namesTheUnusableAuthorityFile() async throws {
        for file in ["missing.pem", "server.pin"] {
            expectTLS(try await ask("good.pem") { TransportOptions.TLS(authorities: $0.path(file)) }, file)
        }
    }

    /// A server that hangs up during the handshake.
    @Test func brokenHandshakeIsATLSFailure() async throws {
        try await Peer.run(["hangs-up-at-once"]) { peer in
            let http = OutboundHTTP(policy: try loopback())
            defer { http.stop() }
            expectTLS(await http.attempt(OutboundRequest(url: "https://127.0.0.1:\(peer.port)/")), "SSL")
        }
    }

    @Test func requiresTheMinimumVersion() async throws {
        expectTLS(try await ask("good.pem", ["--newest", "1.1"]), "SSL routines")
        let newer = try await ask("good.pem", ["--newest", "1.2"]).answer.get()
        #expect(newer.status == 204)
        expectTLS(
            try await ask("good.pem", ["--newest", "1.2"]) {
                TransportOptions.TLS(authorities: $0.path("ca.pem"), minimum: .v1_3)
            }, "protocol version")
        let newest = try await ask("good.pem") { TransportOptions.TLS(authorities: $0.path("ca.pem"), minimum: .v1_3) }
        #expect(try newest.answer.get().status == 204)
    }

    @Test(arguments: ["1.2", nil]) func presentsTheClientCertificate(version: String?) async throws {
        func ask(_ certificate: String?, _ key: String?) async throws -> OutboundResult {
            let version = version.map { ["--newest", $0] } ?? []
            return try await self.ask("good.pem", ["--client-authority", "{}/ca.pem"] + version) {
                TransportOptions.TLS(
                    authorities: $0.path("ca.pem"), certificate: certificate.map($0.path), key: key.map($0.path))
            }
        }
        #expect(try await ask("client.pem", "client.key").answer.get().status == 204)
        #expect(try await ask("client-with-key.pem", nil).answer.get().status == 204)
        expectTLS(try await ask(nil, nil), "alert")
        expectTLS(try await ask("client-of-stranger.pem", "client.key"), "alert")
        expectTLS(try await ask("client.pem", "server.key"), "private key")
        expectTLS(try await ask("missing.pem", "client.key"), "missing.pem")
    }

    /// A resumed TLS session would present the former certificate.
    @Test(arguments: ["1.2", nil]) func presentsARenewedClientCertificate(version: String?) async throws {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            try await Peer.run(
                [
                    "canned", "--certificate", files.path("good.pem"), "--key", files.path("server.key"),
                    "--client-authority", files.path("ca.pem"),
                    "--reply", #"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n"#,
                ] + (version.map { ["--newest", $0] } ?? [])
            ) { peer in
                let http = OutboundHTTP(policy: try loopback())
                defer { http.stop() }
                let tls = TransportOptions.TLS(
                    authorities: files.path("ca.pem"), certificate: files.path("client.pem"),
                    key: files.path("client.key"))
                let request = OutboundRequest(
                    url: "https://localhost:\(peer.port)/", transport: TransportOptions(tls: tls))
                #expect(try await http.send(request).status == 204)
                let renewed = try Data(contentsOf: URL(fileURLWithPath: files.path("client-of-stranger.pem")))
                try renewed.write(to: URL(fileURLWithPath: files.path("client.pem")))
                expectTLS(await http.attempt(request), "alert")
            }
        }
    }

    @Test func requiresAPinnedKey() async throws {
        let other = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        for pins in [[], [other]] {
            let result = try await ask("good.pem") {
                TransportOptions.TLS(authorities: $0.path("ca.pem"), pins: pins + [try $0.serverPin()])
            }
            #expect(try result.answer.get().status == 204)
        }
        expectBadCertificate(
            try await ask("good.pem") { TransportOptions.TLS(authorities: $0.path("ca.pem"), pins: [other]) }, "pinned")
    }

    /// Pins are additional checks.
    @Test func pinsDoNotReplaceCertificateChecks() async throws {
        expectBadCertificate(
            try await ask("expired.pem") {
                TransportOptions.TLS(authorities: $0.path("ca.pem"), pins: [try $0.serverPin()])
            }, "certificate has expired")
    }

    /// libcurl must not reuse a connection with other options.
    @Test func doesNotShareConnectionsBetweenOptions() async throws {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            try await Peer.run([
                "canned", "--certificate", files.path("good.pem"), "--key", files.path("server.key"),
                "--reply", #"HTTP/1.1 204 No Content\r\n\r\n"#,
            ]) { peer in
                let http = OutboundHTTP(policy: try loopback())
                defer { http.stop() }
                let trusting = TransportOptions(tls: .init(authorities: files.path("ca.pem")))
                let url = "https://localhost:\(peer.port)/"
                #expect(try await http.send(OutboundRequest(url: url, transport: trusting)).status == 204)
                expectBadCertificate(await http.attempt(OutboundRequest(url: url)), "unable to get local issuer")
                var pinned = trusting
                pinned.tls.pins = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
                expectBadCertificate(await http.attempt(OutboundRequest(url: url, transport: pinned)), "pinned")
                #expect(try await http.send(OutboundRequest(url: url, transport: trusting)).status == 204)
            }
        }
    }

    @Test func speaksHTTP2WhenOffered() async throws {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            try await Peer.run([
                "http2", "--alpn", "h2", "--certificate", files.path("good.pem"), "--key", files.path("server.key"),
            ]) { peer in
                let http = OutboundHTTP(policy: try loopback())
                defer { http.stop() }
                for _ in 1...3 {
                    let reply = try await http.send(
                        OutboundRequest(
                            url: "https://localhost:\(peer.port)/", body: Array("{}".utf8),
                            transport: TransportOptions(tls: .init(authorities: files.path("ca.pem")))))
                    #expect(reply.status == 204)
                    #expect(try await peer.next()?.line == "PRI * HTTP/2.0")
                }
            }
        }
    }

    @Test func hangingHandshakeIsATimeoutBeforeTheRequest() async throws {
        try await Peer.run(["mute"]) { peer in
            let http = OutboundHTTP(policy: try loopback())
            defer { http.stop() }
            let result = await http.attempt(
                OutboundRequest(url: "https://127.0.0.1:\(peer.port)/", timeout: .milliseconds(100)))
            guard case .failure(.timeoutConnecting) = result.answer else {
                Issue.record("\(result.answer)")
                return
            }
            #expect(result.remoteAddress == "127.0.0.1:\(peer.port)")
        }
    }
}

func loopback() throws -> AddressPolicy { AddressPolicy(allow: [try #require(AddressRange("127.0.0.0/8"))]) }
