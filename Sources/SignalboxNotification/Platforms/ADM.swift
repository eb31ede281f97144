import SignalboxJSON

/// A request to Amazon Device Messaging: `data` or `notification` with one of this service's own options
/// (developer.amazon.com, "Send a message").
struct ADM: EnvelopeFormat {
    let envelope = Envelope.adm

    func recognises(_ arrival: Arrival) -> Bool {
        (arrival.root.block("data") != nil || arrival.root.block("notification") != nil)
            && (arrival.root["consolidationKey"] != nil || arrival.root["expiresAfter"] != nil
                || arrival.root["md5"] != nil)
    }

    func payload(of arrival: Arrival) -> PlatformPayload {
        arrival.payload(
            .unknown, envelope, layers: .of(arrival.root["data"], .none),
            notifications: arrival.root.block("notification").map { [$0] } ?? [],
            warnings: WellFormedness(of: arrival).warnings)
    }
}
