import Foundation
import HTTPTypes
import Hummingbird
import SignalboxGateway
import SignalboxInApp
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// In-app messages: requests of devices, and the messages themselves for operators.
///
/// Requests of browsers from other origins receive no CORS headers: an app's own server forwards them.
/// Every request of a device is decided and durable before its answer is sent. A client that received no answer
/// repeats its request: triggers by `triggerId` and reports by `reportId` have the same answer again.
///
/// Errors are problems (RFC 9457): 400 `inapp-malformed`, 403 `inapp-explain-forbidden`, 404 `offer-not-found` or
/// `message-not-found`, 409 `outcome-contradicts`, 413 `inapp-too-large`, 422 for a limit or a group that the config
/// does not define, and 503 while the queue fails.
struct InAppAPI: Sendable {
    /// The flow of the active config.
    let flow: InAppFlow
    /// The access of the same config: it says whose answers may have explanations.
    let sources: SourceAccess
    /// Shared by all configs, so an outage is logged once.
    let alarm: QueueAlarm

    /// The largest body of a message, in bytes.
    static let messageLimit = 256 * 1024
    /// The largest body of any other request, in bytes.
    static let requestLimit = 64 * 1024

    /// In cursors of messages, without and with withdrawn ones.
    private static let (active, all): (StaticString, StaticString) = ("m", "w")
    /// The most messages in one page of the list, even for a larger `limit`.
    private static let longestPage = 100

    // MARK: Devices

    /// Answers a trigger with 200. The device's own clock decides nothing. The body is a `TriggerForm` of at most
    /// ``requestLimit`` bytes. ``DirectInAppAPI`` answers most triggers; this method has the others.
    func trigger(_ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        try await answer { () throws(InAppFailure) in
            try flow.read(trigger: body, from: call.source, mayExplain: sources.mayExplain(call.source))
        }
    }

    /// Answers all slots of a page, in the order of the request, with 200 even if no slot receives a message.
    func place(_ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        try await answer { () throws(InAppFailure) in
            try flow.read(page: body, from: call.source, mayExplain: sources.mayExplain(call.source))
        }
    }

    /// Throws 404 for an offer that is unknown or of another device, and 409 for a contradicting report.
    func report(_ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        // The path of an offer that was never given may be any text.
        let offer = call.path("id")
        return try await answer { () throws(InAppFailure) in
            try flow.read(report: body, of: offer, from: call.source)
        }
    }

    /// Answers 200 and stores nothing. For operators, because the answer names messages that the device does not
    /// see. Throws 403 for an operator who may not read content.
    func explain(_ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        if call.hidesContent { throw .contentHidden }
        let answer = try await operating(isWrite: false) { () throws(InAppFailure) in try await flow.explain(body) }
        return Response(Reply(status: .ok, body: answer))
    }

    /// Decides a request of a device; the response is 200 with the flow's bytes.
    private func answer(
        _ read: () throws(InAppFailure) -> InAppFlow.DeviceRequest
    ) async throws(Problem) -> Response {
        let body = try await watching { () async throws(InAppFailure) in try await flow.answer(read()) }
        return Response(Reply(status: .ok, body: body))
    }

    // MARK: Messages

    /// 201 for a new message, 200 for a changed or equal one. Durable when it returns.
    /// Throws 400, 413 or 422 for a message that is not stored.
    func register(_ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        let id = try messageID(of: call)
        let message = try await operating { () throws(InAppFailure) in
            try await flow.register(body, as: id, by: call.action)
        }
        return .json(message.isNew ? .created : .ok) { $0.members(of: message) }
    }

    /// 200 even for a message that was withdrawn before. Throws 404 for an id that is unknown or was removed.
    func withdraw(_ call: Call) async throws(Problem) -> Response {
        let id = try messageID(of: call)
        let message = try await operating { () throws(InAppFailure) in try await flow.withdraw(id, by: call.action) }
        return .json { $0.members(of: message) }
    }

    /// With the message's form. Throws 404 for an unknown id. The form is the canonical one, which has defaults left
    /// out. An operator who may not read content receives the masked form.
    func show(_ call: Call) async throws(Problem) -> Response {
        let id = try messageID(of: call)
        let message = try await operating(isWrite: false) { () throws(InAppFailure) in try await flow.message(id) }
        return .json { json in
            json.members(of: message)
            let body = message.stored.registration.body
            guard let form = call.hidesContent ? ContentMask.message(body) : body else { return }
            json.member("form", raw: form)
        }
    }

    /// Pages are in byte order of the ids, without the messages' forms. 50 by default, and never more than 100, because
    /// the store reads each message as a whole.
    /// `cursor` is the member `next` of the former page, `limit` the number of messages, `withdrawn=true` adds
    /// withdrawn ones. Throws 400 for any other query.
    func list(_ call: Call) async throws(Problem) -> Response {
        let limit = min(try call.pageSize(), Self.longestPage)
        let withdrawn = call.query("withdrawn") ?? "false"
        guard ["true", "false"].contains(withdrawn) else { throw .badQuery("withdrawn is true or false.") }
        let list = withdrawn == "true" ? Self.all : Self.active
        let previous = try call.position(in: list)
        let messages = try await operating(isWrite: false) { () throws(InAppFailure) in
            try await flow.messages(after: previous, upTo: limit + 1, includingWithdrawn: withdrawn == "true")
        }
        return .json { json in
            json.objects("messages", of: messages.prefix(limit)) { $0.members(of: $1) }
            if messages.count > limit { json.member("next", PageCursor.text(messages[limit - 1].id, in: list)) }
        }
    }

    /// The id in the path, decoded: ids may contain any text without control characters. Throws 404 for escapes that
    /// are not valid.
    func messageID(of call: Call) throws(Problem) -> MessageID {
        let text = call.path("id")
        guard let id = text.removingPercentEncoding else { throw .notFound("/v1/inapp/messages/\(text)") }
        return id
    }

    /// Translates failures for devices; those of the store are logged once. Success shows that the queue accepts writes
    /// again.
    private func watching<R>(_ work: () async throws(InAppFailure) -> R) async throws(Problem) -> R {
        do throws(InAppFailure) {
            let result = try await work()
            alarm.recover()
            return result
        } catch {
            throw alarm.inAppProblem(of: error)
        }
    }

    /// Translates failures for operators, with the address of the queue. `isWrite`: whether success shows that the
    /// queue accepts writes again, and whether a failure of the store is logged, once.
    private func operating<R>(
        isWrite: Bool = true, _ work: () async throws(InAppFailure) -> R
    ) async throws(Problem) -> R {
        do throws(InAppFailure) {
            let result = try await work()
            if isWrite { alarm.recover() }
            return result
        } catch {
            throw alarm.operatorProblem(of: error, isWrite: isWrite)
        }
    }
}

extension InAppFlow.Shown {
    fileprivate var id: MessageID { stored.registration.id }
}

/// A message as operators see it. `active` says whether decisions consider it, and `fault` why they do not.
extension JSONWriter {
    /// Members of the open object. `address` is absent for a message to all devices.
    fileprivate mutating func members(of message: InAppFlow.Shown) {
        let stored = message.stored
        member("id", stored.registration.id)
        member("revision", stored.revision)
        member("registeredAt", Date(milliseconds: stored.registeredAt))
        member("withdrawnAt", stored.withdrawnAt.map { Date(milliseconds: $0) })
        member("end", stored.registration.end.map { Date(milliseconds: $0) })
        switch stored.registration.address {
        case .user(let user)?: object("address") { $0.member("user", user) }
        case .device(let device)?: object("address") { $0.member("device", device) }
        case nil: break
        }
        member("active", message.isActive)
        guard let fault = message.fault else { return }
        object("fault") { json in
            json.member("code", fault.code)
            json.member("pointer", fault.pointer)
            json.member("detail", fault.detail)
        }
    }
}
