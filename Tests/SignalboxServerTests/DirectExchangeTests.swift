import Foundation
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxServer

@Suite struct DirectExchangeTests {
    /// Answers requests whose path begins with `/direct`, but leaves those with the body `refused` to the router.
    private final class Responder: Sendable {
        // A class because the connection and the test share it.
        private let pending = Mutex<[@Sendable (Reply) -> Void]>([])

        var responder: DirectResponder {
            DirectResponder { [self] head in
                guard head.target.hasPrefix("/direct") else { return nil }
                return { body, _, done in
                    guard String(buffer: body) != "refused" else { return false }
                    self.pending.withLock { $0.append(done) }
                    return true
                }
            }
        }

        /// Requests that wait for a response.
        var count: Int { pending.withLock { $0.count } }

        func answer(_ text: String = "{}") {
            let done = pending.withLock { $0.removeFirst() }
            done(Reply(status: .accepted, body: Array(text.utf8)))
        }
    }

    private let responder = Responder()

    private func connection() throws -> GuardedConnection {
        try GuardedConnection(responder: responder.responder)
    }

    private static func post(_ path: String, _ body: String = "x") -> String {
        "POST \(path) HTTP/1.1\r\nhost: a\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func answers(in sent: String) -> [String] {
        sent.components(separatedBy: "HTTP/1.1 ").dropFirst().map { response in
            response.prefix(3) + " " + (response.components(separatedBy: "\r\n\r\n").last ?? "")
        }
    }

    @Test func answersPastTheRouter() throws {
        let connection = try connection()
        connection.receive(Self.post("/direct"))
        #expect(responder.count == 1)
        #expect(try connection.sent().isEmpty)
        responder.answer("{\"a\":1}")
        let sent = try connection.sent()
        #expect(
            sent.hasPrefix("HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 7\r\nDate: "))
        #expect(sent.hasSuffix(" GMT\r\n\r\n{\"a\":1}"))
        #expect(connection.seen.isEmpty)
    }

    @Test func writesTheHeadersOfAProblem() throws {
        let buffer = Reply(Problem.busy).bytes(date: "now", allocator: ByteBufferAllocator())
        let text = String(buffer: buffer)
        #expect(text.hasPrefix("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"))
        #expect(text.contains("Content-Type: application/problem+json\r\n"))
    }

    @Test(arguments: ["/other", "/direct"])
    func leavesOtherRequestsToTheRouter(path: String) throws {
        let connection = try connection()
        connection.receive(Self.post(path, "refused"))
        #expect(connection.seen == ["POST \(path)", "7", "end"])
        #expect(responder.count == 0)
    }

    @Test(arguments: [
        "connection: close", "expect: 100-continue", "content-encoding: gzip", "idempotency-key: 1", "upgrade: h2c",
        "connection: upgrade",
    ])
    func leavesRequestsWithOtherFieldsToTheRouter(field: String) throws {
        let connection = try connection()
        connection.receive("POST /direct HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\(field)\r\n\r\nx")
        #expect(connection.seen.first == "POST /direct")
        #expect(responder.count == 0)
    }

    @Test func leavesAChunkedBodyAndPipelinedRequestsBehindItToTheRouter() throws {
        let connection = try connection()
        let chunked = "POST /direct HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n"
        connection.receive(chunked)
        connection.respond(.unauthorized)
        connection.receive("1\r\nx\r\n0\r\n\r\n" + Self.post("/direct") + Self.post("/direct"))
        #expect(connection.seen.count == 3 + 3 + 3)
        #expect(responder.count == 0)
        #expect(connection.channel.isActive)
    }

    @Test func keepsTheOrderOfPipelinedRequests() throws {
        let connection = try connection()
        connection.receive(["/direct", "/direct", "/other", "/direct"].map { Self.post($0) }.joined())
        #expect(responder.count == 1)
        responder.answer("1")
        responder.answer("2")
        #expect(connection.seen == ["POST /other", "1", "end"])
        #expect(responder.count == 0)
        connection.respond()
        responder.answer("3")
        #expect(Self.answers(in: try connection.sent()) == ["202 1", "202 2", "200 ", "202 3"])
    }

    @Test func awaitsTheRestOfABodyOnce() throws {
        let connection = try connection()
        let request = Self.post("/direct", "abc")
        connection.receive(String(request.dropLast(3)))
        connection.receive("abc")
        #expect(responder.count == 1)
        responder.answer()
        connection.receive(String(request.dropLast(3)))
        connection.receive("a")
        #expect(connection.seen == ["POST /direct", "1"])
        connection.receive("bc")
        #expect(connection.seen == ["POST /direct", "1", "2", "end"])
    }

    @Test func aSlowBodyIsRejectedByTheRouter() throws {
        let connection = try connection()
        connection.receive(String(Self.post("/direct", "abc").dropLast(3)))
        connection.advance(by: .seconds(30))
        #expect(connection.seen == ["POST /direct", "SlowBody"])
    }

    /// Either event closes the connection.
    @Test(arguments: [true, false])
    func theResponseIsSentBeforeTheConnectionCloses(isError: Bool) throws {
        struct Broken: Error {}
        let connection = try connection()
        connection.receive(Self.post("/direct"))
        if isError {
            connection.channel.pipeline.fireErrorCaught(Broken())
        } else {
            connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        #expect(connection.seen.isEmpty)
        responder.answer("1")
        #expect(Self.answers(in: try connection.sent()) == ["202 1"])
        #expect(connection.seen == [isError ? "Broken" : "inputClosed"])
    }

    @Test func theRouterSeesARequestThatIsCutOff() throws {
        let connection = try connection()
        connection.receive(String(Self.post("/direct", "abc").dropLast(1)))
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(connection.seen == ["POST /direct", "2", "HTTPParserError", "inputClosed"])
    }

    @Test func leavesRequestsToTheRouterWhileResponsesAreUnsent() throws {
        let connection = try connection()
        connection.receive(String(Self.post("/direct", "abc").dropLast()))
        connection.channel.isWritable = false
        connection.channel.pipeline.fireChannelWritabilityChanged()
        connection.receive("c")
        #expect(responder.count == 0)
        #expect(connection.seen == ["POST /direct", "3", "end"])
    }

    @Test func aLateResponseToAClosedConnectionIsDropped() throws {
        let connection = try connection()
        connection.receive(Self.post("/direct"))
        connection.channel.close(promise: nil)
        responder.answer()
        #expect(!connection.channel.isActive)
    }

    /// However a stream of requests is cut and answered, each request gets one response, in order.
    @Test func everyRequestIsAnsweredInItsTurn() throws {
        var direct = 0
        for seed: UInt64 in 0..<200 { direct += try play(seed: 20_261_121 + seed) }
        #expect(direct > 500)
    }

    /// Returns how many requests were answered directly.
    private func play(seed: UInt64) throws -> Int {
        var random = SeededGenerator(seed: seed)
        let connection = try connection()
        var input = ""
        var expected: [String] = []
        for number in 0..<20 {
            let isDirect = Bool.random(using: &random)
            let body = String(repeating: "b", count: Int.random(in: 0...20, using: &random))
            input += Self.post(isDirect ? "/direct" : "/other/\(number)", body)
        }
        var (answered, routed, direct) = (0, 0, 0)
        var rest = input[...]
        for _ in 0..<10_000 where answered < 20 {
            if !rest.isEmpty, Bool.random(using: &random) {
                let piece = rest.prefix(Int.random(in: 1...120, using: &random))
                rest = rest.dropFirst(piece.count)
                connection.receive(String(piece))
            }
            let pending = connection.seen.count { $0 == "end" } - routed
            #expect(pending + responder.count <= 1, "seed \(seed)")
            if responder.count == 1, Bool.random(using: &random) {
                responder.answer("\(answered)")
                expected.append("202 \(answered)")
                (answered, direct) = (answered + 1, direct + 1)
            } else if pending == 1, Bool.random(using: &random) {
                connection.respond()
                expected.append("200 ")
                (answered, routed) = (answered + 1, routed + 1)
            }
        }
        #expect(Self.answers(in: try connection.sent()) == expected, "seed \(seed)")
        #expect(answered == 20, "seed \(seed)")
        return direct
    }
}
