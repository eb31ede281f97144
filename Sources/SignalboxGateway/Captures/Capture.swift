package import Foundation
package import SignalboxNotification

/// A push that reached a provider endpoint, and its answer. Has no device token in clear and no credential.
package struct Capture: Sendable {
    /// The decision of the gateway on a push. Raw values are the words of the API.
    package enum Outcome: String, Sendable, CaseIterable {
        /// Its event is durable.
        case accepted
        /// It repeats an earlier push, whose event has the same id.
        case repeated
        /// A check of the endpoint refused it.
        case rejected
        /// A failure rule answered it.
        case injected
        /// The gateway could not store it.
        case unavailable
    }

    /// The receivers of a push, as far as its request names them.
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

    /// Its position among the captures of the process, from 1. Set by ``CaptureLog``.
    package internal(set) var number: Int64 = 0
    /// When the answer was decided.
    package let time: Date
    /// The push service that the endpoint stands for. Raw values are the words of the API.
    package let service: PushService
    package let outcome: Outcome
    /// The HTTP status of the answer. In a batch, of the part.
    package let status: Int
    /// The service's word for the error; nil for a success.
    package var reason: String?
    /// Nil if the sender did not prove its identity.
    package var source: SourceName?
    /// The label that the sender gave its run; see ``RunLabel``.
    package var run: String?
    /// Of an accepted push, the event has the token, topic, condition and channel instead.
    package var addressee = Addressee()
    /// The `apns-id` of the answer.
    package var apnsID: String?
    /// The id of the event; for a repeat, of the earlier one.
    package var eventID: String?
    /// Structured CloudEvents JSON; nil unless the push was accepted. The same bytes that the queue stores.
    package var event: [UInt8]?

    package init(_ service: PushService, _ outcome: Outcome, status: Int, at time: Date) {
        self.service = service
        self.outcome = outcome
        self.status = status
        self.time = time
    }

    /// About the memory that it takes; computed when it is appended.
    var bytes = 0

    /// The memory of a capture besides its event and its texts.
    private static let overhead = 320

    mutating func measure() {
        bytes = Self.overhead + (event?.count ?? 0)
        bytes += Self.size(reason) + Self.size(run) + Self.size(apnsID) + Self.size(eventID)
        bytes += Self.size(addressee.token) + Self.size(addressee.topic) + Self.size(addressee.condition)
        bytes += Self.size(addressee.channel) + Self.size(addressee.project)
    }

    private static func size(_ text: String?) -> Int { text?.utf8.count ?? 0 }
}

/// The label by which a sender or a test tells its pushes from those of others.
package enum RunLabel {
    /// True for 1 to 64 ASCII letters, digits, `.`, `_` and `-`.
    package static func allows(_ label: String) -> Bool { NameRule.allows(label) }
}
