package import Foundation
package import SignalboxNotification

/// A durable queue of events and their deliveries: everything that a gateway keeps.
///
/// The protocols it is made of are cut by client: each client names the one it needs. All verbs may be called from any
/// task at the same time. A verb that writes returns once the write is durable; when it throws, nothing was written
/// unless it says otherwise. `StoreConformance` checks every promise made here.
package protocol Store:
    IntakeStore, LaneStore, DownloadStore, InspectionStore, UpkeepStore, InAppStore, ChannelStore, ActionStore
{}

/// The part of a store that all its clients see.
package protocol StoreStatus: AnyObject, Sendable {
    /// Damage that this process found, and upkeep that fails.
    var health: StoreHealth { get }

    /// This node among others that share the store; nil for a store of one process.
    var fleet: FleetStatus? { get }

    /// Tells the other nodes which config and version this one runs. Has no effect in a store of one process.
    func announce(config digest: String, version: String)

    /// The time by which deliveries are due and expire. Callers compare stored times with this clock only.
    var now: Date { get }

    /// Counts of each destination that ever had a delivery. Cheap for any number of deliveries: the store keeps
    /// the counts as they change.
    func gauges() async throws(StoreError) -> [DestinationName: DestinationGauges]
}

/// Accepts events, and answers about those that were accepted.
package protocol IntakeStore: StoreStatus {
    /// Appends events with all their deliveries, in one commit that other requests share. Calls `done` once, on a
    /// thread of the store; it must not block that thread. Callable from any thread; does not block.
    ///
    /// `request`: the request that brought them, if its sender may repeat it. Fails without a write while damage is
    /// known. Fails with ``StoreError/undecided(after:)`` when the commit takes longer than
    /// ``StoreLimits/patience``: the events may be durable then.
    func append(
        _ events: [RoutedEvent], of request: IdempotentRequest?,
        whenDone done: @escaping @Sendable (Result<AppendResult, StoreError>) -> Void)

    /// The result of another request of this source with this ``IdempotentRequest/key`` within
    /// ``StoreLimits/requestMemory``: a repeat, or a conflict with another digest. Nil when there was none.
    func result(ofKey key: String, digest: [UInt8], from source: SourceName) async throws(StoreError) -> AppendResult?

    /// Returns when all writes that were begun before have ended, successfully or not.
    func finish() async

    /// Checks whether the store can accept events, with a small durable write. Throws the reason why it cannot.
    func probe() async throws(StoreError)

    /// An event as it was accepted; nil when it is unknown or was removed.
    func event(_ id: String) async throws(StoreError) -> StoredEvent?

    /// A page of the `limit` categories that were seen last, in byte order of their identifiers: at most `count` after
    /// `identifier`.
    func categories(
        limit: Int, after identifier: String?, upTo count: Int
    ) async throws(StoreError) -> [CategoryRecord]

    /// One category; nil when none has this identifier.
    func category(_ identifier: String) async throws(StoreError) -> CategoryRecord?
}

/// Leases due deliveries to the lanes, and records how their attempts ended.
package protocol LaneStore: StoreStatus {
    /// Opens a destination for claiming. `isOrdered`: deliveries with equal order keys are leased one after the other.
    /// `wake` is called, on any thread, when there may be something to claim.
    func openLane(_ destination: DestinationName, isOrdered: Bool, wake: @escaping @Sendable () -> Void)

    /// Closes a lane from which nothing is claimed any longer and whose leases are all settled. Deliveries that it
    /// held in memory can then be claimed by its successor. May be repeated after a failure.
    func closeLane(_ destination: DestinationName) async throws(StoreError)

    /// Leases due deliveries, at most `limit`; none while the destination is paused or disabled. That their attempts
    /// begin is durable when this returns: after a crash they count as made.
    func claim(from destination: DestinationName, upTo limit: Int) async throws(StoreError) -> [Lease]

    /// Records how attempts ended, with all that follows from it, and ends their leases. Each settlement is recorded or
    /// fails by itself: the results have the order of the settlements. Writes nothing for a lease that was lost. After
    /// a failure, the lease is still held.
    func settle(_ settlements: [Settlement]) async -> [Result<SettlementResult, StoreError>]

    /// Records that deliveries held in memory were never begun. Call it once no lane claims any longer. Without it,
    /// the next process counts one attempt too many for each.
    func giveBackFresh() async throws(StoreError)

    /// Wakes lanes whose deliveries have become due, ends deliveries that have expired and pauses that are over, and
    /// reads what other processes changed. Call it every few hundred milliseconds. Returns the destinations whose
    /// pause it ended.
    @discardableResult
    func tick() async throws(StoreError) -> [DestinationName]

    /// Makes every lane, and the downloads, read the store again.
    func wakeAll()

    /// Whether the store may have due deliveries that the lane has not read. Answered from memory.
    func mayHaveMore(of destination: DestinationName) -> Bool

    /// The number of the read that a lane has in progress; nil for none. A number that stays the same for long reveals
    /// a read that does not end.
    func readingNumber(of destination: DestinationName) -> Int?

    /// Whether a destination is neither paused nor disabled, as far as this process knows. False while another process
    /// may have taken over the leases of this one.
    func isActive(_ destination: DestinationName) -> Bool

    /// Whether a destination withholds its permission, as far as this process knows.
    func isWithheld(by destination: DestinationName) -> Bool

    /// Records that a destination has not given permission. The first record keeps its time.
    /// ``isWithheld(by:)`` changes even when this throws.
    func withhold(_ reason: String, by destination: DestinationName) async throws(StoreError)

    /// Records that a destination has given permission, or is no longer asked.
    func permit(by destination: DestinationName) async throws(StoreError)

    /// Whether an operator has resumed the destination since the last call, as far as this process knows. True once
    /// for each resume: the lane then ends its backoff. The store wakes the lane.
    func takeResumed(_ destination: DestinationName) -> Bool

    /// Records a backoff so that operators see it, or its end with nil. An extended backoff keeps its start time.
    func record(_ backoff: DestinationBackoff?, of destination: DestinationName) async throws(StoreError)

    /// Removes the backoffs of an earlier process. Call it before anything is delivered.
    func forgetBackoffs() async throws(StoreError)

    // Limits of a destination that several processes share. A store of one process has the defaults.

    /// Whether several processes may deliver to one destination. Then the rate and the probes of its breaker come from
    /// ``takeAttempts(of:perSecond:)`` and ``beginProbe(of:lasting:)``.
    var sharesLimits: Bool { get }

    /// Whether another process holds deliveries and has not shown since a time that it lives.
    func mayBeAbandoned(since time: Date) async throws(StoreError) -> Bool

    /// Whether a lease is still held, so that its attempt may begin. False after others took it over, and while this
    /// process cannot prove that it lives.
    func holds(_ lease: Lease) -> Bool

    /// The requests that this process may have in flight to a destination whose limit is `limit`. The shares of all
    /// processes with a lane for it add up to the limit; some are 0 when it is less than their number. Nil until this
    /// process knows the others: it wakes the lane then.
    func places(of destination: DestinationName, outOf limit: Int) -> Int?

    /// Takes attempts from the rate that the processes share: a quarter of a second's worth at most.
    func takeAttempts(of destination: DestinationName, perSecond: Double) async throws(StoreError) -> AttemptShare

    /// Returns attempts that were taken and not made.
    func returnAttempts(_ count: Int, of destination: DestinationName, perSecond: Double) async throws(StoreError)

    /// Asks to be the one process that probes a destination whose breaker is open. Returns nil for yes; otherwise when
    /// to ask again. Another one may probe after `time`, or once the backoff has been recorded as ended.
    func beginProbe(of destination: DestinationName, lasting time: Duration) async throws(StoreError) -> Duration?

    /// The backoffs from a destination that other processes apply now, as of the last ``tick()``. Reports the end of
    /// this process's own breaker once.
    func othersBackoff(from destination: DestinationName) -> OthersBackoff

    /// Ends the recorded open breakers of all processes: a probe of this one was answered.
    func endBreakers(of destination: DestinationName) async throws(StoreError)
}

/// Until when other processes leave a destination alone.
package struct OthersBackoff: Sendable, Equatable {
    /// The latest end of an open breaker. A time that has passed: its probe is in progress. Nil for none.
    package var breakerOpen: Date?
    /// The latest end of a pause that the destination asked for; nil for none.
    package var quiet: Date?
    /// Whether another process ended the open breaker that this one had recorded.
    package var hasEndedOwn = false

    /// None.
    package init() {}

    /// Ends the waits, because an operator resumed the destination. An open breaker waits for its probe.
    package mutating func end(at now: Date) {
        breakerOpen = breakerOpen.map { min($0, now) }
        quiet = nil
    }
}

/// Attempts that a process may make, of the rate that all processes share.
package struct AttemptShare: Sendable, Equatable {
    package let count: Int
    /// When to ask again, if there are none.
    package let wait: Duration

    package init(count: Int, wait: Duration) { (self.count, self.wait) = (count, wait) }
}

/// Gives out due downloads, and releases deliveries that waited for them. The caller keeps track of the downloads in
/// progress: after a crash all of them are still due.
package protocol DownloadStore: StoreStatus {
    /// Opens the store for downloads. Call it before any lane is opened: deliveries whose wait ended while no process
    /// was running are held for another minute, so that they can be released first. `wake` is called, on any thread,
    /// when there may be something to download or to release.
    func openMedia(wake: @escaping @Sendable () -> Void) async throws(StoreError)

    /// Due downloads, at most `limit`, of each host at most `perHost` less those in progress there (`busy`). Hosts
    /// take turns. Of one host, those that became due at `recent` or later come first, the longest due of them first;
    /// then earlier ones, the last due of them first. `excluding`: the downloads in progress.
    func dueMedia(
        upTo limit: Int, perHost: Int, busy: [String: Int], excluding: Set<Int64>, dueSince recent: Date
    ) async throws(StoreError) -> [MediaJob]

    /// When the next download that failed is retried; nil for none.
    func nextMediaDue() async throws(StoreError) -> Date?

    /// Records how a download ended.
    func settle(media settlement: MediaSettlement) async throws(StoreError)

    /// Deliveries that can be released, at most `limit`: those whose files are all settled, then those whose wait is
    /// over. May return fewer because their bodies are held in memory.
    func heldDeliveries(upTo limit: Int) async throws(StoreError) -> [HeldDelivery]

    /// When the wait of the next held delivery is over; nil when none is held.
    func nextMediaUntil() async throws(StoreError) -> Date?

    /// Releases held deliveries with their final bodies: all of them or none.
    func release(_ releases: [MediaRelease]) async throws(StoreError)

    /// Ends the freshness of stored files: the next event that names one of their URLs requests it again, without
    /// validators, because the disk may have the file with another size. The files stay recorded, because the disk may
    /// have them again.
    func expireMedia(_ digests: [String]) async throws(StoreError)

    /// When the last wait that exists now is over; nil when no delivery is held.
    func lastMediaUntil() async throws(StoreError) -> Date?

    /// Ends the downloads of this process, after the last one: other processes take over its part.
    func closeMedia() async throws(StoreError)
}

/// Removes what has been kept long enough. Works in small steps, between which others write.
package protocol UpkeepStore: StoreStatus {
    /// Removes events, payloads, categories, records of repeats and in-app rows beyond the retention, and actions
    /// beyond ``StoreLimits/actions``; returns the number of events. Calls `pause` between two steps.
    func remove(beyond retention: Retention, pause: () async -> Void) async throws(StoreError) -> Int

    /// Forgets files and URLs beyond the retention; returns the number of files. Keeps those that a waiting delivery
    /// points to or may come to point to. `gone` receives the digests of forgotten files, whose contents its receiver
    /// removes unless they have been stored again since. Calls `pause` between two steps.
    func removeMedia(
        beyond retention: MediaRetention, pause: () async -> Void, gone: ([String]) async -> Void
    ) async throws(StoreError) -> Int

    /// Forgets files that are missing or changed on disk, even while deliveries need them. They are downloaded again
    /// when an event requests them.
    func forgetMedia(_ digests: [String]) async throws(StoreError)

    /// The size of all known files, in bytes. Cheap.
    func mediaBytes() async throws(StoreError) -> Int64

    /// The digests among these that belong to known files.
    func knownFiles(of digests: [String]) async throws(StoreError) -> Set<String>

    /// Whether this process does the upkeep: among several processes of one store, one does.
    var leads: Bool { get }

    /// Moves all commits into the store's main file, so that a copy of that file is complete. Call it before the
    /// process ends, after the last write. Other processes can claim the deliveries of this one at once.
    func checkpoint() async throws(StoreError)
}
