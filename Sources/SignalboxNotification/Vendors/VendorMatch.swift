/// One link of the chain recognises a payload as that of a vendor.
package struct VendorMatch: Sendable, Equatable {
    /// The vendor that could have produced the payload.
    package let vendor: VendorID
    /// The evidence for it.
    package let detection: Detection
    /// The link's own number for the entry that matches: the position in the catalogue, 0 for a vendor with code.
    let entry: Int
    /// Position in the chain of the link that matches; ``VendorMatches`` sets it.
    fileprivate(set) var link = 0

    /// `entry`: the position in the catalogue, which the link needs to read the payload; 0 for a vendor with code.
    package init(_ vendor: VendorID, _ detection: Detection, entry: Int = 0) {
        (self.vendor, self.detection, self.entry) = (vendor, detection, entry)
    }
}

/// The matches of one payload. The strongest one wins, the first among equals; a hint alone never wins.
package struct VendorMatches: Sendable {
    /// Every match, in the order of the chain.
    package private(set) var all: [VendorMatch] = []
    /// The match whose vendor the payload is read as; nil without a signature or proof.
    package private(set) var winner: VendorMatch?
    /// Position in the chain of the link that is recording its matches.
    var link = 0

    /// Adds a match of the present link. A later match of equal strength does not replace the winner.
    mutating func record(_ match: VendorMatch) {
        var match = match
        match.link = link
        all.append(match)
        if match.detection.strength > winner?.detection.strength ?? .hint { winner = match }
    }

    /// The other vendors that match, each once, in the order of the chain.
    var also: [VendorID] {
        var others: [VendorID] = []
        for match in all where match.vendor != winner?.vendor && !others.contains(match.vendor) {
            others.append(match.vendor)
        }
        return others
    }
}
