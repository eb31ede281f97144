import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import NIOTLS

/// Decides whether a new connection speaks HTTP/2 or HTTP/1.1, and installs the handlers.
///
/// Follows the protocol that TLS negotiated (ALPN). Many senders negotiate none, so the first bytes decide then: an
/// HTTP/2 client begins with a fixed preface (RFC 9113, 3.4). Closes a connection that takes too long.
final class ProtocolSniffer: ChannelInboundHandler, ChannelOutboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer

    /// The bytes that every HTTP/2 client sends first.
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    // A class because the channel calls it, only on its event loop.
    let serving: ProviderServing
    /// Nil without TLS.
    private let tls: ProviderTLS?
    /// The host that the client asked the proxy for; nil without a proxy.
    var providerHost: ProviderHost?
    private let activity = ConnectionActivity(idleSince: .now())
    private var peer = PeerAddress(nil)
    private var timeout: Scheduled<Void>?
    private var received = ByteBuffer()
    private var isReady: Bool
    private var isDecided = false
    /// Whether the TLS handshake failed.
    private var hasFailed = false

    init(_ serving: ProviderServing, tls: ProviderTLS?) {
        self.serving = serving
        self.tls = tls
        isReady = tls == nil
    }

    // MARK: The connection

    /// Closes the connection at once when the table does not admit it.
    func channelActive(context: ChannelHandlerContext) {
        peer = PeerAddress(context.remoteAddress)
        let (channel, table, peer) = (context.channel, serving.table, peer)
        // For every handler that the connection has later. Has no effect for an unknown connection.
        channel.closeFuture.whenComplete { _ in table.close(channel, by: peer) }
        // Opening comes first, because it may close an idle connection.
        let isOpen = table.open(channel, by: peer, activity)
        guard isOpen, table.count <= serving.mostConnections else {
            serving.refusals.count(isOpen ? .capacity : .peerShare)
            return context.closeAtOnce()
        }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        timeout = context.eventLoop.scheduleTask(in: serving.limits.handshake) { bound.value.close(promise: nil) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timeout?.cancel()
        context.fireChannelInactive()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        // Later handlers see these first and decide; before they exist, no request has begun.
        guard event is ConnectionTable.CloseIfIdle || event is StopConnection else {
            return context.triggerUserOutboundEvent(event, promise: promise)
        }
        if !isDecided { context.closeAtOnce() }
        promise?.succeed()
    }

    /// Failed handshakes are common on the internet, so they are not logged.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isDecided else { return context.fireErrorCaught(error) }
        // A failed handshake may cause several errors. A client may also just end the connection.
        if error is NIOSSLError, !isReady, !hasFailed {
            hasFailed = true
            serving.refusals.count(.handshake)
        }
        context.close(promise: nil)
    }

    // MARK: The decision

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted(let negotiated)? = event as? TLSUserEvent else {
            if case .inputClosed? = event as? ChannelEvent, !isDecided { return context.close(promise: nil) }
            return context.fireUserInboundEventTriggered(event)
        }
        isReady = true
        switch negotiated {
        case "h2": install(.http2, context)
        case "http/1.1": install(.http1, context)
        default: decide(context)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDecided else { return context.fireChannelRead(data) }
        var piece = unwrapInboundIn(data)
        received.writeBuffer(&piece)
        decide(context)
    }

    private func decide(_ context: ChannelHandlerContext) {
        guard isReady, received.readableBytes > 0 else { return }
        let known = received.readableBytesView.prefix(Self.preface.count)
        guard Self.preface.starts(with: known) else { return install(.http1, context) }
        if known.count == Self.preface.count { install(.http2, context) }
    }

    private func install(_ version: ProviderConnection.Version, _ context: ChannelHandlerContext) {
        isDecided = true
        timeout?.cancel()
        let connection = ProviderConnection(
            peer: peer, address: context.remoteAddress?.ipAddress ?? "", isTLS: tls != nil,
            isLoopback: context.remoteAddress?.isLoopback ?? false, version: version,
            certificate: tls?.clientCertificate(of: context.pipeline), providerHost: providerHost)
        do {
            switch version {
            case .http1: try installHTTP1(connection, context)
            case .http2: try installHTTP2(connection, context)
            }
        } catch {
            // The pipeline is closed.
            return context.close(promise: nil)
        }
        if received.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(received))
            context.fireChannelReadComplete()
        }
        received = ByteBuffer()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    private func installHTTP2(_ connection: ProviderConnection, _ context: ChannelHandlerContext) throws {
        let tap = FrameTap(preface: Self.preface.count)
        let requests = HTTP2Requests(serving, connection: connection, activity: activity, tap: tap)
        let frames = NIOHTTP2Handler(
            mode: .server, frameDelegate: requests, connectionConfiguration: serving.limits.connection,
            streamConfiguration: serving.limits.stream)
        try add([tap, frames, requests], context)
    }

    /// Adds handlers behind this one, in their order: each may use those before it at once.
    private func add(_ handlers: [any ChannelHandler], _ context: ChannelHandlerContext) throws {
        for handler in handlers { try context.pipeline.syncOperations.addHandler(handler) }
    }

    private func installHTTP1(_ connection: ProviderConnection, _ context: ChannelHandlerContext) throws {
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderListSize = serving.limits.headerList
        let limits = ConnectionLimits()
        let gate = InputGate(heldLimit: limits.heldBytes)
        let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: decoding)
        try add(
            [
                gate, HTTPResponseEncoder(), ByteToMessageHandler(decoder),
                RequestGuard(gate: gate, limits: limits, table: serving.table, registered: activity),
                HTTPServerPipelineHandler(), HTTP1Requests(serving, connection: connection),
            ], context)
        context.fireChannelActive()
    }
}

extension ProviderLimits {
    /// The settings that the server announces, and the limits of the library.
    fileprivate var connection: NIOHTTP2Handler.ConnectionConfiguration {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: streams),
            HTTP2Setting(parameter: .initialWindowSize, value: streamWindow),
            HTTP2Setting(parameter: .maxFrameSize, value: 16_384),
            HTTP2Setting(parameter: .maxHeaderListSize, value: headerList),
        ]
        return configuration
    }

    /// Switches off the library's limit on RST_STREAM, which honest clients exceed: ``FrameMeter`` has a wider one.
    /// Only events of one instant count together.
    fileprivate var stream: NIOHTTP2Handler.StreamConfiguration {
        var configuration = NIOHTTP2Handler.StreamConfiguration()
        configuration.streamResetFrameRateLimit.windowLength = .zero
        configuration.streamResetFrameRateLimit.maximumCount = 16
        return configuration
    }
}

extension SocketAddress {
    /// Whether only this machine has the address.
    var isLoopback: Bool { ipAddress.map { ListenAddress(host: $0, port: 0).isLoopback } ?? false }
}
