import SignalboxJSON

/// FCM's display block in the forms in which devices and frameworks have it, and the keys of it that the reader
/// consumes.
struct DeviceBlock {
    /// The texts, literal or by the keys of the app's strings. Each is a value of the payload.
    private var title, subtitle, body, titleKey, titleArgs, bodyKey, bodyArgs: JSONValue?
    /// The other values of the display block.
    private var sound, badge, image, tag, channel, click, link, category, thread: JSONValue?
    /// True when the device shows the push regardless of its other keys.
    private var isShown = false
    private var flags: [JSONValue] = []

    /// The display block that is read in addition to the keys of the payload's schema; nil if the envelope has none.
    init?(of payload: borrowing PlatformPayload) {
        switch payload.envelope {
        case .fcmExtras: self.init(extras: JSONObject(payload.root))
        case .apnsThroughFCM: self.init(userInfo: JSONObject(payload.root), aps: payload.aps)
        case .fcmWrapper: self.init(wrapper: payload.root)
        case .fcmV1:
            self.init(adminMessage: JSONObject(payload.message))
            if payload.root["message"] != nil, single.isEmpty { return nil }
        default: return nil
        }
    }

    /// The extras of an Android intent. A key `gcm.n.…` falls back to `gcm.notification.…`, its name before 2017.
    /// A tap opens the link only without a `click_action` (firebase-android-sdk, NotificationParams.java and
    /// CommonNotificationBuilder.java).
    private init(extras: JSONObject) {
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
        isShown = !single.isEmpty
    }

    /// `userInfo` of an iOS app. `gcm.notification.…` contains the values that `aps` cannot express. For a push at
    /// the user's local time it also contains the texts, which the SDK shows itself (firebase-ios-sdk,
    /// FIRMessagingContextManagerService.m). A tap opens `gcm.app_link` (FIRMessaging.m). `aps` has precedence.
    private init(userInfo: JSONObject, aps: JSONValue?) {
        if !PlainReading.isPresented(aps?["alert"]) {
            title = userInfo["gcm.notification.title"]
            subtitle = userInfo["gcm.notification.subtitle"]
            body = userInfo["gcm.notification.body"]
            titleKey = userInfo["gcm.notification.title_loc_key"]
            titleArgs = userInfo["gcm.notification.title_loc_args"]
            bodyKey = userInfo["gcm.notification.body_loc_key"]
            bodyArgs = userInfo["gcm.notification.body_loc_args"]
        }
        if !PlainReading.isPresented(aps?["sound"]) {
            sound = userInfo["gcm.notification.sound2"] ?? userInfo["gcm.notification.sound"]
        }
        if aps?["badge"]?.number == nil { badge = userInfo["gcm.notification.badge"] }
        if userInfo["fcm_options"]?["image"]?.hasText != true { image = userInfo["gcm.notification.image"] }
        tag = userInfo["gcm.notification.tag"]
        channel = userInfo["gcm.notification.android_channel_id"]
        link = userInfo["gcm.app_link"]
        // On iOS a `click_action` is the category, unless it is a link.
        let click = userInfo["gcm.notification.click_action"]
        if let text = click?.text, text.contains("://") {
            if link?.hasText != true { self.click = click }
        } else if aps?["category"]?.hasText != true {
            category = click
        }
        flags = [userInfo["gcm.n.e"]].compactMap(\.self)
        // The SDK shows a push with a text even if `aps` only wakes the app.
        isShown = [title, subtitle, body, titleKey, bodyKey].contains { $0?.hasText == true }
    }

    /// The additions of cross-platform frameworks to a received display block: their own names, and an object for each
    /// platform (firebase/flutterfire, remote_notification.dart; invertase/react-native-firebase, messaging types;
    /// firebase-js-sdk, `fcmOptions`). Others have the names of Android's getters in the block itself (expo/expo,
    /// RemoteMessageSerializer.java). Category and thread of a push to an Apple device are next to the block
    /// (flutterfire, remote_message.dart). Contains only values that the block itself lacks.
    private init(wrapper: JSONValue) {
        let block = wrapper["notification"]
        let android = block?["android"]
        let apple = block?["apple"] ?? block?["ios"]
        let web = block?["web"]
        func lacks(_ key: StaticString) -> Bool { block?[key]?.hasScalarText != true }
        subtitle = lacks("subtitle") ? apple?["subtitle"] : nil
        titleKey = lacks("title_loc_key") ? first(block?["titleLocKey"], block?["titleLocalizationKey"]) : nil
        titleArgs = block?["titleLocArgs"] ?? block?["titleLocalizationArgs"]
        bodyKey = lacks("body_loc_key") ? first(block?["bodyLocKey"], block?["bodyLocalizationKey"]) : nil
        bodyArgs = block?["bodyLocArgs"] ?? block?["bodyLocalizationArgs"]
        sound = lacks("sound") ? first(android?["sound"], apple?["sound"]?["name"], apple?["sound"]) : nil
        let hasBadge = !lacks("badge") || !lacks("notification_count")
        badge = hasBadge ? nil : first(android?["count"], block?["notificationCount"], apple?["badge"])
        let picture = first(android?["imageUrl"], block?["imageUrl"], apple?["imageUrl"], web?["image"])
        image = lacks("image") ? picture : nil
        tag = lacks("tag") ? first(android?["tag"]) : nil
        let hasChannel = !lacks("channel_id") || !lacks("android_channel_id")
        channel = hasChannel ? nil : first(android?["channelId"], block?["channelId"])
        category = block?["actions"]?.isArray == true ? nil : first(wrapper["category"])
        thread = first(wrapper["threadId"])
        guard lacks("click_action") else { return }
        click = first(android?["clickAction"], block?["clickAction"])
        guard click == nil else { return }
        link = first(android?["link"], block?["link"], web?["link"], wrapper["fcmOptions"]?["link"])
    }

    /// A message whose keys of two words are in camel case: for the Admin SDK for Node (firebase-admin-node,
    /// messaging-api.ts), or a request of Google's generated clients, as ProtoJSON permits. Contains only values that
    /// the keys in snake case lack.
    private init(adminMessage message: JSONObject) {
        // Most messages have none of these keys, which the filters of the objects tell.
        let second = message.androidV2?.remoteNotification?.block("notification")
        let android = (message["android"]?.block("notification") ?? second).map { JSONObject($0) }
        let common = message.block("notification").map { JSONObject($0) }
        let apns = message["apns"]
        let apple = apns?["fcmOptions"]
        let hasImage = first(android?["image"], common?["image"], apns?["fcm_options"]?["image"]) != nil
        titleKey = android?["title_loc_key"] == nil ? first(android?["titleLocKey"]) : nil
        titleArgs = android?["titleLocArgs"]
        bodyKey = android?["body_loc_key"] == nil ? first(android?["bodyLocKey"]) : nil
        bodyArgs = android?["bodyLocArgs"]
        badge = android?["notification_count"] == nil ? first(android?["notificationCount"]) : nil
        image = hasImage ? nil : first(android?["imageUrl"], common?["imageUrl"], apple?["imageUrl"], apple?["image"])
        channel = android?["channel_id"] == nil ? first(android?["channelId"]) : nil
        let web = message["webpush"]
        guard android?["click_action"] == nil, web?["fcm_options"]?["link"] == nil else { return }
        click = first(android?["clickAction"])
        if click == nil { link = first(web?["fcmOptions"]?["link"]) }
    }

    /// The values with a field of their own in events, without the arguments of localised texts.
    private var single: [JSONValue] {
        let texts = [
            title, subtitle, body, titleKey, bodyKey, sound, image, tag, channel, click, link, category, thread,
        ]
        var values = texts.compactMap { $0?.hasText == true ? $0 : nil } + flags
        if let badge, badge.number != nil { values.append(badge) }
        return values
    }

    /// The lists of arguments whose keys have a text.
    private var arguments: [JSONValue] {
        var lists: [JSONValue] = []
        if titleKey?.hasText == true, let titleArgs { lists.append(titleArgs) }
        if bodyKey?.hasText == true, let bodyArgs { lists.append(bodyArgs) }
        return lists
    }

    /// The values with a field of their own in events. Of a list with arguments of a wrong type, the others. `parser`:
    /// opens lists that are JSON texts.
    func consumed(in parser: JSONParser) -> [JSONValue] {
        var consumed = single
        for value in arguments {
            if KeySchema.Value.strings.covers(value, in: parser) {
                consumed.append(value)
            } else if let list = parser.argumentList(value) {
                consumed += list.elements.prefix(longestList).filter(\.isArgument)
            }
        }
        return consumed
    }
}

/// The first value with a scalar text.
private func first(_ values: JSONValue?...) -> JSONValue? { values.lazy.compactMap(\.self).first { $0.hasScalarText } }

extension DeviceBlock {
    /// Fills the values of a notification that are still missing. Warns of arguments of a wrong type.
    func fill(_ notification: inout PushNotification, in parser: JSONParser) {
        notification.fillTexts(title: title, subtitle: subtitle, body: body)
        notification.content.sound = notification.content.sound ?? sound?.text
        notification.content.badge = notification.content.badge ?? badge?.number
        notification.content.localized.fill(
            titleKey: titleKey, titleArgs: titleArgs, bodyKey: bodyKey, bodyArgs: bodyArgs, in: parser)
        if let channel = channel?.text { notification.content.presentation.channelId = channel }
        notification.content.threadId = notification.content.threadId ?? thread?.text
        notification.tag = notification.tag ?? tag?.text
        notification.addMedia(image, as: .attachment, kind: .image)
        notification.action = notification.action ?? click.flatMap { .clicking($0) } ?? link.flatMap { .opening($0) }
        if let name = category?.text { notification.category = .named(name) }
        if notification.kind == .silent, isShown { notification.kind = .alert }
        for value in arguments {
            KeySchema.Value.strings.forEachWrongType(in: value, parser) { wrong, expected in
                let code: String
                switch notification.platform {
                case .apns: code = "apns.wrong-type"
                case .fcm, .unknown: code = "fcm.wrong-type"
                }
                notification.warn(code, "Expected \(expected.expectation).", at: wrong, in: parser)
            }
        }
    }
}
