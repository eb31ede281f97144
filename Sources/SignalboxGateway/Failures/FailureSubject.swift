import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting

/// The properties by which failure rules select a push, besides its event.
struct FailureSubject: Sendable {
    let source: SourceName
    /// Nil if a recording does not tell the service.
    let service: PushService?
    /// The label of the run.
    let run: String?
    /// The hashed device token.
    let token: String?

    /// A push as an endpoint received it.
    init(_ push: ProviderPush, token: String?) {
        (source, service, run) = (push.source, push.platform, push.run)
        self.token = token
    }

    /// A recorded payload, as if it were pushed: the event tells the service and the token, and there is no run.
    init(event: JSONValue, from source: SourceName) {
        self.source = source
        let data = event["data"]
        service = Self.isToExpo(data) ? .expo : data?["platform"]?.string.flatMap { PushService(rawValue: $0) }
        run = nil
        token = data?["target"]?["token"]?.string
    }

    /// Whether the payload of an event is a message to Expo's push service: a token of Expo in `to` proves it. The
    /// event may name FCM as its platform, because messages of FCM's legacy protocol have the same form.
    private static func isToExpo(_ data: JSONValue?) -> Bool {
        guard data?["vendor"]?.string == "expo" else { return false }
        let evidence = data?["detection"]?["evidence"]?.elements.compactMap(\.string) ?? []
        return evidence.contains("/to") || evidence.contains("/to/0")
    }
}

extension PreparedFailure {
    /// The first option that keeps the rule from selecting a push; nil if it selects it. Does not evaluate the
    /// pattern.
    func mismatch(_ subject: FailureSubject) -> String? {
        if let source = rule.source, source != subject.source { return "source" }
        if let service = rule.service, service != subject.service { return "platform" }
        if let run = rule.run, run != subject.run { return "run" }
        guard tokens.isEmpty || subject.token.map({ tokens.contains($0) }) == true else { return "token" }
        return nil
    }
}

extension [FailureDecider.Entry] {
    /// The rules that select a push, in the order of evaluation. `event`: nil for an event that cannot be read, which
    /// no pattern selects. `work`: shared by all patterns; beyond its limit no pattern selects.
    func selecting(_ subject: FailureSubject, _ event: JSONValue?, work: inout MatchWork) -> [FailureDecider.Entry] {
        filter { $0.prepared.mismatch(subject) == nil && $0.prepared.matches(event, work: &work) }
    }
}

extension PreparedFailure {
    /// Whether the pattern matches the event; true without a pattern.
    func matches(_ event: JSONValue?, work: inout MatchWork) -> Bool {
        guard let pattern = selector.pattern else { return true }
        guard let event else { return false }
        return (try? pattern.matches(event, work: &work)) ?? false
    }
}
