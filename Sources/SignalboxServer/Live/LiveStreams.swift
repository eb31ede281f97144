import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// The streams in progress, for all configs of the process.
///
/// A class because requests, reloads and the stop of the server share it.
final class LiveStreams: Sendable {
    /// The most streams at the same time.
    static let most = 8
    /// How long a stopped stream has to end its response before its connection is closed.
    private static let farewell: TimeAmount = .milliseconds(250)

    /// The values of a stream that a reload needs.
    private struct Stream: Sendable {
        /// Has the token of the reader.
        let head: HTTPRequest
        /// The operator as the config of the request's beginning names it.
        let actor: Operator
        /// Closed after ``farewell`` if the response does not end by itself.
        let channel: any Channel
        /// Finishing it ends ``LiveStream/write(_:every:to:)``.
        let end: AsyncStream<Void>.Continuation
    }

    private struct State {
        /// True from the beginning of a stop; it stays true.
        var isClosed = false
        /// The access of the newest config; nil before the first reload.
        var access: AdminAccess?
        /// The number of the newest stream. Numbers are not reused.
        var last = 0
        var streams: [Int: Stream] = [:]
    }

    private let state = Mutex(State())

    /// The number of streams in progress.
    var count: Int { state.withLock { $0.streams.count } }

    /// Begins a stream, which ends with the returned object. Throws ``Problem/tooManyStreams`` beyond ``most``, and
    /// ``Problem/streamsClosed`` during a stop, and ``Problem/adminUnauthorized`` for an actor whom a new config
    /// refuses.
    func open(_ head: HTTPRequest, of actor: Operator, on channel: any Channel) throws(Problem) -> LiveStream {
        let (signals, end) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> Result<Int, Problem> in
            guard !state.isClosed else { return .failure(.streamsClosed) }
            // The request may have been checked by the former config, whose streams have ended already.
            if let access = state.access, Self.isOver(head, of: actor, by: access) {
                return .failure(.adminUnauthorized)
            }
            guard state.streams.count < Self.most else { return .failure(.tooManyStreams) }
            state.last += 1
            state.streams[state.last] = Stream(head: head, actor: actor, channel: channel, end: end)
            return .success(state.last)
        }
        return LiveStream(try number.get(), of: self, on: channel, signals, end)
    }

    /// Ends all streams at once, for a stop of the server. Further ones are refused.
    func close() {
        state.withLock { $0.isClosed = true }
        stop { _ in true }
    }

    /// Ends the streams of readers whose access a new config changes.
    func revoke(by access: AdminAccess) {
        state.withLock { $0.access = access }
        stop { Self.isOver($0.head, of: $0.actor, by: access) }
    }

    /// Whether the config grants the request other rights than those that it began with, or none.
    private static func isOver(_ head: HTTPRequest, of actor: Operator, by access: AdminAccess) -> Bool {
        do throws(Problem) { return try access.actor(of: head) != actor } catch { return true }
    }

    /// A stream whose reader does not read cannot end its response, so its connection is closed a moment later.
    private func stop(_ isOver: (Stream) -> Bool) {
        let stopped = state.withLock { $0.streams.filter { isOver($0.value) } }
        for (number, stream) in stopped {
            stream.end.finish()
            stream.channel.eventLoop.scheduleTask(in: Self.farewell) { [self] in
                if state.withLock({ $0.streams[number] != nil }) { stream.channel.close(promise: nil) }
            }
        }
    }

    /// Called once, when the object of the stream is dropped. Frees its place for another reader.
    fileprivate func remove(_ number: Int) { state.withLock { $0.streams[number] = nil } }
}

/// One stream. It leaves the table when it is dropped, even if its response was never written.
final class LiveStream: Sendable {
    // A class because its deinit leaves the table.
    private let number: Int
    private let streams: LiveStreams
    /// Closed when the reader accepts no byte for ``patience``.
    private let channel: any Channel
    /// One element for each tick; finished when the stream must end.
    private let signals: AsyncStream<Void>
    /// Yields a tick, or finishes when the reader is gone.
    private let signal: AsyncStream<Void>.Continuation

    /// A reader that accepts no byte for this time is gone.
    private static let patience: TimeAmount = .seconds(60)

    fileprivate init(
        _ number: Int, of streams: LiveStreams, on channel: any Channel, _ signals: AsyncStream<Void>,
        _ signal: AsyncStream<Void>.Continuation
    ) {
        (self.number, self.streams, self.channel) = (number, streams, channel)
        (self.signals, self.signal) = (signals, signal)
    }

    deinit { streams.remove(number) }

    /// Calls `frames` every `tick` and writes what it returns. Returns after the reader is gone, or when the stream
    /// must end; then the response ends as a whole one.
    func write(
        _ frames: @escaping @Sendable () -> [UInt8], every tick: Duration, to writer: inout any ResponseBodyWriter
    ) async throws {
        let gone = ClientWatch.Signal { [signal] in signal.finish() }
        try await ClientWatch.watching(channel, gone) {
            try await withThrowingTaskGroup { clock in
                clock.addTask { [signal] in
                    while !Task.isCancelled {
                        signal.yield()
                        // The interval of the stream's frames.
                        do { try await Task.sleep(for: tick) } catch { return }
                    }
                }
                for await _ in signals {
                    let bytes = frames()
                    if !bytes.isEmpty { try await write(bytes, to: &writer) }
                }
                clock.cancelAll()
            }
        }
        try await writer.finish(nil)
    }

    /// Waits while the connection has too many unsent bytes, at most ``patience``. Throws once the connection is
    /// closed.
    private func write(_ bytes: [UInt8], to writer: inout any ResponseBodyWriter) async throws {
        let channel = channel
        let alarm = channel.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        defer { alarm.cancel() }
        try await writer.write(ByteBuffer(bytes: bytes))
    }
}
