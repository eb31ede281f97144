import SignalboxJSON

// Which of the push services' own keys are read, so that the rest can be kept.

extension PlainReading {
    /// An object of which something was not read.
    struct Leftover {
        let object: JSONValue
        let shape: Shape
        /// The request around a message, whose other keys are kept too.
        let request: JSONValue?
        /// Values read from a device's display block, and by a vendor.
        var block: CatalogueTaken?

        /// Writes it as an object. `taken`: what a vendor read of it.
        func write(in parser: JSONParser, besides taken: CatalogueTaken? = nil, into json: inout JSONWriter) {
            json.beginObject()
            shape.writeRest(of: object, in: parser, besides: block ?? taken, into: &json)
            request?.forEachMember { key, value in
                guard !key.equals("message") else { return }
                json.key(utf8: key)
                json.value(value)
            }
            json.endObject()
        }
    }

    /// What nobody read of a payload's own keys; nil when there is nothing. `taken`: what a vendor read among them.
    static func leftover(of payload: borrowing PlatformPayload, besides taken: CatalogueTaken? = nil) -> Leftover? {
        guard let (object, shape) = own(payload) else { return nil }
        let block = deviceBlock(in: payload).map { CatalogueTaken.sorted(taken, and: $0.taken) }
        let isRequest = payload.envelope == .fcmV1 && !object.isSamePlace(as: payload.root)
        let isAlone = !isRequest || !payload.root.members.contains { key, _ in !key.equals("message") }
        let isCovered = taken?.keepsReplacedTexts != true && shape.covers(object, in: payload.parser)
        guard !isAlone || !isCovered else { return nil }
        if let taken = block ?? taken, isAlone {
            let whole = Shape.Value.object(shape)
            guard whole.leavesRest(of: object, in: payload.parser, besides: taken) else { return nil }
        }
        return Leftover(object: object, shape: shape, request: isAlone ? nil : payload.root, block: block)
    }

    /// The part of the display block that is read in addition to the keys of its shape.
    static func deviceBlock(in payload: borrowing PlatformPayload) -> DeviceBlock? {
        switch payload.envelope {
        case .fcmExtras: DeviceBlock(extras: JSONObject(payload.root))
        case .apnsThroughFCM: DeviceBlock(userInfo: JSONObject(payload.root), aps: payload.aps)
        case .fcmWrapper: DeviceBlock(wrapper: payload.root)
        case .fcmV1 where payload.root["message"] == nil: DeviceBlock(adminMessage: payload.root)
        default: nil
        }
    }

    /// The key under which a leftover is kept in `custom`. `aps` is no vendor's key, so that it is free there.
    static func leftoverName(in payload: borrowing PlatformPayload) -> StaticString {
        switch payload.envelope {
        case .apns: "aps"
        case .adm: "adm"
        default: payload["fcm"] == nil ? "fcm" : "gcm.request"
        }
    }

    /// Keeps what nobody read of the service's own keys, and warns of what is of a wrong type.
    static func keepLeftover(of payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        guard let leftover = leftover(of: payload) else { return }
        let parser = payload.parser
        var json = JSONWriter()
        leftover.write(in: parser, into: &json)
        notification.platformRest = JSONText(json)
        let component = payload.envelope == .apns || payload.envelope == .apnsThroughFCM ? "apns" : "fcm"
        leftover.shape.forEachWrongType(in: leftover.object, parser) { value, expected in
            notification.warn(
                component + ".wrong-type", "Here should stand \(expected.words).", at: value, in: parser)
        }
    }

    /// The object in which the push service's keys stand, and what is read of it.
    private static func own(_ payload: borrowing PlatformPayload) -> (JSONValue, Shape)? {
        switch payload.envelope {
        case .apns: payload.aps.map { ($0, isLiveActivity($0) ? liveActivity : aps) }
        case .apnsThroughFCM: (payload.root, payload.aps.map { isLiveActivity($0) } == true ? userInfoLive : userInfo)
        case .fcmV1: (payload.root["message"].flatMap { $0.isObject ? $0 : nil } ?? payload.root, message(payload))
        case .fcmLegacy, .fcmWrapper: (payload.root, legacy)
        case .fcmExtras: (payload.root, extras)
        case .adm: (payload.root, adm)
        case .fcmData, .inApp, .other: nil
        }
    }

    /// `event` says what becomes of a Live Activity (ActivityKit, "Starting and updating Live Activities with ActivityKit
    /// push notifications"); a push that ends one need not bring a content state.
    static func isLiveActivity(_ aps: JSONValue) -> Bool {
        guard let event = aps["event"], event.isString else { return false }
        return event.equals("start") || event.equals("update") || event.equals("end") || aps["content-state"] != nil
    }

    // MARK: APNs

    private static let alert = Shape([
        "title": .text, "subtitle": .text, "body": .text, "title-loc-key": .text, "title-loc-args": .strings,
        "subtitle-loc-key": .text, "subtitle-loc-args": .strings, "loc-key": .text, "loc-args": .strings,
    ])
    private static let sound = Shape(["name": .text])

    /// What Apple documents and has a field of its own. `content-available` and `mutable-content` are for the system
    /// alone (developer.apple.com, "Generating a remote notification").
    private static let aps = Shape([
        "alert": .unchecked(.objectOrString(alert)), "badge": .unchecked(.integer),
        "sound": .unchecked(.objectOrString(sound)), "category": .unchecked(.text), "thread-id": .text,
        "interruption-level": .text, "relevance-score": .number, "target-content-id": .text, "filter-criteria": .text,
        "content-available": .scalar, "mutable-content": .scalar,
    ])

    private static let activityText = Shape.Value.objectOrString(Shape(["loc-key": .text, "loc-args": .strings]))
    private static let activityAlert = Shape([
        "title": activityText, "subtitle": .text, "body": activityText, "sound": .text, "title-loc-key": .text,
        "title-loc-args": .strings, "subtitle-loc-key": .text, "subtitle-loc-args": .strings, "loc-key": .text,
        "loc-args": .strings,
    ])

    private static let liveActivity = Shape([
        "alert": .unchecked(.objectOrString(activityAlert)), "badge": .unchecked(.integer),
        "sound": .unchecked(.objectOrString(sound)), "category": .unchecked(.text), "thread-id": .text,
        "interruption-level": .text, "relevance-score": .number, "target-content-id": .text, "filter-criteria": .text,
        "content-available": .scalar, "mutable-content": .scalar, "event": .text, "timestamp": .number,
        "stale-date": .number, "dismissal-date": .number, "content-state": .object(anything),
        "attributes": .object(anything), "attributes-type": .text,
    ])
    private static let anything = Shape([:], others: .any)

    private static let userInfo = Shape(
        ["aps": .object(aps), "fcm_options": .object(Shape(["image": .text]))], others: .any, reserved: .apns)
    private static let userInfoLive = Shape(
        ["aps": .object(liveActivity), "fcm_options": .object(Shape(["image": .text]))], others: .any, reserved: .apns)

    // MARK: FCM

    private static let block = Shape([
        "title": .text, "subtitle": .text, "body": .text, "sound": .text, "badge": .integer,
        "notification_count": .integer, "title_loc_key": .text, "title_loc_args": .strings, "body_loc_key": .text,
        "body_loc_args": .strings, "tag": .text, "image": .text, "icon": .link, "click_action": .text,
        "channel_id": .text, "android_channel_id": .text, "actions": buttons,
    ])

    /// The fields of a web notification, whose badge is a picture (Notifications API, `NotificationOptions`).
    private static let webBlock = Shape([
        "title": .text, "body": .text, "tag": .text, "image": .text, "icon": .link, "click_action": .text,
        "badge": .unread, "actions": buttons,
    ])
    private static let buttons = Shape.Value.unchecked(.list(Shape(["action": .scalar, "title": .text])))

    /// Of several display blocks one is shown; those that lose are kept whole.
    private static func message(_ payload: borrowing PlatformPayload) -> Shape {
        guard let shown = payload.notifications.first else {
            return payload.aps.map { isLiveActivity($0) } == true ? liveMessage : silentMessage
        }
        let message = payload.root["message"].flatMap { $0.isObject ? $0 : nil } ?? payload.root
        if let block = message["android"]?["notification"], block.isSamePlace(as: shown) { return androidMessage }
        if let block = message["notification"], block.isSamePlace(as: shown) { return commonMessage }
        return webMessage
    }

    private static let silentMessage = message(
        common: .unreadObject, android: .unreadObject, web: .unreadObject, aps: .object(aps))
    private static let liveMessage = message(
        common: .unreadObject, android: .unreadObject, web: .unreadObject, aps: .object(liveActivity))
    private static let commonMessage = message(
        common: .object(block), android: .unreadObject, web: .unreadObject, aps: .unreadObject)
    private static let androidMessage = message(
        common: .unreadObject, android: .object(block), web: .unreadObject, aps: .unreadObject)
    private static let webMessage = message(
        common: .unreadObject, android: .unreadObject, web: .object(webBlock), aps: .unreadObject)

    /// Tokens and credentials are not kept. `ttl` is, as it stands: it counts from when FCM gets the message, which
    /// nobody says.
    private static func message(
        common: Shape.Value, android: Shape.Value, web: Shape.Value, aps: Shape.Value
    ) -> Shape {
        // What fills a gap of the display block on one platform is kept, in case there was none.
        let filler: Shape.Value = common.kind == .object || android.kind == .object ? .unread : .text
        let headers = Shape(["authorization": .any, "Authorization": .any])
        let applePayload = Shape(["aps": aps], others: .any)
        return Shape([
            "token": .any, "fid": .any, "topic": .text, "condition": .any, "data": .object(anything),
            "notification": common,
            "android": .object(Shape(["data": .object(anything), "notification": android])),
            "webpush": .object(
                Shape([
                    "headers": .object(headers), "data": .object(anything), "notification": web,
                    "fcm_options": .object(Shape(["link": filler])),
                ])),
            "apns": .object(
                Shape([
                    "headers": .object(headers), "payload": .object(applePayload), "live_activity_token": .any,
                    "fcm_options": .object(Shape(["image": filler])),
                ])),
        ])
    }

    private static let legacy = Shape([
        "to": .any, "token": .any, "registration_ids": .any, "condition": .any, "data": .object(anything),
        "notification": .object(block),
    ])

    /// ``DeviceBlock`` decides which keys of the display block are read.
    private static let extras = Shape([:], others: .any, reserved: .fcm)

    private static let adm = Shape(["data": .object(anything), "notification": .object(block)])
}
