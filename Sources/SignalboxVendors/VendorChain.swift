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

    /// Reads a payload as the vendor with the strongest evidence has it, the first in the chain among equals, and as
    /// ``VendorID/unknown`` when nobody claims it.
    package func read(_ payload: borrowing PlatformPayload) -> PushNotification {
        var notification = PlainReading.read(payload)
        var winner: (detector: any VendorDetector, detection: Detection)?
        var others: [VendorID] = []
        for detector in detectors {
            guard let detection = detector.detect(payload) else { continue }
            guard let best = winner else {
                winner = (detector, detection)
                continue
            }
            if detection.strength > best.detection.strength {
                others.append(best.detector.vendor)
                winner = (detector, detection)
            } else {
                others.append(detector.vendor)
            }
        }
        guard let winner else {
            notification.custom = CustomFields.text(of: payload)
            return notification
        }
        notification.vendor = winner.detector.vendor
        notification.detection = DetectionSummary(evidence: winner.detection.evidence, also: others)
        winner.detector.read(payload, into: &notification)
        return notification
    }
}

/// A chain names a vendor that does not exist.
package struct UnknownVendor: Error, Equatable, Sendable {
    package let name: String
    /// Who could have been meant.
    package var known: [String] { Vendors.all.map(\.vendor.name) }
}
