/// The producer of a payload: `synerise`, `sourse`, `mce`, `braze`, …, or `unknown`.
package struct VendorID: Sendable, Hashable, CustomStringConvertible {
    /// Stable: events, routes and the config use it.
    package let name: String
    /// The hash of the name, different in each process. Computed once, because a vendor is looked up for every event.
    package let mark: Int
    /// Accepts any name; the config and the catalogue check names by ``NameRule``.
    package init(_ name: String) {
        self.name = name
        mark = name.hashValue
    }
    package var description: String { name }
    package static func == (left: VendorID, right: VendorID) -> Bool {
        left.mark == right.mark && left.name == right.name
    }
    package func hash(into hasher: inout Hasher) { hasher.combine(mark) }

    /// The vendor of a payload without a signature or proof.
    package static let unknown = VendorID("unknown")
}

/// The evidence by which a detector recognises a vendor.
package struct Detection: Sendable, Equatable {
    /// Certainty of a detector. A higher strength wins over an earlier position in the chain.
    package enum Strength: Int, Sendable, Comparable {
        /// A key that this vendor uses and others may use.
        case hint
        /// A key that only this vendor is known to use.
        case signature
        /// A value that names this vendor.
        case proof

        package static func < (left: Strength, right: Strength) -> Bool { left.rawValue < right.rawValue }
    }

    /// The certainty of the evidence.
    package let strength: Strength
    /// JSON Pointers of the recognised values, at least one.
    package let evidence: [String]

    /// `evidence`: JSON Pointers, at least one.
    package init(_ strength: Strength, evidence: [String]) { (self.strength, self.evidence) = (strength, evidence) }
}

/// The evidence for the vendor that the chain chose, and the other vendors that match.
package struct DetectionSummary: Sendable, Equatable {
    /// JSON Pointers of the recognised values; empty without a vendor.
    package var evidence: [String] = []
    /// In the order of the chain, each once; includes vendors with a hint only.
    package var also: [VendorID] = []
}

/// A device token or push address that a vendor puts into its own data in clear text.
package struct DeviceToken: Sendable, Equatable {
    /// The key of the value that contains the token, as UTF-8.
    package let key: [UInt8]
    /// The token, as UTF-8.
    package let text: [UInt8]
    /// True for a token whose copies may have letters of the other case, as hexadecimal digits do.
    package let ignoresCase: Bool

    /// Takes the token in clear text: only the gateway's hashing may read it.
    package init(key: [UInt8], text: [UInt8], ignoresCase: Bool = false) {
        (self.key, self.text, self.ignoresCase) = (key, text, ignoresCase)
    }
}
