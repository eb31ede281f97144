import SignalboxJSON

/// The body of `/3/device/{token}`, or an iOS app's `userInfo`: an object `aps`, the vendor's keys beside it.
struct APNs: EnvelopeFormat {
    let envelope = Envelope.apns

    func recognises(_ arrival: Arrival) -> Bool { arrival.root.block("aps") != nil }

    func payload(of arrival: Arrival) -> PlatformPayload {
        arrival.payloadForAPNs(envelope)
    }
}

/// `userInfo` of an iOS app whose pushes come through FCM: the keys of FCM's `data` lie flattened beside `aps`, with
/// FCM's own keys between them (firebase-ios-sdk, FirebaseMessaging).
struct APNsThroughFCM: EnvelopeFormat {
    let envelope = Envelope.apnsThroughFCM

    func recognises(_ arrival: Arrival) -> Bool {
        arrival.root.block("aps") != nil
            && arrival.root.value.members.contains { key, _ in
                key.hasPrefix("gcm.") || key.hasPrefix("google.") || key.equals("fcm_options")
            }
    }

    func payload(of arrival: Arrival) -> PlatformPayload {
        arrival.payloadForAPNs(envelope)
    }
}

extension Arrival {
    fileprivate func payloadForAPNs(_ envelope: Envelope) -> PlatformPayload {
        var checks = WellFormedness(of: self)
        checks.checkSizeForAPNs(self)
        let aps = root.block("aps")
        if let aps { checks.checkAPS(aps) }
        return payload(.apns, envelope, aps: aps, layers: layer(.apns), warnings: checks.warnings)
    }
}
