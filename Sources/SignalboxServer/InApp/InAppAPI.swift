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
struct InAppAPI: Sendable {
    let flow: InAppFlow
    let alarm: QueueAlarm

    /// The largest body of a message, in bytes.
    static let messageLimit = 256 * 1024
    /// The largest body of any other request, in bytes.
    static let requestLimit = 64 * 1024

    private static let longestPage = 100

    // MARK: Devices

    /// Answers a trigger with 200. The device's own clock decides nothing.
    func trigger(_ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        try await answer { () throws(InAppFailure) in try await flow.trigger(body, from: call.source) }
    }

    func place(_ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        try await answer { () throws(InAppFailure) in try await flow.place(body, from: call.source) }
    }

    /// Throws 404 for an offer that is unknown or of another device, and 409 for a contradicting report.
    func report(_ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        // The path of an offer that was never given may be any text.
        let offer = call.path("id")
        return try await answer { () throws(InAppFailure) in
            try await flow.report(body, of: offer, from: call.source)
        }
    }

    func explain(_ body: [UInt8]) async throws(Problem) -> Response {
        let answer = try await watching(isWrite: false) { () throws(InAppFailure) in try await flow.explain(body) }
        return Response(Reply(status: .ok, body: answer))
    }

    private func answer(_ work: () async throws(InAppFailure) -> [UInt8]) async throws(Problem) -> Response {
        Response(Reply(status: .ok, body: try await watching(work)))
    }

    // MARK: Messages

    /// 201 for a new message, 200 for a changed or equal one. Durable when it returns.
    func register(_ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        let id = try messageID(of: call)
        let message = try await watching { () throws(InAppFailure) in try await flow.register(body, as: id) }
        return .json(message.stored.revision == 1 ? .created : .ok) { $0.members(of: message) }
    }

    func withdraw(_ call: Call) async throws(Problem) -> Response {
        let id = try messageID(of: call)
        let message = try await watching { () throws(InAppFailure) in try await flow.withdraw(id) }
        return .json { $0.members(of: message) }
    }

    /// With the message's form.
    func show(_ call: Call) async throws(Problem) -> Response {
        let id = try messageID(of: call)
        let message = try await watching(isWrite: false) { () throws(InAppFailure) in try await flow.message(id) }
        return .json { json in
            json.members(of: message)
            json.key("form")
            json.raw(message.stored.registration.body)
        }
    }

    /// Pages are in byte order of the ids, without the messages' forms. At most 100, 50 by default.
    func list(_ call: Call) async throws(Problem) -> Response {
        let limit = try call.number("limit", in: 1...Self.longestPage) ?? 50
        let withdrawn = call.query("withdrawn") ?? "false"
        guard ["true", "false"].contains(withdrawn) else { throw .badQuery("withdrawn is true or false.") }
        let previous = try call.query("cursor").map { cursor throws(Problem) in
            guard let id = CategoryPage.identifier(of: cursor) else {
                throw .badQuery("The cursor is not valid: use `next` of an earlier page.")
            }
            return id
        }
        let messages = try await watching(isWrite: false) { () throws(InAppFailure) in
            try await flow.messages(after: previous, upTo: limit + 1, includingWithdrawn: withdrawn == "true")
        }
        return .json { json in
            json.array("messages", messages.prefix(limit)) { json, message in json.object { $0.members(of: message) } }
            if messages.count > limit { json.member("next", CategoryPage.cursor(after: messages[limit - 1].id)) }
        }
    }

    /// The id in the path, decoded: ids may contain any text without control characters.
    private func messageID(of call: Call) throws(Problem) -> MessageID {
        let text = call.path("id")
        guard let id = text.removingPercentEncoding else { throw .notFound("/v1/inapp/messages/\(text)") }
        return id
    }

    /// Translates failures; those of the store are logged once.
    private func watching<R>(
        isWrite: Bool = true, _ work: () async throws(InAppFailure) -> R
    ) async throws(Problem) -> R {
        do throws(InAppFailure) {
            let result = try await work()
            if isWrite { alarm.recover() }
            return result
        } catch {
            if let problem = Problem(error) { throw problem }
            guard case .store(let reason) = error else {
                preconditionFailure("Only the store has no problem of its own.")
            }
            throw alarm.problem(of: .store(reason))
        }
    }
}

extension InAppFlow.Shown {
    fileprivate var id: MessageID { stored.registration.id }
}

extension JSONWriter {
    /// Members of the open object.
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

extension Date {
    fileprivate init(milliseconds: Instant) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
