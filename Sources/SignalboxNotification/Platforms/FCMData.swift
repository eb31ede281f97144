import SignalboxJSON

/// The data map as `RemoteMessage.getData()` returns it: flat, every value a string.
struct FCMData: EnvelopeFormat {
    let envelope = Envelope.fcmData

    func recognises(_ arrival: Arrival) -> Bool {
        !arrival.root.value.isEmptyContainer && arrival.root["aps"] == nil
            && arrival.root.value.members.allSatisfy { _, value in value.isString }
    }

    func payload(of arrival: Arrival) -> PlatformPayload {
        var checks = WellFormedness(of: arrival)
        checks.checkSizeForFCM(arrival, parts: [arrival.root.value])
        return arrival.payload(.fcm, envelope, layers: arrival.layer(.fcm), warnings: checks.warnings)
    }
}
