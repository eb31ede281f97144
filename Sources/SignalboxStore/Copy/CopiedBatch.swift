/// The store that is copied, at one moment.
package struct CopySource: Sendable, Equatable {
    /// Random, fixed for the life of the store.
    package let identity: String
    /// Differs after a gateway has changed the store.
    package let version: String
    /// The last number of an event that was assigned; 0 for none.
    package let lastEvent: Int64
    /// The last number of a delivery that was assigned; 0 for none.
    package let lastDelivery: Int64

    package init(identity: String, version: String, lastEvent: Int64, lastDelivery: Int64) {
        (self.identity, self.version) = (identity, version)
        (self.lastEvent, self.lastDelivery) = (lastEvent, lastDelivery)
    }
}

/// The key of the last row that was copied, in the order in which the source reads a table.
package struct CopyPosition: Sendable, Equatable, Codable {
    /// A column of the key.
    package enum Value: Sendable, Equatable, Codable {
        case number(Int64)
        case text(String)
    }

    package let values: [Value]

    package init(_ values: [Value]) { self.values = values }
}

/// Successive rows of one table, column by column.
package struct CopiedBatch: Sendable {
    /// The values of a column, in the order of the rows.
    package enum Values: Sendable {
        case numbers([Int64?])
        case texts([String?])
        case bytes([[UInt8]?])
    }

    /// The most rows of a batch.
    package static let rows = 1000
    /// A batch ends with the row that exceeds this number of bytes, so that a batch of large rows fits into memory too.
    package static let bytes = 4 << 20

    /// In the order of ``CopiedTable/columns``.
    package let columns: [Values]
    package let count: Int
    /// Nil without rows.
    package let end: CopyPosition?

    package init(columns: [Values], count: Int, end: CopyPosition?) {
        (self.columns, self.count, self.end) = (columns, count, end)
    }
}
