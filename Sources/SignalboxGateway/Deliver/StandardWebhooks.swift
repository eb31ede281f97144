package import Foundation
import SignalboxEgress

/// A key of the Standard Webhooks specification: `whsec_` signs and verifies (HMAC-SHA256, `v1`), `whsk_` signs and
/// `whpk_` verifies (Ed25519, `v1a`).
///
/// It never prints its secret. Safe to use from any number of threads at once.
/// Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md
package struct WebhookKey: Sendable {
    private enum Algorithm: Sendable {
        case symmetric(MessageAuthentication)
        /// It can sign only with the private key.
        case asymmetric(Ed25519PublicKey, Ed25519PrivateKey?)
    }

    private let algorithm: Algorithm

    /// Reads a key: its prefix and base64. 24 to 64 bytes after `whsec_`, which may be missing as in the reference
    /// libraries; the seed's 32 bytes after `whsk_`, or these and the public key's 32; 32 after `whpk_`. Throws
    /// ``InvalidWebhookKey/notBase64`` or ``InvalidWebhookKey/length(_:wanted:)``. Ignores the public half after
    /// `whsk_` and derives it from the seed.
    package init(_ text: String) throws(InvalidWebhookKey) {
        if text.hasPrefix("whsk_") {
            let bytes = try Self.bytes(text.dropFirst(5))
            guard bytes.count == 32 || bytes.count == 64, let key = Ed25519PrivateKey(seed: Array(bytes.prefix(32))),
                let publicKey = Ed25519PublicKey(key.publicKey)
            else { throw .length(bytes.count, wanted: "32 or 64 for whsk_") }
            algorithm = .asymmetric(publicKey, key)
        } else if text.hasPrefix("whpk_") {
            let bytes = try Self.bytes(text.dropFirst(5))
            guard let key = Ed25519PublicKey(bytes) else { throw .length(bytes.count, wanted: "32 for whpk_") }
            algorithm = .asymmetric(key, nil)
        } else {
            let bytes = try Self.bytes(text.hasPrefix("whsec_") ? text.dropFirst(6) : text[...])
            guard (24...64).contains(bytes.count) else { throw .length(bytes.count, wanted: "24 to 64 for whsec_") }
            algorithm = .symmetric(MessageAuthentication(key: bytes))
        }
    }

    /// Decodes standard base64 (RFC 4648, 4), with or without its padding.
    private static func bytes(_ encoded: Substring) throws(InvalidWebhookKey) -> [UInt8] {
        // Padding may be left out, as in the reference libraries.
        let padding = String(repeating: "=", count: (4 - encoded.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: encoded + padding) else { throw .notBase64 }
        return Array(data)
    }

    /// False for `whpk_`, which can only verify. Check it before ``signature(id:timestamp:body:)``.
    package var canSign: Bool {
        if case .asymmetric(_, nil) = algorithm { false } else { true }
    }

    /// One entry of `webhook-signature`: the scheme, a comma, and the base64 of the signature over id, timestamp and
    /// body. `timestamp`: seconds since 1970. Requires ``canSign``; a public key stops the process.
    package func signature(id: String, timestamp: Int, body: [UInt8]) -> String {
        let head = Array("\(id).\(timestamp).".utf8)
        switch algorithm {
        case .symmetric(let authentication):
            return "v1," + Data(authentication.authenticate(head, body)).base64EncodedString()
        case .asymmetric(_, let key?): return "v1a," + Data(key.sign(head + body)).base64EncodedString()
        case .asymmetric: preconditionFailure("A public key signs nothing.")
        }
    }

    /// False for an entry of the other scheme and for a malformed one. Symmetric entries are compared in constant
    /// time.
    fileprivate func matches(_ entry: Substring, id: String, timestamp: Int, body: [UInt8]) -> Bool {
        switch algorithm {
        case .symmetric:
            return equalInConstantTime(
                Array(entry.utf8), Array(signature(id: id, timestamp: timestamp, body: body).utf8))
        case .asymmetric(let key, _):
            guard entry.hasPrefix("v1a,"), let signature = Data(base64Encoded: String(entry.dropFirst(4))) else {
                return false
            }
            return key.isValid(Array(signature), for: Array("\(id).\(timestamp).".utf8) + body)
        }
    }
}

/// The keys of one endpoint: one, or several during a rotation. A message has a signature of each. Receivers accept a
/// message if one of the signatures is valid, so both sides can rotate at different times.
package struct WebhookKeys: Sendable {
    private let keys: [WebhookKey]

    /// A message whose timestamp differs more than this from the present is treated as replayed. In seconds, in both
    /// directions, as the specification recommends.
    package static let tolerance: TimeInterval = 5 * 60

    /// `keys`: the first one signs first. Without keys, no message is signed, and none is valid.
    package init(_ keys: [WebhookKey]) { self.keys = keys }

    /// True for receivers that verify no signature.
    var isEmpty: Bool { keys.isEmpty }

    /// The value of `webhook-signature` for a message: the signatures of all keys, the first one's first. Entries are
    /// separated by spaces. Requires that all keys can sign.
    package func signatures(id: String, timestamp: Int, body: [UInt8]) -> String {
        keys.map { $0.signature(id: id, timestamp: timestamp, body: body) }.joined(separator: " ")
    }

    /// Checks a message as a receiver must: the timestamp, then every signature of the header against every key.
    /// Headers that are missing are nil. Throws the first failed check; ``WebhookVerificationError`` has one case for
    /// each. A valid message may still be a repeat, which the id shows.
    package func verify(
        id: String?, timestamp: String?, signatures: String?, body: [UInt8], now: Date
    ) throws(WebhookVerificationError) {
        guard let id, let timestamp, let signatures else { throw .missingHeader }
        guard let seconds = Int(timestamp) else { throw .malformedTimestamp }
        guard abs(now.timeIntervalSince1970 - TimeInterval(seconds)) <= Self.tolerance else { throw .timestampTooFar }
        let entries = signatures.split(separator: " ")
        guard
            keys.contains(where: { key in
                entries.contains { key.matches($0, id: id, timestamp: seconds, body: body) }
            })
        else { throw .noMatchingSignature }
    }
}

/// A new key in text form. `signalbox keys new` prints both parts. The gateway stores neither.
package struct NewWebhookKey: Sendable {
    /// The sender's secret: `whsec_…` or `whsk_…`.
    package let secret: String
    /// The key for receivers; nil for a symmetric key, which they share.
    package let publicKey: String?

    /// 32 random bytes. The bytes come from OpenSSL's generator.
    package static func symmetric() -> NewWebhookKey {
        NewWebhookKey(secret: "whsec_" + Data(randomBytes(32)).base64EncodedString(), publicKey: nil)
    }

    /// An Ed25519 pair. The secret contains the seed and the public key, as other tools write it. The receiver needs
    /// the public key only.
    package static func ed25519() -> NewWebhookKey {
        let seed = randomBytes(32)
        guard let key = Ed25519PrivateKey(seed: seed) else {
            preconditionFailure("OpenSSL rejected a seed of 32 bytes.")
        }
        return NewWebhookKey(
            secret: "whsk_" + Data(seed + key.publicKey).base64EncodedString(),
            publicKey: "whpk_" + Data(key.publicKey).base64EncodedString())
    }
}

/// Why a text is not a webhook key. Does not contain the text. The text goes to the operator with the name of the
/// option or variable that holds the key.
package enum InvalidWebhookKey: Error, Equatable, CustomStringConvertible {
    case notBase64
    case length(Int, wanted: String)

    package var description: String {
        switch self {
        case .notBase64:
            "the secret is not base64; it should be whsec_ and the base64 of 24 to 64 random bytes, as signalbox keys new prints it"
        case .length(let count, let wanted):
            "the secret has \(count) bytes; Standard Webhooks requires \(wanted), as signalbox keys new prints it"
        }
    }
}

/// Why a received message must not be trusted. It does not contain the secret or a part of the message.
package enum WebhookVerificationError: Error, Equatable, CustomStringConvertible {
    case missingHeader, malformedTimestamp, timestampTooFar, noMatchingSignature

    package var description: String {
        switch self {
        case .missingHeader: "webhook-id, webhook-timestamp or webhook-signature is missing"
        case .malformedTimestamp: "webhook-timestamp is not a whole number of seconds"
        case .timestampTooFar: "webhook-timestamp is more than five minutes away from now"
        case .noMatchingSignature: "no signature matches: the secret differs, or the body was modified"
        }
    }
}
