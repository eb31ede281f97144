import SignalboxJSON

/// The extras of an Android intent: a flat map in which the service's keys still stand between the vendor's. The
/// display block is spread over keys `gcm.n.…` (firebase-android-sdk, Constants.java, `MessageNotificationKeys`).
struct FCMExtras: EnvelopeFormat {
    let envelope = Envelope.fcmExtras

    func recognises(_ arrival: Arrival) -> Bool {
        arrival.root.value.members.contains { key, _ in VendorFields.Reserved.fcm.contains(key) }
            && arrival.root.value.members.allSatisfy { _, value in !value.isObject && !value.isArray }
    }

    func payload(of arrival: Arrival) -> PlatformPayload {
        var checks = WellFormedness(of: arrival)
        checks.checkSizeForFCM(arrival, parts: [arrival.root.value])
        return arrival.payload(.fcm, envelope, layers: arrival.layer(.fcm), warnings: checks.warnings)
    }
}
