package import Foundation
package import SignalboxNotification

/// Collects the due deliveries of one destination that can be leased. Pure: a store offers it rows, oldest first.
package struct DueSearch: Sendable {
    /// A due delivery and its order key.
    package struct Due: Sendable {
        /// The store's number of the delivery.
        package let id: Int64
        /// The order key; nil for no order.
        package let key: String?

        /// Takes the two columns of a row.
        package init(id: Int64, key: String?) { (self.id, self.key) = (id, key) }
    }

    /// The rest of a round through all order keys, which one search did not finish.
    package enum Rest: Sendable, Equatable {
        /// Up to the last key, then from the first key up to this one; nil for a round that began with the first key.
        case toLastKey(thenUpTo: String?)
        /// Up to this key.
        case upTo(String)
    }

    /// The most keys that one search looks at, so that it takes milliseconds even if no delivery of them is ready.
    package static let mostKeys = 1000

    /// The destination whose deliveries are searched.
    package let destination: DestinationName
    /// Whether deliveries with equal keys are leased one after the other.
    package let isOrdered: Bool
    /// The order key served last: the search starts after it, so that keys take turns.
    package let lastKey: String?
    /// The rest of the round that earlier searches began, after ``lastKey``; nil for a new round.
    package let rest: Rest?
    private let limit: Int
    private let held: [Int64: Int]
    private let heldKeys: ExactTextSet
    /// One delivery more than requested, if there are more.
    private var candidates: [Due] = []
    /// When the next delivery that is not due yet becomes due.
    package var nextDue: Date?
    /// Due deliveries that are damaged.
    package var unreadable: [Int64] = []
    /// The key after which the next search starts, if the store left later keys to it. Nil: after the last one of
    /// ``found``.
    package var resumeKey: String?
    /// The rest of the round, if the search ended at ``mostKeys``. ``resumeKey`` is the last key that it looked at.
    package var unfinished: Rest?
    /// Keys that the search looked at.
    package var keyCount = 0
    /// Set when the store has offered every due delivery.
    package var isComplete = false

    /// Copies the lane's state under its lock. Deliveries that are held later are not excluded. Without a lane, the
    /// search excludes no delivery.
    package init(of destination: DestinationName, limit: Int, _ lanes: Lanes) {
        (self.destination, self.limit) = (destination, limit)
        (held, heldKeys, isOrdered, lastKey, rest) = lanes.withHandOff { handOff in
            guard let lane = handOff.lanes[destination] else { return ([:], [], false, nil, nil) }
            return (lane.held, lane.heldKeys, lane.isOrdered, lane.lastKey, lane.rest)
        }
    }

    /// Whether further rows are needed.
    package var wantsMore: Bool { candidates.count <= limit }

    /// Whether a due delivery can be leased. The first delivery of a key cannot while another one with this key is
    /// leased: after a retry it would overtake its successor.
    package func accepts(_ due: Due) -> Bool {
        if let key = due.key, heldKeys.contains(key) { return false }
        return held[due.id] == nil
    }

    /// Takes a delivery that ``accepts(_:)`` has accepted.
    package mutating func add(_ due: Due) { candidates.append(due) }

    /// Leaves a delivery of ``found``, and those after it, to the next search.
    package mutating func leave(from due: Due) {
        guard let position = candidates.firstIndex(where: { $0.id == due.id }) else { return }
        candidates.removeSubrange(position...)
        (resumeKey, unfinished, isComplete) = (nil, nil, false)
    }

    /// The deliveries to lease, at most as many as requested.
    package var found: ArraySlice<Due> { candidates.prefix(limit) }

    /// The key after which the next search starts: ``resumeKey``, or the one that was served last; nil when none was.
    package var servedKey: String? { resumeKey ?? found.last { $0.key != nil }?.key }

    /// Whether `found` is all that is due.
    package var isWhole: Bool { isComplete && candidates.count <= limit }
}
