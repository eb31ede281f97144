package import Foundation
package import SignalboxNotification

/// A push that reached a provider endpoint, and its answer. Has no device token in clear and no credential.
package struct Capture: Sendable {
    /// The decision of the gateway on a push. Raw values are the words of the API.
    package enum Outcome: String, Sendable, CaseIterable {
        /// The event of the push is durable.
        case accepted
        /// The push repeats an earlier one. Its event id is that of the earlier push.
        case repeated
        /// A check of the endpoint rejected the push, or the real push service did, if the push was forwarded.
        case rejected
        /// A failure rule answered the push.
        case injected
        /// The gateway could not store the push, or the real push service did not answer.
        case unavailable
        /// Its sender asked for the checks alone, and it passed those of the endpoint. It makes no event.
        case dryRun = "dry-run"
    }

    /// The addressee of a push, as far as its request names it.
    package struct Addressee: Sendable, Equatable {
        /// The keyed hash of the device token; see ``TokenHash``.
        package var token: String?
        /// A topic of APNs or FCM.
        package var topic: String?
        /// A condition over topics of FCM.
        package var condition: String?
        /// A broadcast channel of APNs.
        package var channel: String?
        /// A Firebase project.
        package var project: String?

        package init(
            token: String? = nil, topic: String? = nil, condition: String? = nil, channel: String? = nil,
            project: String? = nil
        ) {
            (self.token, self.topic, self.condition) = (token, topic, condition)
            (self.channel, self.project) = (channel, project)
        }
    }

    /// The position of this capture among those of the process, from 1. ``CaptureLog`` sets it.
    package internal(set) var number: Int64 = 0
    /// When the answer was decided.
    package let time: Date
    /// The push service that the endpoint stands for. Raw values are the words of the API.
    package let service: PushService
    package let outcome: Outcome
    /// The HTTP status of the answer; in a batch, that of the part.
    package let status: Int
    /// The service's word for the error; nil for a success.
    package var reason: String?
    /// The fault of the sender's proof of identity, or of a request without one, which the answer does not name; nil
    /// for other reasons.
    package var detail: String?
    /// Nil if the sender did not prove its identity.
    package var source: SourceName?
    /// The label that the sender gave its run; see ``RunLabel``.
    package var run: String?
    /// The addressee. Has only the project for an accepted push, whose event has the other members.
    package var addressee = Addressee()
    /// The `apns-id` of the answer.
    package var apnsID: String?
    /// The id of the event; for a repeat, of the earlier one.
    package var eventID: String?
    /// Structured CloudEvents JSON; nil unless the push was stored. The same bytes that the queue stores.
    package var event: [UInt8]?

    package init(_ service: PushService, _ outcome: Outcome, status: Int, at time: Date) {
        (self.service, self.outcome, self.status, self.time) = (service, outcome, status, time)
    }

    /// True for a push that was refused before it became an event.
    var isRefusal: Bool { outcome == .rejected && event == nil }

    /// The approximate memory of this capture; computed when it is appended.
    var bytes = 0

    /// The memory of a capture besides its event and its texts.
    private static let overhead = 320

    mutating func measure() {
        bytes = Self.overhead + (event?.count ?? 0)
        bytes += Self.size(reason) + Self.size(detail) + Self.size(run) + Self.size(apnsID) + Self.size(eventID)
        bytes += Self.size(addressee.token) + Self.size(addressee.topic) + Self.size(addressee.condition)
        bytes += Self.size(addressee.channel) + Self.size(addressee.project)
    }

    private static func size(_ text: String?) -> Int { text?.utf8.count ?? 0 }
}

/// The label of a run, which keeps the pushes of concurrent tests apart.
package enum RunLabel {
    /// True for 1 to 64 ASCII letters, digits, `.`, `_` and `-`.
    package static func allows(_ label: String) -> Bool { NameRule.allows(label) }
}
