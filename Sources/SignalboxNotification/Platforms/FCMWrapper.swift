import SignalboxJSON

/// A `RemoteMessage` as cross-platform frameworks dump it: `data` or `notification`, and what the service added. The
/// same two blocks without anything else count too.
struct FCMWrapper: EnvelopeFormat {
    let envelope = Envelope.fcmWrapper

    func recognises(_ arrival: Arrival) -> Bool {
        guard arrival.root.block("data") != nil || arrival.root.block("notification") != nil else { return false }
        if arrival.root["messageId"] != nil || arrival.root["from"] != nil || arrival.root["sentTime"] != nil {
            return true
        }
        return arrival.root.value.members.allSatisfy { key, _ in key.equals("data") || key.equals("notification") }
    }

    func payload(of arrival: Arrival) -> PlatformPayload {
        let root = arrival.root
        var checks = WellFormedness(of: arrival)
        checks.checkSizeForFCM(arrival, parts: [root["data"], root["notification"]])
        return arrival.payload(
            .fcm, envelope, layers: .of(root["data"], .fcm),
            notifications: root.block("notification").map { [$0] } ?? [],
            warnings: checks.warnings)
    }
}
