import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import SignalboxNotification
import SignalboxStore
import Testing

@testable import SignalboxServer

@Suite struct DirectHandlerTests {
    /// A connection with the handler on it, and what stands behind that: a class because handlers are told things.
    private final class Connection {
        let channel: EmbeddedChannel
        private let promises: NIOLoopBoundBox<[EventLoopPromise<DirectAnswer>]>
        private let recorder = Recorder()
        private let reads = Reads()

        /// The responder is for paths that begin with `/direct`, and for `/direct/refused` not after all.
        init() throws {
            channel = EmbeddedChannel()
            promises = NIOLoopBoundBox([], eventLoop: channel.embeddedEventLoop)
            let responder = DirectResponder(bodyLimit: 100) {
                $0.path?.hasPrefix("/direct") ?? false ? DirectSender(source: .default, config: 1) : nil
            } respond: { [promises] request, eventLoop in
                guard request.head.path != "/direct/refused" else { return nil }
                let promise = eventLoop.makePromise(of: DirectAnswer.self)
                promises.value.append(promise)
                return promise.futureResult
            }
            try channel.pipeline.syncOperations.addHandlers([reads, DirectHandler(responder), recorder])
            try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
        }

        /// Requests that are under way at the responder.
        var taken: Int { promises.value.count }
        /// What came through, in words.
        var passed: [String] { recorder.seen }
        /// How often more was asked for.
        var readCount: Int { reads.count }

        /// A request that arrives in one go, or all of it but its end.
        func receive(_ path: String, isWhole: Bool = true) {
            let head = HTTPRequest(method: .post, scheme: "http", authority: "x", path: path)
            channel.pipeline.fireChannelRead(HTTPRequestPart.head(head))
            channel.pipeline.fireChannelRead(HTTPRequestPart.body(ByteBuffer(string: "x")))
            if isWhole { channel.pipeline.fireChannelRead(HTTPRequestPart.end(nil)) }
            channel.pipeline.fireChannelReadComplete()
        }

        func answer(_ text: String) {
            promises.value.removeFirst().succeed(DirectAnswer(StoredAnswer(status: 202, body: Array(text.utf8))))
        }

        func fail() { promises.value.removeFirst().fail(Broken()) }

        /// What went out so far, in words.
        func sent() throws -> [String] {
            var words: [String] = []
            while let part = try channel.readOutbound(as: HTTPResponsePart.self) {
                switch part {
                case .head(let head): words.append("\(head.status.code)")
                case .body(let body): words.append(String(buffer: body))
                case .end: words.append("end")
                }
            }
            return words
        }
    }

    private struct Broken: Error {}

    private final class Reads: ChannelOutboundHandler {
        typealias OutboundIn = HTTPResponsePart
        private(set) var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

    /// What the handler hands on, in words.
    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = HTTPRequestPart
        private(set) var seen: [String] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): seen.append(head.path ?? "")
            case .body(let body): seen.append(String(buffer: body))
            case .end: seen.append("end")
            }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { seen.append("\(event)") }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { seen.append("\(error)") }
    }

    @Test func answersWithoutHandingOn() throws {
        let connection = try Connection()
        connection.receive("/direct")
        #expect(connection.taken == 1)
        #expect(try connection.sent().isEmpty)
        connection.answer("{}")
        #expect(try connection.sent() == ["202", "{}", "end"])
        #expect(connection.passed.isEmpty)
    }

    @Test func saysWhatTheBodyIs() throws {
        let connection = try Connection()
        connection.receive("/direct")
        connection.answer("{\"a\":1}")
        let part = try #require(try connection.channel.readOutbound(as: HTTPResponsePart.self))
        guard case .head(let head) = part else { throw Broken() }
        #expect(head.headerFields[.contentType] == "application/json")
        #expect(head.headerFields[.contentLength] == "7")
        #expect(head.headerFields[.date]?.hasSuffix(" GMT") == true)
    }

    @Test func closesWhereThereIsNoAnswer() throws {
        let connection = try Connection()
        connection.receive("/direct")
        connection.fail()
        #expect(!connection.channel.isActive)
        #expect(connection.passed.isEmpty)
    }

    @Test func handsOnWhatIsNotForIt() throws {
        let connection = try Connection()
        connection.receive("/direct/refused")
        #expect(connection.passed == ["/direct/refused", "x", "end"])
        #expect(try connection.sent().isEmpty)
    }

    @Test func answersInTheOrderOfTheRequests() throws {
        let connection = try Connection()
        connection.receive("/direct")
        connection.receive("/other")
        connection.receive("/direct")
        #expect(connection.taken == 1)
        #expect(connection.passed.isEmpty)
        connection.answer("1")
        #expect(connection.passed == ["/other", "x", "end", "/direct", "x", "end"])
        // Both are answered behind it; then it is its turn again.
        for _ in 0..<2 {
            connection.channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
            connection.channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
        }
        connection.receive("/direct")
        #expect(connection.taken == 1)
        connection.answer("2")
        #expect(try connection.sent() == ["202", "1", "end", "200", "end", "200", "end", "202", "2", "end"])
    }

    @Test func answersOneBehindTheOther() throws {
        let connection = try Connection()
        for _ in 0..<3 { connection.receive("/direct") }
        for number in 1...3 {
            #expect(connection.taken == 1)
            connection.answer("\(number)")
        }
        #expect(try connection.sent() == ["202", "1", "end", "202", "2", "end", "202", "3", "end"])
        #expect(connection.passed.isEmpty)
    }

    /// Whoever hears of either closes the connection.
    @Test(arguments: [true, false])
    func anAnswerGoesOutBeforeItIsSaidThatNoMoreWillCome(isError: Bool) throws {
        let connection = try Connection()
        connection.receive("/direct")
        connection.receive("/direct", isWhole: false)
        if isError {
            connection.channel.pipeline.fireErrorCaught(Broken())
        } else {
            connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        #expect(connection.passed.isEmpty)
        connection.answer("1")
        #expect(try connection.sent() == ["202", "1", "end"])
        #expect(connection.passed == ["/direct", "x", isError ? "Broken()" : "inputClosed"])
    }

    /// Of those that are held, one is refused at once: what says that no more will come stays behind the ones after it.
    @Test(arguments: [true, false])
    func nothingOvertakesWhatIsHeld(isError: Bool) throws {
        let connection = try Connection()
        connection.receive("/direct")
        connection.receive("/direct/refused")
        connection.receive("/direct")
        if isError {
            connection.channel.pipeline.fireErrorCaught(Broken())
        } else {
            connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        connection.answer("1")
        #expect(
            connection.passed == [
                "/direct/refused", "x", "end", "/direct", "x", "end", isError ? "Broken()" : "inputClosed",
            ])
    }

    @Test func readsNoMoreWhileSomethingIsHeld() throws {
        let connection = try Connection()
        connection.channel.read()
        connection.receive("/direct")
        connection.channel.read()
        let before = connection.readCount
        connection.receive("/direct")
        connection.channel.read()
        #expect(connection.readCount == before)
        connection.answer("1")
        #expect(connection.readCount == before + 1)
        connection.answer("2")
        #expect(connection.readCount == before + 1)
    }

    @Test func whatIsCutOffGoesOn() throws {
        let connection = try Connection()
        connection.receive("/direct", isWhole: false)
        #expect(connection.passed.isEmpty)
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(connection.passed == ["/direct", "x", "inputClosed"])
    }

    @Test func whoReadsNoAnswersIsForThoseWhoWait() throws {
        let connection = try Connection()
        connection.channel.isWritable = false
        connection.receive("/direct")
        #expect(connection.taken == 0)
        #expect(connection.passed == ["/direct", "x", "end"])
    }
}
