package import Foundation
import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting

/// How a payload is recognised, read and routed, for programs. ``Explanation`` is the form for people.
package struct PayloadExplanation: Sendable {
    /// The verdict of a detector, or of a vendor that the catalogue defines, on the payload.
    package struct Detector: Sendable, Equatable {
        /// Raw values are those of the API.
        package enum Verdict: String, Sendable, CaseIterable {
            /// The payload is read as this vendor's.
            case chosen
            /// There is evidence, and another vendor has stronger or earlier evidence.
            case matched
            /// The evidence alone does not identify a vendor.
            case hint
            /// There is no evidence.
            case no
        }

        /// The vendor, or `catalogue`.
        package let name: String
        package let verdict: Verdict
        /// Nil without evidence.
        package let detection: Detection?
        /// The evidence that it looks for, as a noun phrase.
        package let looksFor: String
    }

    package let platform: Platform
    package let envelope: Envelope
    /// The vendor as which the payload is read.
    package let vendor: VendorID
    /// Whether the config names the vendor for the source, regardless of evidence.
    package let isVendorOfSource: Bool
    /// Those with evidence first, then the others, each in the order of the chain.
    package let detectors: [Detector]
    /// Structured CloudEvents JSON.
    package let event: [UInt8]
    package let provenance: Provenance
    /// Nil if evaluating the routes takes too much work.
    package let routes: RouteTrial?
    /// The failure rules, as if the payload were pushed to a provider endpoint.
    package let failures: FailureTrial
}

/// Explains payloads with the normalizer and the routes of a gateway. Stores nothing. Callable from any task.
package struct PayloadExplainer: Sendable {
    private let normalizer: Normalizer
    private let trials: RouteTrials
    private let vendors: [SourceName: VendorID]
    private let failures: @Sendable () -> [FailureDecider.Entry]
    /// The time for the search of origins, unless the caller sets a limit.
    package static let longestSearch: Duration = .seconds(30)

    /// The arguments of the gateway's own intake. `failures`: the failure rules with their counters, read for each
    /// explanation.
    package init(
        normalizer: Normalizer, routes: RouteTable, vendors: [SourceName: VendorID],
        failures: @escaping @Sendable () -> [FailureDecider.Entry] = { [] }
    ) {
        self.normalizer = normalizer.forPreviews
        (self.vendors, self.failures) = (vendors, failures)
        trials = RouteTrials(normalizer: normalizer, routes: routes, vendors: vendors)
    }

    /// Explains with the routes and the failure rules of a config, without a gateway: no rule has selected a push yet.
    package init(_ normalizer: Normalizer, _ config: RoutedConfig, vendors: [SourceName: VendorID]) {
        let entries = FailureDecider(config.failures, hashedBy: normalizer.tokens).entries
        self.init(normalizer: normalizer, routes: config.routes, vendors: vendors) { entries }
    }

    /// Explains a payload of a source. `stored`: the event that the gateway made of it; nil explains the event that it
    /// would make now. Values of a stored event that reading the payload again does not yield, such as those of the
    /// request that brought it, have no provenance. `limit`: the time for the search of origins, which is incomplete
    /// afterwards. Throws if the gateway would reject the payload.
    package func explanation(
        of payload: [UInt8], from source: SourceName, at time: Date, stored: [UInt8]? = nil,
        upTo limit: Duration = longestSearch
    ) async throws(Rejection) -> PayloadExplanation {
        let reception = Reception(from: source, at: time, vendor: vendors[source])
        let parser = Normalizer.makeParser()
        let recognition = try payload.withUnsafeBufferPointer { (bytes) throws(Rejection) in
            try self.recognition(of: bytes, as: reception, with: parser)
        }
        let read = try event(of: payload, in: normalizer.envelope(of: reception), with: parser)
        let event = stored ?? read.body
        let mask = PointerMask(for: read.tokens, in: event, hashedBy: normalizer.tokens)
        let routes: RouteTrial?
        do throws(Rejection) { routes = try trials.trial(of: event, from: source, at: time) } catch { routes = nil }
        return PayloadExplanation(
            platform: recognition.platform, envelope: recognition.envelope, vendor: read.vendor,
            isVendorOfSource: reception.vendor != nil, detectors: recognition.detectors, event: event,
            provenance: await provenance(of: event, in: payload, as: reception, WorkSlices(upTo: limit))
                .masked(by: mask),
            routes: routes, failures: FailureTrial(failures(), on: event, from: source))
    }

    /// Reads the payload as often as the search needs. Other tasks run in between.
    private func provenance(
        of event: [UInt8], in payload: [UInt8], as reception: Reception, _ slices: WorkSlices
    ) async -> Provenance {
        let envelope = normalizer.envelope(of: reception)
        let parser = Normalizer.makeParser()
        let search = ProvenanceSearch(payload, of: event) { changed in
            do throws(Rejection) { return try self.event(of: changed, in: envelope, with: parser).body } catch {
                return nil
            }
        }
        guard var search else { return Provenance() }
        var slices = slices
        while await slices.advance() {
            guard search.step() else { return search.provenance }
        }
        return search.unfinished
    }

    /// The event of a payload, and the device tokens in the payload. Its id is not that of an event.
    private func event(
        of payload: [UInt8], in envelope: CloudEventEnvelope, with parser: JSONParser
    ) throws(Rejection) -> (body: [UInt8], vendor: VendorID, tokens: [DeviceToken]) {
        var notification = PushNotification(platform: .unknown)
        var json = JSONWriter(reservingCapacity: 2000)
        try payload.withUnsafeBufferPointer { (bytes) throws(Rejection) in
            try normalizer.write(
                RecordedPayload(text: bytes, place: PayloadPosition()), in: envelope, with: parser,
                as: &notification, into: &json)
        }
        return (json.bytes, notification.vendor, notification.deviceTokens)
    }

    // MARK: Recognition

    private typealias Recognition = (platform: Platform, envelope: Envelope, detectors: [PayloadExplanation.Detector])

    private func recognition(
        of payload: UnsafeBufferPointer<UInt8>, as reception: Reception, with parser: JSONParser
    ) throws(Rejection) -> Recognition {
        let recognised = try normalizer.recognise(payload, at: PayloadPosition(), with: parser)
        let matches = normalizer.chain.matches(for: recognised)
        let chosen = reception.vendor ?? matches.winner?.vendor
        let profiles = normalizer.chain.links.flatMap(\.profiles)
        let found = matches.all.map { match in
            PayloadExplanation.Detector(
                name: match.vendor.name,
                verdict: match.vendor == chosen ? .chosen : match.detection.strength == .hint ? .hint : .matched,
                detection: match.detection, looksFor: profiles.first { $0.vendor == match.vendor }?.looksFor ?? "")
        }
        let silent = normalizer.chain.links.filter { link in
            !link.profiles.contains { profile in matches.all.contains { $0.vendor == profile.vendor } }
        }
        return (recognised.platform, recognised.envelope, found + silent.map { Self.silent($0, chosen: chosen) })
    }

    /// A link without evidence. The config may have chosen it.
    private static func silent(_ link: any ChainLink, chosen: VendorID?) -> PayloadExplanation.Detector {
        let vendor = (link as? any VendorDetector)?.vendor
        return PayloadExplanation.Detector(
            name: link.name, verdict: vendor != nil && vendor == chosen ? .chosen : .no, detection: nil,
            looksFor: (link as? any VendorDetector)?.looksFor
                ?? "\(link.profiles.count) vendors that are defined as data")
    }
}
