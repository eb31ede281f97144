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

    struct Lane {
        fileprivate(set) var fresh: [Lease] = []
        fileprivate(set) var freshStart = 0
        /// Leased, fresh, or about to be committed: not to be read from the file.
        fileprivate(set) var held: Set<Int64> = []
        fileprivate var pending = 0
        /// Of the events that are fresh or about to be committed.
        fileprivate var bytes = 0
        /// Whether the file may hold due deliveries that are not held.
        var mayHaveMore = true
        /// The earliest known time at which more may be due.
        var nextDue: Date?
        /// While the file is read, what is let go stays held: the reader may be looking at an older state of it.
        fileprivate var isReading = false
        fileprivate var releasedMeanwhile: [Int64] = []
    }

    private(set) var lanes: [DestinationName: Lane] = [:]

    /// Starts a lane; deliveries to destinations without one are left to the file.
    mutating func open(_ destination: DestinationName) {
        if lanes[destination] == nil { lanes[destination] = Lane() }
    }

    // MARK: Appending

    /// Asks, before the commit, to hand this delivery over in memory. False when there is no room or no lane.
    mutating func reserve(_ delivery: Int64, for destination: DestinationName, bytes: Int = 0) -> Bool {
        guard let lane = lanes[destination], lane.freshCount + lane.pending < Self.window,
            lane.bytes + bytes <= Self.windowBytes
        else { return false }
        lanes[destination]?.pending += 1
        lanes[destination]?.bytes += bytes
        lanes[destination]?.held.insert(delivery)
        return true
    }

    /// After the commit.
    mutating func deliver(_ lease: Lease) {
        lanes[lease.destination]?.pending -= 1
        lanes[lease.destination]?.fresh.append(lease)
    }

    /// After a rollback.
    mutating func forget(_ lease: Lease) {
        lanes[lease.destination]?.pending -= 1
        lanes[lease.destination]?.bytes -= lease.body.count
        lanes[lease.destination]?.held.remove(lease.delivery)
    }

    /// After a commit of deliveries that found no room.
    mutating func leaveToFile(_ destination: DestinationName) { lanes[destination]?.mayHaveMore = true }

    // MARK: Claiming

    enum Claim {
        case leases([Lease])
        /// Nothing in memory: read the file, which may show this many deliveries that are held.
        case read(held: Int)
    }

    mutating func claim(from destination: DestinationName, upTo limit: Int) -> Claim {
        guard var lane = lanes[destination] else { return .leases([]) }
        defer { lanes[destination] = lane }
        if lane.freshCount > 0 { return .leases(lane.takeFresh(limit)) }
        guard lane.mayHaveMore else { return .leases([]) }
        lane.mayHaveMore = false
        lane.isReading = true
        return .read(held: lane.held.count)
    }

    /// Takes what the file showed, less what is held. `nextDue`: the earliest delivery that was not due yet.
    mutating func finishReading(
        _ found: [Lease], of destination: DestinationName, upTo limit: Int, isWhole: Bool, nextDue: Date?
    ) -> [Lease] {
        guard var lane = lanes[destination] else { return [] }
        defer { lanes[destination] = lane }
        let free = found.filter { !lane.held.contains($0.delivery) }
        let leases = Array(free.prefix(limit))
        lane.held.formUnion(leases.map(\.delivery))
        lane.held.subtract(lane.releasedMeanwhile)
        lane.releasedMeanwhile = []
        lane.isReading = false
        if !isWhole || free.count > leases.count { lane.mayHaveMore = true }
        lane.nextDue = [lane.nextDue, nextDue].compactMap { $0 }.min()
        return leases
    }

    /// After a read that failed.
    mutating func abandonReading(of destination: DestinationName) {
        _ = finishReading([], of: destination, upTo: 0, isWhole: false, nextDue: nil)
    }

    // MARK: Settling

    /// After the outcome was committed. `due`: when it is to be tried again.
    mutating func release(_ lease: Lease, due: Date?) {
        guard var lane = lanes[lease.destination] else { return }
        defer { lanes[lease.destination] = lane }
        if lane.isReading {
            lane.releasedMeanwhile.append(lease.delivery)
        } else {
            lane.held.remove(lease.delivery)
        }
        lane.nextDue = [lane.nextDue, due].compactMap { $0 }.min()
    }

    /// Destinations where deliveries have become due by now; with `all`, every destination is looked at again.
    mutating func wake(at now: Date, all: Bool) -> [DestinationName] {
        var woken: [DestinationName] = []
        for (name, lane) in lanes where all || lane.nextDue.map({ $0 <= now }) ?? false || lane.mayHaveMore {
            lanes[name]?.mayHaveMore = true
            lanes[name]?.nextDue = nil
            woken.append(name)
        }
        return woken
    }
}

extension HandOff.Lane {
    fileprivate var freshCount: Int { fresh.count - freshStart }

    fileprivate mutating func takeFresh(_ limit: Int) -> [Lease] {
        let end = min(freshStart + limit, fresh.count)
        let taken = Array(fresh[freshStart..<end])
        freshStart = end
        bytes -= taken.reduce(0) { $0 + $1.body.count }
        // The array is cut back now and then, not at each take: that would move all that is left every time.
        if freshStart == fresh.count || freshStart > HandOff.window {
            fresh.removeSubrange(..<freshStart)
            freshStart = 0
        }
        return taken
    }
}
