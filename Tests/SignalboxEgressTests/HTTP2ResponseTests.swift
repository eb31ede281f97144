import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Servers that reset the stream of a request over HTTP/2.
@Suite(.timeLimit(.minutes(15))) struct HTTP2ResponseTests {
    /// Posts bodies of these lengths, one after the other. Returns the answers, and the lengths that arrived.
    private func post(
        _ lengths: [Int], to reply: String
    ) async throws -> (answers: [Result<OutboundReply, TransportError>], arrived: [String]) {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            let mode = ["http2", "--alpn", "h2", "--reply", reply]
            let identity = ["--certificate", files.path("good.pem"), "--key", files.path("server.key")]
            return try await Peer.run(mode + identity) { peer in
                let http = OutboundHTTP(policy: try loopback())
                defer { http.stop() }
                var answers: [Result<OutboundReply, TransportError>] = []
                var arrived: [String] = []
                for length in lengths {
                    let request = OutboundRequest(
                        url: "https://localhost:\(peer.port)/", body: [UInt8](repeating: 0x20, count: length),
                        transport: TransportOptions(tls: .init(authorities: files.path("ca.pem"))))
                    answers.append(await http.attempt(request).answer)
                    arrived.append(try #require(try await peer.next()?.body))
                }
                return (answers, arrived)
            }
        }
    }

    /// RFC 9113, 8.1.
    @Test func aWholeResponseBeforeTheEndOfTheRequestCounts() async throws {
        let (answers, _) = try await post([200_000], to: "early")
        #expect(try answers.map { try $0.get().status } == [204])
    }

    /// The reset says that there is no error, and the head has arrived.
    @Test func aHeadBeforeAResetWithoutErrorCounts() async throws {
        let (answers, arrived) = try await post([1, 2, 3], to: "cut")
        #expect(try answers.map { try $0.get().status } == [204, 200, 200])
        #expect(arrived == ["1", "2", "3"])
    }

    /// The server has begun to answer, so it may have processed the request.
    @Test func aRequestIsNotSentAgainAfterAHead() async throws {
        let (answers, arrived) = try await post([1, 2, 3], to: "refused")
        let codes = answers.map { answer in
            switch answer {
            case .success(let reply): "\(reply.status)"
            case .failure(let error): error.code
            }
        }
        // The last one is the first of another connection.
        #expect(codes == ["204", "reset", "204"])
        #expect(arrived == ["1", "2", "3"])
    }
}
