import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxServerTesting
import SignalboxStore
import Testing

/// Services that verify no signature get none.
@Suite(.timeLimit(.minutes(15))) struct UnsignedWebhookTests {
    private func headers(_ keys: [WebhookKey]) async throws -> [String: String] {
        try await Peer.run(["canned", "--reply", #"HTTP/1.1 204 Reply\r\ncontent-length: 0\r\n\r\n"#]) { peer in
            let http = OutboundHTTP(policy: AddressPolicy(allow: [try #require(AddressRange("127.0.0.0/8"))]))
            defer { http.stop() }
            let webhook = Destination.Webhook(url: "http://127.0.0.1:\(peer.port)/hook", secrets: [])
            let sender = WebhookSender(webhook, keys: WebhookKeys(keys), http: http, version: "0")
            _ = await sender.send([OperationalEvent(gateway: "test").pingLease(to: LaneBench().crm)])
            return try #require(try await peer.next()).headers
        }
    }

    @Test func messagesWithoutASecretHaveAnIDAndNoSignature() async throws {
        let headers = try await headers([])
        #expect(headers["webhook-id"] != nil)
        #expect(headers["webhook-signature"] == nil && headers["webhook-timestamp"] == nil)
    }

    @Test func messagesWithASecretAreSigned() async throws {
        let headers = try await headers([try WebhookKey("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")])
        #expect(headers["webhook-signature"]?.hasPrefix("v1,") == true)
        #expect(headers["webhook-timestamp"] != nil)
    }

    /// A receiver without keys must not accept everything.
    @Test func verificationWithoutKeysFails() throws {
        #expect(throws: WebhookVerificationError.noMatchingSignature) {
            try WebhookKeys([]).verify(
                id: "a", timestamp: "0", signatures: "v1,AAAA", body: [], now: Date(timeIntervalSince1970: 0))
        }
    }
}
