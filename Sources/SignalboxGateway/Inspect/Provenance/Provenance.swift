/// The origins of an event's values in its payload.
package struct Provenance: Sendable, Equatable {
    /// A value of the event depends on a value of the payload.
    package struct Link: Sendable, Equatable {
        /// A pointer into the payload; it continues through strings that hold JSON.
        package let raw: String
        /// A pointer into the event.
        package let event: String
        package let how: Derivation
    }

    /// How a value of the event depends on one of the payload. Raw values are those of the API.
    package enum Derivation: String, Sendable, CaseIterable {
        /// The same value.
        case copied
        /// The value or a part of it, in another form or with something added.
        case parsed
        /// A digest of it, alone or with other values.
        case hashed
        /// Another value that depends on it.
        case derived
    }

    /// In the order of the payload, then of the event.
    package internal(set) var links: [Link] = []
    /// Pointers of values that change nothing in the event outside of `custom`, in the order of the payload.
    package internal(set) var unread: [String] = []
    /// False if the payload has too many values, or is too large to examine all of them. The other members then concern
    /// the first ones.
    package internal(set) var isComplete = true
}
