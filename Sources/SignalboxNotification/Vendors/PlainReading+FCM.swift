import SignalboxJSON

// Requests to FCM and ADM, and received messages (firebase.google.com, "REST Resource: projects.messages" and "Legacy
// HTTP server protocol"; developer.mozilla.org, Notifications API).

extension PlainReading {
    /// The buttons of a display block; ``PushNotification`` reads their titles and identifiers.
    private static let buttons = KeySchema.Value.unchecked(.list(KeySchema(["action": .scalar, "title": .text])))

    /// A tap as Huawei's Push Kit describes it; the event keeps the object.
    private static let click = KeySchema.Value.objectOrString(KeySchema([:]))

    /// The display block of a message.
    private static let block = KeySchema([
        "title": .text, "subtitle": .text, "body": .text, "sound": .text, "badge": .integer,
        "notification_count": .integer, "title_loc_key": .text, "title_loc_args": .strings, "body_loc_key": .text,
        "body_loc_args": .strings, "tag": .text, "image": .text, "icon": .link, "click_action": click,
        "channel_id": .text, "android_channel_id": .text, "actions": buttons,
    ])

    /// The display block of a web notification, whose badge is a picture (Notifications API, `NotificationOptions`).
    private static let webBlock = KeySchema([
        "title": .text, "body": .text, "tag": .text, "image": .text, "icon": .link, "click_action": .text,
        "badge": .unread, "actions": buttons,
    ])

    /// A request to the legacy API, and a received message. Addressees are consumed so that no event contains a token.
    static let legacy = KeySchema([
        "to": .any, "token": .any, "registration_ids": .any, "tokens": .any, "condition": .unchecked(.text),
        "data": .object(.anything), "notification": .object(block),
    ])

    /// A request to ADM.
    static let adm = KeySchema(["data": .object(.anything), "notification": .object(block)])

    /// ``DeviceBlock`` determines the consumed keys of the display block.
    static let extras = KeySchema([:], others: .any, reserved: .fcm)
    /// The same with the display block in an object.
    static let bundle = KeySchema(["notification": .object(block)], others: .any, reserved: .fcm)

    /// A device shows one of several display blocks; the event keeps the others unchanged.
    static func message(_ payload: borrowing PlatformPayload, isLive: Bool) -> KeySchema {
        guard let shown = payload.notifications.first else { return isLive ? liveMessage : silentMessage }
        let message = payload.message
        if let block = message["android"]?["notification"], block.isSamePlace(as: shown) { return androidMessage }
        if let block = message.androidV2?.remoteNotification?["notification"], block.isSamePlace(as: shown) {
            return secondMessage
        }
        if let block = message["notification"], block.isSamePlace(as: shown) { return commonMessage }
        return webMessage
    }

    /// A message without a display block: the variants of ``message(_:isLive:)`` are made once.
    private static let silentMessage = message(aps: .object(aps))
    /// A Live Activity's message, without a display block.
    private static let liveMessage = message(aps: .object(liveActivity))
    /// A message whose common block the device shows.
    private static let commonMessage = message(common: .object(block))
    /// A message whose block for Android the device shows.
    private static let androidMessage = message(android: .object(block))
    /// A message whose block `android_v2` the device shows.
    private static let secondMessage = message(second: .object(block))
    /// A message with a block for the web only.
    private static let webMessage = message(web: .object(webBlock))

    /// Tokens and credentials are consumed so that no event contains them. `ttl` is not: it counts from the time at
    /// which FCM receives the message, which is unknown.
    private static func message(
        common: KeySchema.Value = .unreadObject, android: KeySchema.Value = .unreadObject,
        second: KeySchema.Value = .unreadObject, web: KeySchema.Value = .unreadObject,
        aps: KeySchema.Value = .unreadObject
    ) -> KeySchema {
        // One platform's replacement for a value of the display block is kept, unless no block has that value.
        let isShown = [common, android, second].contains { $0.kind == .object }
        let replacement: KeySchema.Value = isShown ? .unread : .text
        let headers = KeySchema.Value.object(KeySchema([:], anyCase: "authorization"))
        let data = KeySchema.Value.objectOrText(.anything)
        let remote = KeySchema.Value.object(KeySchema(["notification": second]))
        let androidV2 = KeySchema.Value.object(
            KeySchema(["data": .object(.anything), "remote_notification": remote, "remoteNotification": remote]))
        return KeySchema([
            "token": .any, "fid": .any, "tokens": .any, "fids": .any, "registration_ids": .any, "topic": .text,
            "condition": .unchecked(.text), "data": data, "notification": common,
            "android": .object(KeySchema(["data": data, "notification": android])), "android_v2": androidV2,
            "androidV2": androidV2,
            "webpush": .object(
                KeySchema([
                    "headers": headers, "data": .object(.anything), "notification": web,
                    "fcm_options": .object(KeySchema(["link": replacement])),
                ])),
            "apns": .object(
                KeySchema([
                    "headers": headers, "payload": .object(KeySchema(["aps": aps], others: .any)),
                    "live_activity_token": .any, "liveActivityToken": .any,
                    "fcm_options": .object(KeySchema(["image": replacement])),
                ])),
        ])
    }
}

extension PushNotification {
    /// Reads the blocks of an HTTP v1 message: Android's before the common one before Apple's and the web's.
    mutating func readMessage(_ payload: borrowing PlatformPayload) {
        let message = payload.message
        readBlocks(payload.notifications, in: payload.parser)
        if payload.notifications.isEmpty { readAPS(payload.aps, in: payload.parser) }
        if !hasMedia(.attachment) { addMedia(message["apns"]?["fcm_options"]?["image"], as: .attachment, kind: .image) }
        if action == nil, let link = message["webpush"]?["fcm_options"]?["link"] { action = .opening(link) }
    }

    /// Reads display blocks; each fills the values that the previous ones lack. Without a block the push is silent:
    /// FCM passes it to the app and shows nothing.
    mutating func readBlocks(_ blocks: [JSONValue], in parser: JSONParser) {
        kind = .silent
        for block in blocks {
            if !block.isEmptyContainer { kind = .alert }
            readBlock(JSONObject(block), in: parser)
        }
    }

    /// Fills the values that previous blocks lack.
    private mutating func readBlock(_ block: JSONObject, in parser: JSONParser) {
        fillTexts(title: block["title"], subtitle: block["subtitle"], body: block["body"])
        content.sound = content.sound ?? block["sound"]?.text
        content.badge = content.badge ?? (block["badge"] ?? block["notification_count"])?.number
        content.localized.fill(
            titleKey: block["title_loc_key"], titleArgs: block["title_loc_args"],
            bodyKey: block["body_loc_key"], bodyArgs: block["body_loc_args"], in: parser)
        if content.presentation.channelId == nil, let id = (block["channel_id"] ?? block["android_channel_id"])?.text {
            content.presentation.channelId = id
        }
        tag = tag ?? block["tag"]?.text
        if !hasMedia(.attachment) { addMedia(block["image"], as: .attachment, kind: .image) }
        // On the web an icon is a URL; on Android it is a resource of the app.
        if let icon = block["icon"], icon.isRemote, !hasMedia(.icon) { addMedia(icon, as: .icon) }
        if category == nil { readActions(block["actions"], in: parser) }
        if action == nil, let click = block["click_action"] { action = .clicking(click) }
    }

    /// True if an earlier block has a file in this role.
    private func hasMedia(_ role: Media.Role) -> Bool { media.contains { $0.role == role } }

    /// The service worker defines the effect of a button (Notifications API, `NotificationAction`).
    private mutating func readActions(_ list: JSONValue?, in parser: JSONParser) {
        defineCategory(
            boundedObjects(list, "fcm.too-many-actions", in: parser).map { position, button in
                Category.Button(
                    identifier: button["action"]?.scalarText ?? String(position), title: button["title"]?.text,
                    action: Action(.custom))
            })
    }
}

extension Action {
    /// `click_action` is an intent filter of the app on Android, a URL on the web, and an object for Huawei's Push Kit.
    static func clicking(_ value: JSONValue) -> Action? {
        if value.isObject { return clickingInPushKit(value) }
        guard let text = value.text else { return nil }
        guard text.contains("://") else { return Action(.custom, value: text, vendorType: "click_action") }
        return opening(value, vendorType: "click_action")
    }

    /// Huawei's `click_action`: 1 opens a page of the app by an intent or the name of an action, 2 a URL, and 3 the app
    /// (HMS-Core/hms-push-serverdemo-go @1859eae4, message_hm.go; developer.huawei.com, Push Kit, `ClickAction`). Nil
    /// for any other type.
    private static func clickingInPushKit(_ click: JSONValue) -> Action? {
        switch click["type"]?.integer {
        case 1:
            click["intent"].flatMap { opening($0, vendorType: "click_action") }
                ?? click["action"]?.text.map { Action(.custom, value: $0, vendorType: "click_action") }
        case 2: click["url"].flatMap { opening($0, vendorType: "click_action") }
        case 3: Action(.openApp, vendorType: "click_action")
        default: nil
        }
    }
}
