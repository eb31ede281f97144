import SignalboxJSON

/// FCM's display block as a device receives it, in flat keys, and which of those keys are read.
struct DeviceBlock {
    var title, subtitle, body, titleKey, titleArgs, bodyKey, bodyArgs: JSONValue?
    var sound, badge, image, tag, channel, click, link, category: JSONValue?
    /// True when a device shows it, regardless of the rest of the push.
    private(set) var isShown = false
    private var flags: [JSONValue] = []

    /// The extras of an Android intent. A key `gcm.n.…` falls back to `gcm.notification.…`, its name before 2017. A
    /// tap opens the link only without a `click_action` (firebase-android-sdk, NotificationParams.java and
    /// CommonNotificationBuilder.java).
    init(extras: JSONObject) {
        title = extras["gcm.n.title"] ?? extras["gcm.notification.title"]
        body = extras["gcm.n.body"] ?? extras["gcm.notification.body"]
        titleKey = extras["gcm.n.title_loc_key"] ?? extras["gcm.notification.title_loc_key"]
        titleArgs = extras["gcm.n.title_loc_args"] ?? extras["gcm.notification.title_loc_args"]
        bodyKey = extras["gcm.n.body_loc_key"] ?? extras["gcm.notification.body_loc_key"]
        bodyArgs = extras["gcm.n.body_loc_args"] ?? extras["gcm.notification.body_loc_args"]
        let sound = extras["gcm.n.sound2"] ?? extras["gcm.notification.sound2"]
        self.sound = sound ?? extras["gcm.n.sound"] ?? extras["gcm.notification.sound"]
        let count = extras["gcm.n.notification_count"] ?? extras["gcm.notification.notification_count"]
        badge = count ?? extras["gcm.notification.badge"]
        image = extras["gcm.n.image"] ?? extras["gcm.notification.image"]
        tag = extras["gcm.n.tag"] ?? extras["gcm.notification.tag"]
        channel = extras["gcm.n.android_channel_id"] ?? extras["gcm.notification.android_channel_id"]
        click = extras["gcm.n.click_action"] ?? extras["gcm.notification.click_action"]
        if click?.hasText != true {
            let android = extras["gcm.n.link_android"] ?? extras["gcm.notification.link_android"]
            link = android ?? extras["gcm.n.link"] ?? extras["gcm.notification.link"]
        }
        flags = [extras["gcm.n.e"], extras["gcm.notification.e"]].compactMap(\.self)
        isShown = !taken.isEmpty
    }

    /// `userInfo` of an iOS app. `gcm.notification.…` holds what `aps` cannot express. For a push at the user's local
    /// time it also holds the texts, which the SDK shows itself (firebase-ios-sdk,
    /// FIRMessagingContextManagerService.m). A tap opens `gcm.app_link` (FIRMessaging.m). `aps` has precedence.
    init(userInfo: JSONObject, aps: JSONValue?) {
        if !PlainReading.isShown(aps?["alert"]) {
            title = userInfo["gcm.notification.title"]
            subtitle = userInfo["gcm.notification.subtitle"]
            body = userInfo["gcm.notification.body"]
            titleKey = userInfo["gcm.notification.title_loc_key"]
            titleArgs = userInfo["gcm.notification.title_loc_args"]
            bodyKey = userInfo["gcm.notification.body_loc_key"]
            bodyArgs = userInfo["gcm.notification.body_loc_args"]
        }
        if !PlainReading.isShown(aps?["sound"]) {
            sound = userInfo["gcm.notification.sound2"] ?? userInfo["gcm.notification.sound"]
        }
        if aps?["badge"]?.number == nil { badge = userInfo["gcm.notification.badge"] }
        if userInfo["fcm_options"]?["image"]?.hasText != true { image = userInfo["gcm.notification.image"] }
        tag = userInfo["gcm.notification.tag"]
        channel = userInfo["gcm.notification.android_channel_id"]
        link = userInfo["gcm.app_link"]
        readClick(userInfo["gcm.notification.click_action"], aps: aps)
        flags = [userInfo["gcm.n.e"]].compactMap(\.self)
        isShown = hasText
    }

    /// On iOS a `click_action` is the category, unless it is a link.
    private mutating func readClick(_ value: JSONValue?, aps: JSONValue?) {
        if let text = value?.text, text.contains("://") {
            if link?.hasText != true { click = value }
        } else if aps?["category"]?.hasText != true {
            category = value
        }
    }

    /// True when it has a text. The SDK shows such a push even when `aps` only wakes the app.
    private var hasText: Bool {
        [title, subtitle, body, titleKey, bodyKey].contains { $0?.hasText == true }
    }

    /// The values that have their own field in the event.
    var taken: [JSONValue] {
        let texts = [title, subtitle, body, titleKey, bodyKey, sound, image, tag, channel, click, link, category]
        var taken = texts.compactMap { $0?.hasText == true ? $0 : nil } + flags
        if titleKey?.hasText == true, let titleArgs { taken.append(titleArgs) }
        if bodyKey?.hasText == true, let bodyArgs { taken.append(bodyArgs) }
        if let badge, badge.number != nil { taken.append(badge) }
        return taken
    }
}

extension PushNotification {
    /// Fills in the values of a device's display block that are still missing.
    mutating func read(_ block: DeviceBlock, in parser: JSONParser) {
        content.title = content.title ?? block.title?.text
        content.subtitle = content.subtitle ?? block.subtitle?.text
        content.body = content.body ?? block.body?.text
        content.sound = content.sound ?? block.sound?.text
        content.badge = content.badge ?? block.badge?.number
        content.localized.fill(
            titleKey: block.titleKey, titleArgs: block.titleArgs, bodyKey: block.bodyKey, bodyArgs: block.bodyArgs,
            in: parser)
        if let channel = block.channel?.text { content.channelId = channel }
        tag = tag ?? block.tag?.text
        _ = add(block.image, as: .attachment)
        action = action ?? block.click.flatMap { .clicking($0) } ?? block.link.flatMap { .opening($0) }
        if let name = block.category?.text { category = Category(identifier: name, origin: .static, actions: []) }
        if kind == .silent, block.isShown { kind = .alert }
    }
}
