import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(15))) struct ReplySinkTests {
    /// Records the calls of a sink. A class because the client's thread and the test share it.
    private final class Recorder: Sendable {
        let heads = Mutex<[ReplySink.Head]>([])
        let bytes = Mutex<[UInt8]>([])
        private let limit: Int
        private let acceptsAny: Bool

        init(limit: Int = .max, acceptsAny: Bool = true) {
            self.limit = limit
            self.acceptsAny = acceptsAny
        }

        var sink: ReplySink {
            ReplySink(
                begin: { head in
                    self.heads.withLock { $0.append(head) }
                    return self.acceptsAny
                },
                receive: { piece in
                    self.bytes.withLock {
                        $0.append(contentsOf: piece)
                        return $0.count <= self.limit
                    }
                })
        }
    }

    private func ask(
        _ mode: [String], into recorder: Recorder, lists: [String] = [], slowest: OutboundRequest.Pace? = nil,
        tls: TransportOptions.TLS? = nil
    ) async throws -> OutboundResult {
        try await Peer.run(mode) { peer in
            let http = OutboundHTTP(policy: try loopback())
            defer { http.stop() }
            var request = OutboundRequest(
                method: .get, url: "\(tls == nil ? "http" : "https")://127.0.0.1:\(peer.port)/",
                timeout: .seconds(60), keptHeaders: ["x-a"])
            if let tls { request.transport = TransportOptions(tls: tls) }
            request.sink = recorder.sink
            request.keptLists = lists
            request.slowest = slowest
            return await http.attempt(request)
        }
    }

    private func reply(_ text: String) -> [String] { ["canned", "--reply", text] }

    @Test func sinkReceivesTheWholeBody() async throws {
        let recorder = Recorder()
        let text = #"HTTP/1.1 200 OK\r\nx-a: b\r\ncontent-length: 5\r\n\r\nhello"#
        let answer = try await ask(reply(text), into: recorder).answer.get()
        #expect(answer == OutboundReply(status: 200, headers: ["x-a": "b"]))
        #expect(recorder.bytes.withLock { $0 } == Array("hello".utf8))
        #expect(recorder.heads.withLock { $0 } == [ReplySink.Head(headers: ["x-a": "b"], announcedBytes: 5)])
    }

    @Test func announcedLengthIsOptional() async throws {
        let recorder = Recorder()
        let text = #"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"#
        #expect(try await ask(reply(text), into: recorder).answer.get().status == 200)
        #expect(recorder.bytes.withLock { $0 } == Array("hi".utf8))
        #expect(recorder.heads.withLock { $0 } == [ReplySink.Head()])
    }

    @Test func emptyBodyDoesNotBegin() async throws {
        let recorder = Recorder()
        let text = #"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"#
        #expect(try await ask(reply(text), into: recorder).answer.get().status == 200)
        #expect(recorder.heads.withLock { $0.isEmpty })
    }

    /// Longer than an excerpt, until the sink returns false.
    @Test func sinkEndsTheBody() async throws {
        let recorder = Recorder(limit: 1 << 20)
        let answer = try await ask(["endless-body"], into: recorder).answer.get()
        #expect(answer == OutboundReply(status: 200))
        #expect(recorder.bytes.withLock { $0.count } > 1 << 20)
        #expect(recorder.bytes.withLock { $0.allSatisfy { $0 == UInt8(ascii: "a") } })
    }

    @Test func sinkMayRejectTheBody() async throws {
        let recorder = Recorder(acceptsAny: false)
        #expect(try await ask(["endless-body"], into: recorder).answer.get().status == 200)
        #expect(recorder.bytes.withLock { $0.isEmpty })
        #expect(recorder.heads.withLock { $0.count } == 1)
    }

    @Test func otherStatusesReturnExcerpts() async throws {
        let recorder = Recorder()
        let text = #"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\ngone"#
        let answer = try await ask(reply(text), into: recorder).answer.get()
        #expect(answer == OutboundReply(status: 404, excerpt: Array("gone".utf8)))
        #expect(recorder.heads.withLock { $0.isEmpty })
    }

    @Test func brokenBodyIsAFailure() async throws {
        let recorder = Recorder()
        let text = #"HTTP/1.1 200 OK\r\ncontent-length: 99\r\nconnection: close\r\n\r\nhello"#
        let result = try await ask(reply(text), into: recorder, slowest: (bytesPerSecond: 1 << 20, seconds: 1))
        guard case .failure(.timeoutReplying) = result.answer else {
            Issue.record("\(result.answer)")
            return
        }
        #expect(recorder.bytes.withLock { $0 } == Array("hello".utf8))
    }

    @Test func theSpeedOfABodyCountsFromItsFirstByte() async throws {
        let recorder = Recorder()
        let result = try await ask(["late"], into: recorder, slowest: (bytesPerSecond: 1 << 20, seconds: 1))
        #expect(try result.answer.get().status == 200)
        #expect(recorder.bytes.withLock { $0 } == Array("hi".utf8))
    }

    /// A body without a length is whole only if TLS announced the end of the connection (RFC 9112, 9.8).
    @Test(arguments: ["", "--close-notify"], [#""#, #"content-length: 5\r\n"#])
    func anUnannouncedEndOfTLSIsAFailure(notice: String, length: String) async throws {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            let recorder = Recorder()
            let arguments =
                ["cut-off", "--certificate", files.path("good.pem"), "--key", files.path("server.key")]
                + ["--reply", #"HTTP/1.1 200 OK\r\n"# + length + #"\r\nhello"#] + (notice.isEmpty ? [] : [notice])
            let result = try await ask(arguments, into: recorder, tls: .init(authorities: files.path("ca.pem")))
            #expect(recorder.bytes.withLock { $0 } == Array("hello".utf8))
            switch result.answer {
            case .success(let reply): #expect(!(notice + length).isEmpty && reply.status == 200)
            case .failure(let error): #expect((notice + length).isEmpty && error.code == "reset", "\(error)")
            }
        }
    }

    @Test func joinsLists() async throws {
        let text = #"HTTP/1.1 200 OK\r\nx-a: 1\r\nx-a: 2\r\nX-B: 1\r\nx-b: 2, 3\r\nx-b:\r\ncontent-length: 0\r\n\r\n"#
        let answer = try await ask(reply(text), into: Recorder(), lists: ["x-b", "x-c"]).answer.get()
        #expect(answer.headers == ["x-a": "1", "x-b": "1, 2, 3, "])
    }
}
