import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import SignalboxServer

@Suite struct RequestGuardTests {
    private static let get = "GET /a HTTP/1.1\r\nhost: a\r\n\r\n"

    private static func post(_ length: Int) -> String {
        "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: \(length)\r\n\r\n"
    }

    // MARK: One request after the other

    @Test func parsesNoPipelinedRequestAhead() throws {
        let connection = try GuardedConnection()
        connection.receive(String(repeating: Self.get, count: 2000))
        for number in 1...2000 {
            #expect(connection.seen.count == 2 * number)
            connection.respond()
        }
    }

    @Test func doesNotReadWhileRequestsAreHeld() throws {
        let connection = try GuardedConnection()
        connection.receive(String(repeating: Self.get, count: 2000))
        connection.channel.read()
        #expect(connection.readCount == 0)
        for _ in 0..<2000 { connection.respond() }
        #expect(connection.readCount == 1)
    }

    @Test func doesNotParseWhileResponsesAreUnsent() throws {
        let connection = try GuardedConnection()
        connection.channel.isWritable = false
        connection.channel.pipeline.fireChannelWritabilityChanged()
        connection.receive(Self.get)
        #expect(connection.seen.isEmpty)
        connection.channel.isWritable = true
        connection.channel.pipeline.fireChannelWritabilityChanged()
        #expect(connection.seen == ["GET /a", "end"])
    }

    @Test func aWholeRequestPassesInOnePiece() throws {
        let connection = try GuardedConnection()
        connection.receive(Self.post(5000) + String(repeating: "x", count: 5000))
        #expect(connection.seen == ["POST /a", "5000", "end"])
    }

    @Test func aBodyWithEmptyLinesPasses() throws {
        let connection = try GuardedConnection()
        connection.receive(Self.post(5000) + String(repeating: "x\n\n\r\n", count: 1000))
        #expect(connection.seen.last == "end")
    }

    @Test func aBodyPassesInLargePieces() throws {
        let connection = try GuardedConnection()
        connection.receive(Self.post(100_000) + String(repeating: "x", count: 100_000) + Self.get)
        #expect(connection.seen.count <= 4)
        #expect(connection.seen.last == "end")
        connection.respond()
        #expect(connection.seen.suffix(2) == ["GET /a", "end"])
    }

    @Test func theEndOfTheInputWaitsForHeldRequests() throws {
        let connection = try GuardedConnection()
        connection.receive(String(repeating: Self.get, count: 100))
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(!connection.seen.contains("inputClosed"))
        for _ in 0..<100 { connection.respond() }
        #expect(connection.seen.last == "inputClosed")
        #expect(connection.seen.count == 201)
    }

    /// Only bytes after a chunked body, whose end is not known in advance, are parsed early.
    @Test func aChunkedBodyPassesWithItsSuccessor() throws {
        let connection = try GuardedConnection()
        let chunked = "POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        connection.receive(chunked + Self.get + Self.post(1) + "x")
        connection.respond()
        connection.respond()
        connection.respond()
        #expect(connection.seen == ["POST /a", "3", "end", "GET /a", "end", "POST /a", "1", "end"])
    }

    @Test func closesWhenTooMuchIsHeld() throws {
        var limits = ConnectionLimits()
        limits.heldBytes = 10_000
        let connection = try GuardedConnection(limits: limits)
        connection.receive(Self.get)
        for _ in 0..<9 { connection.receive(String(repeating: "x", count: 1100)) }
        #expect(connection.channel.isActive)
        connection.receive(String(repeating: "x", count: 1100))
        #expect(!connection.channel.isActive)
    }

    // MARK: Heads

    @Test func answersARejectedHeadInItsTurnAndIgnoresTheRest() throws {
        let connection = try GuardedConnection()
        connection.receive(Self.get + "GET /b HTTP/1.1\r\n\r\n" + Self.get)
        #expect(try connection.sent().isEmpty)
        connection.respond()
        connection.receive(Self.get)
        #expect(connection.seen == ["GET /a", "end"])
        let sent = try connection.sent()
        #expect(sent.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.1) } == ["200", "400"])
        #expect(sent.matches(of: /connection: close/).count == 1)
    }

    @Test func rejectsAHeadBehindAChunkedBodyInItsTurn() throws {
        let connection = try GuardedConnection()
        let chunked = "POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
        connection.receive(chunked + "GET /b HTTP/1.1\r\n\r\n")
        #expect(try connection.sent().isEmpty)
        connection.respond()
        #expect(try connection.sent().matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.1) } == ["200", "400"])
    }

    /// The parser rejects these heads itself, at different places of the head.
    @Test(arguments: [
        "content-length: 3\r\ntransfer-encoding: chunked", "transfer-encoding: chunked\r\ncontent-length: 3",
        "transfer-encoding: chunked, chunked", "transfer-encoding: chunked,", "transfer-encoding: chunked, gzip",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked",
        "transfer-encoding: gzip\r\ntransfer-encoding: chunked", "content-length: 3\r\ncontent-length: 3",
        "content-length: 3x", "x: y\nz: w",
    ])
    func saysThatTheFramingIsAmbiguous(fields: String) throws {
        let connection = try GuardedConnection()
        connection.receive(Self.get + "POST /b HTTP/1.1\r\nhost: a\r\n\(fields)\r\n\r\n0\r\n\r\n" + Self.get)
        connection.respond()
        #expect(connection.seen.filter { $0 != "HTTPParserError" } == ["GET /a", "end"])
        let sent = try connection.sent()
        #expect(sent.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.1) } == ["200", "400"])
        #expect(sent.contains(#""code":"framing-ambiguous""#) && sent.contains("connection: close"))
    }

    @Test(arguments: ["gzip, chunked", "identity", "gzip"])
    func saysThatACodingIsNotSupported(coding: String) throws {
        let connection = try GuardedConnection()
        connection.receive("POST /b HTTP/1.1\r\nhost: a\r\ntransfer-encoding: \(coding)\r\n\r\n0\r\n\r\n")
        #expect(!connection.seen.contains("POST /b"))
        let sent = try connection.sent()
        #expect(sent.hasPrefix("HTTP/1.1 501 ") && sent.contains(#""code":"transfer-coding-unsupported""#))
    }

    /// The parser buffers everything after such a request, and forwards none of it.
    @Test func ignoresBytesBehindAnUpgrade() throws {
        let connection = try GuardedConnection()
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
        let connection = try GuardedConnection()
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
    func sendsNoNeedlessContinue(request: String) throws {
        let connection = try GuardedConnection()
        connection.receive(request)
        connection.readBody()
        #expect(try connection.sent().isEmpty)
    }

    @Test func asksForABodyAfterTheResponsesToEarlierRequests() throws {
        let connection = try GuardedConnection()
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
        let connection = try GuardedConnection()
        connection.receive(Self.post(10) + "123456789")
        connection.advance(by: .seconds(29))
        #expect(connection.seen == ["POST /a", "9"])
        connection.advance(by: .seconds(1))
        #expect(connection.seen == ["POST /a", "9", "SlowBody"])
        connection.respond(.requestTimeout)
        #expect(try connection.sent().contains("connection: close"))
    }

    @Test func aTrickleIsRejected() throws {
        let connection = try GuardedConnection()
        connection.receive(Self.post(1000))
        for _ in 0..<31 {
            connection.receive("x")
            connection.advance(by: .seconds(1))
        }
        #expect(connection.seen.last == "SlowBody")
    }

    @Test func aSteadyBodyIsNotRejected() throws {
        let connection = try GuardedConnection()
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
        let connection = try GuardedConnection()
        connection.receive(Self.post(10))
        connection.respond(.unauthorized)
        connection.advance(by: .seconds(30))
        #expect(!connection.channel.isActive)
    }

    // MARK: Clients that do not read

    @Test func closesWhenTheClientDoesNotRead() throws {
        let connection = try GuardedConnection()
        connection.receive(Self.get)
        connection.channel.isWritable = false
        connection.channel.pipeline.fireChannelWritabilityChanged()
        connection.advance(by: .seconds(74))
        #expect(connection.channel.isActive)
        connection.advance(by: .seconds(1))
        #expect(!connection.channel.isActive)
    }

    @Test func staysOpenWhileTheClientReads() throws {
        let connection = try GuardedConnection()
        connection.receive(Self.get)
        for isWritable in [false, true] {
            connection.channel.isWritable = isWritable
            connection.channel.pipeline.fireChannelWritabilityChanged()
            connection.advance(by: .seconds(74))
        }
        connection.advance(by: .seconds(74))
        #expect(connection.channel.isActive)
    }

    // MARK: Idle connections

    @Test func closesAfterTheIdleTime() throws {
        let connection = try GuardedConnection()
        connection.advance(by: .seconds(74))
        connection.receive(Self.get)
        connection.advance(by: .seconds(1000))
        #expect(connection.channel.isActive)
        connection.respond()
        connection.advance(by: .seconds(74))
        #expect(connection.channel.isActive)
        connection.advance(by: .seconds(1))
        #expect(!connection.channel.isActive)
    }

    @Test func closesWhenNoHeadArrives() throws {
        let connection = try GuardedConnection()
        for _ in 0..<74 {
            connection.receive("G")
            connection.advance(by: .seconds(1))
        }
        #expect(connection.channel.isActive)
        connection.advance(by: .seconds(1))
        #expect(!connection.channel.isActive)
    }

    // MARK: Connections in excess

    @Test func anIdleConnectionMakesRoom() throws {
        let table = ConnectionTable(capacity: 2)
        let first = try GuardedConnection(table: table)
        let second = try GuardedConnection(table: table)
        first.channel.embeddedEventLoop.run()
        #expect(!first.channel.isActive)
        #expect(second.channel.isActive)
    }

    @Test func keepsAConnectionWithARequestInProgress() throws {
        let table = ConnectionTable(capacity: 2)
        let first = try GuardedConnection(table: table)
        first.receive(Self.get)
        let second = try GuardedConnection(table: table)
        #expect(first.channel.isActive)
        #expect(!second.channel.isActive)
        first.respond()
        let third = try GuardedConnection(table: table)
        first.channel.embeddedEventLoop.run()
        #expect(!first.channel.isActive)
        #expect(third.channel.isActive)
    }

    @Test func aRequestThatJustArrivedKeepsItsConnection() throws {
        let connection = try GuardedConnection()
        connection.receive(Self.get)
        connection.channel.triggerUserOutboundEvent(ConnectionTable.CloseIfIdle(), promise: nil)
        #expect(connection.channel.isActive)
        connection.respond()
        connection.channel.triggerUserOutboundEvent(ConnectionTable.CloseIfIdle(), promise: nil)
        #expect(!connection.channel.isActive)
    }
}
