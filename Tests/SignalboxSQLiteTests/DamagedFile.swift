import Foundation
import GRDB
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// A small queue with content in every table, and all operations that read or write it.
struct DamagedFile {
    static let crm = DestinationName("crm")
    /// An ordered lane.
    static let line = DestinationName("line")
    let directory: String
    /// The clock after the damage: everything that waits is due, and ended deliveries may be removed.
    let clock = ManualDate()

    var path: String { directory + "/queue.db" }

    /// Fills a queue, and checkpoints it into its file.
    func fill(events: Int) async throws {
        let queue = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
        queue.openLane(Self.crm) {}
        queue.openLane(Self.line, isOrdered: true) {}
        for number in 0..<events { try await queue.append([event(number)], of: request(number)) }
        try await queue.set(.paused, of: DestinationName("paused"))
        try await queue.withhold("x", by: DestinationName("withheld"))
        for (number, lease) in try await queue.claim(from: Self.crm, upTo: events / 2).enumerated() {
            let outcomes: [Outcome] = [
                .delivered(status: 200), .dead(status: 400, reason: "x"),
                .retry(after: .zero, status: 503, reason: "x"),
            ]
            let attempt = Attempt(startedAt: clock.now, duration: .seconds(1), remote: "127.0.0.1:1", excerpt: [1])
            try await queue.settle(Settlement(lease, outcomes[number % 3], attempt: attempt))
        }
        for lease in try await queue.claim(from: Self.crm, upTo: 1) {
            try await queue.settle(Settlement(lease, .retry(after: .zero, status: 503, reason: "x")))
        }
        for (number, job) in try await queue.dueMedia(upTo: 3, perHost: 3).enumerated() {
            let ends: [MediaSettlement.End] = [
                .stored(file("b"), MediaFreshness(until: clock.now), remarks: [.contentType]),
                .failed(MediaFailure(.dns, "x")), .retry(after: .zero, MediaFailure(.dns, "x")),
            ]
            try await queue.settle(media: MediaSettlement(job.id, ends[number]))
        }
        for number in 0..<events { try await queue.writeInAppRows(number, at: clock.now) }
        try await queue.checkpoint()
        try queue.file.pool.close()
    }

    private func event(_ number: Int) -> RoutedEvent {
        var variant = DeliveryOrder(to: Self.crm)
        variant.variant = 0
        var held = DeliveryOrder(to: Self.crm)
        held.mediaUntil = clock.now.addingTimeInterval(60)
        let ordered = DeliveryOrder(to: Self.line, orderKey: "key\(number % 3)")
        let isHeld = number.isMultiple(of: 4)
        var event = Event(
            Array(#"{"number":\#(number)}"#.utf8) + Array(repeating: 32, count: 300), at: clock.now)
        event.category = DefinedCategory("c\(number)", isNamedByDefinition: true) {
            CategoryRecord(identifier: "c\(number)", definition: Array("{}".utf8))
        }
        return RoutedEvent(
            event: event, routes: [], deliveries: [isHeld ? held : variant, ordered], payload: [1],
            variants: [[2]], media: isHeld ? MediaWait(urls: ["https://a.example/\(number % 8)"]) : nil,
            files: [file("a")], dedupe: RoutedEvent.Dedupe(key: "d\(number)", since: .distantPast))
    }

    private func file(_ digit: String) -> MediaFile {
        MediaFile(sha256: String(repeating: digit, count: 64), bytes: 1, contentType: "image/png", width: 1)
    }

    private func request(_ number: Int) -> IdempotentRequest {
        IdempotentRequest(from: .default, key: "k\(number)", digest: [1]) { _ in
            StoredAnswer(status: 202, body: [1])
        }
    }

    // MARK: After the damage

    /// The outcome of using the file.
    struct Result {
        /// Numbers of the claimed deliveries.
        var claimed: Set<Int64> = []
        /// Whether the damage is reported: by a refusal to start, by readiness, or by the audit.
        var isReported = false
    }

    /// Calls every operation. Each may throw a ``StoreError`` and nothing else; none traps, and each ends.
    func use() async throws -> Result {
        var result = Result()
        let queue: SQLiteQueue
        do throws(StoreError) {
            queue = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
        } catch {
            result.isReported = true
            return result
        }
        queue.openLane(Self.crm) {}
        queue.openLane(Self.line, isOrdered: true) {}
        await readAll(of: queue)
        try? await queue.openMedia {}
        clock.set(by: 100)
        clock.advance(by: 100)
        for _ in 0..<3 {
            _ = try? await queue.tick()
            for held in (try? await queue.heldDeliveries(upTo: 100)) ?? [] {
                try? await queue.release([MediaRelease(held, body: [3], files: [file("a").sha256])])
            }
            for job in (try? await queue.dueMedia(upTo: 5, perHost: 5)) ?? [] {
                try? await queue.settle(media: MediaSettlement(job.id, .failed(MediaFailure(.dns, "x"))))
            }
            for lane in [Self.crm, Self.line] {
                for lease in try await claimAll(lane, of: queue) {
                    result.claimed.insert(lease.delivery)
                    _ = try? await queue.settle(Settlement(lease, .delivered(status: 200)))
                }
            }
        }
        _ = try? await queue.append([event(1000)])
        _ = try? await queue.append([event(1001)], of: request(1))
        _ = try? await queue.retry(DeliveryFilter(state: .dead))
        for number in 0..<5 { try? await queue.writeInAppRows(number, at: clock.now) }
        _ = try? await queue.withdraw(message: "m1")
        await readAll(of: queue)
        await clean(queue)
        let isRight = try? await queue.audit().isRight
        let isDamaged = await queue.isProbedAsDamaged
        result.isReported = isDamaged || isRight != true
        try? await queue.closeLane(Self.crm)
        try? await queue.giveBackFresh()
        try? queue.file.pool.close()
        return result
    }

    /// Like a lane, retries a failure at the next tick, a few times.
    private func claimAll(_ lane: DestinationName, of queue: SQLiteQueue) async throws -> [Lease] {
        var all: [Lease] = []
        var failures = 0
        while failures < 3 {
            do throws(StoreError) {
                let leases = try await queue.claim(from: lane, upTo: 7)
                if leases.isEmpty { break }
                all += leases
            } catch {
                failures += 1
            }
        }
        return all
    }

    private func readAll(of queue: SQLiteQueue) async {
        for record in (try? await queue.deliveries(DeliveryFilter(), limit: 1000)) ?? [] {
            _ = try? await queue.attempts(of: record.id)
            _ = try? await queue.event(record.event)
            _ = try? await queue.eventRecord(record.event)
        }
        _ = try? await queue.scheduledCount()
        _ = try? await queue.gauges()
        _ = try? await queue.counts()
        _ = try? await queue.eventCount()
        _ = try? await queue.statuses()
        _ = try? await queue.categories(limit: 100)
        _ = try? await queue.category("c1")
        _ = try? await queue.mediaGauges()
        for file in (try? await queue.mediaFiles(limit: 100)) ?? [] {
            _ = try? await queue.mediaFiles(after: file, limit: 1)
        }
        _ = try? await queue.mediaURLs(Set(MediaURLRecord.State.allCases), limit: 100)
        _ = try? await queue.nextMediaDue()
        _ = try? await queue.nextMediaUntil()
        _ = try? await queue.knownFiles(of: [file("a").sha256])
        await queue.readInAppRows(at: clock.now)
    }

    private func clean(_ queue: SQLiteQueue) async {
        clock.advance(by: 100 * 86_400)
        _ = try? await queue.remove(beyond: .init(ended: .seconds(1), dead: .seconds(1), bytes: 1))
        _ = try? await queue.removeMedia(beyond: .init(unused: .seconds(1), bytes: 0)) { _ in }
        _ = try? await queue.forgetMedia([file("a").sha256, file("b").sha256])
        _ = try? await queue.purge(DeliveryFilter())
        _ = try? await queue.fileBytes()
    }
}

extension SQLiteQueue {
    /// Whether readiness reports the damage.
    fileprivate var isProbedAsDamaged: Bool {
        get async {
            do throws(StoreError) {
                try await probe()
                return false
            } catch {
                return if case .damaged = error { true } else { false }
            }
        }
    }
}
