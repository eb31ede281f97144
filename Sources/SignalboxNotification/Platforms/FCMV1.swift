import SignalboxJSON

/// The body of `projects.messages.send`, `{"message": {…}}`, or the message alone, as the Admin SDKs take it.
struct FCMV1: EnvelopeFormat {
    let envelope = Envelope.fcmV1

    func recognises(_ arrival: Arrival) -> Bool { message(in: arrival) != nil }

    func payload(of arrival: Arrival) -> PlatformPayload {
        let message = message(in: arrival).map { JSONObject($0) } ?? arrival.root
        let aps = message["apns"]?["payload"]?.block("aps")
        var checks = WellFormedness(of: arrival)
        check(message, aps: aps, of: arrival, &checks)
        var target = target(of: message)
        target.topics = checks.checkCondition(message["condition"])
        return arrival.payload(
            .fcm, envelope, aps: aps, layers: layers(of: message), notifications: notifications(of: message),
            target: target, warnings: checks.warnings)
    }

    /// Apps send messages of their own, so one of the service's keys must be present. A message without a request
    /// around it needs a target, or a platform block that the legacy API does not have.
    private func message(in arrival: Arrival) -> JSONValue? {
        if let message = arrival.root.block("message") {
            return message.isEmptyContainer || hasOwnKey(message) ? message : nil
        }
        if arrival.root.block("android") != nil || arrival.root.block("apns") != nil
            || arrival.root.block("webpush") != nil
        {
            return arrival.root.value
        }
        guard arrival.root["token"]?.isString == true || arrival.root["topic"]?.isString == true else { return nil }
        return arrival.root.block("data") != nil || arrival.root.block("notification") != nil ? arrival.root.value : nil
    }

    /// The fields of a message (REST reference of `projects.messages`).
    private func hasOwnKey(_ message: JSONValue) -> Bool {
        message.members.contains { key, _ in
            key.equals("token") || key.equals("topic") || key.equals("condition") || key.equals("fid")
                || key.equals("data") || key.equals("notification") || key.equals("android") || key.equals("apns")
                || key.equals("webpush") || key.equals("fcm_options")
        }
    }

    /// `android.data` wins over `data` (REST reference of `projects.messages`); the other platforms' keys come behind.
    private func layers(of message: JSONObject) -> [VendorFields.Layer] {
        .of(message["android"]?["data"], .fcm) + .of(message["data"], .fcm)
            + .of(message["apns"]?["payload"], .apns) + .of(message["webpush"]?["data"], .fcm)
    }

    private func notifications(of message: JSONObject) -> [JSONValue] {
        var blocks: [JSONValue] = []
        if let block = message["android"]?.block("notification") { blocks.append(block) }
        if let block = message.block("notification") { blocks.append(block) }
        if blocks.isEmpty, let block = message["webpush"]?.block("notification") { blocks.append(block) }
        return blocks
    }

    private func target(of message: JSONObject) -> PlatformPayload.Addressing {
        var target = PlatformPayload.Addressing()
        target.token = message["token"]
        target.topic = message["topic"]
        target.condition = message["condition"]
        return target
    }

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
