import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A webhook endpoint on loopback that measures the time of each event from its acceptance to its arrival.
///
/// Its HTTP is minimal, because it shares the cores with the gateway that it measures. Understands the webhooks of
/// this gateway only: structured events with a body.
public final class ReceiverMeasure: Sendable {
    // A class because connections and the benchmark share it.
    /// `wanted`: the number of arrivals that resumes `done`.
    private struct State {
        /// Grows by eight bytes for each arrival.
        var delays: [Double] = []
        /// Arrivals in all, not since the last wait.
        var wanted = Int.max
        /// Nil while no task waits.
        var done: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Measures from the first request on.
    public init() {}

    /// Milliseconds from the event's `time` to its arrival, in the order of arrival. Includes the time in the queue
    /// and on the connection. Both clocks are that of this machine.
    public var delays: [Double] { state.withLock { $0.delays } }

    /// Serves while `body` runs, which receives the address to send to. Listens on a free port of 127.0.0.1, on one
    /// event loop, and closes before it returns.
    public func run<R: Sendable>(_ body: @Sendable @escaping (_ url: String) async throws -> R) async throws -> R {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
                    try pipeline.addHandler(ArrivalHandler { [self] in note($0) })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let result: Result<R, any Error>
        do {
            result = .success(try await body("http://127.0.0.1:\(channel.localAddress?.port ?? 0)/"))
        } catch {
            result = .failure(error)
        }
        try await channel.close()
        try await group.shutdownGracefully()
        return try result.get()
    }

    /// Returns once this many events have arrived in all. One task at a time may wait.
    public func wait(for count: Int) async {
        await withCheckedContinuation { done in
            let isThere = state.withLock { state in
                state.wanted = count
                if state.delays.count < count { state.done = done }
                return state.delays.count >= count
            }
            if isThere { done.resume() }
        }
    }

    /// Called on the event loop.
    private func note(_ body: ByteBuffer) {
        let delay = Date().timeIntervalSince1970 - Self.acceptedAt(body)
        let done = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.delays.append(delay * 1000)
            guard state.delays.count >= state.wanted else { return nil }
            defer { state.done = nil }
            return state.done
        }
        done?.resume()
    }

    /// The time of an event that this gateway wrote: `"time":"2026-11-20T21:29:00.123Z"`, read without a parser,
    /// because the receiver shares the cores with the gateway that it measures. The present if there is no such
    /// member, so the delay is zero.
    private static func acceptedAt(_ body: ByteBuffer) -> Double {
        body.withUnsafeReadableBytes { bytes in
            // Eight bytes, so that one comparison suffices.
            let mark = Array(#""time":""#.utf8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
            let start = bytes.indices.dropLast(31).first {
                bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self) == mark
            }
            guard let start else { return Date().timeIntervalSince1970 }
            let text = UnsafeRawBufferPointer(rebasing: bytes[(start + 8)...])
            return seconds(text)
        }
    }

    /// `text`: at least 24 bytes. Traps for fewer.
    private static func seconds(_ text: UnsafeRawBufferPointer) -> Double {
        func number(_ from: Int, _ count: Int) -> Int {
            text[from..<from + count].reduce(0) { $0 * 10 + Int($1) - 48 }
        }
        var time = tm()
        time.tm_year = Int32(number(0, 4) - 1900)
        time.tm_mon = Int32(number(5, 2) - 1)
        time.tm_mday = Int32(number(8, 2))
        time.tm_hour = Int32(number(11, 2))
        time.tm_min = Int32(number(14, 2))
        time.tm_sec = Int32(number(17, 2))
        return Double(timegm(&time)) + Double(number(20, 3)) / 1000
    }
}

/// Passes on the body of every request and answers it with 204. Keeps the connection open, as a receiver with
/// keep-alive does.
private final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    // A class because a channel calls it, on its event loop only.
    /// Called once for each request, when its last byte has arrived.
    private let arrived: (ByteBuffer) -> Void
    /// The body of the request that is arriving; each connection has a handler of its own.
    private var body = ByteBuffer()
    /// Without a body, so the connection can be used again at once.
    private let answer = ByteBuffer(string: "HTTP/1.1 204 No Content\r\n\r\n")

    init(_ arrived: @escaping (ByteBuffer) -> Void) { self.arrived = arrived }

    /// Part of SwiftNIO's protocol for handlers.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: body.clear()
        case .body(var piece):
            if body.readableBytes == 0 { body = piece } else { body.writeBuffer(&piece) }
        case .end:
            arrived(body)
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        }
    }
}
