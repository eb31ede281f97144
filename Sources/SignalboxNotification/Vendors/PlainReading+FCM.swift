import SignalboxJSON

extension PushNotification {
    /// Reads the blocks of an HTTP v1 message, Android's before the common one before Apple's and the web's.
    mutating func readMessage(_ payload: borrowing PlatformPayload) {
        let message = payload.root["message"].flatMap { $0.isObject ? $0 : nil } ?? payload.root
        readBlocks(payload.notifications, in: payload.parser)
        if payload.notifications.isEmpty { readAPS(payload.aps, in: payload.parser) }
        if !hasAttachment { _ = add(message["apns"]?["fcm_options"]?["image"], as: .attachment) }
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

    private var hasAttachment: Bool { media.contains { $0.role == .attachment } }

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
        if !hasAttachment { _ = add(block["image"], as: .attachment) }
        readIcon(block["icon"])
        readActions(block["actions"], in: parser)
        if action == nil, let click = block["click_action"] { action = .clicking(click) }
    }
}

// MARK: Web notifications

extension PushNotification {
    /// On the web an icon is a URL; on Android it is a resource of the app.
    private mutating func readIcon(_ icon: JSONValue?) {
        guard let icon, icon.utf8?.startsSpelling("http") == true, !media.contains(where: { $0.role == .icon }) else {
            return
        }
        _ = add(icon, as: .icon)
    }

    /// A button's meaning is up to the service worker (Notifications API, `NotificationAction`).
    private mutating func readActions(_ list: JSONValue?, in parser: JSONParser) {
        guard category == nil, let list = bounded(list, "fcm.too-many-actions", in: parser) else { return }
        let buttons = list.enumerated().filter { $1.isObject }.map { position, button in
            Category.Button(
                identifier: button["action"]?.spelled ?? String(position), title: button["title"]?.text,
                action: Action(.custom))
        }
        if !buttons.isEmpty { category = Category(identifier: nil, origin: .dynamic, actions: buttons) }
    }
}

extension Action {
    /// `click_action` is an intent filter of the app on Android, a URL on the web.
    static func clicking(_ value: JSONValue) -> Action? {
        guard let text = value.text else { return nil }
        guard text.contains("://") else { return Action(.custom, value: text, vendorType: "click_action") }
        return opening(value, vendorType: "click_action")
    }
}
