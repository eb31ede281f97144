import SignalboxJSON

/// Sourse smart notifications (Sourse, "Smart notification payload specification"): FCM data with the keys
///
///     handler               exactly `com.sourse.notification`
///     title, message        the texts, required
///     actionURL, imageURL   a link and a picture
///     tag                   identifies the mailing in Sourse's analytics
///     isSmartNotification   `0` shows the notification at once
///     embargoDate, expiryDate   the period in which the SDK may show it, ISO 8601
///     custom_…              the app's own keys
///
/// Every value is a string. The push arrives silently; the SDK shows the text when it finds the user receptive.
struct Sourse: VendorDetector {
    let vendor = VendorID("sourse")
    var looksFor: String {
        "`handler` that is exactly `com.sourse.notification`; a condition that leaves out `sourse_sdk_integrated` is a hint"
    }
    var looksAt: [StaticString] { ["handler"] }

    /// Sourse sends the same news as a plain notification to apps without the SDK. It has none of Sourse's keys, but
    /// its condition excludes devices with the SDK, by either name of their topic (incoming-inc/ios-sdk,
    /// SmartNotifications/backend/sendNotification.js).
    func detect(_ payload: borrowing PlatformPayload) -> Detection? {
        if let handler = payload["handler"], handler.equals("com.sourse.notification") {
            return Detection(.proof, evidence: [payload.pointer(to: handler)])
        }
        guard let condition = payload.target.condition, let topics = payload.target.topics,
            !topics.excluded.isDisjoint(with: ["sourse_sdk_integrated", "isdk_sdk_integrated"])
        else { return nil }
        return Detection(.hint, evidence: [payload.pointer(to: condition)])
    }

    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        notification.readSourse(payload)
    }

    /// The keys above. Their reader warns of wrong types itself, because the accepted types depend on the envelope.
    fileprivate static let keys = KeySchema([
        "handler": .any, "title": .unchecked(.scalar), "message": .unchecked(.scalar),
        "actionURL": .unchecked(.scalar), "imageURL": .unchecked(.scalar), "tag": .unchecked(.scalar),
        "isSmartNotification": .unchecked(.scalar), "embargoDate": .unchecked(.date), "expiryDate": .unchecked(.date),
    ])
}

extension PushNotification {
    /// Sets every field that Sourse has keys for, and replaces the platform's values. Without a link, a tap opens the
    /// app.
    fileprivate mutating func readSourse(_ payload: borrowing PlatformPayload) {
        // The SDK makes a local notification of the silent push.
        kind = .alert
        content.title = required("title", "sourse.title-missing", payload)
        content.body = required("message", "sourse.message-missing", payload)
        tag = string("tag", payload)
        // The tag alone distinguishes mailings.
        campaign = tag.map { Campaign(id: $0) }
        action = Action(.openApp)
        if let link = string("actionURL", payload), !link.isEmpty { action = .opening(link) }
        if let image = string("imageURL", payload) { media = [Media(url: image, role: .attachment, announced: .image)] }
        let (embargo, expiry) = readSchedule(payload)
        fillCustom(from: payload, except: Sourse.keys, stripping: "custom_")
        bringSourseMessage(payload, embargo: embargo, expiry: expiry)
    }

    /// Reads the period, which it returns, and the flag of the scheduler.
    private mutating func readSchedule(
        _ payload: borrowing PlatformPayload
    ) -> (embargo: Timestamp?, expiry: Timestamp?) {
        let embargo = date("embargoDate", payload)
        let expiry = date("expiryDate", payload)
        if let embargo, let expiry, embargo > expiry, let value = payload["embargoDate"] {
            warn(
                "sourse.embargo-after-expiry", "The notification expires before it may be shown.", at: value,
                in: payload.parser)
        }
        // `0` disables the scheduler. The sample code forwards any value, so `false` occurs as well.
        let flag = payload["isSmartNotification"]
        let isImmediate = flag?.number == 0 || flag?.bool == false || flag?.utf8?.equalsIgnoringCase("false") == true
        _ = string("isSmartNotification", payload)
        schedule = Schedule(
            mode: isImmediate ? .immediate : .optimal, notBefore: embargo?.text, notAfter: expiry?.text)
        return (embargo, expiry)
    }

    /// An ISO 8601 date; nil, with a warning, for any other value.
    private mutating func date(_ key: StaticString, _ payload: borrowing PlatformPayload) -> Timestamp? {
        guard let value = payload[key], string(key, payload) != nil else { return nil }
        if let date = value.utf8.flatMap({ Timestamp(iso8601: $0) }) { return date }
        warn(
            "sourse.date-invalid", "Invalid date; expected a form like 2012-04-23T18:25:43.234Z.", at: value,
            in: payload.parser)
        return nil
    }

    /// The text of a required key; warns if it is missing.
    private mutating func required(
        _ key: StaticString, _ code: String, _ payload: borrowing PlatformPayload
    ) -> String? {
        if payload[key] == nil, let object = payload.fields.object(with: "handler") {
            warn(code, "The key \(key) is missing.", key: key.description, of: object, in: payload.parser)
        }
        return string(key, payload)
    }

    /// The text of a key. FCM's legacy API converts numbers and booleans to strings, and the sample code sends both
    /// (incoming-inc/ios-sdk, SmartNotifications/backend/sendNotification.js).
    private mutating func string(_ key: StaticString, _ payload: borrowing PlatformPayload) -> String? {
        guard let value = payload[key] else { return nil }
        if !value.isString, payload.envelope != .fcmLegacy || !value.hasScalarText {
            warn("sourse.value-not-a-string", "The value is not a string.", at: value, in: payload.parser)
        }
        return value.scalarText
    }
}
