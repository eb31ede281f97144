import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import SignalboxStore
import Testing

@testable import SignalboxServer

/// Tests on real connections.
@Suite(.timeLimit(.minutes(15))) struct GuardedChannelTests {
    private static let direct = DirectResponder { head in
        guard head.target == "/direct", head.bodyLength <= 10 else { return nil }
        return { body, eventLoop, done in
            guard String(buffer: body) != "refused" else { return false }
            eventLoop.execute { done(Reply(status: .accepted, body: Array("at once".utf8))) }
            return true
        }
    }

    /// Answers from a task after the whole body; answers `/large` with a large body.
    private static func router() -> RouterResponder<GatewayRequestContext> {
        let router = Router(context: GatewayRequestContext.self)
        router.add(middleware: ProblemMiddleware())
        let budget = BodyBudget(bytes: 1_000_000)
        router.get("/large") { _, _ in
            Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 0x20, count: 1_000_000)))
        }
        router.post("/**") { request, context in
            var reservation = BodyReservation(in: budget, for: BodyHolder(source: nil, peer: context.peer))
            _ = try await request.wholeBody(upTo: 100_000, reserving: &reservation)
            return "by a task"
        }
        return router.buildResponder()
    }

    private static func serve(
        _ limits: ConnectionLimits = ConnectionLimits(), _ body: (_ url: String) async throws -> Void
    ) async throws {
        let (addresses, listening) = AsyncStream.makeStream(of: ListenAddress.self)
        let service = HTTPService(
            address: ListenAddress(host: "127.0.0.1", port: 0), logger: Logger(label: "test"),
            budget: BodyBudget(bytes: 1_000_000), onListening: { listening.yield($0) }, limits: limits)
        try await withThrowingTaskGroup { group in
            group.addTask { try await service.run(router(), direct: direct) }
            var listened = addresses.makeAsyncIterator()
            try await body("http://\(try #require(await listened.next()))")
            group.cancelAll()
        }
    }

    /// A server that stops drops the connections that it has just accepted.
    @Test func aDroppedConnectionCloses() async throws {
        let channel = NIOAsyncTestingChannel()
        let guarded = GuardedChannel(
            http: HTTP1Channel { _, _, _ in }, responder: nil, limits: ConnectionLimits(),
            table: ConnectionTable(capacity: 10))
        let logger = Logger(label: "test")
        _ = try await channel.eventLoop.flatSubmit { guarded.setup(channel: channel, logger: logger).map { _ in } }
            .get()
        // The channel may have closed before.
        try? await channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 80)).get()
        try await channel.closeFuture.get()
    }

    @Test func answersEachRequestByItsResponder() async throws {
        let http = OutboundHTTP(policy: AddressPolicy(allow: [AddressRange("127.0.0.0/8")].compactMap { $0 }))
        defer { http.stop() }
        try await Self.serve { url in
            for (path, body, answer) in [
                ("/direct", "x", "at once"), ("/other", "x", "by a task"), ("/direct", "x", "at once"),
                ("/direct", "refused", "by a task"), ("/direct", "more than ten", "by a task"),
                ("/direct", "", "at once"),
            ] {
                let reply = try await http.send(OutboundRequest(url: url + path, body: Array(body.utf8)))
                #expect(String(decoding: reply.excerpt, as: UTF8.self) == answer, "\(path) \(body)")
            }
        }
    }

    /// Through the direct path and the router, with and without a known length.
    @Test(
        arguments: ["/direct", "/other"],
        ["content-length: 10\r\n\r\n123", "transfer-encoding: chunked\r\n\r\n3\r\n123"])
    func aStalledBodyIsAnswered408(path: String, rest: String) async throws {
        var limits = ConnectionLimits()
        limits.bodyGrace = .milliseconds(20)
        try await Self.serve(limits) { url in
            let request = "POST \(path) HTTP/1.1\r\nhost: a\r\n" + rest
            let reply = try await RawConnection.exchange(Data(request.utf8), with: url, endsInput: false)
            #expect(reply.hasPrefix("HTTP/1.1 408"))
            #expect(reply.contains(#""code":"body-too-slow""#))
            #expect(reply.contains("connection: close"))
        }
    }

    /// The client closes its side only, and reads the answer.
    @Test(
        arguments: ["/direct", "/other"],
        ["content-length: 10\r\n\r\n123", "transfer-encoding: chunked\r\n\r\n3\r\n123"])
    func aBodyThatEndsEarlyIsAnswered400(path: String, rest: String) async throws {
        try await Self.serve { url in
            let request = "POST \(path) HTTP/1.1\r\nhost: a\r\n" + rest
            let reply = try await RawConnection.exchange(Data(request.utf8), with: url, endsInput: true)
            #expect(reply.hasPrefix("HTTP/1.1 400"))
            #expect(reply.contains(#""code":"body-incomplete""#), "\(reply)")
        }
    }

    @Test func aClientThatDoesNotReadIsDisconnected() async throws {
        var limits = ConnectionLimits()
        limits.readTime = .milliseconds(20)
        let program = """
            import select
            connection = socket.create_connection(("127.0.0.1", port))
            connection.sendall(b"GET /large HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n" * 1000)
            poll = select.poll()
            poll.register(connection, select.POLLRDHUP | select.POLLERR)
            poll.poll()
            """
        try await Self.serve(limits) { url in
            try await RawConnection.withClient(program, of: url) {}
        }
    }
}
