import Dispatch
import Foundation
import Logging
import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// Stops during downloads and removals. A read or write of a directory on a network may not end for minutes.
@Suite(.timeLimit(.minutes(15))) struct MediaStopTests {
    private static let now = Date(timeIntervalSince1970: 1_795_210_140)
    private let crm = DestinationName("crm")

    /// An event whose delivery waits for a file.
    private var event: RoutedEvent {
        let url = "https://a.example/i.png"
        let body = #"{"id":"1","data":{"media":[{"url":"\#(url)","role":"icon","status":"skipped"}]}}"#
        var order = DeliveryOrder(to: crm)
        order.mediaUntil = Self.now.addingTimeInterval(3600)
        return RoutedEvent(
            event: Event(
                id: EventID(at: Self.now, random: (1, 7)), source: .default, acceptedAt: Self.now, vendor: .unknown,
                kind: .alert, warnings: [], body: Array(body.utf8)),
            routes: [], deliveries: [order], media: MediaWait(urls: [url]))
    }

    private func service(
        _ queue: SQLiteQueue, exists: @escaping @Sendable () -> Bool = { true },
        cancel: @escaping @Sendable () -> Void = {}, log: LogLines = LogLines(), delayed: DelayedCall = .onQueue,
        download: @escaping @Sendable () async -> MediaOutcome
    ) -> MediaService {
        MediaService(
            queue,
            MediaService.Setup(
                settings: GatewayConfig.Media(), href: { $0.sha256 }, exists: { _ in exists() },
                patience: .seconds(600), transform: { event, _ in event }, download: { _ in await download() }),
            cancel: cancel, logger: log.logger, delayed: delayed)
    }

    @Test func downloadsInFlightCountAsNeverStarted() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { Self.now }, elapsed: { .zero })
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            let (never, cancel) = AsyncStream.makeStream(of: Void.self)
            let service = service(queue, cancel: { cancel.finish() }) {
                begin.yield()
                for await _ in never {}
                return .interrupted(MediaFailure(.reset, "stopped"), after: nil)
            }
            try await service.open()
            try await queue.append([event])
            async let running: Void = service.runUntilDrained()
            for await _ in begun { break }
            service.stop()
            await running
            let jobs = try await queue.dueMedia(upTo: 5, perHost: 5, busy: [:], excluding: [], dueSince: .distantPast)
            #expect(jobs.map(\.attempts) == [0])
        }
    }

    @Test func doesNotWaitForADownloadWhoseDiskHangs() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { Self.now }, elapsed: { .zero })
            let (begun, begin) = AsyncStream.makeStream(of: Void.self)
            let (hang, end) = AsyncStream.makeStream(of: Void.self)
            defer { end.finish() }
            let timer = ManualTimer()
            let service = service(queue, delayed: DelayedCall { timer.schedule(after: $0, $1) }) {
                begin.yield()
                // Not interrupted by a cancellation.
                await Task { for await _ in hang {} }.value
                return .interrupted(MediaFailure(.stopped, "stopped"), after: nil)
            }
            try await service.open()
            try await queue.append([event])
            async let running: Void = service.runUntilDrained()
            for await _ in begun { break }
            service.stop()
            timer.pass(MediaService.stopTime)
            await running
        }
    }

    /// The next process looks for the files.
    @Test func releasesNoDeliveryWithUncheckedFiles() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { Self.now }, elapsed: { .zero })
            let (asked, ask) = AsyncStream.makeStream(of: Void.self)
            let (answers, log) = (DispatchSemaphore(value: 0), LogLines())
            defer { answers.signal() }
            let service = service(
                queue,
                exists: {
                    ask.yield()
                    answers.wait()
                    return true
                }, log: log
            ) {
                let file = MediaFile(sha256: String(repeating: "a", count: 64), bytes: 3, contentType: "image/png")
                return .stored(file, MediaFreshness(until: Self.now.addingTimeInterval(60)), remarks: [])
            }
            try await service.open()
            queue.openLane(crm) {}
            try await queue.append([event])
            let running = Task { await service.runUntilDrained() }
            for await _ in asked { break }
            running.cancel()
            await running.value
            #expect(log.count(of: "Media directory does not answer; events link to its files unchecked.") == 0)
            #expect(try await queue.claim(from: crm, upTo: 5).isEmpty)
        }
    }

    @Test func doesNotWaitForARemovalWhoseDiskHangs() async {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (hang, end) = AsyncStream.makeStream(of: Void.self)
        defer { end.finish() }
        let (timer, clock) = (ManualTimer(), ManualClock())
        let work = MediaJanitor.Work(
            remove: { _ in .init() },
            sweep: {
                begin.yield()
                // Not interrupted by a cancellation.
                await Task { for await _ in hang {} }.value
                return 0
            }, bytes: { 0 })
        let janitor = MediaJanitor(
            MediaQuota(limit: { 1000 }), work: work, logger: LogLines().logger, clock: clock,
            elapsed: { clock.elapsed }, delayed: DelayedCall { timer.schedule(after: $0, $1) })
        let running = Task { await janitor.runUntilCancelled() }
        for await _ in begun { break }
        running.cancel()
        while timer.count == 0 { await Task.yield() }
        timer.pass(MediaService.stopTime)
        await running.value
    }
}
