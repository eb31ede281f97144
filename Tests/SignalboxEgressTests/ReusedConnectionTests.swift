import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Requests on a kept connection that is not usable any longer.
@Suite(.timeLimit(.minutes(15))) struct ReusedConnectionTests {
    private static let ok = #"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"#
    private static let late = #"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"#

    /// The statuses of two requests. `transport`: of both. Between them, the connection of the first one gets a
    /// response to nothing.
    private func statuses(
        _ url: String, transport: TransportOptions = TransportOptions()
    ) async throws -> [Int] {
        let (http, other) = (OutboundHTTP(policy: try loopback()), OutboundHTTP(policy: try loopback()))
        defer {
            http.stop()
            other.stop()
        }
        let request = OutboundRequest(url: url, body: Array("{}".utf8), transport: transport)
        let first = try await http.send(request).status
        let between = try await other.send(request).status
        #expect(between == 204)
        let second = try await http.send(request).status
        return [first, second]
    }

    @Test(arguments: [ok, late]) func aLeftoverResponseAnswersNoRequest(reply: String) async throws {
        try await Peer.run(["leftovers", "--reply", reply]) { peer in
            #expect(try await statuses("http://127.0.0.1:\(peer.port)/") == [204, 503])
            var connections: [Int] = []
            for _ in 0..<3 { connections.append(try #require(try await peer.next()?.from)) }
            #expect(Set(connections).count == 3)
        }
    }

    @Test func aLeftoverResponseInsideTLSAnswersNoRequest() async throws {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            let identity = ["--certificate", files.path("good.pem"), "--key", files.path("server.key")]
            try await Peer.run(["leftovers", "--reply", Self.ok] + identity) { peer in
                let tls = TransportOptions.TLS(authorities: files.path("ca.pem"))
                let url = "https://localhost:\(peer.port)/"
                let statuses = try await statuses(url, transport: TransportOptions(tls: tls))
                #expect(statuses == [204, 503])
            }
        }
    }

    /// The paths of the requests that arrived. The server answers `/first` only.
    private func paths(_ method: OutboundRequest.Method) async throws -> [String] {
        try await Peer.run(["hangs-up-later"]) { peer in
            let http = OutboundHTTP(policy: try loopback())
            defer { http.stop() }
            let url = "http://127.0.0.1:\(peer.port)"
            let status = try await http.send(OutboundRequest(method: method, url: url + "/first")).status
            #expect(status == 204)
            for path in ["/second", "/last"] {
                let result = await http.attempt(OutboundRequest(method: method, url: url + path))
                guard case .failure(.interrupted) = result.answer else {
                    Issue.record("\(path) has an answer.")
                    break
                }
            }
            var paths: [String] = []
            while paths.last != "/last", let request = try await peer.next() {
                paths.append(request.line.split(separator: " ").dropFirst().first.map { String($0) } ?? "")
            }
            return paths
        }
    }

    @Test func aPostThatAServerMayHaveIsNotSentAgain() async throws {
        #expect(try await paths(.post) == ["/first", "/second", "/last"])
    }

    /// Receivers of GET expect repetitions (RFC 9110, 9.2.2).
    @Test func aGetMayBeSentAgain() async throws {
        #expect(try await paths(.get) == ["/first", "/second", "/second", "/last"])
    }
}
