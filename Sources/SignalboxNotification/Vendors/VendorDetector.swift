import SignalboxJSON

/// One link of the chain: recognises the payloads of one vendor or of several, and reads them.
package protocol ChainLink: Sendable {
    /// Its name in the config's `detectors.chain`.
    var name: String { get }

    /// The vendors that it recognises, in the order of ``profiles``. Cheap.
    var vendors: [VendorID] { get }

    /// The same vendors with their descriptions. Writes the texts at each call.
    var profiles: [VendorProfile] { get }

    /// Records a match for every vendor that could have produced the payload, regardless of earlier links.
    func recognise(_ payload: borrowing PlatformPayload, into matches: inout VendorMatches)

    /// Reads a payload as the vendor of one of its own matches. The notification already contains the values of the
    /// platform's keys, which the vendor's keys override. Mistakes become warnings.
    func read(_ payload: borrowing PlatformPayload, as match: VendorMatch, into notification: inout PushNotification)

    /// Device tokens inside the data of the vendor of one of its own matches. `withSecrets`: the vendor's secrets too,
    /// which only its own reading leaves out.
    func deviceTokens(
        in payload: borrowing PlatformPayload, matchedBy match: VendorMatch, withSecrets: Bool
    ) -> [DeviceToken]

    /// Explains to people, in lines, why no vendor of this link matches; empty if one does.
    func explain(_ payload: borrowing PlatformPayload) -> [String]
}

/// A vendor as `signalbox vendors` and the documentation describe it.
package struct VendorProfile: Sendable, Equatable {
    /// The name in events and in the config.
    package let vendor: VendorID
    /// The vendor's own spelling; nil if unknown.
    var name: String?
    /// The evidence of a match, as a noun phrase.
    package let looksFor: String
    /// The publication that documents the evidence; nil for a vendor with code, whose file names it.
    var source: String?
    /// Reliability of the source.
    var confidence: String?
}

/// A link with code of its own for one vendor. It has the vendor's name in the chain. The chain calls
/// ``detect(_:)`` for every payload, so it must be cheap for the payloads of other vendors.
package protocol VendorDetector: ChainLink {
    /// The vendor that it recognises, and its name in the chain.
    var vendor: VendorID { get }

    /// The evidence that it looks for, as a noun phrase for `signalbox vendors` and `signalbox explain`.
    var looksFor: String { get }

    /// The vendor's keys by which it decides, for `signalbox explain`.
    var looksAt: [StaticString] { get }

    /// The evidence that this vendor produced the payload; nil without any.
    func detect(_ payload: borrowing PlatformPayload) -> Detection?

    /// Reads a payload of this vendor; see ``ChainLink/read(_:as:into:)``.
    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification)
}

extension VendorDetector {
    package var name: String { vendor.name }

    package var vendors: [VendorID] { [vendor] }

    package var profiles: [VendorProfile] { [VendorProfile(vendor: vendor, looksFor: looksFor)] }

    package func recognise(_ payload: borrowing PlatformPayload, into matches: inout VendorMatches) {
        if let detection = detect(payload) { matches.record(VendorMatch(vendor, detection)) }
    }

    package func read(
        _ payload: borrowing PlatformPayload, as match: VendorMatch, into notification: inout PushNotification
    ) { read(payload, into: &notification) }

    package func deviceTokens(
        in payload: borrowing PlatformPayload, matchedBy match: VendorMatch, withSecrets: Bool
    ) -> [DeviceToken] { [] }

    package func explain(_ payload: borrowing PlatformPayload) -> [String] {
        guard detect(payload) == nil else { return [] }
        let found = looksAt.compactMap { key in
            payload[key].map { "\(payload.pointer(to: $0)) is \($0.shortDescription)" }
        }
        let keys = looksAt.map { "`\($0)`" }.joined(separator: ", ")
        var reasons = found.isEmpty && !looksAt.isEmpty ? ["there is no \(keys)"] : found
        reasons.append("it looks for \(looksFor)")
        return ["\(vendor): no; " + reasons.joined(separator: "; ")]
    }
}

extension JSONValue {
    /// A noun phrase that describes the value to people; long strings are left out.
    var shortDescription: String {
        switch kind {
        case .object: isEmptyContainer ? "an empty object" : "an object"
        case .array: isEmptyContainer ? "an empty list" : "a list"
        case .string: utf8.map { $0.count <= 40 ? "\"\(string ?? "")\"" : "a string" } ?? "a string"
        case .integer, .unsigned, .double: "the number \(scalarText ?? "")"
        case .bool: scalarText ?? ""
        case .null: "null"
        }
    }
}
