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
    // Most payloads are claimed once: that takes no memory of its own.
    private var first: Claim?
    private var rest: [Claim] = []
    package private(set) var winner: Winner?
    /// The place in the chain of whoever adds claims now.
    var link = 0

    package init() {}

    /// Who a payload is taken for.
    package struct Winner: Sendable {
        package let claim: Claim
        /// The place in the chain of the link that says so.
        package let link: Int
    }

    package mutating func add(_ claim: Claim) {
        if first == nil { first = claim } else { rest.append(claim) }
        guard claim.detection.strength > winner?.claim.detection.strength ?? .hint else { return }
        winner = Winner(claim: claim, link: link)
    }

    /// In the order of the chain.
    package var all: [Claim] { first.map { [$0] + rest } ?? [] }

    /// The others that matched, each once.
    package var also: [VendorID] {
        if rest.isEmpty, winner != nil { return [] }
        var others: [VendorID] = []
        for claim in all where claim.vendor != winner?.claim.vendor && !others.contains(claim.vendor) {
            others.append(claim.vendor)
        }
        return others
    }
}
