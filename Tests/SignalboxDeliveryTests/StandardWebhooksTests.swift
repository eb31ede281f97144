import Foundation
import SignalboxDelivery
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
        let secret = try WebhookSecret(Self.secret)
        #expect(secret.signature(id: Self.id, timestamp: Self.timestamp, body: Self.body) == Self.signature)
    }

    @Test func acceptsASecretWithoutItsPrefix() throws {
        let secret = try WebhookSecret(String(Self.secret.dropFirst(6)))
        #expect(secret.signature(id: Self.id, timestamp: Self.timestamp, body: Self.body) == Self.signature)
    }

    @Test func verifiesAnyOfSeveralSignatures() throws {
        let secret = try WebhookSecret(Self.secret)
        for header in [Self.signature, "v1,AAAA \(Self.signature)", "v2,x \(Self.signature) v1a,y"] {
            try secret.verify(
                id: Self.id, timestamp: "\(Self.timestamp)", signatures: header, body: Self.body, now: then)
        }
    }

    @Test(arguments: [
        "", "v1,", "v1", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE",
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=A", "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ])
    func refusesEverythingElse(header: String) throws {
        let secret = try WebhookSecret(Self.secret)
        #expect(throws: WebhookVerificationError.noMatchingSignature) {
            try secret.verify(
                id: Self.id, timestamp: "\(Self.timestamp)", signatures: header, body: Self.body, now: then)
        }
    }

    @Test func refusesAChangedMessage() throws {
        let secret = try WebhookSecret(Self.secret)
        let time = "\(Self.timestamp)"
        #expect(throws: WebhookVerificationError.noMatchingSignature) {
            try secret.verify(id: "other", timestamp: time, signatures: Self.signature, body: Self.body, now: then)
        }
        #expect(throws: WebhookVerificationError.noMatchingSignature) {
            try secret.verify(id: Self.id, timestamp: time, signatures: Self.signature, body: [], now: then)
        }
    }

    @Test func refusesWhatIsOldOrFromTheFuture() throws {
        let secret = try WebhookSecret(Self.secret)
        for seconds in [-301.0, 301] {
            #expect(throws: WebhookVerificationError.timestampTooFar) {
                try secret.verify(
                    id: Self.id, timestamp: "\(Self.timestamp)", signatures: Self.signature, body: Self.body,
                    now: then.addingTimeInterval(seconds))
            }
        }
    }

    @Test func refusesMissingHeadersAndMalformedTimes() throws {
        let secret = try WebhookSecret(Self.secret)
        #expect(throws: WebhookVerificationError.missingHeader) {
            try secret.verify(id: nil, timestamp: "1", signatures: "v1,x", body: [], now: then)
        }
        #expect(throws: WebhookVerificationError.malformedTimestamp) {
            try secret.verify(id: "a", timestamp: "soon", signatures: "v1,x", body: [], now: then)
        }
    }

    @Test func wantsSecretsOfTheRightLength() {
        #expect(throws: InvalidWebhookSecret.notBase64) { _ = try WebhookSecret("whsec_not base64!") }
        #expect(throws: InvalidWebhookSecret.length(3)) { _ = try WebhookSecret("whsec_AAAA") }
        #expect(throws: InvalidWebhookSecret.length(66)) {
            _ = try WebhookSecret("whsec_" + Data(repeating: 1, count: 66).base64EncodedString())
        }
    }
}
