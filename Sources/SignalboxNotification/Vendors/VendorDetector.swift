import SignalboxJSON

/// One link of the chain: recognises the payloads of one vendor or of several, and reads them.
package protocol ChainLink: Sendable {
    /// As `detectors.chain` in a config names it.
    var name: String { get }

    /// Whom it recognises, and what it looks for, in words.
    var profiles: [VendorProfile] { get }

    /// Adds a match for every vendor that could have produced the payload, whatever earlier links claimed.
    func recognise(_ payload: borrowing PlatformPayload, into matches: inout VendorMatches)

    /// Reads a payload as the vendor of a match of its own has it. The notification comes in with what the platform's
    /// own keys say, which the vendor's keys override; what is wrong becomes a warning, never a failure.
    func read(
        _ payload: borrowing PlatformPayload, as match: VendorMatch, into notification: inout PushNotification)

    /// Device tokens inside the data of a vendor that this link matches; empty for matches of other links.
    func deviceTokens(in payload: borrowing PlatformPayload, matchedBy match: VendorMatch) -> [DeviceToken]

    /// Says in lines for a person what it looked at and why it recognised nobody else.
    func explain(_ payload: borrowing PlatformPayload) -> [String]
}

extension ChainLink {
    package func deviceTokens(in payload: borrowing PlatformPayload, matchedBy match: VendorMatch) -> [DeviceToken] { [] }
}

/// A link of code that knows one vendor, by whose name it goes.
package protocol VendorDetector: ChainLink {
    var vendor: VendorID { get }

    /// What it looks for, in words, for `signalbox vendors` and `signalbox explain`.
    var looksFor: String { get }

    /// The vendor's keys on which it decides, for `signalbox explain`.
    var looksAt: [StaticString] { get }

    /// Says whether this vendor produced the payload, with the evidence; nil when nothing speaks for it.
    func detect(_ payload: borrowing PlatformPayload) -> Detection?

    /// Reads a payload that this detector has claimed; see ``ChainLink``.
    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification)
}

extension VendorDetector {
    package var looksAt: [StaticString] { [] }

    package var name: String { vendor.name }

    package var profiles: [VendorProfile] { [VendorProfile(vendor: vendor, looksFor: looksFor)] }

    package func recognise(_ payload: borrowing PlatformPayload, into matches: inout VendorMatches) {
        if let detection = detect(payload) { matches.record(VendorMatch(vendor, detection)) }
    }

    package func read(
        _ payload: borrowing PlatformPayload, as match: VendorMatch, into notification: inout PushNotification
    ) {
        read(payload, into: &notification)
    }

    package func explain(_ payload: borrowing PlatformPayload) -> [String] {
        guard detect(payload) == nil else { return [] }
        let found = looksAt.compactMap { key in payload[key].map { "\(payload.pointer(to: $0)) is \($0.glimpse)" } }
        let asked = looksAt.map { "`\($0)`" }.joined(separator: ", ")
        var reasons = found.isEmpty && !looksAt.isEmpty ? ["there is no \(asked)"] : found
        reasons.append("it looks for \(looksFor)")
        return ["\(vendor): no; " + reasons.joined(separator: "; ")]
    }
}

/// A vendor as `signalbox vendors` shows it.
package struct VendorProfile: Sendable, Equatable {
    package let vendor: VendorID
    /// As the vendor writes it; nil when nobody said.
    package var name: String?
    /// By what it is recognised, in words.
    package let looksFor: String
    /// Where that was read, and how far to trust it.
    package var source: String?
    package var confidence: String?

    package init(
        vendor: VendorID, name: String? = nil, looksFor: String, source: String? = nil, confidence: String? = nil
    ) {
        self.vendor = vendor
        self.name = name
        self.looksFor = looksFor
        self.source = source
        self.confidence = confidence
    }
}
