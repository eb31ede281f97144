import SignalboxJSON

/// The body of `projects.messages.send`, `{"message": {…}}`, or the message alone, as the Admin SDKs accept it
/// (firebase.google.com, "REST Resource: projects.messages").
struct FCMV1: EnvelopeFormat {
    let envelope = Envelope.fcmV1

    func recognises(_ arrival: Arrival) -> Bool { message(in: arrival) != nil }

    func payload(of arrival: Arrival) -> PlatformPayload {
        let message = message(in: arrival).map { JSONObject($0) } ?? arrival.root
        let aps = message["apns"]?["payload"]?.block("aps")
        var checks = WellFormedness(of: arrival)
        check(message, aps: aps, of: arrival, &checks)
        let condition = message["condition"]
        let target = PlatformPayload.Addressing(
            token: message["token"], topic: message["topic"], condition: condition,
            topics: checks.checkCondition(condition))
        return arrival.payload(
            .fcm, envelope, aps: aps, layers: layers(of: message), notifications: notifications(of: message),
            target: target, warnings: checks.warnings)
    }

    /// Apps send objects named `message` of their own, so one of the service's keys must be present. A message
    /// without a request around it needs a target, or a platform block that the legacy API does not have.
    private func message(in arrival: Arrival) -> JSONValue? {
        let root = arrival.root
        if let message = root.block("message") {
            return message.isEmptyContainer || hasOwnKey(message) ? message : nil
        }
        if root.block("android") != nil || root.block("apns") != nil || root.block("webpush") != nil {
            return root.value
        }
        guard root["token"]?.isString == true || root["topic"]?.isString == true else { return nil }
        return arrival.hasMessageBlock ? root.value : nil
    }

    /// The fields of a message (REST reference of `projects.messages`).
    private func hasOwnKey(_ message: JSONValue) -> Bool {
        message.members.contains { key, _ in
            key.equals("token") || key.equals("topic") || key.equals("condition") || key.equals("fid")
                || key.equals("data") || key.equals("notification") || key.equals("android") || key.equals("apns")
                || key.equals("webpush") || key.equals("fcm_options")
        }
    }

    /// `android.data` overrides `data` (REST reference of `projects.messages`); the other platforms' keys come last.
    private func layers(of message: JSONObject) -> [VendorFields.Layer] {
        .of(message["android"]?["data"], .fcm) + .of(message["data"], .fcm)
            + .of(message["apns"]?["payload"], .apns) + .of(message["webpush"]?["data"], .fcm)
    }

    /// The display blocks that a device may show, the most specific first. The web's counts only without another.
    private func notifications(of message: JSONObject) -> [JSONValue] {
        let blocks = [message["android"]?.block("notification"), message.block("notification")].compactMap(\.self)
        guard blocks.isEmpty, let block = message["webpush"]?.block("notification") else { return blocks }
        return [block]
    }

    /// Records the mistakes for which the service rejects or alters a message.
    private func check(
        _ message: JSONObject, aps: JSONValue?, of arrival: Arrival, _ checks: inout WellFormedness
    ) {
        let data = message["data"]
        let androidData = message["android"]?["data"]
        checks.checkTargets(message["token"], message["topic"], message["condition"], of: message.value)
        checks.checkValues(of: data)
        checks.checkValues(of: androidData)
        checks.checkSizeForFCM(arrival, parts: [data, androidData, message["notification"]])
        checks.checkSizeForAPNs(message["apns"], within: arrival)
        if let aps { checks.checkAPS(aps) }
    }
}

/// The request body of FCM's legacy HTTP API: `data` or `notification`, and a target or an option that only this API
/// has. Values of `data` need not be strings; the service converts them.
struct FCMLegacy: EnvelopeFormat {
    let envelope = Envelope.fcmLegacy

    func recognises(_ arrival: Arrival) -> Bool {
        guard arrival.hasMessageBlock else { return false }
        return arrival.root.value.members.contains { key, _ in isOwn(key) } && arrival.root["messageId"] == nil
    }

    func payload(of arrival: Arrival) -> PlatformPayload {
        let root = arrival.root
        var checks = WellFormedness(of: arrival)
        checks.checkTargets(root["to"], root["registration_ids"], root["condition"], of: root.value)
        checks.checkSizeForFCM(arrival, parts: [root["data"], root["notification"]])
        var target = PlatformPayload.Addressing(condition: root["condition"])
        target.topics = checks.checkCondition(root["condition"])
        if let to = root["to"] {
            if to.utf8?.hasPrefix("/topics/") == true { target.topic = to } else { target.token = to }
        } else {
            target.token = onlyElement(of: root["registration_ids"])
        }
        return arrival.payload(
            .fcm, envelope, layers: .of(root["data"], .fcm), notifications: arrival.notification, target: target,
            warnings: checks.warnings)
    }

    /// The keys that only the legacy API has (firebase.google.com, "Legacy HTTP server protocol").
    private func isOwn(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        key.equals("to") || key.equals("registration_ids") || key.equals("condition") || key.equals("priority")
            || key.equals("time_to_live") || key.equals("content_available") || key.equals("mutable_content")
            || key.equals("dry_run") || key.equals("restricted_package_name")
    }

    /// The element of a list with one element: several devices have no common token.
    private func onlyElement(of list: JSONValue?) -> JSONValue? {
        var elements = list?.elements
        guard let first = elements?.next(), elements?.next() == nil else { return nil }
        return first
    }
}

/// A `RemoteMessage` as cross-platform frameworks dump it: `data` or `notification`, and the service's additions. The
/// same two blocks without any other key count too.
struct FCMWrapper: EnvelopeFormat {
    let envelope = Envelope.fcmWrapper

    func recognises(_ arrival: Arrival) -> Bool {
        guard arrival.hasMessageBlock else { return false }
        let root = arrival.root
        if root["messageId"] != nil || root["from"] != nil || root["sentTime"] != nil { return true }
        return root.value.members.allSatisfy { key, _ in key.equals("data") || key.equals("notification") }
    }

    func payload(of arrival: Arrival) -> PlatformPayload {
        let data = arrival.root["data"]
        var checks = WellFormedness(of: arrival)
        checks.checkSizeForFCM(arrival, parts: [data, arrival.root["notification"]])
        return arrival.payload(
            .fcm, envelope, layers: .of(data, .fcm), notifications: arrival.notification, warnings: checks.warnings)
    }
}

/// The extras of an Android intent: a flat map in which the service's keys are mixed with the vendor's. The display
/// block is flattened to keys `gcm.n.…` (firebase-android-sdk, Constants.java, `MessageNotificationKeys`).
struct FCMExtras: EnvelopeFormat {
    let envelope = Envelope.fcmExtras

    func recognises(_ arrival: Arrival) -> Bool {
        arrival.root.value.members.contains { key, _ in VendorFields.Reserved.fcm.contains(key) }
            && arrival.root.value.members.allSatisfy { _, value in !value.isObject && !value.isArray }
    }

    func payload(of arrival: Arrival) -> PlatformPayload { arrival.flatPayloadForFCM(envelope) }
}

/// The data map as `RemoteMessage.getData()` returns it: flat, every value a string.
struct FCMData: EnvelopeFormat {
    let envelope = Envelope.fcmData

    func recognises(_ arrival: Arrival) -> Bool {
        !arrival.root.value.isEmptyContainer && arrival.root["aps"] == nil
            && arrival.root.value.members.allSatisfy { _, value in value.isString }
    }

    func payload(of arrival: Arrival) -> PlatformPayload { arrival.flatPayloadForFCM(envelope) }
}

extension Arrival {
    fileprivate func flatPayloadForFCM(_ envelope: Envelope) -> PlatformPayload {
        var checks = WellFormedness(of: self)
        checks.checkSizeForFCM(self, parts: [root.value])
        return payload(.fcm, envelope, layers: layer(.fcm), warnings: checks.warnings)
    }
}
