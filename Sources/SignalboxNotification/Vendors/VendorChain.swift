/// The links in the order in which they are asked.
package struct VendorChain: Sendable {
    package let links: [any ChainLink]

    /// Every vendor in the registry's order.
    package init() { links = Vendors.all }

    /// The links named, in the order named; `custom` stands before what the catalogue has. Fails with the first name
    /// that the registry does not know.
    package init(named names: [String]?, custom: Catalogue? = nil) throws(UnknownDetector) {
        var chosen: [any ChainLink] = []
        for name in names ?? Vendors.names {
            guard let link = Vendors.all.first(where: { $0.name == name }) else {
                throw UnknownDetector(name: name)
            }
            chosen.append(link)
        }
        links = custom.map { custom in chosen.map { ($0 as? Catalogue)?.behind(custom) ?? $0 } } ?? chosen
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
        let matches = matches(for: payload)
        notification.detection.also = matches.also
        notification.deviceTokens = deviceTokens(in: payload, matchedBy: matches)
        if let winner = matches.winner {
            notification.vendor = winner.vendor
            notification.detection.evidence = winner.detection.evidence
            links[winner.link].read(payload, as: winner, into: &notification)
        } else {
            notification.custom = CustomFields.text(of: payload, &notification)
        }
    }

    /// Device tokens inside the data of every vendor that matches a payload.
    func deviceTokens(in payload: borrowing PlatformPayload, matchedBy matches: VendorMatches) -> [DeviceToken] {
        var tokens: [DeviceToken] = []
        for match in matches.all {
            for link in links { tokens += link.deviceTokens(in: payload, matchedBy: match) }
        }
        return tokens
    }

    /// Who matches a payload.
    package func matches(for payload: borrowing PlatformPayload) -> VendorMatches {
        var matches = VendorMatches()
        for position in links.indices {
            matches.link = position
            links[position].recognise(payload, into: &matches)
        }
        return matches
    }
}

/// A chain names a detector that does not exist.
package struct UnknownDetector: Error, Equatable, Sendable {
    package let name: String
    /// What could have been meant.
    package var known: [String] { Vendors.names }
}
