package import Foundation
package import SignalboxNotification
import Synchronization

/// The lanes of a process: the hand-off of all destinations, the destinations that accept nothing, and the signals
/// that wake lanes and downloads. A class because the writer, the lanes and the timer share it.
package final class Lanes: Sendable {
    /// The destinations that accept nothing, and the signals of all lanes.
    private struct Table {
        /// Paused and disabled destinations.
        var inactive: Set<DestinationName> = []
        /// The ends of pauses that have one.
        var ends: [DestinationName: Date] = [:]
        var withheld: Set<DestinationName> = []
        /// Destinations that an operator resumed, until their lanes know it.
        var resumed: Set<DestinationName> = []
        /// One for each open lane; called outside of the lock.
        var wakers: [DestinationName: @Sendable () -> Void] = [:]
        var downloads: (@Sendable () -> Void)?
    }

    private let handOff = Mutex(HandOff())
    private let table = Mutex(Table())

    /// No lane is open, and every destination counts as active and permitted until ``adopt(inactive:withheld:)``.
    package init() {}

    /// Calls `body` with the hand-off under its lock. `body` must not block.
    package func withHandOff<R: Sendable>(_ body: (inout HandOff) -> R) -> R { handOff.withLock { body(&$0) } }

    /// Opens a lane and wakes it. `wake` may be called on any thread.
    package func open(_ destination: DestinationName, isOrdered: Bool, wake: @escaping @Sendable () -> Void) {
        handOff.withLock { $0.open(destination, isOrdered: isOrdered) }
        table.withLock { $0.wakers[destination] = wake }
        wake()
    }

    /// Closes a lane. Its leases must have been settled or returned.
    package func close(_ destination: DestinationName) {
        handOff.withLock { $0.close(destination) }
        table.withLock { $0.wakers[destination] = nil }
    }

    /// Claims from memory, or with `read` when it is the store's turn. The right to read lasts as long as `read` does,
    /// so that a failure does not leave the lane without it. After ``mostEmptyReads`` in a row it wakes the lane and
    /// returns nothing, so that the lane notices its end, and other work, while the store always has more to read.
    package func claim(
        from destination: DestinationName, upTo limit: Int, orRead read: () async throws(StoreError) -> [Lease]
    ) async throws(StoreError) -> [Lease] {
        var emptyReads = 0
        while true {
            switch handOff.withLock({ $0.withLane(destination) { $0.claim(upTo: limit) } }) {
            case nil: return []
            case .leases(let leases): return leases
            case .read(let number):
                defer { handOff.withLock { $0.withLane(destination) { $0.endReading(number) } } }
                let found = try await read()
                // The store has nothing, so memory is next.
                if !found.isEmpty { return found }
                emptyReads += 1
            }
            if emptyReads == Self.mostEmptyReads, mayHaveMore(of: destination) {
                wake([destination])
                return []
            }
        }
    }

    private static let mostEmptyReads = 16

    /// Whether the store may have due deliveries that the lane has not read.
    package func mayHaveMore(of destination: DestinationName) -> Bool {
        handOff.withLock { $0.lanes[destination]?.mayHaveMore ?? false }
    }

    /// The number of a lane's reading in progress; nil for none.
    package func readingNumber(of destination: DestinationName) -> Int? {
        handOff.withLock { $0.lanes[destination]?.reading }
    }

    // MARK: Waking

    /// Wakes these lanes, as far as they are open.
    package func wake(_ destinations: some Collection<DestinationName>) {
        let wakers = table.withLock { table in destinations.compactMap { table.wakers[$0] } }
        for wake in wakers { wake() }
    }

    /// Wakes the lanes where deliveries have become due by now.
    package func wakeDue(at now: Date) { wake(handOff.withLock { $0.wake(at: now, all: false) }) }

    /// Makes every lane read the store again.
    package func wakeLanes(at now: Date) { wake(handOff.withLock { $0.wake(at: now, all: true) }) }

    /// Makes every lane, and the downloads, read the store again.
    package func wakeAll(at now: Date) {
        wakeLanes(at: now)
        wakeDownloads()
    }

    /// Sets the signal of the downloads, and replaces an earlier one. `wake` may be called on any thread.
    package func openDownloads(_ wake: @escaping @Sendable () -> Void) { table.withLock { $0.downloads = wake } }

    /// Wakes the downloads, if they are open.
    package func wakeDownloads() { table.withLock(\.downloads)?() }

    // MARK: Destinations that accept nothing

    /// Whether a destination is neither paused nor disabled.
    package func isActive(_ destination: DestinationName) -> Bool {
        table.withLock { !$0.inactive.contains(destination) }
    }

    /// Whether a destination withholds its permission.
    package func isWithheld(by destination: DestinationName) -> Bool {
        table.withLock { $0.withheld.contains(destination) }
    }

    /// Destinations that are paused or disabled, or have not given permission.
    package var idleDestinations: Set<DestinationName> { table.withLock { $0.withheld.union($0.inactive) } }

    /// Ends a pause or a 410 because an operator resumed the destination, and wakes the lane.
    package func activate(_ destination: DestinationName) {
        table.withLock { table in
            table.inactive.remove(destination)
            table.ends[destination] = nil
        }
        resume([destination])
    }

    /// Records that an operator resumed these destinations, and wakes their lanes, which end their backoffs.
    package func resume(_ destinations: some Collection<DestinationName>) {
        table.withLock { $0.resumed.formUnion(destinations) }
        wake(destinations)
    }

    /// Whether an operator resumed a destination. True once for each resume.
    package func takeResumed(_ destination: DestinationName) -> Bool {
        table.withLock { $0.resumed.remove(destination) != nil }
    }

    /// Ends a pause that is over, and wakes the lane. Has no effect if another pause replaced it meanwhile.
    package func endPause(of destination: DestinationName, at now: Date) {
        let isOver = table.withLock { table in
            guard let end = table.ends[destination], end <= now else { return false }
            table.inactive.remove(destination)
            table.ends[destination] = nil
            return true
        }
        if isOver { wake([destination]) }
    }

    /// Records that a destination is paused or disabled, and wakes the lane so that it returns its deliveries.
    /// `until`: the end of a pause.
    package func deactivate(_ destination: DestinationName, until: Date? = nil) {
        table.withLock { table in
            table.inactive.insert(destination)
            table.ends[destination] = until
        }
        wake([destination])
    }

    /// Destinations whose pause is over. They stay paused until ``endPause(of:at:)``.
    package func endedPauses(at now: Date) -> [DestinationName] {
        table.withLock { $0.ends.isEmpty ? [] : $0.ends.filter { $1 <= now }.keys.sorted() }
    }

    /// Records that a destination withholds its permission. Does not wake the lane.
    package func withhold(by destination: DestinationName) { table.withLock { _ = $0.withheld.insert(destination) } }

    /// Ends a missing permission. Wakes the lane only if the permission was missing.
    package func permit(by destination: DestinationName) {
        if table.withLock({ $0.withheld.remove(destination) }) != nil { wake([destination]) }
    }

    /// Replaces both sets by those of the store, and wakes the lanes whose state changed. A new missing permission
    /// wakes no lane. `inactive`: with the ends of pauses.
    package func adopt(inactive statuses: [DestinationName: DestinationStatus], withheld: Set<DestinationName>) {
        let inactive = Set(statuses.keys)
        let changed = table.withLock { table in
            let changed = table.inactive.symmetricDifference(inactive)
            table.ends = statuses.compactMapValues(\.until)
            defer { (table.inactive, table.withheld) = (inactive, withheld) }
            return changed.union(table.withheld.subtracting(withheld))
        }
        wake(changed)
    }
}
