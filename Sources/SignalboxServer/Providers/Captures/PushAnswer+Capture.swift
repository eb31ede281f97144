import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

/// Answers as captures show them.
extension PushAnswer {
    /// An error of the real push service is a rejection, and a service that gives no answer is unavailable.
    var outcome: Capture.Outcome {
        switch self {
        case .accepted: .accepted
        case .repeated: .repeated
        case .rejected, .limited: .rejected
        case .injected: .injected
        case .verdict(let verdict):
            switch verdict.outcome {
            case .accepted: .accepted
            case .rejected: .rejected
            case .unreachable: .unavailable
            }
        case .unavailable: .unavailable
        }
    }

    /// The status of one push among several; the request may have another status.
    var status: Int {
        switch self {
        case .accepted, .repeated: 200
        case .rejected(let rejection): rejection.code == .tooLarge ? 413 : 400
        case .limited: 429
        case .injected(let failure): failure.status
        case .verdict(let verdict): verdict.status ?? 503
        case .unavailable: 503
        }
    }

    /// The reason, unless the reply to the whole request has one.
    var reason: String? {
        switch self {
        case .accepted, .repeated: nil
        case .rejected(let rejection): rejection.code.rawValue
        case .limited: "rate-limited"
        case .injected(let failure): failure.reason
        case .verdict(let verdict): verdict.reason
        case .unavailable: "unavailable"
        }
    }
}

extension ProviderAnswer {
    /// The event of an accepted push.
    var accepted: RoutedEvent? { if case .accepted(let routed) = self { routed } else { nil } }

    /// The id of the event, or of the event that the push repeats; nil for a rejected push.
    var eventID: String? {
        switch self {
        case .accepted(let routed): routed.event.id.description
        case .repeated(let event): event
        case .rejected, .postponed: nil
        }
    }
}

extension ProviderReply {
    /// The most characters of a reason. Bounded, because the real push service may send any text.
    private static let longestReason = 200

    /// The service's word for an error: Apple's `reason`, Google's `errorCode` or `status`, the `error` of an OAuth
    /// token endpoint, Expo's `code`; nil for a body without one.
    var reason: String? {
        guard body.first == UInt8(ascii: "{") else { return nil }
        return ParserPool.events.withParser { parser in
            guard let root = try? parser.parse(body) else { return nil }
            let error = root["error"]
            var word = root["reason"]?.string ?? error?.string
            for detail in error?["details"]?.elements.map({ $0 }) ?? [] where word == nil {
                word = detail["errorCode"]?.string
            }
            word = word ?? error?["status"]?.string
            for error in root["errors"]?.elements.map({ $0 }) ?? [] where word == nil { word = error["code"]?.string }
            return word.map { String($0.prefix(Self.longestReason)) }
        }
    }
}
