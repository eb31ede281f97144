import Foundation
import Logging
import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxGateway

/// The sleeps of the download service between two passes.
@Suite(.timeLimit(.minutes(15))) struct MediaSleepTests {
    private static let start = Date(timeIntervalSince1970: 1_795_210_140)
    private static let file = MediaFile(
        sha256: String(repeating: "a", count: 64), bytes: 3, contentType: "image/png")
    private let crm = DestinationName("crm")

    /// A queue and the service with one clock that only the test advances.
    private struct Bench: Sendable {
        let clock = ManualClock()
        let queue: SQLiteQueue
        /// Number of queries for deliveries to release: every pass starts with one.
        let looks: Looks

        init(in directory: String) throws {
            let (clock, looks) = (clock, Looks())
            self.looks = looks
            queue = try SQLiteQueue(
                in: directory,
                now: {
                    looks.note()
                    return start.addingTimeInterval(clock.elapsed / .seconds(1))
                }, elapsed: { clock.elapsed })
        }

        var now: Date { start.addingTimeInterval(clock.elapsed / .seconds(1)) }

        func service(download: @escaping @Sendable (MediaJob) async -> MediaOutcome) -> MediaService {
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            var settings = GatewayConfig.Media()
            settings.retry = Destination.Retry(attempts: 5, base: .zero, max: .zero)
            let clock = clock
            return MediaService(
                queue,
                MediaService.Setup(
                    settings: settings, href: { $0.sha256 }, transform: { event, _ in event }, download: download),
                logger: logger, clock: clock)
        }
    }

    /// Counts reads of the clock on demand. A class because the queue writes it and the test reads it.
    private final class Looks: Sendable {
        private let count = Mutex(0)
        private let seen: AsyncStream<Void>
        private let see: AsyncStream<Void>.Continuation

        init() { (seen, see) = AsyncStream.makeStream(of: Void.self) }

        func note() {
            count.withLock { $0 += 1 }
            see.yield()
        }

        var number: Int { count.withLock { $0 } }

        /// Returns after the next read.
        func next() async {
            for await _ in seen { return }
        }
    }

    /// An event whose delivery waits for a file.
    private func event(_ number: Int, wait: TimeInterval, at now: Date) -> RoutedEvent {
        let url = "https://a.example/\(number)"
        let body = #"{"id":"\#(number)","data":{"media":[{"url":"\#(url)","role":"icon","status":"skipped"}]}}"#
        var order = DeliveryOrder(to: crm)
        order.mediaUntil = now.addingTimeInterval(wait)
        return RoutedEvent(
            event: Event(
                id: EventID(at: now, random: (UInt64(number), 7)), source: .default, acceptedAt: now,
                vendor: .unknown, kind: .alert, warnings: [], body: Array(body.utf8)),
            routes: [], deliveries: [order], media: MediaWait(urls: [url]))
    }

    private static func stored(until date: Date) -> MediaOutcome {
        .stored(file, MediaFreshness(until: date), remarks: [])
    }

    @Test func isIdleWithoutWaitingDeliveries() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try Bench(in: directory)
            let service = bench.service { _ in Self.stored(until: Self.start) }
            try await service.open()
            let opened = bench.looks.number
            async let running: Void = service.runUntilDrained()
            // A pass begins with a read of the clock.
            while bench.looks.number == opened { await bench.looks.next() }
            for _ in 0..<1000 {
                bench.clock.advance(by: .milliseconds(200))
                await Task.yield()
                #expect(bench.clock.sleepers == 0)
            }
            service.stop()
            await running
            // Queries of one pass: the clock, held deliveries, due downloads, and the next due time.
            #expect(bench.looks.number - opened <= 3)
        }
    }

    @Test func startsARetriedDownloadWhenItIsDue() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try Bench(in: directory)
            let attempts = Replaceable<[Duration]>([])
            let clock = bench.clock
            let service = bench.service { _ in
                attempts.replace(by: attempts.value + [clock.elapsed])
                return attempts.value.count == 1
                    ? .interrupted(MediaFailure(.status, "answered 503"), after: .seconds(20))
                    : Self.stored(until: Self.start.addingTimeInterval(3600))
            }
            try await service.open()
            bench.queue.openLane(crm) {}
            try await bench.queue.append([event(1, wait: 3600, at: bench.now)])
            service.drain()
            async let running: Void = service.runUntilDrained()
            await clock.waitForSleeper(until: .seconds(20))
            clock.advance(by: .seconds(20))
            await running
            #expect(attempts.value == [.zero, .seconds(20)])
            #expect(try await bench.queue.claim(from: crm, upTo: 5).count == 1)
        }
    }

    @Test func releasesADeliveryWhenItsWaitIsOver() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try Bench(in: directory)
            let (never, end) = AsyncStream.makeStream(of: Void.self)
            let service = bench.service { _ in
                for await _ in never {}
                return .failed(MediaFailure(.timeout, "slow"))
            }
            try await service.open()
            bench.queue.openLane(crm) {}
            try await bench.queue.append([event(1, wait: 10, at: bench.now)])
            service.drain()
            async let running: Void = service.runUntilDrained()
            await bench.clock.waitForSleeper(until: .seconds(10))
            bench.clock.advance(by: .seconds(10))
            // No delivery waits, but the download is in flight.
            var leases: [Lease] = []
            while leases.isEmpty {
                leases = try await bench.queue.claim(from: crm, upTo: 5)
                await Task.yield()
            }
            #expect(String(decoding: leases[0].body, as: UTF8.self).contains(#""reason":"late""#))
            end.finish()
            await running
        }
    }

    /// During a long wait, the wall clock may be corrected in small steps.
    @Test func limitsSleepsToHalfAMinute() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try Bench(in: directory)
            let (never, end) = AsyncStream.makeStream(of: Void.self)
            let service = bench.service { _ in
                for await _ in never {}
                return Self.stored(until: Self.start)
            }
            try await service.open()
            try await bench.queue.append([event(1, wait: 3600, at: bench.now)])
            service.drain()
            async let running: Void = service.runUntilDrained()
            for second in [30, 60, 90] {
                await bench.clock.waitForSleeper(until: .seconds(second))
                bench.clock.advance(by: .seconds(30))
            }
            end.finish()
            await running
        }
    }

    /// The clock stands still: only wake-ups start a pass, and events arrive at different moments of it.
    @Test func noWakeUpIsLost() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try Bench(in: directory)
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            let service = bench.service { _ in
                begin.yield()
                return Self.stored(until: Self.start.addingTimeInterval(3600))
            }
            try await service.open()
            async let running: Void = service.runUntilDrained()
            var downloads = begun.makeAsyncIterator()
            for number in 0..<100 {
                try await bench.queue.append([event(number, wait: 3600, at: bench.now)])
                await downloads.next()
            }
            service.drain()
            await running
            #expect(try await bench.queue.nextMediaUntil() == nil)
        }
    }

    @Test func stopCancelsDownloadsOfFormerSetups() async throws {
        try await withTemporaryDirectory { directory in
            let bench = try Bench(in: directory)
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            let (never, end) = AsyncStream.makeStream(of: Void.self)
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let setup = MediaService.Setup(
                settings: GatewayConfig.Media(), href: { $0.sha256 }, transform: { event, _ in event },
                download: { _ in
                    begin.yield()
                    for await _ in never {}
                    return .interrupted(MediaFailure(.stopped, "stopped"), after: nil)
                })
            let service = MediaService(bench.queue, setup, cancel: { end.finish() }, logger: logger)
            try await service.open()
            async let running: Void = service.runUntilDrained()
            var downloads = begun.makeAsyncIterator()
            for number in 0..<3 {
                try await bench.queue.append([event(number, wait: 3600, at: bench.now)])
                await downloads.next()
                service.replace(by: setup)
            }
            service.stop()
            await running
            let jobs = try await bench.queue.dueMedia(
                upTo: 5, perHost: 5, busy: [:], excluding: [], dueSince: .distantPast)
            #expect(jobs.map(\.attempts) == [0, 0, 0])
        }
    }
}
