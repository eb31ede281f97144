import SignalboxJSON

/// The request body of FCM's legacy HTTP API: `data` or `notification`, and a target or an option that only this API
/// has. Values of `data` need not be strings; the service made them strings.
struct FCMLegacy: EnvelopeFormat {
    let envelope = Envelope.fcmLegacy

    func recognises(_ arrival: Arrival) -> Bool {
        guard arrival.root.block("data") != nil || arrival.root.block("notification") != nil else { return false }
        return arrival.root.value.members.contains { key, _ in isOwn(key) } && arrival.root["messageId"] == nil
    }

    func payload(of arrival: Arrival) -> PlatformPayload {
        let root = arrival.root
        var checks = WellFormedness(of: arrival)
        checks.checkTargets(root["to"], root["registration_ids"], root["condition"], of: root.value)
        checks.checkSizeForFCM(arrival, parts: [root["data"], root["notification"]])
        var target = target(of: root)
        target.topics = checks.checkCondition(root["condition"])
        return arrival.payload(
            .fcm, envelope, layers: .of(root["data"], .fcm),
            notifications: root.block("notification").map { [$0] } ?? [],
            target: target, warnings: checks.warnings)
    }

    private func isOwn(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        key.equals("to") || key.equals("registration_ids") || key.equals("condition") || key.equals("priority")
            || key.equals("time_to_live") || key.equals("content_available") || key.equals("mutable_content")
            || key.equals("dry_run") || key.equals("restricted_package_name")
    }

    private func target(of root: JSONObject) -> PlatformPayload.Addressing {
        var target = PlatformPayload.Addressing()
        target.condition = root["condition"]
        if let to = root["to"] {
            if to.utf8?.hasPrefix("/topics/") == true { target.topic = to } else { target.token = to }
        } else {
            target.token = onlyElement(of: root["registration_ids"])
        }
        return target
    }

    private func onlyElement(of list: JSONValue?) -> JSONValue? {
        var elements = list?.elements
        guard let first = elements?.next(), elements?.next() == nil else { return nil }
        return first
    }
}
