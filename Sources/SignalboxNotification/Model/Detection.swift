/// Who produced a payload: `synerise`, `sourse`, `mce`, `braze`, …, or `unknown`.
package struct VendorID: Sendable, Hashable, CustomStringConvertible {
    package let name: String
    package init(_ name: String) { self.name = name }
    package var description: String { name }

    package static let unknown = VendorID("unknown")
}

/// What made a detector claim a payload.
package struct Detection: Sendable, Equatable {
    /// How sure a detector is. A higher strength wins over an earlier place in the chain.
    package enum Strength: Int, Sendable, Comparable {
        /// A key that this vendor uses and others may.
        case hint
        /// A key that only this vendor is known to use.
        case signature
        /// A value that names this vendor.
        case proof

        package static func < (left: Strength, right: Strength) -> Bool { left.rawValue < right.rawValue }
    }

    package var strength: Strength
    /// JSON Pointers of what was recognised, at least one.
    package var evidence: [String]

    package init(_ strength: Strength, evidence: [String]) {
        self.strength = strength
        self.evidence = evidence
    }
}

/// The evidence for the vendor that was chosen, and who else matched.
package struct DetectionSummary: Sendable, Equatable {
    package var evidence: [String] = []
    package var also: [VendorID] = []

    package init(evidence: [String] = [], also: [VendorID] = []) {
        self.evidence = evidence
        self.also = also
    }
}
