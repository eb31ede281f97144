/// Some of the records that a filter selects, and where the others begin.
package struct StorePage<Record: Sendable & Equatable>: Sendable, Equatable {
    /// The newest first.
    package let records: [Record]
    /// The filter's `before` for the next page; nil at the end of the list.
    package let next: Int64?
    /// False if the store stopped before it found as many as requested.
    package let isComplete: Bool

    /// Takes the result of one search.
    package init(records: [Record], next: Int64?, isComplete: Bool) {
        (self.records, self.next, self.isComplete) = (records, next, isComplete)
    }
}
