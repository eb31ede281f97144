import SignalboxJSON
import Testing

@testable import SignalboxNotification

/// Senders write null for values that they do not set: a payload with such a key is read as one without it.
@Suite struct NullTests {
    @Test(arguments: [
        #"{"_ab":null,"triggers":null,"aps":{"alert":"B"},"ab":{"c":"NjVmMF9jbXA="}}"#,
        #"{"aps":{"alert":"B"},"ab":{"ab_cd":null,"ab_cat":null,"c":"NjVmMF9jbXA="}}"#,
        #"{"aps":{"alert":"B"},"ab":{"ab_cd":null,"ab_carousel":null,"group":"a"}}"#,
        #"{"aps":{"alert":null,"content-available":1},"ab":{"apple":{"alert":"B"},"c":"NjVmMF9jbXA="}}"#,
        #"{"data":{"extra":null,"ab_a1_a":null,"ab_a1_id":null,"ab_c":null,"_ab":"true"},"to":"t"}"#,
        #"{"aps":{"alert":"B"},"issuer":"Synerise","content-encryption":null,"content":{"campaign":{"hash_id":"h"}}}"#,
        #"""
        {"issuer":"Synerise","content-type":"template-banner",
         "content":{"page":{"close_button":{"is_enabled":null,"alignment":"left"},"action":{"type":null,"item":"x"}}}}
        """#,
        #"""
        {"issuer":"Synerise","content-type":"simple-push","content":{"rich-media":{"type":null,"carousel":{}}}}
        """#,
        #"""
        {"notification-action":null,"inApp":{"triggerDate":null,"expriationDate":null,
         "sendDate":"2026-06-01T18:00:00Z","rules":["all"],"maxViews":1,"template":"image",
         "content":{"action":null,"title":"T"}}}
        """#,
        #"{"notification-action":{"type":"snooze"},"category-actions":[{"type":"snooze","value":null,"time":"5"}]}"#,
        #"""
        {"to":"t","data":{"handler":"com.sourse.notification","title":"T","message":"M","tag":null,"embargoDate":null,
         "k":"v"}}
        """#,
        #"{"message":{"notification":{"badge":null,"notification_count":3},"android":null,"data":{}}}"#,
        #"{"android":{"notification":{"channel_id":null,"click_action":null,"channelId":"c","clickAction":"X"}}}"#,
        #"{"notification":{"channel_id":null,"android_channel_id":"c"},"to":"t"}"#,
    ])
    func aNullCountsAsAnAbsentKey(_ text: String) throws {
        let plain = text.replacing(#/"[^"]+":null,\s*/#, with: "")
        #expect(plain != text)
        #expect(try reading(text) == reading(plain))
    }

    /// The app's own null is kept, and its name is taken.
    @Test func theAppsOwnNullIsKept() throws {
        let text = #"{"message":{"token":"t","data":{"fcm":null},"android":{"ttl":"5s"}}}"#
        let read = try reading(text, keepsCustom: true)
        let expected = #"{"fcm":null,"gcm.request":{"android":{"ttl":"5s"}}}"#
        #expect(read.custom.map { Tree.sorted($0.bytes) } == Tree.sorted(Array(expected.utf8)))
    }

    /// `keepsCustom`: whether to compare the parts that the event keeps unchanged, nulls included.
    private func reading(_ text: String, keepsCustom: Bool = false) throws -> PushNotification {
        var notification = try Normalised(Array(text.utf8)).notification
        if keepsCustom { return notification }
        notification.custom = nil
        notification.inApp = notification.inApp.map { .init(layout: $0.layout, pages: []) }
        for position in notification.category?.actions.indices ?? 0..<0 {
            notification.category?.actions[position].action.arguments = nil
        }
        for position in notification.messages.indices { notification.messages[position].content = nil }
        return notification
    }
}
