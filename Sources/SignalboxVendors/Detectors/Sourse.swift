import SignalboxJSON
import SignalboxModel

/// Sourse smart notifications: `handler` names it, every key is a string in FCM's data, and the SDK shows the text when
/// it finds the user receptive (Sourse, "Smart notification payload specification").
struct Sourse: VendorDetector {
    var vendor: VendorID { VendorID("sourse") }
    var looksFor: String { "`handler` that is exactly `com.sourse.notification`" }
    var looksAt: [StaticString] { ["handler"] }

    func detect(_ payload: borrowing PlatformPayload) -> Detection? {
        guard let handler = payload["handler"], handler.equals("com.sourse.notification") else { return nil }
        return Detection(.proof, evidence: [payload.pointer(to: handler)])
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
        notification.custom = CustomFields.text(of: payload, stripping: "custom_", except: Self.owns)
    }

    private static func owns(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        key.equals("handler") || key.equals("title") || key.equals("message") || key.equals("actionURL")
            || key.equals("imageURL") || key.equals("tag") || key.equals("isSmartNotification")
            || key.equals("embargoDate") || key.equals("expiryDate")
    }
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

    /// The text of a key. FCM makes a string of a number or boolean; anything else is not read.
    private func string(
        _ key: StaticString, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> String? {
        guard let value = payload[key], !value.isNull else { return nil }
        if !value.isString {
            notification.warn(
                "sourse.value-not-a-string", "All values of a smart notification are strings.", at: value,
                in: payload.parser)
        }
        return value.spelled
    }
}
