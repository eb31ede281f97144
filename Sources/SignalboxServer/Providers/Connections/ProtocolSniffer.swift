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
    /// Shared with the table of connections, which closes the one that has been idle longest.
    private let activity = ConnectionActivity(idleSince: .now())
    /// Known once the channel is active.
    private var peer = PeerAddress(nil)
    /// The numeric address of the client; empty when it has none.
    private var address = ""
    /// Ends a connection that does not decide within ``ProviderLimits/handshake``.
    private var timeout: Scheduled<Void>?
    /// Bytes before the decision. The handlers of the protocol read them first.
    private var received = ByteBuffer()
    /// Whether bytes are plain: from the start without TLS, otherwise after the handshake.
    private var isReady: Bool
    /// Whether the handlers of a protocol are installed. Events then pass unchanged.
    private var isDecided = false
    /// Whether the TLS handshake failed, or took too long.
    private var hasFailed = false

    /// `tls`: of the listener, or of the tunnels of a proxy; nil for plain HTTP.
    init(_ serving: ProviderServing, tls: ProviderTLS?) {
        (self.serving, self.tls) = (serving, tls)
        isReady = tls == nil
    }

    // MARK: The connection

    /// Closes the connection at once when the table does not admit it.
    func channelActive(context: ChannelHandlerContext) {
        peer = PeerAddress(context.remoteAddress)
        address = context.remoteAddress?.ipAddress ?? ""
        let (channel, table, peer) = (context.channel, serving.table, peer)
        // For every handler that the connection has later. Has no effect for an unknown connection.
        channel.closeFuture.whenComplete { _ in table.close(channel, by: peer) }
        // Opening comes first, because it may close an idle connection.
        let isOpen = table.open(channel, by: peer, activity)
        guard isOpen, table.count <= serving.mostConnections else {
            serving.refusals.count(isOpen ? .capacity : .peerShare)
            return context.closeAtOnce()
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timeout = context.eventLoop.scheduleTask(in: serving.limits.handshake) {
            let (sniffer, context) = bound.value
            sniffer.expire(context)
        }
        context.fireChannelActive()
    }

    /// Closes a connection that took too long.
    private func expire(_ context: ChannelHandlerContext) {
        // The end of TLS may cause an error, which is not another failure.
        hasFailed = true
        serving.refusals.count(.timeout)
        context.close(promise: nil)
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

    /// Counts and logs a failed handshake once, then closes.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isDecided else { return context.fireErrorCaught(error) }
        // A failed handshake may cause several errors. A client may also just end the connection.
        if let error = error as? NIOSSLError, !isReady, !hasFailed {
            hasFailed = true
            serving.refusals.count(.handshake)
            if let fault = HandshakeFault(error) { serving.handshakes?.record(fault, from: peer, address: address) }
        }
        context.close(promise: nil)
    }

    // MARK: The decision

    /// Follows ALPN. If the handshake agreed on no protocol, the first bytes decide.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .handshakeCompleted(let negotiated)? = event as? TLSUserEvent else {
            if case .inputClosed? = event as? ChannelEvent, !isDecided { return context.close(promise: nil) }
            return context.fireUserInboundEventTriggered(event)
        }
        isReady = true
        switch negotiated {
        case "h2": install(installHTTP2, context)
        case "http/1.1": install(installHTTP1, context)
        default: decide(context)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDecided else { return context.fireChannelRead(data) }
        var piece = unwrapInboundIn(data)
        received.writeBuffer(&piece)
        decide(context)
    }

    /// Waits while the bytes so far are a part of the preface.
    private func decide(_ context: ChannelHandlerContext) {
        guard isReady, received.readableBytes > 0 else { return }
        let known = received.readableBytesView.prefix(Self.preface.count)
        guard Self.preface.starts(with: known) else { return install(installHTTP1, context) }
        if known.count == Self.preface.count { install(installHTTP2, context) }
    }

    /// Installs the handlers, passes the bytes so far on to them, and removes this handler.
    private func install(
        _ handlers: (ProviderConnection, ChannelHandlerContext) throws -> Void, _ context: ChannelHandlerContext
    ) {
        isDecided = true
        timeout?.cancel()
        let connection = ProviderConnection(
            peer: peer, address: address, isLoopback: context.remoteAddress?.isLoopback ?? false,
            certificate: tls?.clientCertificate(of: context.pipeline), providerHost: providerHost)
        do {
            try handlers(connection, context)
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

    /// ``IdleFrames`` makes the library's handler when a frame requires it.
    private func installHTTP2(_ connection: ProviderConnection, _ context: ChannelHandlerContext) throws {
        let tap = FrameTap(preface: Self.preface.count)
        let requests = HTTP2Requests(serving, connection: connection, activity: activity, tap: tap)
        let frames = IdleFrames(serving.limits.settings, tap: tap) {
            let limits = requests.serving.limits
            return NIOHTTP2Handler(
                mode: .server, frameDelegate: requests, connectionConfiguration: limits.connection,
                streamConfiguration: limits.stream)
        }
        try add([tap, frames, requests], context)
    }

    /// Adds handlers behind this one, in their order: each may use those before it at once.
    private func add(_ handlers: [any ChannelHandler], _ context: ChannelHandlerContext) throws {
        for handler in handlers { try context.pipeline.syncOperations.addHandler(handler) }
    }

    /// The guards of the API check heads and deadlines first. Their handlers expect a channel that becomes active.
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

/// A value of SETTINGS (RFC 9113, 6.5).
struct ConnectionSetting {
    /// Such as 3, SETTINGS_MAX_CONCURRENT_STREAMS (RFC 9113, 6.5.2).
    let id: UInt16
    let value: Int
}

extension ProviderLimits {
    /// The settings that the server announces.
    fileprivate var settings: [ConnectionSetting] {
        [
            // SETTINGS_MAX_CONCURRENT_STREAMS, SETTINGS_INITIAL_WINDOW_SIZE
            ConnectionSetting(id: 3, value: streams), ConnectionSetting(id: 4, value: streamWindow),
            // SETTINGS_MAX_FRAME_SIZE, SETTINGS_MAX_HEADER_LIST_SIZE
            ConnectionSetting(id: 5, value: 16_384), ConnectionSetting(id: 6, value: headerList),
        ]
    }

    /// The same settings, and the limits of the library. ``HTTP2Requests`` refuses streams beyond those announced, and
    /// the connection stays; the library would end the connection.
    fileprivate var connection: NIOHTTP2Handler.ConnectionConfiguration {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = settings.map {
            let parameter = HTTP2SettingsParameter(extensionSetting: Int($0.id))
            let isStreams = parameter == .maxConcurrentStreams
            return HTTP2Setting(parameter: parameter, value: $0.value + (isStreams ? Self.excessStreams : 0))
        }
        configuration.maximumRecentlyResetStreams = Self.excessStreams
        configuration.controlFrameRateLimit.windowLength = .zero
        configuration.controlFrameRateLimit.maximumCount = Self.leastRate
        return configuration
    }

    /// Limits that are switched off: only events of one instant count together. ``FrameMeter`` has limits that take
    /// less memory, and a wider one on RST_STREAM, which honest clients exceed. The library's limit on all glitches of
    /// a connection is stricter than its limit on the rate of stream errors.
    fileprivate var stream: NIOHTTP2Handler.StreamConfiguration {
        var configuration = NIOHTTP2Handler.StreamConfiguration()
        configuration.streamResetFrameRateLimit.windowLength = .zero
        configuration.streamResetFrameRateLimit.maximumCount = Self.leastRate
        configuration.streamErrorRateLimit.windowLength = .zero
        configuration.streamErrorRateLimit.maximumCount = Self.leastRate
        return configuration
    }

    /// Events at one instant that limits permit although they are switched off.
    private static let leastRate = 16

    /// Streams beyond those announced that a client may begin at once, before it has read the settings.
    private static let excessStreams = 256
}

extension SocketAddress {
    /// Whether only this machine has the address.
    var isLoopback: Bool { ipAddress.map { ListenAddress(host: $0, port: 0).isLoopback } ?? false }
}
