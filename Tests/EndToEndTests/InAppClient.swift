import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// An app's requests about in-app messages, and an operator's.
extension Gateway {
    typealias Answer = (status: Int, json: [String: Any])

    /// A request by curl. `token`: of a source or an operator.
    func request(_ method: String, _ path: String, _ body: String? = nil, token: String? = nil) async throws -> Answer {
        var arguments = ["--request", method]
        if let body { arguments += ["--header", "content-type: application/json", "--data-binary", body] }
        if let token { arguments += ["--header", "authorization: Bearer \(token)"] }
        let reply = try await Reply(url + path, arguments)
        return (reply.status, (try? JSONSerialization.jsonObject(with: Data(reply.body))) as? [String: Any] ?? [:])
    }

    /// Registers a message for the event `buy`. `more`: further members of the form.
    @discardableResult
    func register(_ id: String, _ more: String = "") async throws -> Answer {
        try await request(
            "PUT", "/v1/inapp/messages/\(id)",
            #"{"vendor":"own","kind":"modal","triggers":[{"type":"event","name":"buy"}],"reEligibility":"always","content":{"title":"\#(id)"}\#(more)}"#
        )
    }

    /// The event `buy` on a device.
    @discardableResult
    func buy(
        on device: String = "d-1", by user: String = "u-9", id: String? = nil, more: String = ""
    ) async throws -> Answer {
        let trigger = id.map { #","triggerId":"\#($0)""# } ?? ""
        return try await post(
            Data(
                #"{"device":"\#(device)","user":"\#(user)"\#(trigger),"event":{"type":"event","name":"buy"}\#(more)}"#
                    .utf8
            ), to: "/v1/inapp/triggers")
    }

    func poll(on device: String = "d-1", by user: String = "u-9") async throws -> Answer {
        try await post(
            Data(#"{"device":"\#(device)","user":"\#(user)","event":{"type":"poll"}}"#.utf8), to: "/v1/inapp/triggers")
    }

    @discardableResult
    func report(_ outcome: String, of offer: String?, more: String = "") async throws -> Answer {
        try await post(
            Data(#"{"outcome":"\#(outcome)"\#(more)}"#.utf8),
            to: "/v1/inapp/offers/\(try #require(offer))/outcome")
    }
}

extension [String: Any] {
    /// The id of the offer of an answer.
    var offer: String? { (self["offer"] as? [String: Any])?["id"] as? String }
    /// The message of the offer of an answer.
    var message: String? {
        ((self["offer"] as? [String: Any])?["message"] as? [String: Any])?["id"] as? String
    }
    var code: String? { self["code"] as? String }
}

/// An event about an offer, as a webhook received it.
struct InAppArrival {
    /// The last part of its type.
    let kind: String
    let data: [String: Any]

    init(_ message: WebhookReceiver.Message) throws {
        EventRecorder.record(message.body)
        let event = try #require(try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any])
        kind = (event["type"] as? String ?? "").replacing("io.signalbox.inapp.", with: "")
        data = event["data"] as? [String: Any] ?? [:]
    }
}
