/// Whether the tables of a store fit this version of signalbox.
package struct TableStatus: Sendable, Equatable {
    /// The store as text: `the queue` with its path, or `the database` with its URL without credentials.
    package let place: String
    /// Names of migrations that the tables lack.
    package let pending: [String]
    /// Names of migrations of later versions.
    package let unknown: [String]
    /// Whether a later version forbids this one to write.
    package let isTooNew: Bool

    package init(place: String, pending: [String], unknown: [String], isTooNew: Bool) {
        (self.place, self.pending, self.unknown, self.isTooNew) = (place, pending, unknown, isTooNew)
    }

    /// Whether this version may read and write the tables.
    package var fits: Bool { pending.isEmpty && !isTooNew }
}
