import Foundation

/// A method of Google's APIs, as the path of a request names it.
enum FCMOperation: Equatable, Sendable {
    /// `projects.messages.send`.
    case send(project: String)
    /// `projects.registrations.topicSubscriptions`: create, list.
    case subscriptions(project: String, registration: String)
    /// `projects.registrations.topicSubscriptions`: get, delete, patch.
    case subscription(project: String, registration: String, topic: String)
    /// Several requests in one, as `multipart/mixed`.
    case batch
    /// The token endpoint of OAuth 2.0.
    case token
    /// The legacy protocol.
    case legacySend
    /// Instance ID: subscribes registrations to a topic.
    case batchAdd
    /// Instance ID: ends subscriptions of registrations to a topic.
    case batchRemove
    /// Instance ID: describes a registration.
    case info(registration: String)
    /// Instance ID: subscribes one registration to a topic.
    case relation(registration: String, topic: String)
    /// A path under one of the prefixes that no method has.
    case unknown

    /// Nil for a path of another API. Segments are decoded one by one; a segment with an invalid escape counts as
    /// empty.
    init?(path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            .map { $0.removingPercentEncoding ?? "" }
        guard !parts.isEmpty else { return nil }
        let isComplete = parts.allSatisfy { !$0.isEmpty }
        switch (parts[0], parts.count) {
        case ("batch", 1), ("batch", 2): self = .batch
        case ("token", 1): self = .token
        // Older libraries of Google request tokens there.
        case ("oauth2", 3) where parts[1] == "v4" && parts[2] == "token": self = .token
        case ("o", 3) where parts[1] == "oauth2" && parts[2] == "token": self = .token
        case ("fcm", 2) where parts[1] == "send": self = .legacySend
        case ("v1", 3...) where parts[1] == "projects": self = isComplete ? Self.ofProject(parts) : .unknown
        case ("iid", 2...): self = isComplete ? Self.ofInstanceID(parts) : .unknown
        case ("fcm", _): self = .unknown
        default: return nil
        }
    }

    /// `parts`: all segments, decoded, none of them empty.
    private static func ofProject(_ parts: [String]) -> FCMOperation {
        if parts.count == 4, parts[3] == "messages:send" { return .send(project: parts[2]) }
        guard parts.count >= 6, parts[3] == "registrations", parts[5] == "topicSubscriptions" else { return .unknown }
        switch parts.count {
        case 6: return .subscriptions(project: parts[2], registration: parts[4])
        case 7: return .subscription(project: parts[2], registration: parts[4], topic: parts[6])
        default: return .unknown
        }
    }

    private static func ofInstanceID(_ parts: [String]) -> FCMOperation {
        switch parts.count {
        case 2 where parts[1] == "v1:batchAdd": .batchAdd
        case 2 where parts[1] == "v1:batchRemove": .batchRemove
        case 3 where parts[1] == "info": .info(registration: parts[2])
        case 6 where parts[1] == "v1" && parts[3] == "rel" && parts[4] == "topics":
            .relation(registration: parts[2], topic: parts[5])
        default: .unknown
        }
    }

    /// The methods of the path, for `allow`. Empty for ``unknown``, which is 404 for every method.
    var methods: [String] {
        switch self {
        case .send, .batch, .token, .legacySend, .batchAdd, .batchRemove, .relation: ["POST"]
        case .subscriptions: ["GET", "POST"]
        case .subscription: ["GET", "DELETE", "PATCH"]
        case .info: ["GET"]
        case .unknown: []
        }
    }

    /// Nil for a path that no method has.
    var service: ProviderService? {
        switch self {
        case .send, .subscriptions, .subscription, .batch, .legacySend: .fcm
        case .batchAdd, .batchRemove, .info, .relation: .instanceID
        case .token: .accessTokens
        case .unknown: nil
        }
    }

    /// The project that the path names; nil for a path without one.
    var project: String? {
        switch self {
        case .send(let project), .subscriptions(let project, _), .subscription(let project, _, _): project
        default: nil
        }
    }

    /// Whether requests can be forwarded to the real push service. The token endpoint is always the gateway's own.
    var isForwarded: Bool {
        switch self {
        case .send, .token: true
        default: false
        }
    }

    /// The form of errors.
    enum ErrorForm: Sendable {
        /// ``GoogleError``.
        case status
        /// `{"error": "text"}` of Instance ID.
        case text
        /// Words of HTML, as the legacy protocol has them.
        case page
        /// OAuth 2.0 (RFC 6749, 5.2).
        case grant
    }

    /// The form that clients of the operation can read, even for errors before the operation begins.
    var errorForm: ErrorForm {
        switch self {
        case .batchAdd, .batchRemove, .info, .relation: .text
        case .legacySend: .page
        case .token: .grant
        default: .status
        }
    }
}
