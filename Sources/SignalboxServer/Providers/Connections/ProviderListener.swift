import NIOCore
import NIOPosix
import ServiceLifecycle

/// A listener of the provider endpoints: HTTP/2 and HTTP/1.1, with TLS or without, or in the tunnels of a proxy.
struct ProviderListener: Sendable {
    /// Resolved when the listener starts.
    let address: ListenAddress
    /// The certificate of the active config, read for each connection; nil without TLS.
    let tls: @Sendable () -> ProviderTLS?
    let serving: ProviderServing
    /// The option with the address. A `.proxy` serves tunnels.
    var option = ListenError.Listener.apns
    /// Called once with the address in use, whose port is the assigned one when port 0 was requested.
    let onListening: @Sendable (ListenAddress) async -> Void

    /// The most connections, unless the limit on open files allows fewer.
    static let connections = 32_768
    /// How long a stop waits for requests in progress.
    private static let stopTime: Duration = .seconds(5)

    /// Serves until a graceful shutdown, and ends all connections gracefully then. Also ends when the task is
    /// cancelled. `channel`: the result of ``listen()``. Returns at the latest five seconds after the shutdown began.
    func run(_ channel: any Channel) async {
        await onListening(ListenAddress(host: address.host, port: channel.localAddress?.port ?? 0))
        let table = serving.table
        await withTaskGroup { group in
            // Ends when it is cancelled.
            group.addTask { try? await FreedMemory.release { table.hasFallen() } }
            try? await gracefulShutdown()
            group.cancelAll()
        }
        await stop(channel)
    }

    /// Opens the address; connections are served at once. Throws ``ListenError`` when the address is not available.
    func listen() async throws -> any Channel {
        let (serving, tls, isProxy) = (serving, tls, option == .proxy)
        let bootstrap = ServerBootstrap(group: HTTPService.eventLoops)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            // A client may end its output before it receives its response.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            // An idle connection keeps a piece of the smallest size. The largest one bounds the responses to one read.
            .childChannelOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1024, maximum: 16_384)
            )
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 16_384, high: 65_536))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try Self.install(on: channel, serving, tls(), isProxy: isProxy)
                }
            }
        do {
            return try await bootstrap.bind(host: address.host, port: address.port).get()
        } catch {
            throw ListenError.translated(error, at: address, option: option)
        }
    }

    /// The first handlers of a connection.
    private static func install(
        on channel: any Channel, _ serving: ProviderServing, _ tls: ProviderTLS?, isProxy: Bool
    ) throws {
        let sniffer = ProtocolSniffer(serving, tls: tls)
        if let tls {
            let first: any ChannelHandler =
                isProxy ? ProxyTunnel(tls, before: sniffer, limit: serving.limits.headerList) : tls.handler()
            try channel.pipeline.syncOperations.addHandler(first)
        } else {
            precondition(!isProxy, "The surface of a proxy has a certificate.")
        }
        try channel.pipeline.syncOperations.addHandler(sniffer)
    }

    /// Accepts no further connection, and ends the present ones.
    private func stop(_ channel: any Channel) async {
        try? await channel.close()
        let open = serving.table.all
        for connection in open { connection.triggerUserOutboundEvent(StopConnection(), promise: nil) }
        await withTaskGroup { group in
            group.addTask {
                for connection in open { try? await connection.closeFuture.get() }
            }
            group.addTask { try? await ContinuousClock().sleep(for: Self.stopTime) }
            await group.next()
            for connection in open { connection.close(promise: nil) }
            group.cancelAll()
        }
    }
}
