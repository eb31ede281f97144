package import Foundation
package import SignalboxNotification

/// A change of all deliveries that a filter selects. Raw values are those of the API and of tokens.
package enum BulkChange: String, Sendable {
    case retry, purge
}

/// The deliveries that a bulk change would change, at one time.
package struct BulkPreview: Sendable, Equatable {
    /// The number of deliveries.
    package var count = 0
    /// When the first and the last of their events were accepted; nil without deliveries.
    package var accepted: ClosedRange<Date>?
    /// The number of deliveries by destination.
    package var byDestination: [DestinationName: Int] = [:]
    /// The largest number of a delivery; 0 without deliveries.
    package var through: Int64 = 0
    /// The time of the preview by the clock of the store. Deliveries that ended then or later are not part of it.
    package var at: Date

    /// A preview without deliveries.
    package init(at: Date) { self.at = at }

    /// The filter for the same deliveries, as far as it still selects them.
    package func exact(_ filter: DeliveryFilter) -> DeliveryFilter {
        var filter = filter
        (filter.through, filter.endedBefore) = (through, at)
        return filter
    }
}

/// Due times that are distributed evenly, the oldest delivery first.
package struct BulkSpread: Sendable, Equatable {
    /// The expected number of deliveries. Further ones are due at the end.
    package let count: Int
    /// The time from the first due time to the last one.
    package let duration: Duration

    package init(of count: Int, over duration: Duration) { (self.count, self.duration) = (count, duration) }

    /// The time of the delivery with this position, from 0, in milliseconds after the start.
    package func milliseconds(at position: Int) -> Int64 {
        let whole = Int64(duration / .milliseconds(1))
        guard count > 1 else { return 0 }
        // Durations of days and millions of deliveries stay far below the largest product.
        return whole * Int64(min(max(position, 0), count - 1)) / Int64(count - 1)
    }
}
