import SignalboxJSON

/// Sourse smart notifications: `handler` names it, every key is a string in FCM's data, and the SDK shows the text when
/// it finds the user receptive (Sourse, "Smart notification payload specification").
struct Sourse: VendorDetector {
    var vendor: VendorID { VendorID("sourse") }
    var looksFor: String {
        "`handler` that is exactly `com.sourse.notification`; a condition that leaves out `sourse_sdk_integrated` is a hint"
    }
    var looksAt: [StaticString] { ["handler"] }

    func detect(_ payload: borrowing PlatformPayload) -> Detection? {
        if let handler = payload["handler"], handler.equals("com.sourse.notification") {
            return Detection(.proof, evidence: [payload.pointer(to: handler)])
        }
        guard let condition = payload.target.condition, isCompanion(payload.target.topics) else { return nil }
        return Detection(.hint, evidence: [payload.pointer(to: condition)])
    }

    /// The same news for apps without the SDK goes out as a plain notification beside the smart one. It bears no key of
    /// Sourse's, but its condition leaves out the devices that have the SDK, by either name of their topic
    /// (incoming-inc/ios-sdk, SmartNotifications/backend/sendNotification.js).
    private func isCompanion(_ topics: TopicCondition?) -> Bool {
        guard let topics else { return false }
        return topics.leavesOut("sourse_sdk_integrated") || topics.leavesOut("isdk_sdk_integrated")
    }

    /// The push arrives silently, but what it is for is an alert: the SDK makes a local notification of it.
    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        notification.kind = .alert
        notification.content.title = required("title", "sourse.title-missing", payload, &notification)
        notification.content.body = required("message", "sourse.message-missing", payload, &notification)
        notification.tag = string("tag", payload, &notification)
        // The tag of the analytics is all that tells one Sourse mailing from another.
        notification.campaign = notification.tag.map { .init(id: $0) }
        notification.action = Action(.openApp)
        if let link = payload["actionURL"], string("actionURL", payload, &notification) != nil {
            notification.action = .opening(link) ?? notification.action
        }
        if let image = string("imageURL", payload, &notification) {
            notification.media = [Media(url: image, role: .attachment)]
        }
        notification.schedule = schedule(payload, &notification)
        notification.custom = CustomFields.text(of: payload, except: Self.keys, &notification, stripping: "custom_")
    }

    private static let keys = Shape([
        "handler": .any, "title": .unchecked(.scalar), "message": .unchecked(.scalar),
        "actionURL": .unchecked(.scalar), "imageURL": .unchecked(.scalar), "tag": .unchecked(.scalar),
        "isSmartNotification": .unchecked(.scalar), "embargoDate": .unchecked(.date), "expiryDate": .unchecked(.date),
    ])
}

// MARK: Schedule

extension Sourse {
    private func schedule(
        _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> PushNotification.Schedule {
        let embargo = date("embargoDate", payload, &notification)
        let expiry = date("expiryDate", payload, &notification)
        if let embargo, let expiry, embargo > expiry, let value = payload["embargoDate"] {
            notification.warn(
                "sourse.embargo-after-expiry", "The notification expires before it may be shown.", at: value,
                in: payload.parser)
        }
        let isImmediate = isOff(payload["isSmartNotification"])
        _ = string("isSmartNotification", payload, &notification)
        return .init(mode: isImmediate ? .immediate : .optimal, notBefore: embargo?.text, notAfter: expiry?.text)
    }

    /// `0` switches the scheduler off. The sample code passes on whatever it was given, so `false` occurs as well.
    private func isOff(_ flag: JSONValue?) -> Bool {
        guard let flag else { return false }
        return flag.number == 0 || flag.bool == false || flag.utf8?.spells("false") == true
    }

    private func date(
        _ key: StaticString, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> Timestamp? {
        guard let value = payload[key], string(key, payload, &notification) != nil else { return nil }
        if let date = value.utf8.flatMap({ Timestamp(iso8601: $0) }) { return date }
        notification.warn(
            "sourse.date-invalid", "Dates are written like 2012-04-23T18:25:43.234Z.", at: value, in: payload.parser)
        return nil
    }
}

// MARK: Strings

extension Sourse {
    private func required(
        _ key: StaticString, _ code: String, _ payload: borrowing PlatformPayload,
        _ notification: inout PushNotification
    ) -> String? {
        if payload[key] == nil, let home = payload.fields.object(with: "handler") {
            notification.warn(
                code, "A smart notification has a \(key).", key: key.description, of: home, in: payload.parser)
        }
        return string(key, payload, &notification)
    }

    /// The text of a key. FCM's legacy API converts numbers and booleans to strings, and the sample code sends both
    /// (incoming-inc/ios-sdk, SmartNotifications/backend/sendNotification.js). Other values are not read.
    private func string(
        _ key: StaticString, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> String? {
        guard let value = payload[key], !value.isNull else { return nil }
        if !value.isString, payload.envelope != .fcmLegacy || !value.isSpelled {
            notification.warn(
                "sourse.value-not-a-string", "All values of a smart notification are strings.", at: value,
                in: payload.parser)
        }
        return value.spelled
    }
}
