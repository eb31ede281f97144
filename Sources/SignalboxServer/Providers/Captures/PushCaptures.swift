import Foundation
import SignalboxGateway
import SignalboxNotification
import Synchronization

/// Records pushes and their answers in the log of captures, before the sender receives its answer.
struct PushCaptures: Sendable {
    /// Shared by all configs.
    let log: CaptureLog
    /// Hashes tokens as events show them.
    let tokens: TokenHash
    /// Receives refused pushes, even while captures are off.
    var observation: Observation?
    /// The time of captures without an event; others have the time at which their event was accepted.
    var now: @Sendable () -> Date = { Date() }

    // MARK: Pushes that passed the checks of their endpoint

    /// Records accepted pushes. `answers`: one for each push, in order. `stored`: the events of the accepted ones.
    /// `reply`: the reply to the request. Marks the request, so its reply is not recorded as a refusal once more.
    func record(
        _ pushes: [ProviderPush], _ answers: [PushAnswer], _ stored: [ProviderAnswer], _ reply: ProviderReply,
        of request: ProviderRequest
    ) {
        guard !pushes.isEmpty else { return }
        request.mark.set()
        observe(pushes, answers, reply)
        guard log.isOn else { return }
        if pushes.count == 1, let answer = answers.first {
            return log.append(
                capture(pushes[0], answer, stored.first, status: reply.status) {
                    // The body of the real push service may quote the device token.
                    if case .verdict(let verdict) = answer, verdict.outcome == .rejected { return nil }
                    return reply.reason
                })
        }
        let events = Dictionary(stored.compactMap(\.accepted).map { ($0.event.id.description, $0) }) { first, _ in
            first
        }
        log.append(
            contentsOf: zip(pushes, answers).map { push, answer in
                capture(push, answer, Self.stored(answer, events), status: answer.status) { answer.reason }
            })
    }

    /// Records the pushes that the gateway refused, in the log of refusals.
    private func observe(_ pushes: [ProviderPush], _ answers: [PushAnswer], _ reply: ProviderReply) {
        guard let observation else { return }
        for (push, answer) in zip(pushes, answers) {
            switch answer {
            case .rejected, .limited:
                let isAlone = pushes.count == 1
                observation.refused(
                    push.platform, status: isAlone ? reply.status : answer.status,
                    reason: (isAlone ? reply.reason : nil) ?? answer.reason, from: push.source, bytes: push.body.count)
            case .accepted, .repeated, .unavailable, .verdict, .injected: break
            }
        }
    }

    /// The result of the queue for one push among several. `events`: accepted ones, by id.
    private static func stored(_ answer: PushAnswer, _ events: [String: RoutedEvent]) -> ProviderAnswer? {
        switch answer {
        case .accepted(let id): events[id].map { ProviderAnswer.accepted($0) }
        case .repeated(let id): ProviderAnswer.repeated(event: id)
        default: nil
        }
    }

    /// `reason`: read only if the answer is an error.
    private func capture(
        _ push: ProviderPush, _ answer: PushAnswer, _ stored: ProviderAnswer?, status: Int, reason: () -> String?
    ) -> Capture {
        let routed = stored?.accepted
        var outcome = answer.outcome
        // The real push service accepts a repeat too.
        if case .repeated? = stored, outcome == .accepted { outcome = .repeated }
        var capture = Capture(push.platform, outcome, status: status, at: routed?.event.acceptedAt ?? now())
        capture.source = push.source
        capture.run = push.run
        capture.apnsID = push.transport?.apnsId
        capture.eventID = answer.event ?? stored?.eventID
        capture.event = routed?.event.body
        capture.addressee = routed == nil ? addressee(of: push) : Capture.Addressee(project: push.project)
        if status != 200 || capture.eventID == nil { capture.reason = reason() ?? answer.reason }
        return capture
    }

    /// The device token becomes its keyed hash; captures never have it in clear.
    private func addressee(of push: ProviderPush) -> Capture.Addressee {
        Capture.Addressee(
            token: push.token.map { tokens.name(of: $0) }, topic: push.topic, condition: push.condition,
            channel: push.channel, project: push.project)
    }

    /// Records pushes whose sender asked for the checks alone, which they passed. `reply`: of the real push service, if
    /// it checked them.
    func record(dryRuns pushes: [ProviderPush], _ reply: ProviderReply? = nil, of request: ProviderRequest) {
        guard !pushes.isEmpty, log.isOn else { return }
        request.mark.set()
        log.append(
            contentsOf: pushes.map { push in
                var capture = Capture(push.platform, .dryRun, status: reply?.status ?? 200, at: now())
                if let reply, reply.status != 200 {
                    capture.reason = reply.reason.flatMap { PushVerdict.isCode($0) ? $0 : nil }
                }
                capture.source = push.source
                capture.run = request.run
                capture.addressee = addressee(of: push)
                return capture
            })
    }

    // MARK: Refused pushes

    /// Returns the verdict, changed so that a refusal is also recorded. `facts`: describes the push of the request; nil
    /// for a request without a push. Called for a refusal only.
    func watching(
        _ verdict: ProviderVerdict, of request: ProviderRequest, _ facts: @escaping @Sendable () -> RefusedPush?
    ) -> ProviderVerdict {
        switch verdict {
        case .reply(let reply):
            refuse(reply, of: request, from: nil, facts)
            return verdict
        case .body(var reading):
            let (handle, source) = (reading.handle, reading.source)
            reading.handle = { body, reply in
                handle(body) { answer in
                    if answer.status >= 400 { refuse(answer, of: request, from: source, facts) }
                    reply(answer)
                }
            }
            reading.onRefusal = { answer in refuse(answer, of: request, from: source, facts) }
            return .body(reading)
        }
    }

    /// Records those pushes of a request that fail the checks of their endpoint although the request does not.
    func refuse(_ parts: [RefusedPart], of request: ProviderRequest, from source: SourceName) {
        for part in parts {
            observation?.refused(part.push.service, status: part.status, reason: part.reason, from: source, bytes: nil)
        }
        guard !parts.isEmpty, log.isOn else { return }
        log.append(
            contentsOf: parts.map { part in
                capture(part.push, status: part.status, reason: part.reason, of: request, from: source)
            })
    }

    /// Records a reply of status 400 or more, unless the pushes of the request have been recorded. `source`: nil for
    /// the one that the request proved, if it did. `facts`: called only if the refusal is recorded.
    private func refuse(
        _ reply: ProviderReply, of request: ProviderRequest, from source: SourceName?, _ facts: () -> RefusedPush?
    ) {
        guard reply.status >= 400, !request.mark.isSet, log.isOn || observation != nil, let facts = facts()
        else { return }
        let source = source ?? request.mark.source
        let reason = reply.reason
        observation?.refused(
            facts.service, status: reply.status, reason: reason, from: source, bytes: request.bodyLength)
        guard log.isOn else { return }
        var capture = capture(facts, status: reply.status, reason: reason, of: request, from: source)
        capture.apnsID = reply.headers.first { $0.name == "apns-id" || $0.name == "apns-request-id" }
            .map { Self.cut($0.value) }
        log.append(capture)
    }

    private func capture(
        _ push: RefusedPush, status: Int, reason: String?, of request: ProviderRequest, from source: SourceName?
    ) -> Capture {
        var capture = Capture(push.service, .rejected, status: status, at: now())
        capture.reason = reason
        capture.detail = reason.flatMap { push.detail?($0) }
        capture.source = source
        capture.run = request.run.flatMap { RunLabel.allows($0) ? $0 : nil }
        capture.addressee = Capture.Addressee(
            token: push.token.map { tokens.name(of: $0) }, topic: push.topic.map(Self.cut),
            channel: push.channel.map(Self.cut), project: push.project.map(Self.cut))
        return capture
    }

    /// Values of refused requests may be of any length. Keeps 256 characters.
    private static func cut(_ text: String) -> String { String(text.prefix(256)) }
}

/// A push that was refused before it became an event, as far as its request describes it.
struct RefusedPush: Sendable {
    let service: PushService
    /// The device token in its canonical spelling; nil if it is absent or malformed.
    var token: [UInt8]?
    /// As sent: of any length, and possibly not a topic.
    var topic: String?
    /// The channel of a broadcast to APNs, as sent.
    var channel: String?
    /// The Firebase project in the path; nil for the legacy protocol and for batches.
    var project: String?
    /// Describes the fault of the proof of identity, for the operator. Takes the reason of the refusal; nil if that is
    /// not the proof.
    var detail: (@Sendable (_ reason: String) -> String?)?
}

/// A push that is refused alone.
struct RefusedPart: Sendable {
    let push: RefusedPush
    /// The HTTP status of the part; 200 for an error of one of Expo's tickets.
    let status: Int
    /// The word of the service, such as `DeviceNotRegistered`; nil if the part has none.
    let reason: String?
}

/// Whether the pushes of a request were captured, and the source of the request.
final class CaptureMark: Sendable {
    // A class because the copies of a request share it.
    private let mark = Atomic(false)
    private let sender = Mutex(SourceName?.none)

    /// The source whose identity the request proved; nil until then.
    var source: SourceName? { sender.withLock { $0 } }

    /// Records the source of a request after its proof has been checked.
    func identify(_ source: SourceName) { sender.withLock { $0 = source } }

    /// Whether ``PushCaptures`` has recorded the pushes of the request.
    var isSet: Bool { mark.load(ordering: .relaxed) }

    func set() { mark.store(true, ordering: .relaxed) }
}
