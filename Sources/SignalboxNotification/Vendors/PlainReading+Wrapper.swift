import SignalboxJSON

extension DeviceBlock {
    /// The additions of cross-platform frameworks to a received display block: their own names, and an object for each
    /// platform (firebase/flutterfire, remote_notification.dart; invertase/react-native-firebase, messaging types;
    /// firebase-js-sdk, `fcmOptions`). Holds only what the block itself leaves open.
    init(wrapper: JSONValue) {
        let block = wrapper["notification"]
        let android = block?["android"]
        let apple = block?["apple"] ?? block?["ios"]
        let web = block?["web"]
        func open(_ key: StaticString) -> Bool { block?[key]?.isSpelled != true }
        subtitle = open("subtitle") ? apple?["subtitle"] : nil
        titleKey = open("title_loc_key") ? first(block?["titleLocKey"]) : nil
        titleArgs = block?["titleLocArgs"]
        bodyKey = open("body_loc_key") ? first(block?["bodyLocKey"]) : nil
        bodyArgs = block?["bodyLocArgs"]
        sound = open("sound") ? first(android?["sound"], apple?["sound"]?["name"], apple?["sound"]) : nil
        badge = open("badge") ? first(android?["count"], apple?["badge"]) : nil
        image = open("image") ? first(android?["imageUrl"], apple?["imageUrl"], web?["image"]) : nil
        tag = open("tag") ? first(android?["tag"]) : nil
        channel = open("channel_id") && open("android_channel_id") ? first(android?["channelId"]) : nil
        guard open("click_action") else { return }
        click = first(android?["clickAction"])
        if click == nil { link = first(android?["link"], web?["link"], wrapper["fcmOptions"]?["link"]) }
    }

    /// A message for the Admin SDK for Node, which spells two-word keys differently from the service
    /// (firebase-admin-node, messaging-api.ts). Holds only what the service's own keys leave open.
    init(adminMessage message: JSONValue) {
        let android = message["android"]?["notification"]
        let common = message["notification"]
        let apple = message["apns"]?["fcmOptions"]
        let hasImage = first(android?["image"], common?["image"], message["apns"]?["fcm_options"]?["image"]) != nil
        titleKey = android?["title_loc_key"] == nil ? first(android?["titleLocKey"]) : nil
        titleArgs = android?["titleLocArgs"]
        bodyKey = android?["body_loc_key"] == nil ? first(android?["bodyLocKey"]) : nil
        bodyArgs = android?["bodyLocArgs"]
        badge = android?["notification_count"] == nil ? first(android?["notificationCount"]) : nil
        image = hasImage ? nil : first(android?["imageUrl"], common?["imageUrl"], apple?["imageUrl"])
        channel = android?["channel_id"] == nil ? first(android?["channelId"]) : nil
        guard android?["click_action"] == nil, message["webpush"]?["fcm_options"]?["link"] == nil else { return }
        click = first(android?["clickAction"])
        if click == nil { link = first(message["webpush"]?["fcmOptions"]?["link"]) }
    }
}

/// The first value that spells something.
private func first(_ values: JSONValue?...) -> JSONValue? { values.lazy.compactMap(\.self).first { $0.isSpelled } }
