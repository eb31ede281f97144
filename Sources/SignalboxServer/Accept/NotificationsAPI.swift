import HTTPTypes
import Hummingbird
import NIOCore
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxStore

/// Accepts payloads: one use case behind two entrances.
///
/// ``accept(_:of:)`` accepts any request, in a task. ``directHandler(for:)`` accepts a request with one small payload
/// on the event loop of its connection. Both check the source, write the events and word the response alike. Safe to
/// call from any task and event loop.
final class NotificationsAPI: Sendable {
    // A class because every request asks for it, and a copy of all that it holds costs more than some responses.
    /// The intake of one config; a reload makes another object.
    private let intake: Intake
    /// Checked again for each direct request; the router checks its own before it calls ``accept(_:of:)``.
    private let sources: SourceAccess
    /// Logs the first failed write and the recovery.
    private let alarm: QueueAlarm
    /// Direct requests reserve their body here, without a holder.
    private let budget: BodyBudget
    /// Decides which requests are traced.
    private let telemetry: Telemetry
    /// Receives refused items.
    private let observation: Observation
    /// Measures direct requests; the router measures its own. Both exist from the start, so their series show 0 before
    /// the first request.
    private let timers: (plain: RouteTimer, named: RouteTimer)

    /// Bytes of the largest body that is read on an event loop, four times the limit of push services. The other
    /// connections of the event loop wait meanwhile.
    static let directLimit = 16 * 1024

    /// `budget`: shared by all configs, because it bounds the memory of the process. `alarm`: shared as well, so an
    /// outage is logged once. `telemetry`: decides which requests are traced.
    init(
        intake: Intake, sources: SourceAccess, alarm: QueueAlarm, budget: BodyBudget,
        observation: Observation = Observation(), counters: ServerCounters = ServerCounters(),
        telemetry: Telemetry = Telemetry()
    ) {
        self.observation = observation
        self.intake = intake
        self.sources = sources
        self.alarm = alarm
        self.budget = budget
        self.telemetry = telemetry
        timers = (
            counters.timer(of: "/v1/notifications", success: 202),
            counters.timer(of: "/v1/sources/{source}/notifications", success: 202)
        )
    }

    /// Accepts one payload, a JSON array of payloads, or NDJSON. When it returns, the accepted events are durable. A
    /// repeated request with the same `idempotency-key` and body receives the stored answer again, marked with the
    /// header `idempotency-replayed`. Throws the problem of a single rejected payload; in a batch it is part of the
    /// response. Throws 413 for too many payloads, 422 for a key that was used with another body, and 503 when the
    /// queue fails; see ``Problem/init(_:)``.
    func accept(_ body: [UInt8], of call: Call) async throws(Problem) -> Response {
        let key = try Self.idempotencyKey(of: call)
        let repeatable = key.map { Intake.Repeatable(key: $0) { $0.answer } }
        let answer = try await alarm.watching { () throws(Intake.Failure) in
            try await intake.accept(body, from: call.source, as: repeatable, trace: call.context.trace)
        }
        switch answer {
        case .repeated(let answer):
            var response = Response(Reply(answer))
            response.headers[text: "idempotency-replayed"] = "true"
            return response
        case .report(let report):
            alarm.recover(by: report.items)
            guard report.isBatch || !report.items.isEmpty else { throw Problem.empty }
            if !report.isBatch, case .failure(let rejection)? = report.items.first { throw Problem(rejection) }
            observation.refused(report.items, of: call) { (Problem($0), $0.place) }
            return Response(Reply(report.answer))
        }
    }

    /// The `Idempotency-Key` of a request, with or without the quotation marks of a structured field
    /// (draft-ietf-httpapi-idempotency-key-header-07). Nil without the header. Throws 400 unless the key is 1 to 255
    /// printable ASCII characters. Keys of different sources are independent; ``IdempotentRequest`` says how long
    /// they are remembered.
    static func idempotencyKey(of call: Call) throws(Problem) -> String? {
        guard let value = call.request.headers[text: "idempotency-key"] else { return nil }
        let isQuoted = value.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
        let key = isQuoted ? String(value.dropFirst().dropLast()) : value
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .badIdempotencyKey
        }
        return key
    }

    /// Nil when the router must answer the request, which explains every rejection. Also nil for a request with an
    /// `Idempotency-Key`, a query, or without valid access. The handler returns false for a body that it leaves to the
    /// router.
    func directHandler(for head: PlainHead) -> DirectResponder.BodyHandler? {
        guard intake.readsAtOnce, head.bodyLength <= Self.directLimit, let path = Path(head.target),
            let source = try? sources.source(named: path.source, of: head.credentials, for: .notifications)
        else { return nil }
        let timer = path.source == nil ? timers.plain : timers.named
        let start = ContinuousClock.now
        let trace = telemetry.trace(traceparent: head.traceparent, state: head.tracestate)
        return { [self, route = path.route] body, eventLoop, done in
            accept(body, from: source, on: eventLoop, trace) { reply in
                timer.record(reply.status.code, since: start, trace: trace?.exemplar)
                trace?.finish("POST", route: route, status: reply.status.code)
                done(reply)
            }
        }
    }

    /// Returns false, and holds no memory, when the router must accept the body. Otherwise `done` receives the reply
    /// on the event loop after the commit. The reservation has no holder, because its body waits for a commit only
    /// and is at most ``directLimit`` long.
    private func accept(
        _ body: ByteBuffer, from source: SourceName, on eventLoop: any EventLoop, _ trace: RequestTrace?,
        _ done: @escaping @Sendable (Reply) -> Void
    ) -> Bool {
        let bytes = body.readableBytes
        guard budget.reserve(bytes) else { return false }
        let read = body.withUnsafeReadableBytes { body in
            intake.readOne(body.assumingMemoryBound(to: UInt8.self), from: source, trace: trace)
        }
        guard let read else {
            budget.release(bytes)
            return false
        }
        intake.accept(read) { [self] result in
            eventLoop.execute { [self] in
                budget.release(bytes)
                switch result {
                case .success(let report):
                    alarm.recover(by: report.items)
                    done(Reply(report.answer))
                case .failure(let reason): done(Reply(alarm.problem(of: .store(reason))))
                }
            }
        }
        return true
    }

    /// Returns when every direct request has ended. Called after all connections have closed.
    func finish() async { await intake.finish() }

    /// The path of an endpoint for payloads, in its usual spelling. Compares bytes without decoding: other spellings
    /// of the path are left to the router.
    struct Path {
        /// The source that the path names.
        let source: String?

        /// The path of the endpoint with the names of its parameters.
        var route: String { source == nil ? "/v1/notifications" : "/v1/sources/{source}/notifications" }

        /// Nil for any other path, and for an invalid name of a source. A path with a query is another path here.
        init?(_ path: String) {
            guard path != "/v1/notifications" else {
                source = nil
                return
            }
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 5, parts[0].isEmpty, parts[1] == "v1", parts[2] == "sources",
                parts[4] == "notifications", NameRule.allows(String(parts[3]))
            else { return nil }
            source = String(parts[3])
        }
    }
}

/// An answer that may have been given to an earlier request.
extension Reply {
    /// The body is sent as stored.
    init(_ answer: StoredAnswer) { self.init(status: HTTPResponse.Status(code: answer.status), body: answer.body) }
}

/// The same answers by either way: directly on the connection, or by Hummingbird.
extension Response {
    /// For Hummingbird, which adds length and date.
    init(_ reply: Reply) {
        var headers = reply.headers
        headers[.contentType] = reply.contentType
        self.init(
            status: reply.status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body)))
    }
}
