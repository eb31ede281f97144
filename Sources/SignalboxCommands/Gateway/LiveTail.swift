import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxServer
import Synchronization

/// Prints occurrences of a running gateway as they happen, for `signalbox tail`. After a lost connection, reconnects
/// and resumes at the same position.
package struct LiveTail: Sendable {
    /// The selection of occurrences, as the API reads it.
    package struct Request: Sendable {
        /// Frames to receive, such as `event` and `delivery`. `stats` adds counts once a second.
        package var types: [String] = ["event", "delivery", "destination"]
        /// The JSON text of an event pattern, for frames of events.
        package var pattern: String?
        /// Ends the run after this number of lines. Frames of counts and of gaps are lines too.
        package var limit: Int?

        /// Every kind of frame except counts, without an end.
        package init() {}

        /// The vendor that ``select(vendor:)`` chose.
        fileprivate var vendor: String?

        /// A pattern for the events of one vendor. Throws if there is a pattern already.
        package mutating func select(vendor: String?) throws(CommandFailure) {
            guard let vendor else { return }
            guard pattern == nil else { throw .refused("Use --vendor or --filter, not both.") }
            self.vendor = vendor
            pattern = JSONText.members { json in
                json.object("data") { json in json.member("vendor", [vendor]) }
            }
        }

        /// Why a list of types, separated by commas, is not one that the gateway accepts; nil if it is.
        package static func mistake(inTypes text: String) -> String? {
            let words = Set(text.split(separator: ",").map(String.init))
            guard words.isEmpty || !words.isSubset(of: LiveSelection.types) else { return nil }
            return "Invalid --types \(text): write some of \(LiveSelection.types.joined(separator: ",")), with commas."
        }

        /// The query of `GET /v1/stream`, percent-encoded. Without a pattern, only `types`.
        var query: String {
            var parts = ["types=\(types.joined(separator: ",").percentEncoded)"]
            if let pattern { parts.append("pattern=\(pattern.percentEncoded)") }
            return parts.joined(separator: "&")
        }
    }

    private let connection: GatewayConnection
    private let request: Request
    private let clock: any Clock<Duration>
    /// Seconds without a byte after which a connection counts as lost.
    private let silence: Int

    /// The most frames that wait to be printed; a slower terminal reconnects, and the gateway reports the gap.
    private static let mostWaiting = 4096
    /// The wait before a new connection.
    private static let pause: Duration = .seconds(1)
    /// The largest list of vendors that is read, and the longest time to wait for it.
    private static let (listBytes, listTime) = (32 << 20, Duration.seconds(30))
    /// The longest life of a connection.
    private static let longest: Duration = .seconds(86_400)

    /// `silence`: seconds without a byte after which a connection counts as lost. The gateway sends a comment after 15
    /// seconds without a frame. `clock`: measures the pauses between connections. Tests replace both.
    package init(
        _ connection: GatewayConnection, _ request: Request, silence: Int = 60,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.connection, self.request, self.silence, self.clock) = (connection, request, silence, clock)
    }

    /// Passes each line to `show`, without its line end. `warn` receives a sentence when the connection is lost.
    /// Returns after ``Request/limit`` lines. Throws for a vendor that the gateway does not know, if the first
    /// connection fails or the gateway refuses a request, and ``CommandFailure/interrupted`` after
    /// ``GatewayConnection/stop()``. A later connection resumes after the last frame that was shown, and the gateway
    /// reports a gap.
    package func run(asJSON: Bool, show: (String) -> Void, warn: (String) -> Void) async throws(CommandFailure) {
        try await checkSelection(warn)
        var (position, shown, hasConnected) = (String?.none, 0, false)
        while true {
            let stream = LiveConnection(mostWaiting: Self.mostWaiting)
            let start = position
            async let ending = connect(stream, after: start)
            for await frame in stream.frames {
                position = frame.id ?? position
                show(asJSON ? LiveLine.json(frame) : LiveLine.text(frame))
                shown += 1
                if let limit = request.limit, shown >= limit {
                    connection.stop()
                    return
                }
            }
            let answer = await ending
            position = stream.lastID ?? position
            let wasOpen = stream.hasBegun
            hasConnected = hasConnected || wasOpen
            try check(answer, hasConnected: hasConnected, &position)
            if wasOpen { warn(loss(answer)) }
            do { try await clock.sleep(for: Self.pause) } catch { throw .interrupted }
        }
    }

    /// Asks the gateway for the vendors that it knows: an unknown vendor would match no event, and the command would
    /// never print an event. Gateways of earlier versions do not name them. Does not ask without a pattern. `warn`
    /// receives doubts about the pattern, such as a vendor that no event has.
    private func checkSelection(_ warn: (String) -> Void) async throws(CommandFailure) {
        guard let pattern = request.pattern else { return }
        let reply = try await connection.answer(
            to: OutboundRequest(
                method: .get, url: "\(connection.address.root)/v1/vendors", headers: connection.headers(),
                timeout: Self.listTime, keptBytes: Self.listBytes))
        guard reply.status == 200 else { throw Self.refusal(reply) }
        let known = JSONParser.read(reply.excerpt) { $0["known"]?.elements.compactMap(\.string) }
        guard let known else { return }
        if let vendor = request.vendor { return try KnownNames.check(vendor: vendor, among: known) }
        FilterCheck.warnings(about: pattern, vendors: Set(known)).forEach(warn)
    }

    /// The failure for an answer that is not a success.
    private static func refusal(_ reply: OutboundReply) -> CommandFailure {
        let hint = reply.isAboutAccess ? " Name an operator's token with --admin-token or SIGNALBOX_ADMIN_TOKEN." : ""
        return .refused(reply.detail + hint)
    }

    /// One connection until it ends. Finishes the stream. `position`: the stream resumes after it; nil begins with the
    /// next occurrence.
    private func connect(_ stream: LiveConnection, after position: String?) async -> Result<
        OutboundReply, TransportError
    > {
        let resumption = position.map { [(name: "last-event-id", value: $0)] } ?? []
        var request = OutboundRequest(
            method: .get, url: "\(connection.address.root)/v1/stream?\(request.query)",
            headers: connection.headers(resumption), timeout: Self.longest, keptBytes: 64 * 1024,
            keptHeaders: ["content-type"])
        (request.sink, request.longestSilence) = (stream.sink, silence)
        let answer = await connection.http.attempt(request).answer
        stream.finish()
        return answer
    }

    /// The sentence about an open connection that ended.
    private func loss(_ answer: Result<OutboundReply, TransportError>) -> String {
        if case .failure(.timeoutReplying) = answer {
            return "The gateway sent nothing for \(silence) s; reconnecting."
        }
        return "Connection lost; reconnecting."
    }

    /// Decides whether to connect again; throws if not. Throws if the first connection fails, or if the server is not a
    /// gateway. After a connection has been open, lost connections and statuses from 500 on permit another attempt. A
    /// gateway that restarted does not know the position.
    private func check(
        _ answer: Result<OutboundReply, TransportError>, hasConnected: Bool, _ position: inout String?
    ) throws(CommandFailure) {
        switch answer {
        case .failure(.stopped): throw .interrupted
        case .failure(let error):
            if !hasConnected { throw .refused(connection.unreachable(error)) }
        case .success(let reply) where reply.status == 200:
            guard hasConnected || isEventStream(reply.headers) else { throw .refused(reply.otherServerDetail) }
        case .success(let reply) where reply.status == 400 && hasConnected && position != nil: position = nil
        case .success(let reply) where hasConnected && reply.status >= 500: break
        case .success(let reply): throw Self.refusal(reply)
        }
    }
}

/// True for a stream of server-sent events; false for a page of a server that is not a gateway.
private func isEventStream(_ headers: [String: String]) -> Bool {
    headers["content-type", default: ""].lowercased().hasPrefix("text/event-stream")
}

/// The frames of one connection. A class because the client's thread writes what a task reads.
private final class LiveConnection: Sendable {
    /// Buffers at most `mostWaiting` frames; they are lost when the reader ends the loop.
    let frames: AsyncStream<ServerSentEvents.Frame>
    private let continuation: AsyncStream<ServerSentEvents.Frame>.Continuation
    /// `hasDropped` is true once a frame has been dropped, which ends the connection.
    private let state = Mutex((events: ServerSentEvents(), hasBegun: false, hasDropped: false))

    init(mostWaiting: Int) {
        (frames, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(mostWaiting))
    }

    /// The last position of the stream; nil before the first, and if a frame after it has been dropped.
    var lastID: String? { state.withLock { $0.hasDropped ? nil : $0.events.lastID } }
    /// True once the gateway has accepted the request.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// Ends the connection when the reader is too slow or the gateway sends no stream.
    var sink: ReplySink {
        ReplySink(
            begin: { [self] head in
                guard isEventStream(head.headers) else { return false }
                state.withLock { $0.hasBegun = true }
                return true
            },
            receive: { [self] bytes in
                state.withLock { state in
                    var isDropped = false
                    do throws(ServerSentEvents.TooLong) {
                        try state.events.read(bytes) { frame in
                            if case .dropped = continuation.yield(frame) { isDropped = true }
                        }
                    } catch {
                        return false
                    }
                    state.hasDropped = isDropped
                    return !isDropped
                }
            })
    }

    /// Called once the connection has ended. Frames that wait are still delivered.
    func finish() { continuation.finish() }
}
