import SignalboxGateway
import SignalboxNotification

/// A request to a provider endpoint, over HTTP/2 or HTTP/1.1. Its head is valid HTTP; its body has not been read.
final class ProviderRequest: Sendable {
    // A class because every step of a push refers to it, and a copy of all that it holds costs as much as a step.
    /// The method as sent; methods are case-sensitive.
    let method: String
    /// The target as sent, without its query. Not decoded.
    let path: String
    /// The query as sent, without its question mark; nil without a query.
    let query: String?
    /// The `:authority` of HTTP/2, otherwise the `host` field; nil when the request has neither.
    let authority: String?
    /// Names in lower case, in the order of arrival, with repeated fields. Excludes pseudo-headers.
    let headers: [(name: String, value: String)]
    /// The value of `content-length`; 0 for a request that ends with its head; nil when the length is unknown.
    let bodyLength: Int?
    /// The connection that carried the request.
    let connection: ProviderConnection
    /// The label of the sender's run; nil without one. Endpoints see the request with its label.
    let run: String?
    /// Nil for a request without a trace. Endpoints see the request with its trace.
    let trace: RequestTrace?
    /// Shared by all steps of the request. Copies with another path or trace have another one.
    let mark = CaptureMark()

    init(
        method: String, path: String, query: String?, authority: String?, headers: [(name: String, value: String)],
        bodyLength: Int?, connection: ProviderConnection, run: String? = nil, trace: RequestTrace? = nil
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.authority = authority
        self.headers = headers
        self.bodyLength = bodyLength
        self.connection = connection
        self.run = run
        self.trace = trace
    }

    /// The value of the first field of this name, which is in lower case. Nil without one.
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// A whole response of a provider endpoint.
struct ProviderReply: Sendable, Equatable {
    /// The effect of a response on its connection.
    enum After: Sendable, Equatable {
        /// The connection serves further requests.
        case keep
        /// HTTP/2: GOAWAY with this debug data. The connection answers the requests in progress, then closes.
        /// HTTP/1.1: `connection: close`.
        case goAway(debugData: [UInt8]?)
        /// Like ``goAway(debugData:)`` without debug data, but does not wait for other requests in progress.
        case close
        /// HTTP/2: the connection serves one request at a time until it has sent a response of status 200. HTTP/1.1:
        /// like ``keep``.
        case oneStream
        /// The connection closes in the middle of the response, with all requests in progress. For tests of clients.
        case cut

        /// Whether this is the last response of an HTTP/1.1 connection.
        var isLast: Bool { self != .keep && self != .oneStream }
    }

    struct Header: Sendable, Equatable {
        /// In lower case.
        var name: String
        /// Must not contain line ends.
        var value: String
    }

    /// The status of a final response, 200 or higher.
    var status: Int
    /// Fields, `content-type` among them. The connection adds `content-length` if HTTP requires it.
    var headers: [Header] = []
    /// Empty for a response that ends with its head.
    var body: [UInt8] = []
    var after: After = .keep
    /// How long the connection holds the response; nil to send it at once.
    var delay: Duration?
}

/// How an endpoint reads the body of a request.
struct ProviderBody: Sendable {
    /// Answers a request whose body arrived. Called once on the event loop of the connection, so it must not block.
    /// `reply` may be called on any thread, exactly once, even after the connection closed.
    typealias Handler = @Sendable (_ body: [UInt8], _ reply: @escaping @Sendable (ProviderReply) -> Void) -> Void

    /// Why a body is not read.
    enum Refusal: Sendable {
        /// It is longer than ``limit``.
        case tooLarge
        /// The memory for bodies is exhausted.
        case busy
    }

    /// The most bytes. A longer body is refused: at once if its length is declared, otherwise when it exceeds the
    /// limit.
    var limit: Int
    /// Words the answer to a refused body.
    var refusal: @Sendable (Refusal) -> ProviderReply
    /// The body counts for the memory share of this source; nil for requests without a source.
    var source: SourceName?
    /// Held until the request has been answered or its stream has ended, so a limit on requests in progress can count
    /// it.
    var permit: (any Sendable)?
    var handle: Handler
    /// Called with the answer to a refused body.
    var onRefusal: (@Sendable (ProviderReply) -> Void)?

    /// Refuses the body, and returns the answer.
    func refuse(_ reason: Refusal) -> ProviderReply {
        let reply = refusal(reason)
        onRefusal?(reply)
        return reply
    }
}

extension ProviderBody {
    /// A body with a handler that suspends, in a task of its own. For requests that are rare: a task for each push
    /// costs twice the processor time of accepting it.
    init(
        limit: Int, refusal: @escaping @Sendable (Refusal) -> ProviderReply, source: SourceName?,
        inTask handle: @escaping @Sendable ([UInt8]) async -> ProviderReply
    ) {
        self.init(limit: limit, refusal: refusal, source: source, permit: nil) { body, reply in
            // Unstructured: the caller is an event loop. The handler always ends, since the queue answers or fails.
            Task { reply(await handle(body)) }
        }
    }
}

/// The decision of an endpoint on the head of a request. A sender without access, or with too large a body, receives
/// its answer before the body arrives.
enum ProviderVerdict: Sendable {
    /// The body, if there is one, is ignored.
    case reply(ProviderReply)
    case body(ProviderBody)
}

extension ProviderVerdict {
    /// The same verdict. Records its reply, or that to the body, and the span of the request. A client that closes the
    /// connection before its body is complete has no reply. `timer`: nil to measure no time.
    fileprivate func measured(by timer: RouteTimer?, _ request: ProviderRequest) -> ProviderVerdict {
        guard timer != nil || request.trace != nil else { return self }
        let start = ContinuousClock.now
        let record: @Sendable (ProviderReply) -> Void = { [trace = request.trace] reply in
            timer?.record(reply.status, since: start, trace: trace?.exemplar)
            trace?.finish(request, reply)
        }
        switch self {
        case .reply(let reply):
            record(reply)
            return self
        case .body(var reading):
            let (handle, onRefusal) = (reading.handle, reading.onRefusal)
            reading.handle = { body, reply in
                handle(body) { answer in
                    record(answer)
                    reply(answer)
                }
            }
            reading.onRefusal = { answer in
                record(answer)
                onRefusal?(answer)
            }
            return .body(reading)
        }
    }
}

/// One provider's API. Its methods are called on event loops, so they must not block.
protocol ProviderEndpoint: Sendable {
    /// The decision on the head of a request; nil for a path of another endpoint.
    func verdict(on request: ProviderRequest) -> ProviderVerdict?

    /// The API that a path belongs to; nil for a path of another endpoint, and for one that no API has.
    func service(of path: String) -> ProviderService?

    /// The push that the head of a refused request describes; nil for a request that brings no push.
    func refusedPush(of request: ProviderRequest) -> RefusedPush?

    /// The answer, in the provider's form, to a request whose label of the run is not valid.
    func invalidRun(_ request: ProviderRequest) -> ProviderReply
}

extension ProviderEndpoint {
    /// Records no refused push.
    func refusedPush(of request: ProviderRequest) -> RefusedPush? { nil }

    func invalidRun(_ request: ProviderRequest) -> ProviderReply { .invalidRun }
}

/// The endpoints of one config, in order. Replaced as a whole by a reload.
struct ProviderEndpoints: Sendable {
    /// In the order of ``PushService``, as ``timers``. The first endpoint that serves a path answers.
    var all: [any ProviderEndpoint]
    /// Records refused pushes; nil for none.
    var captures: PushCaptures?
    /// Measure the requests of each endpoint, in the order of ``all``; empty to measure none.
    var timers: [RouteTimer] = []
    /// Decides which requests are traced; nil for none.
    var telemetry: Telemetry?

    /// The decision of the first endpoint that serves the path; nil if none does. Reads the label of the run. A host
    /// to which the proxy opened a tunnel has its own paths only.
    func verdict(on request: ProviderRequest) -> ProviderVerdict? {
        let (labelled, isValid) = request.labelled()
        let request = telemetry.map { labelled.traced(by: $0) } ?? labelled
        if let host = request.connection.providerHost, !serve(request.path, on: host) {
            return .reply(host.notFound(request))
        }
        for (position, endpoint) in all.enumerated() {
            guard var verdict = endpoint.verdict(on: request) else { continue }
            if !isValid { verdict = .reply(endpoint.invalidRun(request)) }
            if let captures { verdict = captures.watching(verdict, of: request) { endpoint.refusedPush(of: request) } }
            return verdict.measured(by: position < timers.count ? timers[position] : nil, request)
        }
        return nil
    }

    /// Whether a host of a push service has the path.
    private func serve(_ path: String, on host: ProviderHost) -> Bool {
        all.contains { endpoint in endpoint.service(of: path).map(host.services.contains) ?? false }
    }
}
