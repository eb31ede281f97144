import Foundation
package import SignalboxInApp
package import SignalboxNotification
package import SignalboxStore
import SignalboxTesting
import Testing

/// The location and the clock of one check, with short forms of common steps. A value: each check has its own, and
/// opens as many stores as it has processes.
struct StoreBench: Sendable {
    /// New and empty at the start of a check.
    let location: any StoreLocation
    /// Shared by all stores of the check, like the clock of a machine.
    let clock = ManualDate()
    /// Most deliveries go there.
    let crm = DestinationName("crm")
    /// For deliveries that must not affect those to `crm`.
    let inbox = DestinationName("inbox")

    /// Opens the queue as a new process does, with lanes for `crm` and `inbox`. `isOrdered`: whether `crm` receives
    /// deliveries with equal keys one after the other. Stores that were opened before count as crashed processes.
    func open(isOrdered: Bool = false) throws(StoreError) -> any Store {
        let queue = try location.open(clock)
        queue.openLane(crm, isOrdered: isOrdered) {}
        queue.openLane(inbox) {}
        return queue
    }

    /// Opens the queue as another node does, with the same lanes. Stores that were opened before keep their leases.
    func openBeside(isOrdered: Bool = false) throws(StoreError) -> any Store {
        let queue = try location.openBeside(clock)
        queue.openLane(crm, isOrdered: isOrdered) {}
        queue.openLane(inbox) {}
        return queue
    }

    /// An event whose body is this number. Goes to `crm` unless `orders` say otherwise. `size`: spaces after the
    /// number, for large events. Each call makes a new id, so equal numbers are different events. `date`: when it was
    /// accepted; nil for now.
    func event(
        _ number: Int, to orders: [DeliveryOrder]? = nil, payload: [UInt8]? = nil, variants: [[UInt8]] = [],
        media: MediaWait? = nil, files: [MediaFile] = [], category: DefinedCategory? = nil,
        dedupe: RoutedEvent.Dedupe? = nil, hasLastingID: Bool = false, followers: [RoutedEvent] = [], size: Int = 0,
        from source: SourceName = .default, message: InAppRegistration? = nil, by vendor: VendorID = .unknown,
        at date: Date? = nil
    ) -> RoutedEvent {
        let date = date ?? clock.now
        var event = Event(
            id: EventID(at: date, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))),
            source: source, acceptedAt: date, vendor: vendor, kind: .alert, warnings: [],
            body: Array(String(number).utf8) + Array(repeating: 32, count: size))
        event.category = category
        return RoutedEvent(
            event: event, routes: [], deliveries: orders ?? [DeliveryOrder(to: crm)], payload: payload,
            variants: variants, media: media, files: files, dedupe: dedupe, hasLastingID: hasLastingID,
            followers: followers, messages: message.map { [$0] } ?? [])
    }

    /// Appends events to `crm` in batches. More than a window holds are in the store only. Numbers of the events:
    /// `first` and those after it.
    func fill(_ queue: any Store, from first: Int, count: Int) async throws {
        for start in stride(from: first, to: first + count, by: 500) {
            try await queue.append((start..<min(start + 500, first + count)).map { event($0) })
        }
    }

    /// Claims one delivery to `crm`. Fails the check if none is due.
    func claimOne(_ queue: any Store) async throws -> Lease {
        try #require(try await queue.claim(from: crm, upTo: 1).first)
    }

    /// Claims every delivery to `crm` that is due now; returns the numbers of their events. Ticks first, so that
    /// deliveries that have become due since are found.
    func claimNumbers(_ queue: any Store, upTo limit: Int = 100) async throws -> [Int] {
        try await queue.tick()
        return try await queue.claim(from: crm, upTo: limit).map(\.number)
    }

    /// The only stored delivery. Fails the check unless there is exactly one.
    func only(_ queue: any Store) async throws -> DeliveryRecord {
        let all = try await queue.deliveries(DeliveryFilter(), limit: 2)
        #expect(all.count == 1)
        return try #require(all.first)
    }

    /// Stored deliveries to `crm` in this state.
    func count(_ state: DeliveryRecord.State, in queue: any Store) async throws -> Int {
        try await queue.counts()[crm]?[state] ?? 0
    }
}

extension Lease {
    /// The number of its event. -1 for a body that is not a number.
    var number: Int { Int(String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespaces)) ?? -1 }
}

extension Outcome {
    /// An attempt that was answered with 503, to be repeated after this time.
    static func failed(after seconds: Double) -> Outcome {
        .retry(after: .seconds(seconds), status: 503, reason: "answered 503")
    }
    /// An attempt that was answered with 400, which is permanent.
    static let refused = Outcome.dead(status: 400, reason: "answered 400")
}

// MARK: Defaults

extension DownloadStore {
    /// Due downloads, the longest due of each host first.
    package func dueMedia(
        upTo limit: Int, perHost: Int, busy: [String: Int] = [:], excluding: Set<Int64> = []
    ) async throws(StoreError) -> [MediaJob] {
        try await dueMedia(upTo: limit, perHost: perHost, busy: busy, excluding: excluding, dueSince: .distantPast)
    }
}

extension IntakeStore {
    /// The first page.
    package func categories(limit: Int, upTo count: Int = .max) async throws(StoreError) -> [CategoryRecord] {
        try await categories(limit: limit, after: nil, upTo: count)
    }
}

extension UpkeepStore {
    /// Without a pause between the steps.
    package func remove(beyond retention: Retention) async throws(StoreError) -> Int {
        try await remove(beyond: retention) {}
    }

    /// Without a pause between the steps.
    @discardableResult
    package func removeMedia(
        beyond retention: MediaRetention, gone: ([String]) async -> Void = { _ in }
    ) async throws(StoreError) -> Int {
        try await removeMedia(beyond: retention, pause: {}, gone: gone)
    }
}

extension LaneStore {
    /// Settles a lease whose attempt has no details.
    @discardableResult
    package func settle(_ lease: Lease, _ outcome: Outcome) async throws(StoreError) -> SettlementResult {
        try await settle(Settlement(lease, outcome))
    }
}

extension InAppStore {
    /// Stores a message without a row of the action log.
    package func register(_ message: InAppRegistration) async throws(StoreError) -> StoredInAppMessage {
        try await register(message, as: nil)
    }

    /// Ends a message without a row of the action log.
    package func withdraw(message id: MessageID) async throws(StoreError) -> StoredInAppMessage? {
        try await withdraw(message: id, as: nil)
    }
}

extension InspectionStore {
    /// Requeues deliveries at once, without a row of the action log.
    package func retry(_ filter: DeliveryFilter) async throws(StoreError) -> Int { try await retry(filter, as: nil) }

    /// Removes deliveries without a row of the action log.
    package func purge(
        _ filter: DeliveryFilter, sparingUndelivered: Bool = false
    ) async throws(StoreError) -> Int {
        try await purge(filter, sparingUndelivered: sparingUndelivered, as: nil)
    }

    /// The first page.
    package func mediaFiles(limit: Int) async throws(StoreError) -> [MediaFileRecord] {
        try await mediaFiles(after: nil, limit: limit)
    }

    /// The first page.
    package func mediaURLs(
        _ states: Set<MediaURLRecord.State> = [.wanted, .resting, .failed], limit: Int
    ) async throws(StoreError) -> [MediaURLRecord] {
        try await mediaURLs(states, before: nil, limit: limit)
    }
}
