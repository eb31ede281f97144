package import Foundation

/// The answer of a push service to a forwarded push, or why there is none.
package struct PushVerdict: Sendable, Equatable {
    /// The raw values are those of the event and the metric.
    package enum Outcome: String, Sendable, CaseIterable {
        /// The service accepted the push: a status of 2xx.
        case accepted
        /// The service answered with another status.
        case rejected
        /// The service did not answer in time, or could not be reached. It may still have received the push.
        case unreachable
    }

    /// A field of the answer, with its name in lower case.
    package struct Header: Sendable, Equatable {
        package let name: String
        package let value: String

        package init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    /// Host of the service, with its port if that is not the usual one.
    package var host: String
    /// The decision of the push service.
    package var outcome: Outcome
    /// Nil if the service is unreachable.
    package var status: Int?
    /// The fields for the sender, at most one of each name.
    package var headers: [Header]
    /// As the service sent it.
    package var body: [UInt8]
    /// The service's word for a rejection, such as `Unregistered`; the code of a transport error if it is
    /// unreachable. Nil if it gave none.
    package var reason: String?
    /// When the device token became invalid, as APNs states with 410.
    package var timestamp: Date?
    /// The name that FCM gave an accepted message.
    package var message: String?
    /// From the start of the request to the end of the answer.
    package var duration: Duration = .zero

    /// The default values describe an unreachable service.
    package init(
        host: String, outcome: Outcome, status: Int? = nil, headers: [Header] = [], body: [UInt8] = [],
        reason: String? = nil
    ) {
        self.host = host
        self.outcome = outcome
        self.status = status
        self.headers = headers
        self.body = body
        self.reason = reason
    }

    /// The value of the field of this name, in lower case.
    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// True if the service would give a repeat the same answer, so that a repeat need not be forwarded. False for
    /// failures that pass, and for those of the credential, which the sender renews.
    var isFinal: Bool {
        guard let status else { return false }
        switch status {
        case 401, 403, 408, 425, 429: return false
        default: return (200..<300).contains(status) || (400..<500).contains(status)
        }
    }
}
