import Foundation
import SignalboxEgress
import SignalboxGateway
import Testing

@Suite struct StandardWebhooksTests {
    // The example of the Standard Webhooks specification and of its reference libraries.
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    private static let timestamp = 1_614_265_330
    private static let body = Array(#"{"test": 2432232314}"#.utf8)
    private static let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    private let then = Date(timeIntervalSince1970: 1_614_265_330)

    @Test func signsAsTheReferenceLibrariesDo() throws {
        let keys = try WebhookKeys([WebhookKey(Self.secret)])
        #expect(keys.signatures(id: Self.id, timestamp: Self.timestamp, body: Self.body) == Self.signature)
    }

    @Test func acceptsASecretWithoutPrefix() throws {
        let keys = try WebhookKeys([WebhookKey(String(Self.secret.dropFirst(6)))])
        #expect(keys.signatures(id: Self.id, timestamp: Self.timestamp, body: Self.body) == Self.signature)
    }

    @Test func verifiesAnyOfSeveralSignatures() throws {
        let keys = try WebhookKeys([WebhookKey(Self.secret)])
        for header in [Self.signature, "v1,AAAA \(Self.signature)", "v2,x \(Self.signature) v1a,y"] {
            try keys.verify(
                id: Self.id, timestamp: "\(Self.timestamp)", signatures: header, body: Self.body, now: then)
        }
    }

    @Test(arguments: [
        "", "v1,", "v1", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE",
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=A", "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ])
    func refusesEverythingElse(header: String) throws {
        let keys = try WebhookKeys([WebhookKey(Self.secret)])
        #expect(throws: WebhookVerificationError.noMatchingSignature) {
            try keys.verify(
                id: Self.id, timestamp: "\(Self.timestamp)", signatures: header, body: Self.body, now: then)
        }
    }

    @Test func refusesAChangedMessage() throws {
        let keys = try WebhookKeys([WebhookKey(Self.secret)])
        let time = "\(Self.timestamp)"
        #expect(throws: WebhookVerificationError.noMatchingSignature) {
            try keys.verify(id: "other", timestamp: time, signatures: Self.signature, body: Self.body, now: then)
        }
        #expect(throws: WebhookVerificationError.noMatchingSignature) {
            try keys.verify(id: Self.id, timestamp: time, signatures: Self.signature, body: [], now: then)
        }
    }

    @Test func rejectsOldAndFutureTimestamps() throws {
        let keys = try WebhookKeys([WebhookKey(Self.secret)])
        for seconds in [-301.0, 301] {
            #expect(throws: WebhookVerificationError.timestampTooFar) {
                try keys.verify(
                    id: Self.id, timestamp: "\(Self.timestamp)", signatures: Self.signature, body: Self.body,
                    now: then.addingTimeInterval(seconds))
            }
        }
    }

    @Test func rejectsMissingHeadersAndMalformedTimes() throws {
        let keys = try WebhookKeys([WebhookKey(Self.secret)])
        #expect(throws: WebhookVerificationError.missingHeader) {
            try keys.verify(id: nil, timestamp: "1", signatures: "v1,x", body: [], now: then)
        }
        #expect(throws: WebhookVerificationError.malformedTimestamp) {
            try keys.verify(id: "a", timestamp: "soon", signatures: "v1,x", body: [], now: then)
        }
    }

    @Test func wantsKeysOfTheRightLength() {
        #expect(throws: InvalidWebhookKey.notBase64) { _ = try WebhookKey("whsec_not base64!") }
        #expect(throws: InvalidWebhookKey.length(3, wanted: "24 to 64 for whsec_")) { _ = try WebhookKey("whsec_AAAA") }
        #expect(throws: InvalidWebhookKey.length(66, wanted: "24 to 64 for whsec_")) {
            _ = try WebhookKey("whsec_" + Data(repeating: 1, count: 66).base64EncodedString())
        }
        #expect(throws: InvalidWebhookKey.length(3, wanted: "32 or 64 for whsk_")) { _ = try WebhookKey("whsk_AAAA") }
        #expect(throws: InvalidWebhookKey.length(3, wanted: "32 for whpk_")) { _ = try WebhookKey("whpk_AAAA") }
    }

    // MARK: Ed25519

    /// RFC 8032, 7.1, test 1: the public key of its seed.
    @Test func knowsThePublicKeyOfASeed() throws {
        let seed = try #require(Data(base64Encoded: "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A="))
        let key = try #require(Ed25519PrivateKey(seed: Array(seed)))
        #expect(Data(key.publicKey).base64EncodedString() == "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
        let signature = key.sign([])
        #expect(signature.prefix(4) == [0xE5, 0x56, 0x43, 0x00])
        #expect(try #require(Ed25519PublicKey(key.publicKey)).isValid(signature, for: []))
    }

    @Test func publicKeyVerifiesSignaturesOfItsPrivateKey() throws {
        let pair = NewWebhookKey.ed25519()
        let header = try WebhookKeys([WebhookKey(pair.secret)])
            .signatures(id: Self.id, timestamp: Self.timestamp, body: Self.body)
        #expect(header.hasPrefix("v1a,"))
        let receiver = try WebhookKeys([WebhookKey(try #require(pair.publicKey))])
        try receiver.verify(id: Self.id, timestamp: "\(Self.timestamp)", signatures: header, body: Self.body, now: then)
        #expect(throws: WebhookVerificationError.noMatchingSignature) {
            try receiver.verify(
                id: Self.id, timestamp: "\(Self.timestamp)", signatures: header, body: Self.body + [0], now: then)
        }
        #expect(throws: WebhookVerificationError.noMatchingSignature) {
            try receiver.verify(
                id: Self.id, timestamp: "\(Self.timestamp)", signatures: "v1a,AAAA v1a, v1a", body: Self.body, now: then
            )
        }
    }

    /// During a rotation, a receiver needs only the old key or only the new one.
    @Test func signsWithEveryKeyWhileTheyAreReplaced() throws {
        let old = NewWebhookKey.symmetric().secret
        let new = NewWebhookKey.symmetric().secret
        let header = try WebhookKeys([WebhookKey(new), WebhookKey(old)])
            .signatures(id: Self.id, timestamp: Self.timestamp, body: Self.body)
        for known in [old, new] {
            try WebhookKeys([WebhookKey(known)]).verify(
                id: Self.id, timestamp: "\(Self.timestamp)", signatures: header, body: Self.body, now: then)
        }
    }
}
