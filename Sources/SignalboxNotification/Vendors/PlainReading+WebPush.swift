import SignalboxJSON

// A declarative push message (W3C, Push API, "Declarative push message"; Notifications API, `NotificationOptions`).

extension PlainReading {
    /// The buttons of a message. Browsers require a link of each.
    private static let buttons = KeySchema.Value.unchecked(
        .list(KeySchema(["action": .scalar, "title": .text, "navigate": .text])))

    /// The notification. Its badge is a picture; `app_badge` is the number.
    private static let webNotification = KeySchema([
        "title": .text, "body": .text, "navigate": .text, "tag": .text, "image": .link, "icon": .link,
        "app_badge": .unchecked(.integer), "actions": buttons, "data": .unchecked(.object(.anything)),
    ])

    /// The keys of a message. ``CustomFields`` keeps the unnamed ones, except for those of the platform.
    static let webPush = KeySchema(
        ["web_push": .any, "notification": .object(webNotification), "app_badge": .unchecked(.integer)],
        others: .any, reserved: .webPush)
}

extension PushNotification {
    /// Reads a declarative push message. The number of the app's icon is in the message (w3c/push-api, pull request
    /// 402), or in the notification (webkit.org, "Meet Declarative Web Push").
    mutating func readWebPush(_ payload: borrowing PlatformPayload) {
        guard let block = payload.notifications.first.map({ JSONObject($0) }) else { return }
        kind = .alert
        fillTexts(title: block["title"], subtitle: nil, body: block["body"])
        content.badge = payload.root["app_badge"]?.number ?? block["app_badge"]?.number
        tag = block["tag"]?.text
        if let image = block["image"], image.isRemote { addMedia(image, as: .attachment, kind: .image) }
        if let icon = block["icon"], icon.isRemote { addMedia(icon, as: .icon) }
        action = block["navigate"].flatMap { .navigating($0) }
        defineCategory(
            boundedObjects(block["actions"], "fcm.too-many-actions", in: payload.parser).map { position, button in
                Category.Button(
                    identifier: button["action"]?.scalarText ?? String(position), title: button["title"]?.text,
                    action: button["navigate"].flatMap { .navigating($0) } ?? Action(.custom))
            })
    }
}

extension Action {
    /// The effect of a link that a browser opens. It resolves a link without a scheme against the web app's address.
    fileprivate static func navigating(_ value: JSONValue) -> Action? {
        guard let link = value.text else { return nil }
        let isRelative = link.utf8.first == UInt8(ascii: "/") || !link.utf8.contains(UInt8(ascii: ":"))
        return isRelative ? Action(.openUrl, value: link) : opening(link)
    }
}
