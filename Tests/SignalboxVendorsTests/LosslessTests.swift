import Foundation
import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxNotification

/// The event contains the unread parts of a payload under `custom`.
@Suite struct LosslessTests {
    @Test(arguments: try Fixture.all(in: .module))
    func everyTextOfAFixtureIsInItsEvent(_ fixture: Fixture) throws {
        guard !Self.overridden.contains(fixture.description) else { return }
        let lost = try lost(of: fixture.input, in: Normalised(fixture))
        #expect(lost.isEmpty, "\(lost)")
    }

    @Test(arguments: try Sample.all())
    func everyTextOfASampleIsInItsEvent(_ sample: Sample) throws {
        guard !Self.overridden.contains(sample.file) else { return }
        let lost = try lost(of: sample.payload, in: Normalised(sample.payload))
        #expect(lost.isEmpty, "\(lost)")
    }

    /// If texts override each other, the event contains the shown one; if a key is repeated, the last value. It
    /// contains a topic and a link without the prefix of their names, a link without the white space around it, the
    /// decoded members of a text in Base64, and an expiry of a key without a name for it. It never contains the
    /// credentials of Sendbird.
    private static let overridden: Set<String> = [
        "unknown/repeated-keys", "unknown/fcm-android-first", "webengage/wrapped-link-fcm-data",
        "sendbird/session-key-fcm-data", "sendbird/session-key-apns", "sendbird/call-fcm-data", "sendbird/call-apns",
        "onesignal/link-with-spaces-fcm-data",
        "onesignal/link-with-spaces-apns", "notifly/link-with-spaces-fcm-data", "attentive/picture-fcm-data",
        "attentive/picture-in-url-alphabet-fcm-data", "appmetrica/expiry-fcm-data",
    ]

    private func lost(of payload: [UInt8], in read: Normalised) throws -> [String] {
        let kept = try Tree(read.json).leaves().map(\.text)
        return try Tree(payload).leaves()
            .filter { leaf in
                !kept.contains(leaf.text) && !Self.saidOtherwise.contains(leaf.text)
                    && !Self.times.contains { leaf.key.lowercased().contains($0) } && !Self.secrets.contains(leaf.key)
            }
            .map { "\($0.key): \($0.text)" }
    }

    /// Words that the event expresses in other fields: the vendor, flags, kinds.
    private static let saidOtherwise: Set<String> = [
        "", "0", "1", "true", "TRUE", "false", "null", "no", "0.0", "-1",
        "Synerise", "com.sourse.notification", "xnpe_platform", "DENGAGE", "intercom_sdk", "SFMC", "sfmc", "Sfmc",
        "static-content", "dynamic-content", "stream.chat", "open", "single-image", "carousel", "PORTRAIT", "LANDSCAPE",
        "stream.video", "freshchat_user", "userpilot-notification", "Control", "Insider",
        "d", "jpg", "png", "gif", "mp3", "mp4", "image", "text", "none", "custom", "textInput", "silent_push",
        "Smartech", "orcl", "ORCL", "jpeg", "DELETE", "delete", "auth-required", "8030",
    ]

    /// Parts of keys for times, which the event writes as RFC 3339, and for numbers, which it writes in its own form.
    private static let times = ["date", "timestamp", "expir", "ttl", "relevance-score", "_lpm"]

    /// Keys of values that never leave the gateway in clear text.
    private static let secrets: Set<String> = [
        "token", "to", "fid", "tokens", "fids", "live_activity_token", "liveActivityToken", "registration_ids",
        "authorization", "Authorization",
        "AUTHORIZATION", "AuthorizatioN",
        "accessToken", "twi_bridge_token",
    ]
}

extension Tree {
    /// All texts and numbers, each with the key under which it stands; of a text that is JSON those within it.
    fileprivate func leaves(under key: String = "", depth: Int = 3) -> [(key: String, text: String)] {
        switch self {
        case .object(let members): return members.flatMap { $1.leaves(under: $0, depth: depth) }
        case .array(let elements): return elements.flatMap { $0.leaves(under: key, depth: depth) }
        case .string(let text):
            guard depth > 0, let first = text.first, "{[".contains(first), let tree = try? Tree(Array(text.utf8))
            else { return [(key, text)] }
            return tree.leaves(under: key, depth: depth - 1)
        case .other(let json): return [(key, json.string)]
        }
    }
}
