import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import SignalboxNotification
import SignalboxStore

/// An HTTP/1.1 server with the limits of docs/reference/http.md.
struct HTTPService {
    /// Resolved when the server starts.
    let address: ListenAddress
    /// Requests log with their id as `hb.request.id`.
    let logger: Logger
    /// Watched for the end of a flood, when free memory is returned to the system.
    let budget: BodyBudget
    /// Called once with the address in use, whose port is the assigned one when port 0 was requested.
    let onListening: @Sendable (ListenAddress) async -> Void

    /// Tests shorten them.
    var limits = ConnectionLimits()
    /// False when another listener shares the limit on open files.
    var isAlone = true
    /// Ends a stop that takes too long.
    var delayed = DelayedCall.onQueue

    /// The most connections of the server, unless the limit on open files allows fewer.
    private static let connections = 8192
    /// Connections accepted beyond the capacity of the table. While none is idle, further ones wait to be accepted.
    static let reserve = 16
    /// Half as many threads as cores, for the life of the process: the other cores write the queue and deliver.
    static let eventLoops = MultiThreadedEventLoopGroup(numberOfThreads: max(1, System.coreCount / 2))
    /// How long a stop waits for requests in progress.
    private static let stopTime: Duration = .seconds(5)
    /// How long it waits afterwards for requests that a disk holds up: by then, their commits have ended or failed.
    static let hangTime = StoreLimits.patience - stopTime

    /// Serves until a graceful shutdown. `direct`: answers the requests that it accepts, before `responder`. Throws
    /// ``ListenError`` when the address is not available. Returns at the latest five seconds after the shutdown began,
    /// and ten more if the disk of a request hangs.
    func run<Responder: HTTPResponder>(_ responder: Responder, direct: DirectResponder? = nil) async throws
    where Responder.Context == GatewayRequestContext {
        let (host, limits) = (address.host, limits)
        let (onListening, budget) = (onListening, budget)
        let connections = OpenFiles.connections(atMost: Self.connections, besides: isAlone ? 0 : 1)
        let table = ConnectionTable(capacity: max(1, connections - Self.reserve))
        let application = Application(
            responder: ContinueResponder(next: responder),
            server: HTTPServerBuilder { responder in
                GuardedChannel(
                    http: HTTP1Channel(responder: responder), responder: direct, limits: limits, table: table)
            },
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: address.port), backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(connections)),
            onServerRunning: { channel in
                await onListening(ListenAddress(host: host, port: channel.localAddress?.port ?? 0))
            },
            eventLoopGroupProvider: .shared(Self.eventLoops),
            logger: logger)
        do {
            try await runUntilStop {
                try await application.run()
            } whileReleasing: {
                let (connections, bodies) = (table.hasFallen(), budget.hasFallen())
                return connections || bodies
            }
        } catch {
            throw ListenError.translated(error, at: address)
        }
    }

    /// Runs a server until a graceful shutdown and ``stopTime`` after it: a slow client must not keep the process, and
    /// a disk not longer than ``hangTime``. Throws the error of `server` if it ends first. `hasFallen`: asked once a
    /// minute.
    private func runUntilStop(
        _ server: @Sendable @escaping () async throws -> Void, whileReleasing hasFallen: @Sendable @escaping () -> Bool
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await delayed.result(afterCancellation: Self.hangTime) { await Result(awaiting: server) }?.get()
            }
            group.addTask {
                try await gracefulShutdown()
                try await ContinuousClock().sleep(for: Self.stopTime)
            }
            group.addTask { try await FreedMemory.release(when: hasFallen) }
            try await group.next()
            group.cancelAll()
        }
    }
}

/// The server cannot listen on its address.
package struct ListenError: Error, CustomStringConvertible {
    /// The address from the config or the command line.
    package let address: ListenAddress
    /// The system's words, such as "Address already in use".
    package let reason: String
    /// The listener that has the address.
    var option = Listener.http

    /// The listener, for the option that the message names.
    enum Listener: Sendable {
        /// The API of the gateway, or the receiver of `signalbox listen`.
        case http
        /// The provider endpoints.
        case apns
        /// The HTTPS proxy that leads senders to the provider endpoints.
        case proxy
    }

    /// The error for an address that is not available; any other error unchanged.
    static func translated(_ error: any Error, at address: ListenAddress, option: Listener = .http) -> any Error {
        switch error {
        case let error as IOError:
            ListenError(address: address, reason: String(cString: strerror(error.errnoCode)), option: option)
        case let error as SocketAddressError.UnknownHost:
            ListenError(address: address, reason: error.errorDescription, option: option)
        case let error as SocketAddressError: ListenError(address: address, reason: "\(error)", option: option)
        default: error
        }
    }

    /// One sentence about the failure and one that names the option to change.
    package var description: String {
        let remedy =
            switch option {
            case .http: "with --listen"
            case .apns: "in gateway.listen.apns"
            case .proxy: "in gateway.listen.proxy"
            }
        return "Cannot listen on \(address): \(reason). Choose another address \(remedy)."
    }
}
