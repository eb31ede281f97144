import SignalboxJSON
import SignalboxModel

extension PushNotification {
    /// Reads the blocks of an HTTP v1 message, Android's before the common one before Apple's and the web's.
    mutating func readMessage(_ payload: borrowing PlatformPayload) {
        let message = payload.root["message"].flatMap { $0.isObject ? $0 : nil } ?? payload.root
        readBlocks(payload.notifications, in: payload.parser)
        if payload.notifications.isEmpty { readAPS(payload.aps, in: payload.parser) }
        if media.isEmpty { _ = add(message["apns"]?["fcm_options"]?["image"], as: .attachment) }
        if action == nil, let link = message["webpush"]?["fcm_options"]?["link"] { action = .opening(link) }
    }

    /// Reads display blocks, each after the first only for what those before it leave open. Without any the push is
    /// silent: FCM hands it to the app and shows nothing.
    mutating func readBlocks(_ blocks: [JSONValue], in parser: JSONParser) {
        kind = .silent
        for block in blocks {
            if !block.isEmptyContainer { kind = .alert }
            readBlock(JSONObject(block), in: parser)
        }
    }

    private mutating func readBlock(_ block: JSONObject, in parser: JSONParser) {
        content.title = content.title ?? block["title"]?.text
        content.subtitle = content.subtitle ?? block["subtitle"]?.text
        content.body = content.body ?? block["body"]?.text
        content.sound = content.sound ?? block["sound"]?.text
        content.badge = content.badge ?? (block["badge"] ?? block["notification_count"])?.number
        content.localized.fill(
            titleKey: block["title_loc_key"], titleArgs: block["title_loc_args"],
            bodyKey: block["body_loc_key"], bodyArgs: block["body_loc_args"], in: parser)
        if content.channelId == nil, let channel = (block["channel_id"] ?? block["android_channel_id"])?.text {
            content.channelId = channel
        }
        tag = tag ?? block["tag"]?.text
        if media.isEmpty { _ = add(block["image"], as: .attachment) }
        if action == nil, let click = block["click_action"] { action = .clicking(click) }
    }

    /// Reads the display block of intent extras, spread over keys `gcm.n.…`, before 2017 `gcm.notification.…`
    /// (firebase-android-sdk, Constants.java and NotificationParams).
    mutating func readExtras(_ extras: JSONObject, in parser: JSONParser) {
        content.title = (extras["gcm.n.title"] ?? extras["gcm.notification.title"])?.text
        content.body = (extras["gcm.n.body"] ?? extras["gcm.notification.body"])?.text
        content.sound = (extras["gcm.n.sound2"] ?? extras["gcm.n.sound"] ?? extras["gcm.notification.sound"])?.text
        content.badge = extras["gcm.n.notification_count"]?.number
        content.localized.fill(
            titleKey: extras["gcm.n.title_loc_key"], titleArgs: extras["gcm.n.title_loc_args"],
            bodyKey: extras["gcm.n.body_loc_key"], bodyArgs: extras["gcm.n.body_loc_args"], in: parser)
        if let channel = extras["gcm.n.android_channel_id"]?.text { content.channelId = channel }
        tag = (extras["gcm.n.tag"] ?? extras["gcm.notification.tag"])?.text
        _ = add(extras["gcm.n.image"] ?? extras["gcm.notification.image"], as: .attachment)
        if let link = extras["gcm.n.link_android"] ?? extras["gcm.n.link"] {
            action = .opening(link)
        } else if let click = extras["gcm.n.click_action"] ?? extras["gcm.notification.click_action"] {
            action = .clicking(click)
        }
        kind = extras["gcm.n.e"] != nil || content != .init() || !media.isEmpty ? .alert : .silent
    }
}

extension Action {
    /// `click_action` is an intent filter of the app on Android, a URL on the web.
    fileprivate static func clicking(_ value: JSONValue) -> Action? {
        guard let text = value.text else { return nil }
        guard text.contains("://") else { return Action(.custom, value: text, vendorType: "click_action") }
        return opening(value, vendorType: "click_action")
    }
}
