extension Vendors {
    /// Vendors whose payloads bear no mark, so that a source has to be configured as theirs.
    package static let namedBySource = [Granify.name]
}

extension VendorChain {
    /// Reads a payload as that of the vendor that its source is configured for, without looking for evidence; who else
    /// matches stands in `also`. Reads it like any other when the vendor is none of the registry.
    package func read(
        _ payload: borrowing PlatformPayload, as vendor: VendorID, into notification: inout PushNotification
    ) {
        guard
            let detector = Vendors.all.lazy.compactMap({ $0 as? any VendorDetector }).first(where: {
                $0.vendor == vendor
            })
        else { return read(payload, into: &notification) }
        PlainReading.read(payload, into: &notification)
        let matches = matches(for: payload)
        notification.detection.also = (matches.winner.map { [$0.vendor] } ?? []) + matches.also
        notification.deviceTokens = deviceTokens(in: payload, matchedBy: matches)
        notification.vendor = vendor
        detector.read(payload, into: &notification)
    }
}
