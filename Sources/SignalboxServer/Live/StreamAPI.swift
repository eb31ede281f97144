import HTTPTypes
import Hummingbird
import SignalboxGateway
import Synchronization

/// `GET /v1/stream`: occurrences as they happen, as server-sent events.
struct StreamAPI: Sendable {
    let observation: Observation
    /// Shared by all configs.
    let streams: LiveStreams

    /// Begins with the next occurrence, or after `last-event-id`. Throws 400 for an invalid parameter or position, 403
    /// for a pattern of a token without content, and 503 for too many streams and during a stop. HEAD receives the
    /// header fields and opens no stream. A stream ends when its reader is gone, when the token loses its rights by a
    /// reload, and when the server stops.
    func stream(_ call: Call) throws(Problem) -> Response {
        guard let actor = call.actor else { preconditionFailure("The endpoint requires an operator.") }
        let selection = try LiveSelection(call)
        let position = try position(call)
        var headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        // For nginx: otherwise it holds frames back.
        headers[text: "x-accel-buffering"] = "no"
        guard call.request.method == .get else { return Response(status: .ok, headers: headers) }
        let stream = try streams.open(call.request.head, of: actor, on: call.context.channel)
        let clock = observation.clock
        let session = LiveSession(selection, of: observation, after: position, at: clock.nanoseconds())
        let tick = session.tick
        let state = LiveState(session)
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                try await stream.write({ state.bytes(at: clock.nanoseconds()) }, every: tick, to: &writer)
            })
    }

    /// Nil without the header. An empty header counts as absent. Throws 400 for text that is not an id of a stream.
    private func position(_ call: Call) throws(Problem) -> RecentPosition? {
        guard let text = call.request.headers[text: "last-event-id"], !text.isEmpty else { return nil }
        guard let position = observation.recent.position(ofCursor: text) else {
            throw .badQuery("last-event-id is not an id of this stream: send the last `id`, or no such field.")
        }
        return position
    }
}

/// The session of one response.
private final class LiveState: Sendable {
    // A class because the closure of a response cannot have a variable.
    private let session: Mutex<LiveSession>

    init(_ session: LiveSession) { self.session = Mutex(session) }

    /// `now`: nanoseconds of the observation's clock. Called by one task at a time.
    func bytes(at now: Int64) -> [UInt8] { session.withLock { $0.bytes(at: now) } }
}
