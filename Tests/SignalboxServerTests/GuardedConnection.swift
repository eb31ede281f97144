import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import SignalboxServer

/// A connection, from bytes to requests. A class because its handlers hold state.
final class GuardedConnection {
    let channel = EmbeddedChannel()
    private let recorder = Recorder()
    private let reads = Reads()

    init(
        limits: ConnectionLimits = ConnectionLimits(), table: ConnectionTable = ConnectionTable(capacity: 100),
        responder: DirectResponder? = nil
    ) throws {
        let gate = InputGate(heldLimit: limits.heldBytes)
        try channel.pipeline.syncOperations.addHandlers([
            reads, gate, HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()),
            RequestGuard(gate: gate, limits: limits, table: table, responder: responder), recorder,
        ])
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait()
    }

    /// The requests and events that the router sees, as text.
    var seen: [String] { recorder.seen }
    /// How often more bytes were requested.
    var readCount: Int { reads.count }

    /// How often ``respond(_:)`` was called.
    private(set) var answered = 0

    func receive(_ text: String) { receive(Array(text.utf8)) }

    func receive(_ bytes: [UInt8]) {
        channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes))
        channel.pipeline.fireChannelReadComplete()
    }

    /// Responds as the router does.
    func respond(_ status: HTTPResponseStatus = .ok) {
        answered += 1
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

    private final class Reads: ChannelOutboundHandler {
        typealias OutboundIn = IOData
        private(set) var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

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
}
