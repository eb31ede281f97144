import Foundation
import SignalboxInApp
package import SignalboxNotification
package import SignalboxStore
import SignalboxTesting
import Testing

/// The location and the clock of one check, with short forms of common steps.
struct StoreBench: Sendable {
    let location: any StoreLocation
    let clock = ManualDate()
    let crm = DestinationName("crm")
    let inbox = DestinationName("inbox")

    /// Opens the queue as a new process does, with lanes for `crm` and `inbox`.
    func open(isOrdered: Bool = false) throws(StoreError) -> any Store {
        let queue = try location.open(clock)
        queue.openLane(crm, isOrdered: isOrdered) {}
        queue.openLane(inbox) {}
        return queue
    }

    /// An event whose body is this number. Goes to `crm` unless `orders` say otherwise.
    func event(
        _ number: Int, to orders: [DeliveryOrder]? = nil, payload: [UInt8]? = nil, variants: [[UInt8]] = [],
        media: MediaWait? = nil, files: [MediaFile] = [], category: DefinedCategory? = nil,
        dedupe: RoutedEvent.Dedupe? = nil, hasLastingID: Bool = false, followers: [RoutedEvent] = [], size: Int = 0,
        from source: SourceName = .default, message: InAppRegistration? = nil
    ) -> RoutedEvent {
        var event = Event(
            id: EventID(at: clock.now, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))),
            source: source, acceptedAt: clock.now, vendor: .unknown, kind: .alert, warnings: [],
            body: Array(String(number).utf8) + Array(repeating: 32, count: size))
        event.category = category
        return RoutedEvent(
            event: event, routes: [], deliveries: orders ?? [DeliveryOrder(to: crm)], payload: payload,
            variants: variants, media: media, files: files, dedupe: dedupe, hasLastingID: hasLastingID,
            followers: followers, messages: message.map { [$0] } ?? [])
    }

    /// Appends events to `crm` in batches. More than a window holds are in the store only.
    func fill(_ queue: any Store, from first: Int, count: Int) async throws {
        for start in stride(from: first, to: first + count, by: 500) {
            try await queue.append((start..<min(start + 500, first + count)).map { event($0) })
        }
    }

    /// Claims one delivery to `crm`.
    func claimOne(_ queue: any Store) async throws -> Lease {
        try #require(try await queue.claim(from: crm, upTo: 1).first)
    }

    /// Claims every delivery to `crm` that is due now; returns the numbers of their events.
    func claimNumbers(_ queue: any Store, upTo limit: Int = 100) async throws -> [Int] {
        try await queue.tick()
        return try await queue.claim(from: crm, upTo: limit).map(\.number)
    }

    /// The only stored delivery.
    func only(_ queue: any Store) async throws -> DeliveryRecord {
        let all = try await queue.deliveries(DeliveryFilter(), limit: 2)
        #expect(all.count == 1)
        return try #require(all.first)
    }

    func count(_ state: DeliveryRecord.State, in queue: any Store) async throws -> Int {
        try await queue.counts()[crm]?[state] ?? 0
    }
}

extension Lease {
    /// The number of its event.
    var number: Int { Int(String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespaces)) ?? -1 }
}

extension Outcome {
    static func failed(after seconds: Double) -> Outcome {
        .retry(after: .seconds(seconds), status: 503, reason: "answered 503")
    }
    static let refused = Outcome.dead(status: 400, reason: "answered 400")
}

// MARK: Defaults

extension DownloadStore {
    package func dueMedia(
        upTo limit: Int, perHost: Int, excluding: Set<Int64> = []
    ) async throws(StoreError) -> [MediaJob] {
        try await dueMedia(upTo: limit, perHost: perHost, busy: [:], excluding: excluding)
    }
}

extension IntakeStore {
    package func categories(limit: Int, upTo count: Int = .max) async throws(StoreError) -> [CategoryRecord] {
        try await categories(limit: limit, after: nil, upTo: count)
    }
}

extension UpkeepStore {
    package func remove(beyond retention: Retention) async throws(StoreError) -> Int {
        try await remove(beyond: retention) {}
    }

    @discardableResult
    package func removeMedia(
        beyond retention: MediaRetention, gone: ([String]) async -> Void = { _ in }
    ) async throws(StoreError) -> Int {
        try await removeMedia(beyond: retention, pause: {}, gone: gone)
    }
}

extension InspectionStore {
    package func purge(_ filter: DeliveryFilter) async throws(StoreError) -> Int {
        try await purge(filter, sparingWaiting: false)
    }

    package func mediaFiles(limit: Int) async throws(StoreError) -> [MediaFileRecord] {
        try await mediaFiles(after: nil, limit: limit)
    }

    package func mediaURLs(
        _ states: Set<MediaURLRecord.State> = [.wanted, .resting, .failed], limit: Int
    ) async throws(StoreError) -> [MediaURLRecord] {
        try await mediaURLs(states, before: nil, limit: limit)
    }
}
