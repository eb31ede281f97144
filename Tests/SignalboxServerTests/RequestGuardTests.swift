import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import SignalboxServer

@Suite struct RequestGuardTests {
    /// A connection, from bytes to requests. A class because its handlers hold state.
    private final class Connection {
        let channel = EmbeddedChannel()
        private let recorder = Recorder()
        private let reads = Reads()

        init(limits: ConnectionLimits = ConnectionLimits(), table: ConnectionTable = ConnectionTable(capacity: 100))
            throws
        {
            let gate = InputGate(heldLimit: limits.heldBytes)
            try channel.pipeline.syncOperations.addHandlers([
                reads, gate, HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()),
                RequestGuard(gate: gate, limits: limits, table: table), recorder,
            ])
            try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
        }

        var seen: [String] { recorder.seen }
        var readCount: Int { reads.count }

        func receive(_ text: String) {
            channel.pipeline.fireChannelRead(ByteBuffer(string: text))
            channel.pipeline.fireChannelReadComplete()
        }

        func respond(_ status: HTTPResponseStatus = .ok) {
            let head = HTTPResponseHead(version: .http1_1, status: status, headers: ["content-length": "0"])
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
            channel.embeddedEventLoop.run()
        }

        func readBody() { channel.triggerUserOutboundEvent(RequestGuard.BodyIsRead(), promise: nil) }

        func sent() throws -> String {
            var text = ""
            while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
            return text
        }

        func advance(by time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }
    }

    private final class Reads: ChannelOutboundHandler {
        typealias OutboundIn = IOData
        private(set) var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

    /// Records in words what arrives behind the guard.
    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        private(set) var seen: [String] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): seen.append("\(head.method.rawValue) \(head.uri)")
            case .body(let body): seen.append("\(body.readableBytes)")
            case .end: seen.append("end")
            }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { seen.append("\(event)") }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { seen.append("\(type(of: error))") }
    }

    private static let get = "GET /a HTTP/1.1\r\nhost: a\r\n\r\n"

    private static func post(_ length: Int) -> String {
        "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: \(length)\r\n\r\n"
    }

    // MARK: One request after the other

    @Test func parsesFewPipelinedRequestsAhead() throws {
        let connection = try Connection()
        connection.receive(String(repeating: Self.get, count: 2000))
        let ahead = connection.seen.count / 2
        #expect(ahead <= RequestWindow.step / Self.get.utf8.count + 1)
        for _ in 0..<2000 { connection.respond() }
        #expect(connection.seen.count == 4000)
    }

    @Test func doesNotReadWhileRequestsAreHeld() throws {
        let connection = try Connection()
        connection.receive(String(repeating: Self.get, count: 2000))
        connection.channel.read()
        #expect(connection.readCount == 0)
        for _ in 0..<2000 { connection.respond() }
        #expect(connection.readCount == 1)
    }

    @Test func doesNotParseWhileResponsesAreUnsent() throws {
        let connection = try Connection()
        connection.channel.isWritable = false
        connection.channel.pipeline.fireChannelWritabilityChanged()
        connection.receive(Self.get)
        #expect(connection.seen.isEmpty)
        connection.channel.isWritable = true
        connection.channel.pipeline.fireChannelWritabilityChanged()
        #expect(connection.seen == ["GET /a", "end"])
    }

    @Test func aWholeRequestPassesInOnePiece() throws {
        let connection = try Connection()
        connection.receive(Self.post(5000) + String(repeating: "x", count: 5000))
        #expect(connection.seen == ["POST /a", "5000", "end"])
    }

    @Test func aBodyWithEmptyLinesPasses() throws {
        let connection = try Connection()
        connection.receive(Self.post(5000) + String(repeating: "x\n\n\r\n", count: 1000))
        #expect(connection.seen.last == "end")
    }

    @Test func aBodyPassesInLargePieces() throws {
        let connection = try Connection()
        connection.receive(Self.post(100_000) + String(repeating: "x", count: 100_000) + Self.get)
        #expect(connection.seen.count <= 4)
        #expect(connection.seen.last == "end")
        connection.respond()
        #expect(connection.seen.suffix(2) == ["GET /a", "end"])
    }

    @Test func theEndOfTheInputWaitsForHeldRequests() throws {
        let connection = try Connection()
        connection.receive(String(repeating: Self.get, count: 100))
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(!connection.seen.contains("inputClosed"))
        for _ in 0..<100 { connection.respond() }
        #expect(connection.seen.last == "inputClosed")
        #expect(connection.seen.count == 201)
    }

    @Test func closesWhenTooMuchIsHeld() throws {
        var limits = ConnectionLimits()
        limits.heldBytes = 10_000
        let connection = try Connection(limits: limits)
        connection.receive(Self.get)
        for _ in 0..<9 { connection.receive(String(repeating: "x", count: 1100)) }
        #expect(connection.channel.isActive)
        connection.receive(String(repeating: "x", count: 1100))
        #expect(!connection.channel.isActive)
    }

    // MARK: Heads

    @Test func answersARejectedHeadInItsTurnAndIgnoresTheRest() throws {
        let connection = try Connection()
        connection.receive(Self.get + "GET /b HTTP/1.1\r\n\r\n" + Self.get)
        #expect(connection.seen == ["GET /a", "end", "REFUSED-HOST-MISSING /", "end"])
        connection.respond()
        connection.respond(.badRequest)
        connection.receive(Self.get)
        #expect(connection.seen.count == 4)
        let sent = try connection.sent()
        #expect(sent.matches(of: /connection: close/).count == 1)
    }

    /// The parser buffers everything after such a request, and forwards none of it.
    @Test func nothingIsKeptBehindAnUpgrade() throws {
        let connection = try Connection()
        connection.receive("GET /a HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n")
        connection.respond()
        #expect(try connection.sent().contains("connection: close"))
        connection.channel.read()
        #expect(connection.readCount == 1)
        for _ in 0..<100 { connection.receive(String(repeating: "x", count: 10_000)) }
        #expect(connection.channel.isActive)
        #expect(connection.seen == ["GET /a", "end"])
    }

    // MARK: Expectations

    private static let expecting = "POST /a HTTP/1.1\r\nhost: a\r\nexpect: 100-Continue\r\n"
    private static let interim = "HTTP/1.1 100 Continue\r\n\r\n"

    @Test(arguments: ["content-length: 3\r\n\r\n", "transfer-encoding: chunked\r\n\r\n"])
    func asksOnceForABodyThatIsRead(rest: String) throws {
        let connection = try Connection()
        connection.receive(Self.expecting + rest)
        #expect(try connection.sent().isEmpty)
        connection.readBody()
        connection.readBody()
        #expect(try connection.sent() == Self.interim)
    }

    @Test(arguments: [
        expecting + "content-length: 0\r\n\r\n", expecting + "content-length: 3\r\n\r\nabc", post(3),
        expecting + "content-length: 3\r\n\r\na",
        "POST /a HTTP/1.0\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n",
    ])
    func asksForNoBodyThatNeedsNoAsking(request: String) throws {
        let connection = try Connection()
        connection.receive(request)
        connection.readBody()
        #expect(try connection.sent().isEmpty)
    }

    @Test func asksForABodyAfterTheResponsesToEarlierRequests() throws {
        let connection = try Connection()
        connection.receive(Self.get + Self.expecting + "content-length: 3\r\n\r\n")
        connection.readBody()
        #expect(try connection.sent().isEmpty)
        connection.respond()
        _ = try connection.sent()
        connection.readBody()
        #expect(try connection.sent() == Self.interim)
    }

    // MARK: Slow bodies

    @Test func aStalledBodyIsRejected() throws {
        let connection = try Connection()
        connection.receive(Self.post(10) + "123456789")
        connection.advance(by: .seconds(29))
        #expect(connection.seen == ["POST /a", "9"])
        connection.advance(by: .seconds(1))
        #expect(connection.seen == ["POST /a", "9", "SlowBody"])
        connection.respond(.requestTimeout)
        #expect(try connection.sent().contains("connection: close"))
    }

    @Test func aTrickleIsRejected() throws {
        let connection = try Connection()
        connection.receive(Self.post(1000))
        for _ in 0..<31 {
            connection.receive("x")
            connection.advance(by: .seconds(1))
        }
        #expect(connection.seen.last == "SlowBody")
    }

    @Test func aSteadyBodyIsNotRejected() throws {
        let connection = try Connection()
        connection.receive(Self.post(200 * BodyDeadline.bytesPerSecond))
        for _ in 0..<200 {
            connection.advance(by: .seconds(1))
            connection.receive(String(repeating: "x", count: BodyDeadline.bytesPerSecond))
        }
        #expect(connection.seen.last == "end")
        connection.respond()
        connection.advance(by: .seconds(60))
        #expect(connection.channel.isActive)
    }

    @Test func aSlowBodyBehindItsResponseClosesTheConnection() throws {
        let connection = try Connection()
        connection.receive(Self.post(10))
        connection.respond(.unauthorized)
        connection.advance(by: .seconds(30))
        #expect(!connection.channel.isActive)
    }

    // MARK: Clients that do not read

    @Test func closesWhenTheClientReadsNothing() throws {
        let connection = try Connection()
        connection.receive(Self.get)
        connection.channel.isWritable = false
        connection.channel.pipeline.fireChannelWritabilityChanged()
        connection.advance(by: .seconds(74))
        #expect(connection.channel.isActive)
        connection.advance(by: .seconds(1))
        #expect(!connection.channel.isActive)
    }

    @Test func staysOpenWhenTheClientReadsOn() throws {
        let connection = try Connection()
        connection.receive(Self.get)
        for isWritable in [false, true] {
            connection.channel.isWritable = isWritable
            connection.channel.pipeline.fireChannelWritabilityChanged()
            connection.advance(by: .seconds(74))
        }
        connection.advance(by: .seconds(74))
        #expect(connection.channel.isActive)
    }

    // MARK: Connections in excess

    @Test func anIdleConnectionMakesRoom() throws {
        let table = ConnectionTable(capacity: 2)
        let first = try Connection(table: table)
        let second = try Connection(table: table)
        first.channel.embeddedEventLoop.run()
        #expect(!first.channel.isActive)
        #expect(second.channel.isActive)
    }

    @Test func aConnectionWithARequestUnderWayStays() throws {
        let table = ConnectionTable(capacity: 2)
        let first = try Connection(table: table)
        first.receive(Self.get)
        let second = try Connection(table: table)
        #expect(first.channel.isActive)
        #expect(!second.channel.isActive)
        first.respond()
        let third = try Connection(table: table)
        first.channel.embeddedEventLoop.run()
        #expect(!first.channel.isActive)
        #expect(third.channel.isActive)
    }

    @Test func aRequestThatJustArrivedKeepsItsConnection() throws {
        let connection = try Connection()
        connection.receive(Self.get)
        connection.channel.triggerUserOutboundEvent(ConnectionTable.CloseIfIdle(), promise: nil)
        #expect(connection.channel.isActive)
        connection.respond()
        connection.channel.triggerUserOutboundEvent(ConnectionTable.CloseIfIdle(), promise: nil)
        #expect(!connection.channel.isActive)
    }
}
