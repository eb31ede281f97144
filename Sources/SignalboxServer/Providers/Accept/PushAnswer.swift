import SignalboxGateway
import SignalboxNotification

/// The answer to one push, which its endpoint words as the provider does.
enum PushAnswer: Sendable {
    /// The event of this id is durable.
    case accepted(event: String)
    /// The push repeats an earlier one, whose event has this id.
    case repeated(event: String)
    /// The body exceeds a limit of the gateway, or cannot be read. No event was stored.
    case rejected(Rejection)
    /// The queue does not accept events.
    case unavailable
    /// The source sends more pushes in a second than its limit, or the events of the request have too many deliveries.
    case limited
    /// The real push service answers, or is unreachable. The event of the push is durable.
    case verdict(PushVerdict)
    /// A failure rule answers. No event was stored.
    case injected(InjectedFailure)

    /// The event of an accepted push; nil for another answer.
    var event: String? {
        switch self {
        case .accepted(let event), .repeated(let event): event
        default: nil
        }
    }

    /// True if the queue failed, so that none of the request's pushes was stored.
    var isUnavailable: Bool { if case .unavailable = self { true } else { false } }

    /// True for a failure that the service reports for a whole request only, not for one push. Only Expo has both
    /// kinds: the error of a ticket has the status 200.
    func isOfRequest(to service: PushService) -> Bool {
        if service == .expo, case .injected(let failure) = self { failure.status != 200 } else { false }
    }

    /// True for a push beyond the rate of its source; the same push may be accepted a second later.
    var isLimited: Bool { if case .limited = self { true } else { false } }
}

/// A failure that a rule makes of a push.
struct InjectedFailure: Sendable, Equatable {
    /// The name of the rule.
    let rule: String
    /// The HTTP status; 200 for an error of one of Expo's tickets.
    let status: Int
    /// Apple's `reason`, Google's `errorCode` or Expo's `error`.
    let reason: String
    /// Apple's `timestamp`: milliseconds since 1970.
    var timestamp: Int64?
    /// Seconds, for `retry-after`.
    var retryAfter: Int?

    /// The header field, if the rule has it.
    var headers: [ProviderReply.Header] { retryAfter.map { [.init(name: "retry-after", value: "\($0)")] } ?? [] }
}
