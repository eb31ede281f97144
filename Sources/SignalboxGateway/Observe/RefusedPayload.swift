package import Foundation
package import SignalboxNotification

/// A payload, or a report of a device, that the gateway refused. Has no part of its body.
package struct RefusedPayload: Sendable, Equatable {
    /// The endpoint that refused it. Raw values are the words of the API.
    package enum Door: String, Sendable, CaseIterable {
        /// The gateway's own API.
        case api
        case apns, fcm, expo
    }

    package let at: Date
    package let door: Door
    /// A problem code of the API, or the push service's word for the error.
    package let code: String
    /// Nil if the sender did not prove its identity.
    package let source: SourceName?
    /// Bytes of the body that was refused; nil if it was not read.
    package let bytes: Int?
    /// The line of the payload in its body, from 1; nil for a refusal of the whole request.
    package let line: Int?
    /// False for a payload. A report, or another request of a device, is listed, and is not counted as a payload.
    let isReport: Bool

    package init(
        at: Date, door: Door, code: String, source: SourceName?, bytes: Int? = nil, line: Int? = nil,
        isReport: Bool = false
    ) {
        (self.at, self.door, self.code) = (at, door, code)
        (self.source, self.bytes, self.line, self.isReport) = (source, bytes, line, isReport)
    }
}
