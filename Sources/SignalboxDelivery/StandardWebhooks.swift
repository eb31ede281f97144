package import Foundation
import SignalboxEgress

/// A symmetric secret of the Standard Webhooks specification, ready to sign and to verify with.
/// Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md
package struct WebhookSecret: Sendable {
    private let authentication: MessageAuthentication

    /// How far a timestamp may lie from the present before a message counts as replayed.
    package static let tolerance: TimeInterval = 5 * 60

    /// Reads `whsec_` and the base64 of 24 to 64 bytes; the prefix may be missing, as in the reference libraries.
    package init(_ text: String) throws(InvalidWebhookSecret) {
        let encoded = text.hasPrefix("whsec_") ? String(text.dropFirst(6)) : text
        guard let key = Data(base64Encoded: encoded) else { throw .notBase64 }
        guard (24...64).contains(key.count) else { throw .length(key.count) }
        authentication = MessageAuthentication(key: Array(key))
    }

    /// The value of `webhook-signature` for a message: `v1,` and the base64 of HMAC-SHA256 over id, timestamp and body.
    package func signature(id: String, timestamp: Int, body: [UInt8]) -> String {
        "v1," + Data(authentication.authenticate(Array("\(id).\(timestamp).".utf8), body)).base64EncodedString()
    }

    /// Checks a message as a receiver must: the timestamp, then every signature of the header in constant time.
    package func verify(
        id: String?, timestamp: String?, signatures: String?, body: [UInt8], now: Date
    ) throws(WebhookVerificationError) {
        guard let id, let timestamp, let signatures else { throw .missingHeader }
        guard let seconds = Int(timestamp) else { throw .malformedTimestamp }
        guard abs(now.timeIntervalSince1970 - TimeInterval(seconds)) <= Self.tolerance else { throw .timestampTooFar }
        let expected = Array(signature(id: id, timestamp: seconds, body: body).utf8)
        guard signatures.split(separator: " ").contains(where: { equalInConstantTime(Array($0.utf8), expected) }) else {
            throw .noMatchingSignature
        }
    }
}

/// Why a text is no webhook secret. Says nothing of the text itself.
package enum InvalidWebhookSecret: Error, Equatable, CustomStringConvertible {
    case notBase64
    case length(Int)

    package var description: String {
        switch self {
        case .notBase64: "the secret is not base64; it should be whsec_ and the base64 of 24 to 64 random bytes"
        case .length(let count): "the secret has \(count) bytes; Standard Webhooks wants 24 to 64"
        }
    }
}

/// Why a received message must not be trusted.
package enum WebhookVerificationError: Error, Equatable, CustomStringConvertible {
    case missingHeader, malformedTimestamp, timestampTooFar, noMatchingSignature

    package var description: String {
        switch self {
        case .missingHeader: "webhook-id, webhook-timestamp or webhook-signature is missing"
        case .malformedTimestamp: "webhook-timestamp is no whole number of seconds"
        case .timestampTooFar: "webhook-timestamp is more than five minutes away from now"
        case .noMatchingSignature: "no signature matches: another secret, or the message was changed"
        }
    }
}
