import NIOCore

/// Opens the tunnel that a sender requests from the proxy. The tunnel ends here: TLS of the gateway begins in it, and
/// ``ProtocolSniffer`` serves the requests in it. The proxy itself connects to nothing.
///
/// Runs before the sniffer, whose limits apply: it admits the connection, and closes one that takes too long.
final class ProxyTunnel: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    // A class because the channel calls it, only on its event loop.
    private let tls: ProviderTLS
    /// Learns the host of the tunnel before TLS begins.
    private let sniffer: ProtocolSniffer
    private var head: ConnectHead
    /// Whether the request was answered. Bytes after a refused byte are dropped.
    private var isOver = false

    /// How long a client may take to read a refusal.
    private static let lingering: TimeAmount = .seconds(5)
    /// aioapns looks for `200 Connect`.
    private static let opened = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)

    /// `sniffer`: the next handler of the channel. `limit`: the most bytes of a head.
    init(_ tls: ProviderTLS, before sniffer: ProtocolSniffer, limit: Int) {
        (self.tls, self.sniffer) = (tls, sniffer)
        head = ConnectHead(limit: limit)
    }

    /// Refuses a host that the certificate is not for: with TLS, the sender would see an error without the cause.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        switch head.receive(unwrapInboundIn(data).readableBytesView) {
        case .incomplete: break
        case .refused(let refusal): refuse(refusal, context)
        case .tunnel(let host, let rest):
            guard !tls.uncoveredHosts.contains(host.name) else { return refuse(.noCertificate(host.name), context) }
            open(to: host, rest, context)
        }
    }

    /// `rest`: bytes that arrived with the head; they belong to the TLS handshake.
    private func open(to host: ProviderHost, _ rest: [UInt8], _ context: ChannelHandlerContext) {
        isOver = true
        sniffer.providerHost = host
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Self.opened)), promise: nil)
        do { try context.pipeline.syncOperations.addHandler(tls.handler(), position: .after(self)) } catch {
            // The pipeline is closed.
            return context.close(promise: nil)
        }
        if !rest.isEmpty {
            context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest)))
            context.fireChannelReadComplete()
        }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    /// Answers, then closes after the client did, so that the answer is not lost with unread bytes of the client.
    private func refuse(_ refusal: ConnectRefusal, _ context: ChannelHandlerContext) {
        isOver = true
        sniffer.serving.refusals.count(.proxy)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: refusal.response)), promise: nil)
        context.close(mode: .output, promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.lingering) { bound.value.close(promise: nil) }
    }
}
