import SignalboxJSON

/// Any object that bears no envelope's marks: the body of a web push, in-app content.
struct Other: EnvelopeFormat {
    let envelope = Envelope.other

    func recognises(_ arrival: Arrival) -> Bool { true }

    func payload(of arrival: Arrival) -> PlatformPayload {
        var checks = WellFormedness(of: arrival)
        if let aps = arrival.root["aps"] {
            checks.warn("apns.aps-not-an-object", "`aps` is an object in every APNs payload.", at: aps)
        }
        return arrival.payload(.unknown, envelope, layers: arrival.layer(.none), warnings: checks.warnings)
    }
}
