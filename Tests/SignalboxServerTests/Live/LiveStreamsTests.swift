import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import SignalboxConfig
import SignalboxEgress
import Testing

@testable import SignalboxServer

@Suite struct LiveStreamsTests {
    private static let head = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1", path: "/v1/stream")

    private static func open(_ streams: LiveStreams, of actor: Operator = .local) -> Result<LiveStream, Problem> {
        Result { () throws(Problem) in try streams.open(head, of: actor, on: EmbeddedChannel()) }
    }

    @Test func refusesTheNinthStream() throws {
        let streams = LiveStreams()
        var open = try (0..<LiveStreams.most).map { _ in try Self.open(streams).get() }
        guard case .failure(let problem) = Self.open(streams) else {
            Issue.record("The ninth stream was opened.")
            return
        }
        #expect(problem.status == .serviceUnavailable && problem.code == "too-many-streams")
        #expect(problem.headers[.retryAfter] == "5")
        #expect(streams.count == LiveStreams.most)
        // A stream leaves when it is dropped, whether or not its response was written.
        open.removeLast()
        #expect(streams.count == LiveStreams.most - 1)
        #expect(throws: Never.self) { try Self.open(streams).get() }
        withExtendedLifetime(open) {}
    }

    @Test func aStopRefusesFurtherStreams() throws {
        let streams = LiveStreams()
        streams.close()
        guard case .failure(let problem) = Self.open(streams) else {
            Issue.record("A stream was opened during a stop.")
            return
        }
        #expect(problem.code == "streams-closed")
    }

    @Test func aReaderThatStallsForAMinuteIsDisconnected() async throws {
        let (streams, channel) = (LiveStreams(), NIOAsyncTestingChannel())
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        let stream = try streams.open(Self.head, of: .local, on: channel)
        let (writes, began) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            var writer: any ResponseBodyWriter = StalledWriter(began: began)
            try await stream.write({ [1] }, every: .seconds(1), to: &writer)
        }
        for await _ in writes { break }
        await channel.testingEventLoop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        await channel.testingEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
        task.cancel()
        _ = await task.result
    }

    /// A client that reads no byte.
    private struct StalledWriter: ResponseBodyWriter {
        let began: AsyncStream<Void>.Continuation

        /// Ends with the task only.
        func write(_ buffer: ByteBuffer) async throws {
            began.yield()
            let (never, _) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
        }

        func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    /// A reader that does not read cannot end its response.
    @Test func aStopClosesTheConnectionOfAReaderThatStalls() throws {
        let (streams, channel) = (LiveStreams(), EmbeddedChannel())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let stream = try streams.open(Self.head, of: .local, on: channel)
        streams.close()
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
        withExtendedLifetime(stream) {}
    }

    @Test func aReloadEndsTheStreamsOfOtherAccessOnly() throws {
        let (streams, channels) = (LiveStreams(), [EmbeddedChannel(), EmbeddedChannel()])
        for channel in channels { try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait() }
        let other = Operator(name: "rita", role: .reader, readsContent: false)
        let open = [
            try streams.open(Self.head, of: .local, on: channels[0]),
            try streams.open(Self.head, of: other, on: channels[1]),
        ]
        streams.revoke(by: AdminAccess(tokens: [], isOpen: true))
        for channel in channels { channel.embeddedEventLoop.advanceTime(by: .seconds(1)) }
        #expect(channels.map(\.isActive) == [true, false])
        withExtendedLifetime(open) {}
    }
}
