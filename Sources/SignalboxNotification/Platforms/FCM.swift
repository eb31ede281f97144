import SignalboxJSON

// MARK: HTTP v1

/// Firebase Cloud Messaging, HTTP v1: the request of a sender.
extension Arrival {
    /// The message of a request `{"message": {…}}` to `projects.messages.send`, or the message alone, as the Admin
    /// SDKs accept it (firebase.google.com, "REST Resource: projects.messages").
    ///
    /// Apps send objects named `message` of their own, so one of the service's keys must be present. A message
    /// without a request around it needs a target, or a platform block that the legacy API does not have. A list of
    /// targets counts too, as in a message to several devices (firebase-admin-node, messaging-api.ts,
    /// `MulticastMessage`).
    var fcmMessage: JSONValue? {
        if let message = root.block("message") {
            return message.isEmptyContainer || hasOwnKey(message) ? message : nil
        }
        if root.block("android") != nil || root.block("android_v2") != nil || root.block("androidV2") != nil
            || root.block("apns") != nil || root.block("webpush") != nil
        {
            return root.value
        }
        guard
            root["token"]?.isString == true || root["topic"]?.isString == true || isListOfTexts(root["tokens"])
                || isListOfTexts(root["fids"])
        else { return nil }
        return hasMessageBlock ? root.value : nil
    }

    /// True for a list that begins with a string.
    private func isListOfTexts(_ value: JSONValue?) -> Bool {
        var elements = value?.elements
        return elements?.next()?.isString == true
    }

    /// The fields of a message (REST reference of `projects.messages`). A key counts with any value.
    private func hasOwnKey(_ message: JSONValue) -> Bool {
        message.members.contains { key, _ in
            key.equals("token") || key.equals("topic") || key.equals("condition") || key.equals("fid")
                || key.equals("data") || key.equals("notification") || key.equals("android") || key.equals("apns")
                || key.equals("webpush") || key.equals("fcm_options") || key.equals("android_v2")
                || key.equals("androidV2")
        }
    }

    /// Opens a request to HTTP v1. The payload itself counts as the message if the request has none. Mistakes that
    /// FCM would reject become warnings.
    ///
    /// Huawei's Push Kit has the same form of request, with the JSON text of an object as `data`, and a list as `token`
    /// (HMS-Core/hms-push-serverdemo-go @1859eae4, message.go, message_hm.go).
    func fcmV1() -> PlatformPayload {
        let message = fcmMessage.map { JSONObject($0) } ?? root
        let aps = message["apns"]?["payload"]?.block("aps")
        var checks = WellFormedness(of: self)
        check(message, aps: aps, &checks)
        var target = tokens(of: message)
        target.topic = message["topic"]
        target.condition = message["condition"]
        target.topics = checks.checkCondition(message["condition"])
        // `android.data` overrides `data` (REST reference of `projects.messages`), and so does `android_v2.data`. The
        // keys of the other platforms come last.
        let android: [VendorFields.Layer] =
            .of(parser.object(message["android"]?["data"]), .fcm) + .of(message.androidV2?["data"], .fcm)
        let layers: [VendorFields.Layer] =
            android + .of(parser.object(message["data"]), .fcm)
            + .of(message["apns"]?["payload"], .apns) + .of(message["webpush"]?["data"], .fcm)
        return payload(
            .fcm, .fcmV1, aps: aps, layers: layers, notifications: notifications(of: message), target: target,
            warnings: checks.warnings)
    }

    /// The devices of a message. An installation id names a device as a token does; Google's libraries replace tokens
    /// by it. The token of a Live Activity is an address too. Some senders add the keys of the legacy API.
    private func tokens(of message: JSONObject) -> PlatformPayload.Addressing {
        let token = message["token"]
        var target = PlatformPayload.Addressing(token: token?.isArray == true ? onlyElement(of: token) : token)
        if token?.isArray == true { target.add(token) }
        if target.token == nil { target.token = message["fid"] } else { target.add(message["fid"]) }
        if target.token == nil { target.token = onlyElement(of: message["tokens"] ?? message["fids"]) }
        target.add(message["tokens"])
        target.add(message["fids"])
        target.add(message["registration_ids"])
        target.addReceiver(message["to"])
        if let apns = message["apns"] {
            target.add(apns["live_activity_token"])
            target.add(apns["liveActivityToken"])
        }
        return target
    }

    /// The display blocks that a device may show, the most specific first. The web's block counts only without another
    /// block. For reading the content; their own mistakes are not checked.
    private func notifications(of message: JSONObject) -> [JSONValue] {
        let second = message.androidV2?.remoteNotification?.block("notification")
        let blocks = [message["android"]?.block("notification"), second, message.block("notification")]
            .compactMap(\.self)
        guard blocks.isEmpty, let block = message["webpush"]?.block("notification") else { return blocks }
        return [block]
    }

    /// Records the mistakes for which the service rejects or alters a message. Takes time for the sizes only if the
    /// whole request is larger than 4096 bytes.
    private func check(_ message: JSONObject, aps: JSONValue?, _ checks: inout WellFormedness) {
        let data = message["data"]
        let (androidData, secondData) = (message["android"]?["data"], message.androidV2?["data"])
        checks.checkTargets(
            message["token"], message["fid"], message["topic"], message["condition"], of: message.value)
        checks.checkValues(of: data)
        checks.checkValues(of: androidData)
        checks.checkValues(of: secondData)
        checks.checkSizeForFCM(self, parts: [data, androidData, secondData, message["notification"]])
        checks.checkSizeForAPNs(message["apns"], within: self)
        if let aps { checks.checkAPS(aps) }
    }
}

// MARK: Legacy HTTP

/// Firebase Cloud Messaging, legacy HTTP: the request of a sender.
extension Arrival {
    /// The request body of FCM's legacy HTTP API: `data` or `notification`, and a target or an option that only this
    /// API has (firebase.google.com, "Legacy HTTP server protocol"). Values of `data` need not be strings; the service
    /// converts them.
    var isFCMLegacy: Bool {
        hasMessageBlock && root["messageId"] == nil
            && root.value.members.contains { key, _ in
                key.equals("to") || key.equals("registration_ids") || key.equals("condition") || key.equals("priority")
                    || key.equals("time_to_live") || key.equals("content_available") || key.equals("mutable_content")
                    || key.equals("dry_run") || key.equals("restricted_package_name")
                    || key.equals("delay_while_idle") || (key.equals("collapse_key") && root["from"] == nil)
            }
    }

    /// Opens a request to the legacy API. `to` is a topic if it begins with `/topics/`, otherwise a device token.
    /// Google began to switch this API off on July 22, 2024 (firebase.google.com, "Migrate from legacy FCM APIs to
    /// HTTP v1"); senders and recordings still have its form.
    func fcmLegacy() -> PlatformPayload {
        var checks = WellFormedness(of: self)
        checks.checkTargets(root["to"], root["registration_ids"], root["condition"], of: root.value)
        checks.checkSizeForFCM(self, parts: [root["data"], root["notification"]])
        var target = PlatformPayload.Addressing(condition: root["condition"])
        target.topics = checks.checkCondition(root["condition"])
        if let to = root["to"] {
            if to.utf8?.hasPrefix("/topics/") == true { target.topic = to } else { target.token = to }
        } else {
            target.token = onlyElement(of: root["registration_ids"])
        }
        target.add(root["registration_ids"])
        target.add(root["token"])
        target.add(root["tokens"])
        return payload(
            .fcm, .fcmLegacy, layers: .of(root["data"], .fcm), notifications: notification, target: target,
            warnings: checks.warnings)
    }

    /// The element of a list with one element: several devices have no common token. Nil for a value that is not a
    /// list.
    private func onlyElement(of list: JSONValue?) -> JSONValue? {
        var elements = list?.elements
        guard let first = elements?.next(), elements?.next() == nil else { return nil }
        return first
    }
}

// MARK: As received

/// Messages as a device received them.
extension Arrival {
    /// A `RemoteMessage` as cross-platform frameworks dump it: `data` or `notification`, and the service's additions.
    /// The same two blocks without any other key count too, and a display block with a text next to other fields of a
    /// message: a message that is stored without its target, or a dump without the service's identifiers. The names of
    /// the identifiers show a dump even without values; other keys that are null count as absent.
    var isFCMWrapper: Bool {
        guard hasMessageBlock else { return false }
        let dump = root.value
        if dump["messageId"] != nil || dump["from"] != nil || dump["sentTime"] != nil { return true }
        let isShown = root.block("notification").map { $0["title"]?.isString == true || $0["body"]?.isString == true }
        return dump.members.allSatisfy { key, value in
            value.isNull || key.equals("data") || key.equals("notification")
                || isShown == true && Self.isFieldOfAMessage(key)
        }
    }

    /// Fields of a message that do not address it (REST reference of `projects.messages`; flutterfire,
    /// remote_message.dart, `toMap`; react-native-firebase, messaging types, `RemoteMessage`).
    private static func isFieldOfAMessage(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        key.equals("name") || key.equals("fcm_options") || key.equals("fcmOptions") || key.equals("ttl")
            || key.equals("collapseKey") || key.equals("messageType") || key.equals("senderId")
            || key.equals("category") || key.equals("threadId") || key.equals("contentAvailable")
            || key.equals("mutableContent") || key.equals("originalPriority")
    }

    /// Opens a received message. It names no device, but may contain tokens. `from` and `messageId` are the service's
    /// own and are not read.
    func fcmWrapper() -> PlatformPayload {
        let data = root["data"]
        var target = PlatformPayload.Addressing(condition: root["condition"])
        target.addReceiver(root["to"])
        if root["to"]?.utf8?.hasPrefix("/topics/") == true { target.topic = root["to"] }
        target.add(root["token"])
        target.add(root["registration_ids"])
        target.add(root["tokens"])
        var checks = WellFormedness(of: self)
        checks.checkSizeForFCM(self, parts: [data, root["notification"]])
        return payload(
            .fcm, .fcmWrapper, layers: .of(data, root.value.isFromAppleDevice ? .none : .fcm),
            notifications: notification, target: target, warnings: checks.warnings)
    }

    /// The extras of an Android intent: a flat map in which the service's keys are mixed with the vendor's. The
    /// display block is flattened to keys `gcm.n.…` (`MessageNotificationKeys` of firebase-android-sdk's
    /// Constants.java). Plugins open JSON texts among the extras, so the values may be objects and lists if a key has a
    /// prefix of the service (Pushwoosh's plugin for Cordova, `userdata`; OneSignal-Flutter-SDK, `rawPayload`). Apps
    /// have keys named `from` of their own.
    var isFCMExtras: Bool {
        var isFlat = true
        var isReserved = false
        for (key, value) in root.value.members {
            if key.hasPrefix("google.") || key.hasPrefix("gcm.") { return true }
            if VendorFields.Reserved.fcm.contains(key) { isReserved = true }
            if value.isObject || value.isArray { isFlat = false }
        }
        return isReserved && isFlat
    }

    /// Extras in which a library gathered the display block in an object `notification`, flat as the keys
    /// `gcm.notification.…` are. No other form has keys of the service next to the block.
    /// Source: dumps in apps of React Native and Flutter; no source of a library confirms it
    var isFCMBundle: Bool {
        hasBundledBlock && root.value.members.contains { key, _ in key.hasPrefix("google.") || key.hasPrefix("gcm.") }
    }

    /// The same without the service's identifiers, as older plugins passed it to iOS apps: `from`, and a key of the
    /// app. The body of a web push has `fcmMessageId`.
    /// Source: as ``isFCMBundle``
    var isFCMDirectMessage: Bool {
        guard hasBundledBlock, root["from"]?.isString == true else { return false }
        guard root["messageId"] == nil, root["sentTime"] == nil, root["fcmMessageId"] == nil else { return false }
        return root.value.members.contains { key, value in
            !value.isNull && !key.equals("notification") && !VendorFields.Reserved.fcm.contains(key)
                && !Self.isFieldOfAMessage(key)
        }
    }

    /// True with a flat display block and without `data`: the app's keys can only be next to the block.
    private var hasBundledBlock: Bool {
        guard root.block("data") == nil, let block = root.block("notification") else { return false }
        return block.members.allSatisfy { _, value in !value.isObject && !value.isArray }
    }

    /// The data map as `RemoteMessage.getData()` returns it: flat, every value a string.
    var isFCMData: Bool {
        !root.value.isEmptyContainer && root["aps"] == nil
            && root.value.members.allSatisfy { _, value in value.isString }
    }

    /// Opens a flat map. It names no target, unless it is a message to Expo. The vendor's and the app's keys are all
    /// those that the platform does not reserve. `envelope`: extras of an intent, or the data map.
    func flatFCM(_ envelope: Envelope) -> PlatformPayload {
        var checks = WellFormedness(of: self)
        checks.checkSizeForFCM(self, parts: [root.value])
        return payload(.fcm, envelope, layers: layer(.fcm), target: expoRecipients, warnings: checks.warnings)
    }

    /// Opens extras with the display block in an object.
    func fcmBundle() -> PlatformPayload {
        var checks = WellFormedness(of: self)
        checks.checkSizeForFCM(self, parts: [root.value])
        return payload(
            .fcm, .fcmExtras, layers: layer(.fcmBundle), notifications: notification, target: expoRecipients,
            warnings: checks.warnings)
    }
}

extension JSONValue {
    /// True if a framework received the message on an Apple device: `data` then has the keys that were next to `aps`
    /// (flutterfire, FLTFirebaseMessagingPlugin.m, and react-native-firebase, RNFBMessagingSerializer.m,
    /// `remoteMessageUserInfoToDict`).
    var isFromAppleDevice: Bool {
        let block = self["notification"]
        return block?["apple"]?.isObject == true || block?["ios"]?.isObject == true
            || self["contentAvailable"]?.bool == true || self["mutableContent"]?.bool == true
    }
}

// Names in camel case, as ProtoJSON permits.

extension JSONObject {
    /// The second block for Android.
    var androidV2: JSONValue? { self["android_v2"] ?? self["androidV2"] }
}

extension JSONValue {
    /// The second block for Android.
    var androidV2: JSONValue? { self["android_v2"] ?? self["androidV2"] }

    /// The part of ``androidV2`` that the device shows.
    var remoteNotification: JSONValue? { self["remote_notification"] ?? self["remoteNotification"] }
}
