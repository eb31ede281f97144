package import SignalboxModel

/// That a vendor produced a payload, says a link of the chain.
package struct Claim: Sendable, Equatable {
    package let vendor: VendorID
    package let detection: Detection
    /// The link's own number for what it recognised.
    package let entry: Int

    package init(_ vendor: VendorID, _ detection: Detection, entry: Int = 0) {
        self.vendor = vendor
        self.detection = detection
        self.entry = entry
    }
}

/// Who claims a payload. The strongest wins, the first among equals; a hint alone names nobody.
package struct Claims: Sendable {
    /// In the order in which they came.
    package private(set) var all: [Claim] = []
    private var strongest: (position: Int, link: Int)?
    /// The place in the chain of whoever adds claims now.
    var link = 0

    package init() {}

    package mutating func add(_ claim: Claim) {
        all.append(claim)
        let best = strongest.map { all[$0.position].detection.strength } ?? .hint
        if claim.detection.strength > best { strongest = (all.count - 1, link) }
    }

    /// Who the payload is taken for, and the place in the chain of the link that says so.
    package var winner: (claim: Claim, link: Int)? { strongest.map { (all[$0.position], $0.link) } }

    /// The others that matched, each once.
    package var also: [VendorID] {
        guard all.count > 1 || strongest == nil else { return [] }
        var others: [VendorID] = []
        for claim in all where claim.vendor != winner?.claim.vendor && !others.contains(claim.vendor) {
            others.append(claim.vendor)
        }
        return others
    }
}
