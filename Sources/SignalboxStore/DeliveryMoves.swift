package import SignalboxNotification

/// The deliveries of a transaction that began, ended or were requeued, by destination. The store adds them to its
/// ledger once before the commit, so that no count needs to read the deliveries.
package struct DeliveryMoves: Sendable {
    /// The changes of one destination: of its stored deliveries by state, and of those that it ever had.
    package struct Change: Sendable {
        /// Deliveries that were made.
        package private(set) var accepted = 0
        /// The change of the number of waiting ones.
        package private(set) var waiting = 0
        /// The change of the number of dead ones.
        package private(set) var dead = 0
        /// Deliveries that reached an end.
        package private(set) var ends: [DeliveryRecord.State: Int] = [:]

        /// In one call, so that the destination is looked up once.
        fileprivate mutating func begin(_ count: Int) {
            accepted += count
            waiting += count
        }

        fileprivate mutating func end(_ state: DeliveryRecord.State, _ count: Int) {
            waiting -= count
            if state == .dead { dead += count }
            ends[state, default: 0] += count
        }

        fileprivate mutating func requeue(_ count: Int) {
            dead -= count
            waiting += count
        }
    }

    /// By destination; only those that changed.
    package private(set) var changes: [DestinationName: Change] = [:]

    /// No changes.
    package init() {}

    /// Counts new deliveries.
    package mutating func begin(_ destination: DestinationName, _ count: Int = 1) {
        changes[destination, default: Change()].begin(count)
    }

    /// Counts the end of waiting deliveries.
    package mutating func end(_ state: DeliveryRecord.State, of destination: DestinationName, _ count: Int = 1) {
        changes[destination, default: Change()].end(state, count)
    }

    /// Counts dead deliveries that wait again.
    package mutating func requeue(_ count: Int, of destination: DestinationName) {
        changes[destination, default: Change()].requeue(count)
    }

    /// The deliveries that ended.
    package var ends: [DestinationName: [DeliveryRecord.State: Int]] {
        changes.mapValues(\.ends).filter { !$0.value.isEmpty }
    }
}
