import HTTPTypes
import NIOCore
import SignalboxConfig
import SignalboxGateway
import SignalboxInApp
import SignalboxNotification

/// Answers triggers and reports on the event loop of their connection, without a task.
///
/// Sources, bodies, decisions and answers are those of `InAppAPI`. The router answers every request that this API
/// leaves to it, and so every malformed one. A page of slots is left to it as well, because it may offer many messages.
final class DirectInAppAPI: Sendable {
    // A class because every request asks for it, and a copy of all that it holds costs more than some responses.
    /// The flow of one config; a reload makes another object.
    private let flow: InAppFlow
    /// The access of the same config.
    private let sources: SourceAccess
    /// Receives failures of the store, and the first success after them.
    private let alarm: QueueAlarm
    /// Holds each body until its decision is durable.
    private let budget: BodyBudget
    /// Measures direct requests; the router measures its own.
    private let timers: (triggers: RouteTimer, reports: RouteTimer)
    /// Answers of one commit wake an event loop once.
    private let mailboxes = LoopMailboxes()
    /// Receives refused requests.
    private let observation: Observation
    /// Decides which requests are traced.
    private let telemetry: Telemetry

    /// `budget` and `alarm` are shared by all configs; see ``NotificationsAPI``. `telemetry`: decides which requests
    /// are traced.
    init(
        flow: InAppFlow, sources: SourceAccess, alarm: QueueAlarm, budget: BodyBudget,
        observation: Observation = Observation(), counters: ServerCounters = ServerCounters(),
        telemetry: Telemetry = Telemetry()
    ) {
        (self.observation, self.telemetry) = (observation, telemetry)
        (self.flow, self.sources, self.alarm, self.budget) = (flow, sources, alarm, budget)
        timers = (
            counters.timer(of: "/v1/inapp/triggers", success: 200),
            counters.timer(of: "/v1/inapp/offers/{id}/outcome", success: 200)
        )
    }

    /// The two requests that devices send most, in their usual spelling.
    enum Target: Equatable {
        /// `POST /v1/inapp/triggers`
        case trigger
        /// `POST /v1/inapp/offers/{id}/outcome`
        case report(OfferID)

        /// The path of the endpoint with the names of its parameters.
        var route: String { self == .trigger ? "/v1/inapp/triggers" : "/v1/inapp/offers/{id}/outcome" }

        /// Compares bytes without decoding. Nil for any other path; the router knows other spellings.
        init?(_ path: String) {
            guard path != "/v1/inapp/triggers" else {
                self = .trigger
                return
            }
            let (prefix, suffix) = ("/v1/inapp/offers/", "/outcome")
            guard path.hasPrefix(prefix), path.hasSuffix(suffix), path.utf8.count > prefix.count + suffix.count
            else { return nil }
            let id = path.utf8.dropFirst(prefix.count).dropLast(suffix.count)
            guard id.allSatisfy(Self.isOfID) else { return nil }
            self = .report(String(Substring(id)))
        }

        /// Whether the gateway makes offers' ids of this byte.
        private static func isOfID(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }

    /// Nil when the router must answer the request, which explains every rejection. Called on the event loop before the
    /// body arrives. Checks the token, so that a client without one cannot make the gateway read a body.
    func handler(for head: PlainHead) -> DirectResponder.BodyHandler? {
        guard head.bodyLength <= NotificationsAPI.directLimit, let target = Target(head.target),
            let source = try? sources.source(named: nil, of: head.credentials, for: .inapp)
        else { return nil }
        let timer = target == .trigger ? timers.triggers : timers.reports
        let start = ContinuousClock.now
        let trace = telemetry.trace(traceparent: head.traceparent, state: head.tracestate)
        return { [self] body, eventLoop, done in
            accept(body, for: target, from: source, on: eventLoop) { reply in
                timer.record(reply.status.code, since: start, trace: trace?.exemplar)
                trace?.finish("POST", route: target.route, status: reply.status.code)
                done(reply)
            }
        }
    }

    /// Returns false, and holds no memory, when the router must accept the body. Otherwise `done` receives the reply
    /// on the event loop after the commit.
    private func accept(
        _ body: ByteBuffer, for target: Target, from source: SourceName, on eventLoop: any EventLoop,
        _ done: @escaping @Sendable (Reply) -> Void
    ) -> Bool {
        let bytes = body.readableBytes
        if flow.mayWait { return false }
        guard budget.reserve(bytes) else { return false }
        guard let request = try? read(body, for: target, from: source) else {
            budget.release(bytes)
            return false
        }
        let mailbox = mailboxes.mailbox(of: eventLoop)
        flow.decide(request, on: { mailbox.add($0) }) { [self] result in
            budget.release(bytes)
            if case .failure(let failure) = result, let problem = Problem(failure) {
                observation.refused(problem, from: source, bytes: bytes, isReport: true)
            }
            answer(result, on: eventLoop, done)
        }
        return true
    }

    /// Throws for every malformed body; the caller leaves it to the router, which parses it again.
    private func read(
        _ body: ByteBuffer, for target: Target, from source: SourceName
    ) throws(InAppFailure) -> InAppFlow.DeviceRequest {
        let body = body.withUnsafeReadableBytes { Array($0) }
        return switch target {
        case .trigger: try flow.read(trigger: body, from: source, mayExplain: sources.mayExplain(source))
        case .report(let offer): try flow.read(report: body, of: offer, from: source)
        }
    }

    /// Called on the event loop, after the commit or for a failure. Calls `done` once, on the same event loop.
    private func answer(
        _ result: Result<InAppFlow.Answered, InAppFailure>, on eventLoop: any EventLoop,
        _ done: @escaping @Sendable (Reply) -> Void
    ) {
        switch result {
        case .success(let answered):
            alarm.recover()
            if let body = flow.bodyAtOnce(of: answered) { return done(Reply(status: .ok, body: body)) }
            // Unstructured: the content is not in memory, the store is read by a task, and no task serves a direct
            // request. The connection waits for it.
            Task { [flow, alarm] in
                let reply: Reply
                do throws(InAppFailure) {
                    reply = Reply(status: .ok, body: try await flow.body(of: answered))
                } catch {
                    reply = Reply(alarm.inAppProblem(of: error))
                }
                eventLoop.execute { done(reply) }
            }
        case .failure(let failure): done(Reply(alarm.inAppProblem(of: failure)))
        }
    }
}

extension QueueAlarm {
    /// The response to a rejected request about in-app messages. Logs a failure of the queue, once for each outage.
    func inAppProblem(of failure: InAppFailure) -> Problem {
        if let problem = Problem(failure) { return problem }
        guard case .store(let reason) = failure else {
            preconditionFailure("Every failure except those of the store has a problem.")
        }
        return problem(of: .store(reason))
    }

    /// The same for an operator: a failure of the queue has the words of the other endpoints of operators. `isWrite`:
    /// whether it is logged.
    func operatorProblem(of failure: InAppFailure, isWrite: Bool) -> Problem {
        guard case .store(let reason) = failure else { return inAppProblem(of: failure) }
        if isWrite { _ = problem(of: .store(reason)) }
        return .store(reason)
    }
}
