package import SignalboxJSON
package import SignalboxNotification

/// A rule by which provider endpoints answer pushes differently from the service: with a failure, late, or over a
/// connection that ends. For tests of senders.
package struct FailureRule: Sendable, Equatable {
    /// The location of its object in the config.
    package var location = ConfigLocation(pointer: "")
    /// Unique in the config; the label of its metric.
    package var name = ""

    // MARK: Selection

    /// Nil for pushes of all sources.
    package var source: SourceName?
    /// Nil for pushes to all services.
    package var platform: PushService?
    /// Nil for all pushes, with or without a run.
    package var run: String?
    /// Device tokens, in clear or as events show them; empty for all pushes. Must not be logged.
    package var tokens: [String] = []
    /// The event pattern, as written; nil for all pushes.
    package var match: JSONText?

    // MARK: Counting

    /// The rule applies to every nth selected push; nil for each.
    package var every: Int?
    /// The most selected pushes after ``after``; nil for all.
    package var first: Int?
    /// The selected pushes that the rule leaves alone before it begins.
    package var after = 0

    // MARK: Effects

    /// Nil to accept the push.
    package var answer: Answer?
    /// How long the answer is held; nil for none.
    package var delay: Duration?
    /// Nil for no effect on the connection.
    package var connection: ConnectionFault?

    /// A failure instead of the acceptance of a push. One of ``reason`` and ``status`` is set.
    package struct Answer: Sendable, Equatable {
        /// One of ``FailureReason/all``.
        package var reason: FailureReason?
        /// One of ``FailureReason/generalStatuses``.
        package var status: Int?
        /// For APNs' 410; nil for the time of the answer.
        package var timestamp: Timestamp?
        /// Whole seconds, for `retry-after`.
        package var retryAfter: Duration?
    }

    /// An effect on the connection that brought a push.
    package enum ConnectionFault: String, Sendable, CaseIterable {
        /// HTTP/2: GOAWAY after the answer. HTTP/1.1: `connection: close`.
        case goAway = "goaway"
        /// HTTP/2: one stream at a time from the answer on, until a push is accepted.
        case oneStream = "one-stream"
        /// The connection ends in the middle of the answer.
        case cut
    }

    /// The most rules of a config, and of the API.
    package static let most = 1000
    /// The most tokens of a rule.
    static let mostTokens = 1000

    /// A rule without selection and effects, which is invalid.
    init() {}

    /// The service whose pushes it selects: as declared, otherwise that of the reason; nil for all.
    package var service: PushService? { platform ?? answer?.reason?.service }

    /// The reason of the answer to a push to this service; nil to accept the push.
    package func reason(for service: PushService) -> FailureReason? {
        guard let answer else { return nil }
        return answer.reason ?? answer.status.flatMap { FailureReason.general($0, of: service) }
    }
}

// MARK: Options

extension FailureRule {
    /// The rules of the config, in order. Their names are different.
    static let type = OptionType<[FailureRule]>(
        TypeInfo(
            "array of failure rules", ["type": "array", "maxItems": .integer(most), "items": options.schema],
            members: options.infos),
        write: { _ in .array([]) }
    ) { value, reader in
        var names: Set<String> = []
        return reader.entries(value, 0...most, orElse: "")?.enumerated().compactMap { position, entry in
            guard var rule = options.read(entry, &reader) else { return nil }
            rule.location = ConfigLocation(pointer: "/failures/\(position)")
            if entry.isObject, reader.lacks("name", in: entry) {
                reader.note(entry, "\"name\" is missing; a failure rule needs a \"name\" and an effect")
            } else if !rule.name.isEmpty, !names.insert(rule.name).inserted, let name = entry["name"] {
                reader.note(name, "there are two failure rules named \"\(rule.name)\"; rename one")
            }
            return rule
        }
    }

    /// Reads one rule by the same declaration. The rule may leave out its name, which is `name`. `name`: part of the
    /// path; another name in the rule is an error.
    package static func read(_ value: JSONValue, named name: String, _ reader: inout ConfigReader) -> FailureRule? {
        guard var rule = options.read(value, &reader) else { return nil }
        if let member = value["name"], rule.name != name {
            reader.note(member, "the path names the rule \"\(name)\"; write the same name, or leave it out")
        }
        rule.name = name
        return rule
    }

    /// The error for a rule that would leave every push unchanged.
    private static let noEffect =
        "this rule has no effect; add an \"answer\", a \"delay\" or a \"connection\" (goaway, one-stream, cut)"

    /// The API may leave out `name`, so only the schema and ``type`` require it.
    private static let options = Section(
        FailureRule(),
        rules: [
            "required": ["name"],
            "anyOf": [["required": ["answer"]], ["required": ["delay"]], ["required": ["connection"]]],
        ]
    ) {
        Option(
            "name", \.name, OptionType<String>.name.map { $0 },
            "Required. Unique; part of metrics and of the API's paths.")
        Option("source", \.source, OptionType<String>.name.map { SourceName($0) }, "Only pushes of this source.")
        Option(
            "platform", \.platform, .choice(expected: "this must be \"apns\", \"fcm\" or \"expo\""),
            "Only pushes to the endpoint of this service. Default: that of the answer's reason.")
        Option("run", \.run, .name, "Only pushes with this run label.")
        Option(
            "token", \.tokens,
            OptionType<String>.deviceToken.oneOrMore(
                of: "device tokens", upTo: mostTokens,
                orElse: "this must be one token, or an array of 1 to \(mostTokens)"),
            "Only pushes to these device tokens, in clear or as events show them (`sha256:…`).")
        Option(
            "match", \.match, RouteOptions.pattern,
            "Only pushes whose event matches this pattern, in the language of a route's `match`.")
        Option("every", \.every, .whole(1...1_000_000), "Only every nth of the selected pushes.")
        Option("first", \.first, .whole(1...1_000_000), "At most this number of the selected pushes.")
        Option(
            "after", \.after, .whole(0...1_000_000),
            "The number of selected pushes before the rule begins; `first` and `every` count from there.")
        Option(
            "answer", \.answer, .section(Answer.options),
            "A failure, in the words of the service. The push makes no event. Default: the push is accepted.")
        Option("delay", \.delay, .duration(from: "1ms", to: "60s", example: "2s"), "How long to hold the answer.")
        Option(
            "connection", \.connection,
            .choice(expected: "this must be \"goaway\", \"one-stream\" or \"cut\""),
            "The effect on the connection: `goaway` ends it after the answer, `one-stream` permits one stream until a push is accepted, `cut` ends it in the middle of the answer."
        )
    } check: { rule, value, reader in
        if ["answer", "delay", "connection"].allSatisfy({ reader.lacks($0, in: value) }) {
            reader.note(value, noEffect)
        }
        if let platform = rule.platform, let reason = rule.answer?.reason, reason.service != platform,
            let member = value["answer"]?["reason"]
        {
            reader.note(
                member,
                "\"\(reason.word)\" is a reason of \(reason.service.rawValue), and the rule is for "
                    + "\(platform.rawValue); change one of them")
        }
    }
}

extension FailureRule.Answer {
    /// The error for an answer with both of them, or none.
    private static let either = "an answer must have either a \"reason\", or a \"status\" of 429, 500 or 503"

    /// `timestamp` needs a reason with the status 410.
    fileprivate static let options = Section(
        FailureRule.Answer(), rules: ["oneOf": [["required": ["reason"]], ["required": ["status"]]]]
    ) {
        Option(
            "reason", \.reason, word,
            "Apple's `reason`, Google's `errorCode` or Expo's `error`. The status follows from it. For FCM's legacy protocol, its word for the same error."
        )
        Option(
            "status", \.status, general, "Instead of a reason, for every service: 429, 500 or 503 with its own error.")
        Option(
            "timestamp", \.timestamp, .instant,
            "With `Unregistered` or `ExpiredToken`: since when the token is invalid. Default: the time of the answer.")
        Option(
            "retryAfter", \.retryAfter, .duration(from: "1s", to: "1d", example: "30s"),
            "The `retry-after` of the answer, rounded up to whole seconds.")
    } check: { answer, value, reader in
        if reader.lacks("reason", in: value) == reader.lacks("status", in: value) { reader.note(value, either) }
        if let member = value["timestamp"],
            answer.reason.map({ $0.status != 410 }) ?? !reader.mistaken.contains("reason")
        {
            reader.note(member, "APNs sends a timestamp with \"Unregistered\" and \"ExpiredToken\" only; remove it")
        }
    }

    /// Words are compared exactly. The error suggests the nearest one of any service.
    private static let word: OptionType<FailureReason> = {
        let words = OptionType<String>.word("reason", among: FailureReason.all.map(\.word))
        return OptionType<FailureReason>(words.info) { value, reader in
            words.read(value, &reader).flatMap { FailureReason.named($0) }
        }
    }()

    /// The word of the answer depends on the service of each push.
    private static let general = OptionType<Int>.value(
        TypeInfo("429, 500 or 503", ["enum": [429, 500, 503]]),
        expected: "this must be 429, 500 or 503; any other status follows from a \"reason\""
    ) { value in
        value.integer.flatMap { Int(exactly: $0) }.flatMap { FailureReason.generalStatuses.contains($0) ? $0 : nil }
    }
}
