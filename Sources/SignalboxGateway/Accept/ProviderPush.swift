package import Foundation
package import SignalboxNotification
import SignalboxStore

/// One payload that reached a provider endpoint, with the parameters of the request that brought it.
package struct ProviderPush: Sendable {
    /// The request body: one JSON object, as sent.
    package let body: [UInt8]
    /// The source that the sender proved to be.
    package let source: SourceName
    /// The push service that the endpoint stands for.
    package let platform: PushService
    /// The device token in its canonical spelling, in clear. Only its keyed hash reaches the event. Nil for a push
    /// to a group.
    package var token: [UInt8]?
    /// The device tokens of the whole request, from ``Intake/tokens(ofRequest:)``; nil for a request that is one push.
    package var requestTokens: RequestTokens?
    /// The topic of a request to APNs, or of a message to FCM.
    package var topic: String?
    /// The condition over topics of a message to FCM.
    package var condition: String?
    /// The project of a message to FCM; nil in its legacy protocol.
    package var project: String?
    /// The channel of a broadcast to APNs.
    package var channel: String?
    /// The parameters that the event shows; nil without any.
    package var transport: PushNotification.Transport?
    /// How long the push service would keep the push. ``Expiration/unlimited`` leaves the expiry to the body.
    package var expiration = Expiration.unlimited
    /// Mistakes of the request; the event shows them after those of the payload.
    package var warnings: [Warning] = []
    /// A name of the request that its sender uses again when it repeats the request. A request with the same name,
    /// addressee and body is accepted once. Nil for a request that is always new.
    package var repeatKey: String?
    /// The label of the run that the sender gave to the request; nil without one. The event does not show it.
    package var run: String?
    /// The trace of the request; nil for none.
    package var trace: RequestTrace?

    /// A push without parameters. Set the other properties afterwards.
    package init(body: [UInt8], source: SourceName, platform: PushService) {
        (self.body, self.source, self.platform) = (body, source, platform)
    }

    /// The API that the push was sent to.
    var form: RequestForm {
        switch platform {
        case .apns: .apns
        case .fcm: project == nil ? .fcmLegacy : .fcmV1
        case .expo: .expo
        }
    }

    /// How long a push service keeps a push that it cannot deliver at once.
    package enum Expiration: Sendable, Equatable {
        /// As long as the service chooses.
        case unlimited
        /// Not at all: each delivery has one attempt.
        case once
        /// Until this time. A time in the past ends the event's deliveries without an attempt.
        case at(Date)

        /// The end of the delivery period; nil for none.
        var expiry: Date? {
            switch self {
            case .unlimited: nil
            case .once: .afterFirstAttempt
            case .at(let date): date
            }
        }
    }
}

/// The result of a push, unless the store failed.
package enum ProviderAnswer: Sendable {
    /// The event is durable.
    case accepted(RoutedEvent)
    /// The push repeats an earlier one, whose event has this id. No event was stored.
    case repeated(event: String)
    /// The body cannot be read, or its routes take too much work. No event was stored.
    case rejected(Rejection)
    /// The events of the pushes before it have as many deliveries as those of a request may have. No event was stored;
    /// another request may bring the push.
    case postponed
}

extension PushNotification {
    /// Adds the parameters of a request. The payload's own tag has precedence. The delivery period ends at the earlier
    /// of both ends.
    mutating func apply(_ push: ProviderPush) {
        // For other services, the body names the addressee, and the reader has found it there.
        if push.platform == .apns, push.topic != nil || push.channel != nil {
            var target = target ?? Target()
            target.topic = push.topic ?? target.topic
            target.channel = push.channel
            self.target = target
        }
        transport = push.transport
        tag = tag ?? push.transport?.collapseId
        if case .at(let date) = push.expiration {
            let end = Timestamp(date).text
            var schedule = schedule ?? Schedule()
            if let own = Normalizer.date(schedule.notAfter) {
                if date < own { schedule.notAfter = end }
            } else {
                schedule.notAfter = end
            }
            self.schedule = schedule
        }
        // The endpoint knows the type of push, and has checked the size.
        if push.platform == .apns { warnings.removeAll { $0.code == "apns.payload-too-large" } }
        for warning in push.warnings where warnings.count < Self.mostWarnings { warnings.append(warning) }
    }
}
