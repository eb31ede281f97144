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
    var now: @Sendable () -> Date = { Date() }

    // MARK: Pushes that passed the checks of their endpoint

    /// `answers`: to the pushes, in their order. `stored`: has the events of accepted ones. `reply`: to the request.
    func record(
        _ pushes: [ProviderPush], _ answers: [PushAnswer], _ stored: [ProviderAnswer], _ reply: ProviderReply,
        of request: ProviderRequest
    ) {
        guard !pushes.isEmpty, log.isOn else { return }
        request.mark.set()
        if pushes.count == 1, let answer = answers.first {
            return log.append(capture(pushes[0], answer, stored.first?.event, status: reply.status) { reply.reason })
        }
        let events = Dictionary(stored.compactMap(\.event).map { ($0.id.description, $0) }) { first, _ in first }
        log.append(
            contentsOf: zip(pushes, answers).map { push, answer in
                capture(push, answer, answer.event.flatMap { events[$0] }, status: answer.status) { answer.reason }
            })
    }

    /// `reason`: read only if the answer is an error.
    private func capture(
        _ push: ProviderPush, _ answer: PushAnswer, _ event: Event?, status: Int, reason: () -> String?
    ) -> Capture {
        var capture = Capture(push.platform, answer.outcome, status: status, at: event?.acceptedAt ?? now())
        capture.source = push.source
        capture.run = push.run
        capture.apnsID = push.transport?.apnsId
        capture.eventID = answer.event ?? event?.id.description
        capture.event = event?.body
        capture.addressee.project = push.project
        if event == nil {
            capture.addressee.token = push.token.map { tokens.name(of: $0) }
            capture.addressee.topic = push.topic
            capture.addressee.condition = push.condition
            capture.addressee.channel = push.channel
        }
        if status != 200 || capture.eventID == nil { capture.reason = reason() ?? answer.reason }
        return capture
    }

    // MARK: Refused pushes

    /// The decision of an endpoint, which also records a refusal. `facts`: of the request, called for a refusal only;
    /// nil for a request that brings no push.
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
            return .body(reading)
        }
    }

    /// Records those pushes of a request that fail the checks of their endpoint although the request does not.
    func refuse(_ parts: [RefusedPart], of request: ProviderRequest, from source: SourceName) {
        guard !parts.isEmpty, log.isOn else { return }
        log.append(
            contentsOf: parts.map { part in
                capture(part.push, status: part.status, reason: part.reason, of: request, from: source)
            })
    }

    private func refuse(
        _ reply: ProviderReply, of request: ProviderRequest, from source: SourceName?, _ facts: () -> RefusedPush?
    ) {
        guard reply.status >= 400, !request.mark.isSet, log.isOn, let facts = facts() else { return }
        var capture = capture(facts, status: reply.status, reason: reply.reason, of: request, from: source)
        capture.apnsID = reply.headers.first { $0.name == "apns-id" || $0.name == "apns-request-id" }
            .map { Self.cut($0.value) }
        log.append(capture)
    }

    private func capture(
        _ push: RefusedPush, status: Int, reason: String?, of request: ProviderRequest, from source: SourceName?
    ) -> Capture {
        var capture = Capture(push.service, .rejected, status: status, at: now())
        capture.reason = reason
        capture.source = source
        capture.run = request.run.flatMap { RunLabel.allows($0) ? $0 : nil }
        capture.addressee = Capture.Addressee(
            token: push.token.map { tokens.name(of: $0) }, topic: push.topic.map(Self.cut),
            channel: push.channel.map(Self.cut), project: push.project.map(Self.cut))
        return capture
    }

    /// Values of refused requests may be of any length.
    private static func cut(_ text: String) -> String { String(text.prefix(256)) }
}

/// The facts of a refused request about its push.
struct RefusedPush: Sendable {
    let service: PushService
    /// In its canonical spelling; nil for none, or a malformed one.
    var token: [UInt8]?
    var topic: String?
    var channel: String?
    var project: String?
}

/// A push that is refused alone.
struct RefusedPart: Sendable {
    let push: RefusedPush
    /// Of the part; 200 for an error of one of Expo's tickets.
    let status: Int
    let reason: String?
}

/// Whether the pushes of a request were captured.
final class CaptureMark: Sendable {
    // A class because the copies of a request share it.
    private let mark = Atomic(false)

    var isSet: Bool { mark.load(ordering: .relaxed) }

    func set() { mark.store(true, ordering: .relaxed) }
}
