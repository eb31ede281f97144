import Foundation
import SignalboxGateway
import SignalboxNotification

/// Makes the answers to one request to the APNs endpoint. All of them, errors too, have the identifier of the request
/// byte for byte as sent: clients find their request by it (aioapns).
struct APNsReply: Sendable {
    /// `apns-id`, or `apns-request-id` for channels and broadcasts.
    let name: String
    /// As sent; a new UUID if the client sent none.
    let id: String

    /// `id`: of the client, even if it is malformed; nil makes a UUID.
    init(_ name: String, id: String?) {
        self.name = name
        // In capitals, as Apple writes them.
        self.id = id ?? Self.ids.next(at: Date()).description.uppercased()
    }

    /// Makes the identifiers of requests without one. Many times as fast as Foundation.
    private static let ids = EventIDSource()

    /// The first field of every answer that the gateway words itself.
    private var header: ProviderReply.Header { .init(name: name, value: id) }

    /// Success, without a body. `others`: further header fields.
    func success(_ status: Int = 200, _ others: [ProviderReply.Header] = []) -> ProviderReply {
        ProviderReply(status: status, headers: [header] + others)
    }

    /// Success, with JSON.
    func success(json: [UInt8]) -> ProviderReply {
        ProviderReply(status: 200, headers: [header, Self.json], body: json)
    }

    /// An error. It always has a body: without one, aioapns never finishes the request, and pushy reports a broken
    /// stream.
    func failure(_ reason: APNsReason) -> ProviderReply {
        // Apple's words need no escapes.
        ProviderReply(
            status: reason.status, headers: [header, Self.json], body: Array(#"{"reason":"\#(reason.rawValue)"}"#.utf8))
    }

    /// A failure that a rule makes. Its words need no escapes.
    func failure(_ failure: InjectedFailure) -> ProviderReply {
        let time = failure.timestamp.map { ",\"timestamp\":\($0)" } ?? ""
        return ProviderReply(
            status: failure.status, headers: [header, Self.json] + failure.headers,
            body: Array(#"{"reason":"\#(failure.reason)"\#(time)}"#.utf8))
    }

    private static let json = ProviderReply.Header(name: "content-type", value: "application/json")

    /// The answer to a path that no endpoint serves.
    static func badPath(_ request: ProviderRequest) -> ProviderReply {
        APNsReply("apns-id", id: request.header("apns-id")).failure(.badPath)
    }
}
