import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import Testing

/// Servers that misbehave once they are connected.
@Suite(.timeLimit(.minutes(15))) struct BadPeerTests {
    private func ask(
        _ mode: [String], timeout: Duration = .seconds(20), keptBytes: Int = 1024
    ) async throws -> OutboundResult {
        try await Peer.run(mode) { peer in
            let http = OutboundHTTP(policy: try loopback())
            defer { http.stop() }
            let result = await http.attempt(
                OutboundRequest(
                    url: "http://127.0.0.1:\(peer.port)/", body: Array("{}".utf8), timeout: timeout,
                    keptBytes: keptBytes))
            #expect(result.remoteAddress == "127.0.0.1:\(peer.port)")
            return result
        }
    }

    private func code(_ result: OutboundResult) -> String {
        switch result.answer {
        case .success(let reply): "\(reply.status)"
        case .failure(let error): error.code
        }
    }

    @Test(arguments: ["mute", "trickled-headers", "trickled-body"])
    func timesOutOnSlowResponses(mode: String) async throws {
        let result = try await ask([mode], timeout: .milliseconds(150))
        #expect(code(result) == "timeout-reply")
    }

    @Test func timesOutOnReusedConnections() async throws {
        let replies = [
            "--reply", #"HTTP/1.1 204 No Content\r\n\r\n"#, "--reply", #"HTTP/1.1 100 Continue\r\n\r\n"#,
        ]
        try await Peer.run(["canned"] + replies) { peer in
            let http = OutboundHTTP(policy: try loopback())
            defer { http.stop() }
            let url = "http://127.0.0.1:\(peer.port)/"
            #expect(code(await http.attempt(OutboundRequest(url: url))) == "204")
            let late = await http.attempt(OutboundRequest(url: url, timeout: .milliseconds(150)))
            #expect(code(late) == "timeout-reply")
            #expect(late.remoteAddress == "127.0.0.1:\(peer.port)")
        }
    }

    @Test func reportsTheIPv6AddressTried() async throws {
        let http = OutboundHTTP(policy: AddressPolicy(allow: [try #require(AddressRange("::1"))]))
        defer { http.stop() }
        let result = await http.attempt(OutboundRequest(url: "http://[::1]:9/", timeout: .seconds(5)))
        #expect(code(result) == "refused")
        #expect(result.remoteAddress == "[::1]:9")
    }

    @Test(arguments: ["hangs-up", "resets"]) func reportsClosedConnectionsAsReset(mode: String) async throws {
        #expect(code(try await ask([mode])) == "reset")
    }

    @Test(arguments: ["endless-headers", "endless-line"]) func rejectsEndlessHeaders(mode: String) async throws {
        let result = try await ask([mode])
        #expect(result.answer == .failure(.interrupted("the reply has too many headers")))
    }

    @Test func rejectsTooManyHeaders() async throws {
        let short = String(repeating: #"a: b\r\n"#, count: 300)
        let result = try await ask(["canned", "--reply", #"HTTP/1.1 200 OK\r\n"# + short + #"\r\n"#])
        #expect(result.answer == .failure(.interrupted("the reply has too many headers")))
    }

    /// The status is known by then.
    @Test func cutsEndlessBodies() async throws {
        let reply = try await ask(["endless-body"]).answer.get()
        #expect(reply == OutboundReply(status: 200, excerpt: Array(repeating: UInt8(ascii: "a"), count: 1024)))
    }

    @Test func keepsTheRequestedBytesOfTheBody() async throws {
        let reply = try await ask(["endless-body"], keptBytes: 5000).answer.get()
        #expect(reply.excerpt.count == 5000)
    }

    @Test func keepsLongBodiesOnRequest() async throws {
        let reply = try await ask(["endless-body"], keptBytes: 3_000_000).answer.get()
        #expect(reply.excerpt.count == 3_000_000)
    }

    /// A compressed body cannot expand.
    @Test func doesNotDecodeBodies() async throws {
        let bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x4B, 4, 0, 0x43, 0xBE, 0xB7, 0xE8, 1, 0, 0, 0]
        let text = bytes.map { #"\x"# + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let head = #"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 21\r\n\r\n"#
        let reply = try await ask(["canned", "--reply", head + text]).answer.get()
        #expect(reply.excerpt == bytes)
    }

    @Test(arguments: [
        #"SSH-2.0-OpenSSH_9.2\r\n\r\n"#, #"HTTP/1.1 abc\r\n\r\n"#, #"HTTP/1.1 200 OK\r\nno colon\r\n\r\n"#,
        #"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n"#,
    ])
    func reportsInvalidResponsesAsTemporary(reply: String) async throws {
        let result = try await ask(["canned", "--reply", reply], timeout: .milliseconds(300))
        guard case .failure(let error) = result.answer else {
            // libcurl overlooks a line without a colon.
            #expect(reply.contains("no colon"))
            return
        }
        #expect(error.isTemporary)
        #expect(["reset", "timeout-reply"].contains(error.code), "\(error)")
    }

    @Test(arguments: [
        #"HTTP/1.1 200 OK\r\n"#, #"HTTP/1.1 410 Gone\r\ncontent-le"#,
        #"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"#,
    ])
    func aHeadThatIsCutOffIsNoResponse(reply: String) async throws {
        let result = try await ask(["cut-off", "--reply", reply])
        #expect(code(result) == "reset", "\(result.answer)")
    }

    @Test func aResponseMayEndWithTheConnection() async throws {
        let result = try await ask(["cut-off", "--reply", #"HTTP/1.1 201 Created\r\n\r\nbody"#])
        #expect(code(result) == "201")
    }

    @Test func trailersDoNotHideTheEndOfTheHead() async throws {
        let head = #"HTTP/1.1 202 Accepted\r\ntransfer-encoding: chunked\r\ntrailer: x\r\n\r\n"#
        let result = try await ask(["canned", "--reply", head + #"1\r\na\r\n0\r\nx: y\r\n\r\n"#])
        #expect(code(result) == "202")
    }

    @Test func readsRetryAfterOfResponses() async throws {
        let head = #"HTTP/1.1 503 Busy\r\nretry-after: 7\r\ncontent-length: 4\r\n\r\nbusy"#
        let reply = try await ask(["canned", "--reply", head]).answer.get()
        #expect(reply == OutboundReply(status: 503, excerpt: Array("busy".utf8), retryAfter: .seconds(7)))
    }

    @Test func returnsRedirectsAsResponses() async throws {
        for status in [301, 302, 303, 307, 308] {
            let head = #"HTTP/1.1 \#(status) Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"#
            #expect(code(try await ask(["canned", "--reply", head])) == "\(status)")
        }
    }
}
