import DequeModule
package import Foundation
package import SignalboxNotification

/// What the queue keeps in memory beside the file: which deliveries are leased, and a bounded window of fresh ones that
/// need not be read back. Pure bookkeeping; the caller guards it with a lock.
///
/// Leases live here only. The data directory has one owner, so a new process knows that nobody holds any.
package struct HandOff {
    /// Fresh deliveries kept in memory for one destination; beyond it they are left to the file.
    package static let window = 2048
    /// Bytes of events kept in memory for one destination.
    package static let windowBytes = 16 * 1024 * 1024
    /// Bytes kept in memory for all destinations together. A destination gets at most as much as is still free, so
    /// that slow destinations leave room for the others, however many they are.
    package static let totalBytes = 128 * 1024 * 1024
    /// Bytes that a delivery takes in addition to its event.
    package static let overhead = 512
    /// While there are fresh deliveries, every so many claims the file is looked at first: what waits there is older.
    package static let freshClaims = 8

    package private(set) var lanes: [DestinationName: Lane] = [:]
    /// Bytes that all lanes have reserved.
    package private(set) var reserved = 0
    private let totalBytes: Int

    package init(totalBytes: Int = HandOff.totalBytes) { self.totalBytes = totalBytes }

    package struct Lane {
        private(set) var fresh: Deque<Lease> = []
        /// Leased, fresh, about to be committed, or unreadable deliveries: not to be read from the file.
        private(set) var held: Set<Int64> = []
        /// Order keys of leased deliveries.
        private(set) var heldKeys: Set<String> = []
        /// One after the other among equals: only the file knows who is first, so that nothing is handed over in memory.
        let isOrdered: Bool
        /// Whether the file may hold due deliveries that are not held.
        private(set) var mayHaveMore = true
        /// The earliest known time at which more may be due.
        private(set) var nextDue: Date?
        /// Where order keys take turns: the last one that had its.
        private(set) var lastKey: String?
        private var pending = 0
        /// Of the events that are fresh or about to be committed.
        fileprivate private(set) var bytes = 0
        private var claimsSinceRead = 0
        /// The read in progress.
        private(set) var reading: Int?
        private var readings = 0
        /// Nothing is handed over in memory any more.
        fileprivate var isClosing = false

        fileprivate init(isOrdered: Bool) { self.isOrdered = isOrdered }
    }

    /// Starts a lane; deliveries to destinations without one are left to the file.
    package mutating func open(_ destination: DestinationName, isOrdered: Bool = false) {
        if lanes[destination] == nil { lanes[destination] = Lane(isOrdered: isOrdered) }
    }

    /// Nothing is handed over in memory any more; what is fresh is to be given back.
    package mutating func beginClosing(_ destination: DestinationName) -> [Lease] {
        lanes[destination]?.isClosing = true
        return takeFresh(of: destination)
    }

    /// Ends a lane that nobody claims from any more.
    package mutating func close(_ destination: DestinationName) {
        reserved -= lanes.removeValue(forKey: destination)?.bytes ?? 0
    }

    package func isOrdered(_ destination: DestinationName) -> Bool { lanes[destination]?.isOrdered ?? false }

    package func lastKey(of destination: DestinationName) -> String? { lanes[destination]?.lastKey }

    /// What of a destination is not to be read from the file.
    package func held(of destination: DestinationName) -> Set<Int64> { lanes[destination]?.held ?? [] }

    package func isHeld(_ delivery: Int64, of destination: DestinationName) -> Bool {
        lanes[destination]?.held.contains(delivery) ?? false
    }

    /// Order keys whose next delivery must wait until the one before it is settled.
    package func heldKeys(of destination: DestinationName) -> Set<String> { lanes[destination]?.heldKeys ?? [] }

    /// Whether a delivery of this size can be handed over in memory: its destination has a lane, and both that lane
    /// and all lanes together have room.
    package func hasRoom(for bytes: Int, to destination: DestinationName) -> Bool {
        let size = bytes + Self.overhead
        return lanes[destination]?.hasRoom(for: size, upTo: min(Self.windowBytes, totalBytes - reserved)) ?? false
    }

    /// Announces, before the commit, a delivery for which there is room.
    package mutating func reserve(_ lease: Lease) { change(lease.destination) { $0.reserve(lease) } }

    /// After the commit.
    package mutating func deliver(_ lease: Lease) { lanes[lease.destination]?.deliver(lease) }

    /// After a rollback.
    package mutating func forget(_ lease: Lease) { change(lease.destination) { $0.forget(lease) } }

    /// After a commit of deliveries that found no room.
    package mutating func leaveToFile(_ destination: DestinationName) { lanes[destination]?.leaveToFile() }

    /// After a commit of deliveries that are not due before then.
    package mutating func expect(_ destination: DestinationName, at due: Date) { lanes[destination]?.expect(due) }

    package enum Claim {
        case leases([Lease])
        /// Read the file except for held deliveries, and end the reading in any case.
        case read(Reading)
    }

    /// The right to read the file for one lane; a lane has at most one.
    package struct Reading: Equatable {
        let destination: DestinationName
        fileprivate let number: Int
    }

    package mutating func claim(from destination: DestinationName, upTo limit: Int) -> Claim {
        switch change(destination, { $0.claim(upTo: limit) }) {
        case .leases(let leases): .leases(leases)
        case .read(let number): .read(Reading(destination: destination, number: number))
        case nil: .leases([])
        }
    }

    /// All that is fresh, to be given back.
    package mutating func takeFresh() -> [Lease] {
        lanes.keys.flatMap { takeFresh(of: $0) }
    }

    package mutating func takeFresh(of destination: DestinationName) -> [Lease] {
        change(destination) { $0.takeFresh(upTo: .max) } ?? []
    }

    /// Records what was leased from the file. `isWhole`: whether there was no more. `nextDue`: the earliest later due
    /// time. `lastKey`: the order key served last, if there are any. `unreadable`: damaged deliveries, which are not
    /// read again.
    package mutating func finishReading(
        _ found: [Lease], of destination: DestinationName, isWhole: Bool, nextDue: Date?, lastKey: String? = nil,
        unreadable: [Int64] = []
    ) {
        lanes[destination]?.finishReading(found, isWhole: isWhole, nextDue: nextDue, lastKey: lastKey)
        lanes[destination]?.hold(unreadable)
    }

    /// Ends a reading, whether it succeeded or not. After an unfinished one the file is read again.
    package mutating func end(_ reading: Reading) { lanes[reading.destination]?.end(reading.number) }

    /// The number of a destination's reading in progress; nil for none.
    package func readingNumber(of destination: DestinationName) -> Int? { lanes[destination]?.reading }

    /// After the outcome was committed. `due`: when it is to be tried again.
    package mutating func release(_ lease: Lease, due: Date?) { lanes[lease.destination]?.release(lease, due: due) }

    /// Changes what a lane holds, and updates the total.
    @discardableResult
    private mutating func change<R>(_ destination: DestinationName, _ body: (inout Lane) -> R) -> R? {
        guard let index = lanes.index(forKey: destination) else { return nil }
        let before = lanes.values[index].bytes
        let result = body(&lanes.values[index])
        reserved += lanes.values[index].bytes - before
        return result
    }

    /// Destinations where deliveries have become due by now; with `all`, every destination is looked at again.
    package mutating func wake(at now: Date, all: Bool) -> [DestinationName] {
        lanes.keys.filter { lanes[$0]?.wake(at: now, anyway: all) ?? false }
    }
}

extension HandOff.Lane {
    fileprivate func hasRoom(for size: Int, upTo limit: Int) -> Bool {
        !isOrdered && !isClosing && fresh.count + pending < HandOff.window && bytes + size <= limit
    }

    fileprivate mutating func reserve(_ lease: Lease) {
        pending += 1
        bytes += lease.bytes + HandOff.overhead
        held.insert(lease.delivery)
    }

    fileprivate mutating func deliver(_ lease: Lease) {
        pending -= 1
        fresh.append(lease)
    }

    fileprivate mutating func forget(_ lease: Lease) {
        pending -= 1
        bytes -= lease.bytes + HandOff.overhead
        held.remove(lease.delivery)
    }

    fileprivate mutating func leaveToFile() { mayHaveMore = true }

    fileprivate mutating func expect(_ due: Date) { note(due) }

    fileprivate enum Claim {
        case leases([Lease])
        case read(Int)
    }

    fileprivate mutating func claim(upTo limit: Int) -> Claim {
        let isFilesTurn = fresh.isEmpty || claimsSinceRead >= HandOff.freshClaims
        if mayHaveMore, isFilesTurn, reading == nil {
            mayHaveMore = false
            readings += 1
            reading = readings
            claimsSinceRead = 0
            return .read(readings)
        }
        claimsSinceRead += 1
        return .leases(takeFresh(upTo: limit))
    }

    fileprivate mutating func takeFresh(upTo limit: Int) -> [Lease] {
        let taken = Array(fresh.prefix(limit))
        fresh.removeFirst(taken.count)
        bytes -= taken.reduce(0) { $0 + $1.bytes + HandOff.overhead }
        return taken
    }

    fileprivate mutating func finishReading(_ found: [Lease], isWhole: Bool, nextDue due: Date?, lastKey key: String?) {
        lastKey = key
        held.formUnion(found.map(\.delivery))
        heldKeys.formUnion(found.compactMap(\.orderKey))
        reading = nil
        if !isWhole { mayHaveMore = true }
        note(due)
    }

    fileprivate mutating func hold(_ unreadable: [Int64]) { held.formUnion(unreadable) }

    fileprivate mutating func end(_ number: Int) {
        guard reading == number else { return }
        reading = nil
        mayHaveMore = true
    }

    fileprivate mutating func release(_ lease: Lease, due: Date?) {
        held.remove(lease.delivery)
        if let key = lease.orderKey { heldKeys.remove(key) }
        // Whoever stood behind it is first now.
        if isOrdered { mayHaveMore = true }
        note(due)
    }

    fileprivate mutating func wake(at now: Date, anyway: Bool) -> Bool {
        guard anyway || mayHaveMore || nextDue.map({ $0 <= now }) ?? false else { return false }
        mayHaveMore = true
        nextDue = nil
        return true
    }

    private mutating func note(_ due: Date?) { nextDue = [nextDue, due].compactMap { $0 }.min() }
}
