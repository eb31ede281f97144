import DequeModule
import Foundation
import SignalboxModel

/// What the queue keeps in memory beside the file: which deliveries are leased, and a bounded window of fresh ones that
/// need not be read back. Pure bookkeeping; the caller guards it with a lock.
///
/// Leases live here only. The data directory has one owner, so a new process knows that nobody holds any.
struct HandOff {
    /// Fresh deliveries kept in memory for one destination; beyond it they are left to the file.
    static let window = 2048
    /// Bytes of events kept in memory for one destination.
    static let windowBytes = 16 * 1024 * 1024
    /// While there are fresh deliveries, every so many claims the file is looked at first: what waits there is older.
    static let freshClaims = 8

    private(set) var lanes: [DestinationName: Lane] = [:]

    struct Lane {
        private(set) var fresh: Deque<Lease> = []
        /// Leased, fresh, or about to be committed: not to be read from the file.
        private(set) var held: Set<Int64> = []
        /// Whether the file may hold due deliveries that are not held.
        private(set) var mayHaveMore = true
        /// The earliest known time at which more may be due.
        private(set) var nextDue: Date?
        private var pending = 0
        /// Of the events that are fresh or about to be committed.
        private var bytes = 0
        private var claimsSinceRead = 0
        /// While the file is read, what is let go stays held: the reader may be looking at an older state of it.
        private var isReading = false
        private var releasedMeanwhile: [Int64] = []
    }

    /// Starts a lane; deliveries to destinations without one are left to the file.
    mutating func open(_ destination: DestinationName) {
        if lanes[destination] == nil { lanes[destination] = Lane() }
    }

    /// Asks, before the commit, to hand this delivery over in memory. False when there is no room or no lane.
    mutating func reserve(_ lease: Lease) -> Bool { lanes[lease.destination]?.reserve(lease) ?? false }

    /// After the commit.
    mutating func deliver(_ lease: Lease) { lanes[lease.destination]?.deliver(lease) }

    /// After a rollback.
    mutating func forget(_ lease: Lease) { lanes[lease.destination]?.forget(lease) }

    /// After a commit of deliveries that found no room.
    mutating func leaveToFile(_ destination: DestinationName) { lanes[destination]?.leaveToFile() }

    enum Claim {
        case leases([Lease])
        /// Read the file, but for what is held.
        case read(excluding: Set<Int64>)
    }

    mutating func claim(from destination: DestinationName, upTo limit: Int) -> Claim {
        lanes[destination]?.claim(upTo: limit) ?? .leases([])
    }

    /// Takes what the file showed. `isWhole`: whether there was no more. `nextDue`: the earliest that was not due yet.
    mutating func finishReading(
        _ found: [Lease], of destination: DestinationName, isWhole: Bool, nextDue: Date?
    ) -> [Lease] {
        lanes[destination]?.finishReading(found, isWhole: isWhole, nextDue: nextDue) ?? []
    }

    /// After a read that failed.
    mutating func abandonReading(of destination: DestinationName) {
        _ = finishReading([], of: destination, isWhole: false, nextDue: nil)
    }

    /// After the outcome was committed. `due`: when it is to be tried again.
    mutating func release(_ lease: Lease, due: Date?) { lanes[lease.destination]?.release(lease, due: due) }

    /// Destinations where deliveries have become due by now; with `all`, every destination is looked at again.
    mutating func wake(at now: Date, all: Bool) -> [DestinationName] {
        lanes.keys.filter { lanes[$0]?.wake(at: now, anyway: all) ?? false }
    }
}

extension HandOff.Lane {
    fileprivate mutating func reserve(_ lease: Lease) -> Bool {
        guard fresh.count + pending < HandOff.window, bytes + lease.body.count <= HandOff.windowBytes else {
            return false
        }
        pending += 1
        bytes += lease.body.count
        held.insert(lease.delivery)
        return true
    }

    fileprivate mutating func deliver(_ lease: Lease) {
        pending -= 1
        fresh.append(lease)
    }

    fileprivate mutating func forget(_ lease: Lease) {
        pending -= 1
        bytes -= lease.body.count
        held.remove(lease.delivery)
    }

    fileprivate mutating func leaveToFile() { mayHaveMore = true }

    fileprivate mutating func claim(upTo limit: Int) -> HandOff.Claim {
        let isFilesTurn = fresh.isEmpty || claimsSinceRead >= HandOff.freshClaims
        if mayHaveMore, isFilesTurn, !isReading {
            mayHaveMore = false
            isReading = true
            claimsSinceRead = 0
            return .read(excluding: held)
        }
        claimsSinceRead += 1
        let taken = Array(fresh.prefix(limit))
        fresh.removeFirst(taken.count)
        bytes -= taken.reduce(0) { $0 + $1.body.count }
        return .leases(taken)
    }

    fileprivate mutating func finishReading(_ found: [Lease], isWhole: Bool, nextDue due: Date?) -> [Lease] {
        let leases = found.filter { !held.contains($0.delivery) }
        held.formUnion(leases.map(\.delivery))
        held.subtract(releasedMeanwhile)
        releasedMeanwhile = []
        isReading = false
        if !isWhole { mayHaveMore = true }
        note(due)
        return leases
    }

    fileprivate mutating func release(_ lease: Lease, due: Date?) {
        if isReading { releasedMeanwhile.append(lease.delivery) } else { held.remove(lease.delivery) }
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
