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

    /// One for each destination whose deliveries changed.
    package private(set) var changes: [(key: DestinationName, value: Change)] = []
    /// The position of each destination in ``changes``.
    private var positions: [DestinationName: Int] = [:]
    /// The position of the last change. Many changes in a row belong to the same destination.
    private var last = 0

    /// No changes.
    package init() {}

    /// Counts new deliveries.
    package mutating func begin(_ destination: DestinationName, _ count: Int = 1) {
        changes[position(of: destination)].value.begin(count)
    }

    /// Counts the end of waiting deliveries.
    package mutating func end(_ state: DeliveryRecord.State, of destination: DestinationName, _ count: Int = 1) {
        changes[position(of: destination)].value.end(state, count)
    }

    /// Counts dead deliveries that wait again.
    package mutating func requeue(_ count: Int, of destination: DestinationName) {
        changes[position(of: destination)].value.requeue(count)
    }

    /// The deliveries that ended.
    package var ends: [DestinationName: [DeliveryRecord.State: Int]] {
        var ends: [DestinationName: [DeliveryRecord.State: Int]] = [:]
        for (destination, change) in changes where !change.ends.isEmpty { ends[destination] = change.ends }
        return ends
    }

    /// Adds an entry for a destination without one.
    private mutating func position(of destination: DestinationName) -> Int {
        if last < changes.count, changes[last].key == destination { return last }
        if let known = positions[destination] {
            last = known
        } else {
            last = changes.count
            positions[destination] = last
            changes.append((destination, Change()))
        }
        return last
    }
}
