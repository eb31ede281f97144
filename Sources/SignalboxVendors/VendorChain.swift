package import SignalboxModel

/// The detectors in the order in which they are asked.
package struct VendorChain: Sendable {
    package let detectors: [any VendorDetector]

    /// Every vendor in the registry's order.
    package init() { detectors = Vendors.all }

    /// The vendors named, in the order named. Fails with the first name that the registry does not know.
    package init(named names: [String]) throws(UnknownVendor) {
        var chosen: [any VendorDetector] = []
        for name in names {
            guard let detector = Vendors.all.first(where: { $0.vendor.name == name }) else {
                throw UnknownVendor(name: name)
            }
            chosen.append(detector)
        }
        detectors = chosen
    }

    /// Reads a payload as the vendor with the strongest evidence has it, the first in the chain among equals. Nobody is
    /// named on a hint alone: such a payload is read as the push service has it, and the hint's vendor stands in `also`.
    package func read(_ payload: borrowing PlatformPayload) -> PushNotification {
        var notification = PushNotification(platform: payload.platform)
        read(payload, into: &notification)
        return notification
    }

    /// As above, into a notification in which nothing stands yet; spares a copy of a value that has many parts.
    package func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        PlainReading.read(payload, into: &notification)
        if let winner = detect(payload, into: &notification.detection) {
            notification.vendor = detectors[winner].vendor
            detectors[winner].read(payload, into: &notification)
        } else {
            notification.custom = CustomFields.text(of: payload)
        }
    }

    /// Notes the evidence for the vendor that is chosen, and who else matched; returns the place in the chain of the
    /// former.
    private func detect(_ payload: borrowing PlatformPayload, into summary: inout DetectionSummary) -> Int? {
        var winner: Int?
        var strongest = Detection.Strength.hint
        for position in detectors.indices {
            guard let detection = detectors[position].detect(payload) else { continue }
            guard detection.strength > strongest else {
                summary.also.append(detectors[position].vendor)
                continue
            }
            if let winner { summary.also.append(detectors[winner].vendor) }
            winner = position
            strongest = detection.strength
            summary.evidence = detection.evidence
        }
        return winner
    }
}

/// A chain names a vendor that does not exist.
package struct UnknownVendor: Error, Equatable, Sendable {
    package let name: String
    /// Who could have been meant.
    package var known: [String] { Vendors.all.map(\.vendor.name) }
}
