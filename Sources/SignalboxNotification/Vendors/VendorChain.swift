/// The registry of vendors: every link, in the default order of the chain. Links that recognise exact values precede
/// those that recognise keys; code precedes data.
package enum Vendors {
    /// The links with code for one vendor each.
    package static let detectors: [any VendorDetector] = [Synerise(), Sourse(), MCE(), Braze(), Granify()]

    /// The links with code, then the built-in catalogue, which the first use reads.
    package static let all: [any ChainLink] = detectors + [Catalogue.builtIn]

    /// The names that a chain in the config may contain. Does not read the catalogue.
    package static let names = detectors.map(\.name) + [Catalogue.linkName]

    /// Every vendor that the gateway recognises, with a description.
    package static var profiles: [VendorProfile] { all.flatMap(\.profiles) }

    /// Vendors whose payloads contain no evidence, so that the config must assign a source to them.
    package static let namedBySource = [Granify.name]

    /// The table of vendors for the documentation: Markdown, a row for each vendor in the order of the registry.
    package static var markdown: String {
        func row(_ texts: [String]) -> String {
            "| " + texts.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
        }
        let head = ["Vendor", "`vendor`", "Recognised by", "Source", "Read from"]
        let rows = profiles.map { profile in
            row([
                profile.name ?? profile.vendor.name, "`\(profile.vendor)`", profile.looksFor,
                profile.source ?? "built in as code; see its file", profile.confidence ?? "",
            ])
        }
        return ([row(head), row(head.map { _ in "---" })] + rows).joined(separator: "\n")
    }
}

/// The chain names a detector that does not exist.
package struct UnknownDetector: Error, Equatable, Sendable {
    /// The name in the config.
    package let name: String
    /// The names that exist.
    package var known: [String] { Vendors.names }
}

/// The links that recognise and read payloads, in order. Immutable: tasks share it. One link reads a payload.
package struct VendorChain: Sendable {
    /// In the order in which they recognise a payload.
    package let links: [any ChainLink]

    /// Every vendor, in the registry's order.
    package init() { links = Vendors.all }

    /// `names`: the links in order; nil for the registry's. `custom`: entries of the config, which precede the
    /// catalogue's. Throws the first name that the registry does not have.
    package init(named names: [String]?, custom: Catalogue? = nil) throws(UnknownDetector) {
        var chosen: [any ChainLink] = []
        for name in names ?? Vendors.names {
            guard let link = Vendors.all.first(where: { $0.name == name }) else { throw UnknownDetector(name: name) }
            chosen.append(link)
        }
        links = custom.map { custom in chosen.map { ($0 as? Catalogue)?.behind(custom) ?? $0 } } ?? chosen
    }

    /// The vendors that it recognises, in the order of its links.
    package var vendors: [VendorID] { links.flatMap(\.vendors) }

    /// Reads a payload as the vendor with the strongest evidence, the first in the chain among equals, into an empty
    /// notification. A hint alone does not name a vendor: its vendor is in `also`, and only the platform's keys are
    /// read.
    package func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        PlainReading.read(payload, into: &notification)
        let matches = matches(for: payload)
        notification.detection.also = matches.also
        notification.deviceTokens = deviceTokens(in: payload, matchedBy: matches, readAs: matches.winner)
        if let winner = matches.winner {
            notification.vendor = winner.vendor
            notification.detection.evidence = winner.detection.evidence
            links[winner.link].read(payload, as: winner, into: &notification)
        } else {
            notification.fillCustom(from: payload)
        }
    }

    /// Reads a payload into a new notification. The other form avoids a copy of this large value.
    package func read(_ payload: borrowing PlatformPayload) -> PushNotification {
        var notification = PushNotification(platform: payload.platform)
        read(payload, into: &notification)
        return notification
    }

    /// Reads a payload as the vendor that the config assigns to its source, regardless of evidence; other vendors that
    /// match are in `also`. Ignores a vendor without code.
    package func read(
        _ payload: borrowing PlatformPayload, as vendor: VendorID, into notification: inout PushNotification
    ) {
        guard let detector = Vendors.detectors.first(where: { $0.vendor == vendor }) else {
            return read(payload, into: &notification)
        }
        PlainReading.read(payload, into: &notification)
        let matches = matches(for: payload)
        notification.detection.also = (matches.winner.map { [$0.vendor] } ?? []) + matches.also
        notification.deviceTokens = deviceTokens(in: payload, matchedBy: matches, readAs: nil)
        notification.vendor = vendor
        detector.read(payload, into: &notification)
    }

    /// Device tokens inside the data of every vendor that matches, and the secrets of those that are not read. `read`:
    /// the match whose vendor reads the payload, and leaves its secrets out.
    private func deviceTokens(
        in payload: borrowing PlatformPayload, matchedBy matches: VendorMatches, readAs read: VendorMatch?
    ) -> [DeviceToken] {
        var tokens: [DeviceToken] = []
        for match in matches.all {
            let isRead = match.vendor == read?.vendor
            tokens += links[match.link].deviceTokens(in: payload, matchedBy: match, withSecrets: !isRead)
        }
        return tokens
    }

    /// The vendors that could have produced a payload. Asks every link, even after a proof, so that
    /// ``VendorMatches/all`` and the device tokens are complete.
    package func matches(for payload: borrowing PlatformPayload) -> VendorMatches {
        var matches = VendorMatches()
        for position in links.indices {
            matches.link = position
            links[position].recognise(payload, into: &matches)
        }
        return matches
    }
}
