import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

// Topic management. The gateway records subscriptions for queries; it does not expand topics.

// MARK: HTTP v1

/// Source: firebase.google.com, fcmtopics, "REST Resource: projects.registrations.topicSubscriptions".
extension FCMEndpoint {
    /// Subscriptions on a page if the request names no size, or 0.
    private static let defaultPage = 1000
    /// A larger size is reduced to this one without an error.
    private static let largestPage = 2000

    /// The path names everything. POST and PATCH have a body, which is read and ignored. `token`: the registration,
    /// decoded.
    func manage(
        _ token: String, of project: String, from source: SourceName, _ operation: FCMOperation,
        _ request: ProviderRequest
    ) -> ProviderVerdict {
        guard ["POST", "PATCH"].contains(request.method) else {
            return .reply(managed(token, of: project, from: source, operation, request))
        }
        return body(of: request, operation, source, limit: Self.sendLimit) { _, reply in
            reply(managed(token, of: project, from: source, operation, request))
        }
    }

    /// The reply to a request whose body has arrived, if it has one. `token`: as of ``manage(_:of:from:_:_:)``.
    func managed(
        _ token: String, of project: String, from source: SourceName, _ operation: FCMOperation,
        _ request: ProviderRequest
    ) -> ProviderReply {
        let query = FormParameters(queryOf: request)
        do throws(GoogleError) {
            return try reply(to: request.method, token, of: project, from: source, operation, query)
        } catch {
            return error.reply
        }
    }

    /// GET lists or reads, POST subscribes, DELETE ends a subscription, PATCH returns it unchanged. Throws 404 for a
    /// subscription that does not exist; with `allow_missing`, DELETE then succeeds and PATCH subscribes.
    private func reply(
        to method: String, _ token: String, of project: String, from source: SourceName, _ operation: FCMOperation,
        _ query: FormParameters
    ) throws(GoogleError) -> ProviderReply {
        guard FCMMessage.isToken(token.utf8) else { throw .invalid("name", "Invalid registration token") }
        let registration = TopicSubscriptions.Registration(token, from: source)
        let parent = "projects/\(project)/registrations/\(token)/topicSubscriptions"
        guard case .subscription(_, _, let topic) = operation else {
            if method == "GET" { return try list(registration, parent, query) }
            let topic = try checkedTopic(query["topic_name"] ?? query["topicName"] ?? "", "topic_name")
            let (change, time) = (topics.add(topic, to: registration, at: now()), now())
            return try describe(change, topic, time, parent)
        }
        _ = try checkedTopic(topic, "name")
        let isMissingAllowed = query["allow_missing"] == "true" || query["allowMissing"] == "true"
        let since = topics.topics(of: registration).first { $0.topic == topic }?.since
        switch method {
        case "DELETE":
            guard topics.remove(topic, from: registration) == .done || isMissingAllowed else { throw .notFound }
            return .json { _ in }
        case "PATCH" where since == nil && isMissingAllowed:
            let time = now()
            return try describe(topics.add(topic, to: registration, at: time), topic, time, parent)
        default:
            guard let since else { throw .notFound }
            return .json { Self.write(topic, since, parent, into: &$0) }
        }
    }

    /// The subscription. Throws 409 for one that exists, which firebase-admin takes as success, and 429 beyond the
    /// limit.
    private func describe(
        _ change: TopicSubscriptions.Change, _ topic: String, _ time: Date, _ parent: String
    ) throws(GoogleError) -> ProviderReply {
        switch change {
        case .done: return .json { Self.write(topic, time, parent, into: &$0) }
        case .unchanged: throw GoogleError(status: .alreadyExists, message: "Requested entity already exists")
        case .tooManyTopics:
            throw GoogleError(
                status: .resourceExhausted,
                message: "The registration has \(TopicSubscriptions.topicsPerRegistration) topics.",
                details: [.fcm("QUOTA_EXCEEDED")])
        }
    }

    /// Pages are by topic name; the token of the next page is the last name of this one. Throws 400 for a size that is
    /// negative or not a number.
    private func list(
        _ registration: TopicSubscriptions.Registration, _ parent: String, _ query: FormParameters
    ) throws(GoogleError) -> ProviderReply {
        let requested = (query["page_size"] ?? query["pageSize"]).map { Int($0) } ?? 0
        guard let requested, requested >= 0 else { throw .invalid("page_size", "Invalid page size.") }
        let size = requested == 0 ? Self.defaultPage : min(requested, Self.largestPage)
        let start = query["page_token"] ?? query["pageToken"] ?? ""
        let rest = topics.topics(of: registration).filter { $0.topic > start }
        return .json { json in
            json.array("topic_subscriptions", of: rest.prefix(size)) { json, entry in
                json.object { Self.write(entry.topic, entry.since, parent, into: &$0) }
            }
            if rest.count > size { json.member("next_page_token", rest[size - 1].topic) }
        }
    }

    /// Throws 400 that names `field`, the parameter or path segment with the topic.
    private func checkedTopic(_ topic: String, _ field: String) throws(GoogleError) -> String {
        guard FCMMessage.isTopic(topic.utf8) else { throw .invalid(field, "Invalid topic name.") }
        return topic
    }

    /// `parent`: the name of the collection, which begins the name of the subscription.
    private static func write(_ topic: String, _ since: Date, _ parent: String, into json: inout JSONWriter) {
        json.member("name", "\(parent)/\(topic)")
        json.member("topic_name", topic)
        json.member("create_time", since)
    }
}

// MARK: Instance ID

/// Source: developers.google.com/instance-id/reference/server.
extension FCMEndpoint {
    /// The most tokens of one request, as Google limits them.
    private static let mostRegistrations = 1000
    private static let invalidTopic = "InvalidTopicName"

    /// `POST /iid/v1:batchAdd` and `:batchRemove`: one result for each token, in order. Replies 400 for a body that is
    /// not JSON, an invalid topic, and no token or too many. An error of one token does not affect the others.
    func changeTopics(_ body: [UInt8], isAdding: Bool, from source: SourceName) -> ProviderReply {
        let request = FCMParser.parsers.withParser { parser in
            (try? parser.parse(body)).map { root in
                (
                    topic: root["to"]?.string ?? "",
                    registrations: root["registration_tokens"]?.elements.map { $0.string ?? "" } ?? []
                )
            }
        }
        guard let request else { return Self.iidError("InvalidJson") }
        let topic = request.topic.hasPrefix("/topics/") ? String(request.topic.dropFirst(8)) : request.topic
        guard FCMMessage.isTopic(topic.utf8) else { return Self.iidError(Self.invalidTopic) }
        guard (1...Self.mostRegistrations).contains(request.registrations.count) else {
            return Self.iidError(request.registrations.isEmpty ? "InvalidArgument" : "TooManyRegistrationTokens")
        }
        let time = now()
        return .json { json in
            json.array("results", of: request.registrations) { json, token in
                json.object { $0.member("error", change(topic, of: token, isAdding: isAdding, source, time)) }
            }
        }
    }

    /// The error of one token; nil for success. Subscribing twice is one.
    private func change(
        _ topic: String, of token: String, isAdding: Bool, _ source: SourceName, _ time: Date
    ) -> String? {
        guard FCMMessage.isToken(token.utf8) else { return "INVALID_ARGUMENT" }
        let registration = TopicSubscriptions.Registration(token, from: source)
        guard isAdding else {
            _ = topics.remove(topic, from: registration)
            return nil
        }
        return topics.add(topic, to: registration, at: time) == .tooManyTopics ? "TOO_MANY_TOPICS" : nil
    }

    /// `POST /iid/v1/{token}/rel/topics/{topic}`. The body is read and ignored.
    func relate(
        _ token: String, to topic: String, from source: SourceName, _ request: ProviderRequest
    ) -> ProviderVerdict {
        body(of: request, .relation(registration: token, topic: topic), source) { _, reply in
            guard FCMMessage.isTopic(topic.utf8) else { return reply(Self.iidError(Self.invalidTopic)) }
            let error = change(topic, of: token, isAdding: true, source, now())
            reply(error.map { Self.iidError($0) } ?? .json { _ in })
        }
    }

    /// `GET /iid/info/{token}`. The gateway knows the topics only. `rel` needs the parameter `details=true`.
    func info(on token: String, from source: SourceName, _ request: ProviderRequest) -> ProviderReply {
        guard FCMMessage.isToken(token.utf8) else { return Self.iidError("InvalidToken") }
        let known = topics.topics(of: .init(token, from: source))
        return .json { json in
            json.member("platform", "UNKNOWN")
            guard FormParameters(queryOf: request)["details"] == "true", !known.isEmpty else { return }
            json.object("rel") { json in
                json.object("topics") { json in
                    for (topic, since) in known {
                        json.key(topic)
                        json.object { $0.member("addDate", String(Timestamp(since).text.prefix(10))) }
                    }
                }
            }
        }
    }

    /// 400. `text`: the whole error; Instance ID has no codes.
    private static func iidError(_ text: String) -> ProviderReply {
        ProviderReply(status: 400, headers: .json, body: .json { $0.object { $0.member("error", text) } })
    }
}
