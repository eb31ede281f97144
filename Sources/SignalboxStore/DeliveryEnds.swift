package import SignalboxNotification
import Synchronization

/// Counts deliveries that ended since the start of the process, by destination and state. The store counts them once
/// their end is durable, by an attempt or by their time.
package final class DeliveryEnds: Sendable {
    // A class because the writer and the metrics share it.
    private let counts = Mutex<[DestinationName: [DeliveryRecord.State: Int]]>([:])

    /// Starts at 0.
    package init() {}

    /// Adds the ends of one commit.
    package func add(_ ends: [DestinationName: [DeliveryRecord.State: Int]]) {
        counts.withLock { counts in
            for (destination, states) in ends { counts[destination, default: [:]].merge(states, uniquingKeysWith: +) }
        }
    }

    /// The counts since the start. Destinations without an end are missing.
    package var values: [DestinationName: [DeliveryRecord.State: Int]] { counts.withLock { $0 } }
}

/// The space that a store takes, and that its file system has, in bytes.
package struct StoreSpace: Sendable, Equatable {
    /// The store's files, with those that it needs while it runs; of a database server, the tables.
    package let used: Int64
    /// Free space that the process may use; nil for a database server, which does not tell it.
    package let free: Int64?
    /// The size of the file system; nil like ``free``.
    package let size: Int64?

    package init(used: Int64, free: Int64?, size: Int64?) { (self.used, self.free, self.size) = (used, free, size) }
}
