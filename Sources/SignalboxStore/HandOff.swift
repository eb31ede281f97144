import DequeModule
package import Foundation
package import SignalboxNotification

/// The leases of this process, and a bounded window of fresh deliveries that need not be read back from the store.
/// Pure bookkeeping; its user guards it with a lock.
///
/// `Lanes` alone calls ``Lane/claim(upTo:)`` and ``Lane/endReading(_:)``, so that every reading ends.
package struct HandOff {
    /// Fresh deliveries kept in memory for one destination; those beyond it are left to the store.
    package static let window = 2048
    /// The most bytes of events kept in memory for one destination.
    package static let windowBytes = 16 * 1024 * 1024
    /// Bytes kept in memory for all destinations together. A destination gets at most as much as is still free, so
    /// that slow destinations leave room for the others.
    package static let totalBytes = 128 * 1024 * 1024
    /// Bytes that a delivery takes in addition to its event.
    package static let overhead = 512
    /// The most claims in a row that fresh deliveries may answer before the store is read: older deliveries wait there.
    package static let freshClaims = 8

    /// The open lanes.
    package private(set) var lanes: [DestinationName: Lane] = [:]
    /// Bytes that all lanes have reserved.
    package private(set) var reserved = 0
    private let totalBytes: Int

    /// `totalBytes`: the bound of all lanes together; tests lower it.
    package init(totalBytes: Int = HandOff.totalBytes) { self.totalBytes = totalBytes }

    /// Starts a lane. Deliveries to destinations without one are left to the store.
    package mutating func open(_ destination: DestinationName, isOrdered: Bool = false) {
        if lanes[destination] == nil { lanes[destination] = Lane(isOrdered: isOrdered) }
    }

    /// Ends a lane from which nothing is claimed any longer.
    package mutating func close(_ destination: DestinationName) {
        reserved -= lanes.removeValue(forKey: destination)?.bytes ?? 0
    }

    /// Changes a lane; nil when it is not open.
    @discardableResult
    package mutating func withLane<R>(_ destination: DestinationName, _ body: (inout Lane) -> R) -> R? {
        guard let index = lanes.index(forKey: destination) else { return nil }
        let before = lanes.values[index].bytes
        let result = body(&lanes.values[index])
        reserved += lanes.values[index].bytes - before
        return result
    }

    /// Before the commit of a delivery: reserves memory for it. Returns false if its destination has no lane, if that
    /// lane is ordered, closing or without places, or if that lane or all lanes together would exceed their limit.
    package mutating func reserve(_ lease: Lease) -> Bool {
        reserve(lease.bytes, for: lease.destination) { $0.hold(lease) }
    }

    /// The same for a delivery that has no number yet: ``Lane/hold(_:)`` follows. `size`: bytes of the event. `then` is
    /// called with the lane in which memory was reserved.
    package mutating func reserve(
        _ size: Int, for destination: DestinationName, _ then: (inout Lane) -> Void = { _ in }
    ) -> Bool {
        let limit = min(Self.windowBytes, totalBytes - reserved)
        return withLane(destination) { lane in
            guard lane.reserve(size, upTo: limit) else { return false }
            then(&lane)
            return true
        } ?? false
    }

    /// Whether a delivery is leased, in memory, about to be committed, or known to be unreadable. False without a
    /// lane.
    package func isHeld(_ delivery: Int64, of destination: DestinationName) -> Bool {
        lanes[destination]?.held[delivery] != nil
    }

    /// After a rollback of a claim whose leases were held before the commit.
    package mutating func forgetClaim(_ leases: [Lease], of destination: DestinationName) {
        withLane(destination) { lane in for lease in leases { lane.forgetClaim(lease) } }
    }

    /// Takes all fresh deliveries of these destinations.
    package mutating func takeFresh(of destinations: some Sequence<DestinationName>) -> [Lease] {
        destinations.flatMap { withLane($0) { $0.takeFresh(upTo: .max) } ?? [] }
    }

    /// Takes the fresh deliveries whose time is over: a lane that waits may not claim them for long. Walks through a
    /// window only when one of its deliveries may have expired.
    package mutating func takeOverdue(at now: Date) -> [Lease] {
        lanes.keys.flatMap { withLane($0) { $0.takeOverdue(at: now) } ?? [] }
    }

    /// Forgets all leases of this process, after others took them over.
    package mutating func forgetLeases() {
        for destination in lanes.keys { withLane(destination) { $0.forgetLeases() } }
    }

    /// Destinations where deliveries have become due by now; with `all`, every destination.
    package mutating func wake(at now: Date, all: Bool) -> [DestinationName] {
        lanes.keys.filter { withLane($0) { $0.wake(at: now, anyway: all) } ?? false }
    }
}

extension HandOff {
    /// The leases and the fresh deliveries of one destination. A delivery passes through `reserve`, then `deliver` or
    /// `forget`, then a claim, then `release`.
    package struct Lane {
        private(set) var fresh: Deque<Lease> = []
        /// The earliest expiry of a fresh delivery, or an earlier time; nil for none.
        private var firstExpiry: Date?
        /// Leased, fresh, about to be committed, or unreadable deliveries, with the numbers of their attempts: not to
        /// be read from the store.
        package private(set) var held: [Int64: Int] = [:]
        /// Order keys of leased deliveries.
        package private(set) var heldKeys: ExactTextSet = []
        /// Equal order keys are leased one after the other. Only the store knows which is first, so that nothing is
        /// handed over in memory.
        package let isOrdered: Bool
        /// The order key served last.
        package private(set) var lastKey: String?
        /// The keys that the next search looks at, if nothing has changed for the others since earlier searches looked
        /// at them; nil for all keys.
        package private(set) var rest: DueSearch.Rest?
        /// Whether the store may hold due deliveries that are not held.
        package private(set) var mayHaveMore = true
        /// The earliest known time at which more may be due.
        private var nextDue: Date?
        /// Deliveries about to be committed.
        private var pending = 0
        /// Bytes of deliveries that are fresh or about to be committed.
        fileprivate private(set) var bytes = 0
        private var claimsSinceRead = 0
        /// The number of the reading in progress. A lane has at most one.
        package private(set) var reading: Int?
        private var readings = 0
        private var isClosing = false
        /// Whether this process may make attempts. Otherwise nothing is handed over in memory: others claim it.
        package var hasPlaces = true

        fileprivate init(isOrdered: Bool) { self.isOrdered = isOrdered }

        /// Ends the hand-over in memory. Returns fresh deliveries, to be given back.
        package mutating func beginClosing() -> [Lease] {
            isClosing = true
            return takeFresh(upTo: .max)
        }

        // MARK: Appending

        /// Reserves memory for an event of this size, unless the lane would have more than `limit` bytes.
        fileprivate mutating func reserve(_ size: Int, upTo limit: Int) -> Bool {
            let bytes = bytes + size + HandOff.overhead
            guard !isOrdered, !isClosing, hasPlaces, fresh.count + pending < HandOff.window, bytes <= limit else {
                return false
            }
            pending += 1
            self.bytes = bytes
            return true
        }

        /// Before the commit of a delivery whose memory was reserved without its number, or of a claim.
        package mutating func hold(_ lease: Lease) { held[lease.delivery] = lease.fence.number }

        /// After a rollback of a claim.
        fileprivate mutating func forgetClaim(_ lease: Lease) {
            if held[lease.delivery] == lease.fence.number { held[lease.delivery] = nil }
        }

        /// After the commit.
        package mutating func deliver(_ lease: Lease) {
            // Forgotten meanwhile: another process may have it.
            guard held[lease.delivery] == lease.fence.number else { return forget(lease.bytes) }
            pending -= 1
            fresh.append(lease)
            firstExpiry = [firstExpiry, lease.expiry].compactMap { $0 }.min()
        }

        /// After a rollback.
        package mutating func forget(_ lease: Lease) {
            forget(lease.bytes)
            held[lease.delivery] = nil
        }

        /// After a rollback of a delivery without a number. `size`: bytes of the event.
        package mutating func forget(_ size: Int) {
            pending -= 1
            bytes -= size + HandOff.overhead
        }

        /// Forgets leases that others took over, and fresh deliveries. Attempts in progress end without a record.
        fileprivate mutating func forgetLeases() {
            _ = takeFresh(upTo: .max)
            held = [:]
            heldKeys = []
            expectMore()
        }

        /// After a commit of deliveries that are in the store only.
        package mutating func leaveToStore() { expectMore() }

        /// Any key may be ready, even one that the round in progress has passed. So a search in progress starts a new
        /// round, after its last key.
        private mutating func expectMore() { (mayHaveMore, rest) = (true, nil) }

        /// After a commit of deliveries that become due then.
        package mutating func expect(_ due: Date?) { nextDue = [nextDue, due].compactMap { $0 }.min() }

        // MARK: Claiming

        /// The answer to a claim.
        enum Claim {
            case leases([Lease])
            /// Read the store except for held deliveries, then end this reading.
            case read(Int)
        }

        /// Returns fresh deliveries unless it is the store's turn. The store is read only when it may have due
        /// deliveries, and no other reading is in progress.
        mutating func claim(upTo limit: Int) -> Claim {
            if mayHaveMore, fresh.isEmpty || claimsSinceRead >= HandOff.freshClaims, reading == nil {
                mayHaveMore = false
                readings += 1
                reading = readings
                claimsSinceRead = 0
                return .read(readings)
            }
            claimsSinceRead += 1
            return .leases(takeFresh(upTo: limit))
        }

        /// Removes fresh deliveries, oldest first, from the window. They stay held.
        fileprivate mutating func takeFresh(upTo limit: Int) -> [Lease] {
            let taken = Array(fresh.prefix(limit))
            fresh.removeFirst(taken.count)
            bytes -= taken.reduce(0) { $0 + $1.bytes + HandOff.overhead }
            return taken
        }

        /// Removes expired deliveries from the window. They stay held.
        fileprivate mutating func takeOverdue(at now: Date) -> [Lease] {
            guard let firstExpiry, firstExpiry <= now else { return [] }
            let overdue = fresh.filter { $0.expiry.map { $0 <= now } ?? false }
            fresh.removeAll { $0.expiry.map { $0 <= now } ?? false }
            bytes -= overdue.reduce(0) { $0 + $1.bytes + HandOff.overhead }
            self.firstExpiry = fresh.compactMap(\.expiry).min()
            return Array(overdue)
        }

        /// After the commit that leased deliveries from the store.
        package mutating func finishReading(_ leases: [Lease], of search: DueSearch) {
            lastKey = search.servedKey
            for lease in leases { held[lease.delivery] = lease.fence.number }
            for delivery in search.unreadable { held[delivery] = 0 }
            heldKeys.formUnion(leases.compactMap(\.orderKey))
            reading = nil
            rest = mayHaveMore ? nil : search.unfinished
            if !search.isWhole { mayHaveMore = true }
            expect(search.nextDue)
        }

        /// Ends a reading however it went. After an unfinished one the store is read again.
        mutating func endReading(_ number: Int) {
            guard reading == number else { return }
            reading = nil
            expectMore()
        }

        /// After the end of a lease. `due`: when its delivery is due next; nil for never. A later lease of the
        /// delivery is still held.
        package mutating func release(_ lease: Lease, due: Date?) {
            guard held[lease.delivery] == lease.fence.number else { return }
            held[lease.delivery] = nil
            if let key = lease.orderKey { heldKeys.remove(key) }
            // The next delivery with this key can be leased now.
            if isOrdered { expectMore() }
            expect(due)
        }

        /// True if the lane has a reason to claim. The lane then reads the store at its next claim.
        fileprivate mutating func wake(at now: Date, anyway: Bool) -> Bool {
            guard anyway || nextDue.map({ $0 <= now }) ?? false else { return mayHaveMore }
            expectMore()
            nextDue = nil
            return true
        }
    }
}

extension Lease {
    /// The time after which no attempt may begin; nil for none.
    fileprivate var expiry: Date? { notAfter == .afterFirstAttempt ? nil : notAfter }
}
