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

/// The removal of files, and the result of a flood of files.
@Suite(.timeLimit(.minutes(15))) struct MediaJanitorTests {
    private static let start = Date(timeIntervalSince1970: 1_795_210_140)

    private var logger: Logger {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }

    // MARK: Quota

    @Test func signalsOnceWhenExceeded() {
        let quota = MediaQuota(limit: { 1000 })
        quota.open()
        quota.willCount()
        quota.removed(left: 900)
        quota.add(100)
        #expect(!quota.isFull, "as much as is allowed")
        quota.add(1)
        #expect(quota.isFull)
        #expect(quota.target == 950, "a twentieth is made free")
        quota.willCount()
        quota.removed(left: 950)
        quota.add(50)
        #expect(!quota.isFull)
        quota.add(1)
        #expect(quota.isFull)
    }

    @Test func filesInUseDoNotSignalForEachFile() {
        let quota = MediaQuota(limit: { 1000 })
        quota.open()
        quota.add(1500)
        #expect(quota.isFull)
        quota.willCount()
        quota.removed(left: 1500)
        quota.add(50)
        #expect(!quota.isFull)
        quota.add(1)
        #expect(quota.isFull, "after another twentieth of the limit")
    }

    @Test func addsFilesStoredDuringTheCount() {
        let quota = MediaQuota(limit: { 1000 })
        quota.open()
        quota.add(1001)
        quota.willCount()
        quota.add(60)
        quota.removed(left: 950)
        #expect(!quota.isFull)
        quota.add(51)
        #expect(quota.isFull)
    }

    @Test func remembersFilesWhenACountFails() {
        let quota = MediaQuota(limit: { 1000 })
        quota.open()
        quota.add(900)
        quota.willCount()
        quota.removed(left: nil)
        quota.add(100)
        #expect(!quota.isFull)
        quota.add(1)
        #expect(quota.isFull)
    }

    @Test func doesNotPauseWithoutAJanitor() {
        let quota = MediaQuota(limit: { 1000 })
        quota.add(5000)
        #expect(!quota.isFull)
        quota.open()
        #expect(quota.isFull)
        quota.close()
        #expect(!quota.isFull)
    }

    // MARK: The janitor

    /// Requests of the janitor, and their results.
    private final class Files: Sendable {
        let state = Mutex((calls: [String](), removals: [Result<MediaJanitor.Removal, any Error>](), left: Int64(0)))
        private let calls: AsyncStream<String>
        private let call: AsyncStream<String>.Continuation
        private let isShared: Bool

        init(isShared: Bool = false) {
            self.isShared = isShared
            (calls, call) = AsyncStream.makeStream(of: String.self)
        }

        var work: MediaJanitor.Work {
            .init(
                remove: { bytes in
                    self.call.yield("remove \(bytes)")
                    return try self.state.withLock { $0.removals.isEmpty ? nil : $0.removals.removeFirst() }?.get()
                        ?? MediaJanitor.Removal()
                },
                sweep: {
                    self.call.yield("sweep")
                    return 0
                }, bytes: { self.state.withLock { $0.left } }, isShared: isShared)
        }

        func next(_ count: Int) async -> [String] {
            var seen: [String] = []
            for await word in calls {
                seen.append(word)
                if seen.count == count { break }
            }
            return seen
        }
    }

    private struct Broken: Error {}

    private func run(
        _ files: Files, limit: Int64 = 1000, _ body: (MediaQuota, ManualClock) async throws -> Void
    ) async throws {
        let (quota, clock) = (MediaQuota(limit: { limit }), ManualClock())
        let janitor = MediaJanitor(quota, work: files.work, logger: logger, clock: clock, elapsed: { clock.elapsed })
        try await withThrowingTaskGroup { group in
            group.addTask { await janitor.runUntilCancelled() }
            try await body(quota, clock)
            group.cancelAll()
        }
    }

    @Test func removesOldFilesOnceAnHour() async throws {
        let files = Files()
        try await run(files) { _, clock in
            #expect(await files.next(2) == ["remove 1000", "sweep"])
            await clock.waitForSleeper(until: .seconds(3600))
            clock.advance(by: .seconds(3600))
            #expect(await files.next(2) == ["remove 1000", "sweep"])
            await clock.waitForSleeper(until: .seconds(7200))
        }
    }

    @Test func removesFilesWhenTheQuotaIsExceeded() async throws {
        let files = Files()
        files.state.withLock { $0.removals = [.success(.init()), .success(.init(removed: 1, young: 2))] }
        try await run(files) { quota, clock in
            #expect(await files.next(2) == ["remove 1000", "sweep"])
            await clock.waitForSleeper(until: .seconds(3600))
            quota.add(1001)
            #expect(await files.next(1) == ["remove 950"])
            await clock.waitForSleeper(until: .seconds(600))
            #expect(!quota.isFull)
            clock.advance(by: .seconds(600))
            #expect(await files.next(2) == ["remove 1000", "sweep"])
            await clock.waitForSleeper(until: .seconds(4200))
        }
    }

    /// One process removes files, and others may have downloaded them.
    @Test func removesFilesThatOtherProcessesStored() async throws {
        let files = Files(isShared: true)
        try await run(files) { quota, clock in
            #expect(await files.next(2) == ["remove 1000", "sweep"])
            await clock.waitForSleeper(until: .seconds(60))
            files.state.withLock { $0.left = 1000 }
            clock.advance(by: .seconds(60))
            await clock.waitForSleeper(until: .seconds(120))
            files.state.withLock {
                $0.left = 1001
                $0.removals = [.success(.init(removed: 1))]
            }
            clock.advance(by: .seconds(60))
            #expect(await files.next(1) == ["remove 950"])
        }
    }

    @Test func removesFilesStoredDuringARemovalAndKeepsFilesInUse() async throws {
        let files = Files()
        files.state.withLock {
            $0.removals = [.success(.init(removed: 1)), .success(.init(removed: 1))]
            $0.left = 1500
        }
        try await run(files) { quota, clock in
            #expect(await files.next(4) == ["remove 1000", "remove 1000", "remove 1000", "sweep"])
            await clock.waitForSleeper(until: .seconds(3600))
            quota.add(50)
            #expect(!quota.isFull)
            quota.add(1)
            #expect(await files.next(1) == ["remove 950"])
        }
    }

    @Test func failedRemovalDoesNotPauseDownloads() async throws {
        let files = Files()
        files.state.withLock { $0.removals = [.success(.init()), .failure(Broken())] }
        try await run(files) { quota, clock in
            #expect(await files.next(2) == ["remove 1000", "sweep"])
            await clock.waitForSleeper(until: .seconds(3600))
            let (freed, free) = AsyncStream.makeStream(of: Void.self)
            quota.whenFree { free.yield() }
            quota.add(1001)
            #expect(await files.next(1) == ["remove 950"])
            for await _ in freed { break }
            #expect(!quota.isFull)
        }
    }

    // MARK: A flood

    /// At the start of each download, stored files exceed the limit at most by the downloads in flight.
    @Test func floodStaysWithinTheLimit() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { Self.start }, elapsed: { .zero })
            let (quota, clock) = (MediaQuota(limit: { 20_000 }), ManualClock())
            let runs = Mutex(0)
            let janitor = MediaJanitor(
                quota,
                work: .init(
                    remove: { bytes in
                        runs.withLock { $0 += 1 }
                        let count = try await queue.removeMedia(
                            beyond: .init(unused: .seconds(86_400), bytes: bytes), pause: {}, gone: { _ in })
                        return .init(removed: count)
                    }, sweep: { 0 }, bytes: { try await queue.mediaBytes() }), logger: logger, clock: clock,
                elapsed: { clock.elapsed })
            var settings = GatewayConfig.Media()
            (settings.concurrency, settings.perHost) = (4, 4)
            let most = Mutex(Int64(0))
            let service = MediaService(
                queue,
                MediaService.Setup(
                    settings: settings, href: { $0.sha256 }, transform: { event, _ in event },
                    download: { job in
                        let bytes = (try? await queue.mediaBytes()) ?? .max
                        most.withLock { $0 = max($0, bytes) }
                        let digest = String(repeating: "0", count: 56) + String(job.id + 0x1000_0000, radix: 16)
                        return .stored(
                            MediaFile(sha256: digest, bytes: 1000, contentType: "image/png"),
                            MediaFreshness(until: Self.start.addingTimeInterval(3600)), remarks: [])
                    }), quota: quota, logger: logger, clock: clock)
            try await service.open()
            try await withThrowingTaskGroup { group in
                group.addTask { await janitor.runUntilCancelled() }
                group.addTask { await service.runUntilDrained() }
                for number in 0..<400 { try await queue.append([event(number)]) }
                while try await queue.mediaGauges().wanted > 0 { await Task.yield() }
                service.stop()
                group.cancelAll()
                try await group.waitForAll()
            }
            let (peak, count) = (most.withLock { $0 }, runs.withLock { $0 })
            // And the four downloads in flight when the quota was exceeded.
            #expect(peak > 18_000 && peak <= 24_000, "\(peak)")
            #expect(count > 2 && count < 400, "\(count)")
        }
    }

    /// A download whose file no delivery waits for.
    private func event(_ number: Int) -> RoutedEvent {
        RoutedEvent(
            event: Event(
                id: EventID(at: Self.start, random: (UInt64(number), 7)), source: .default, acceptedAt: Self.start,
                vendor: .unknown, kind: .alert, warnings: [], body: Array("{}".utf8)),
            routes: [], deliveries: [], media: MediaWait(urls: ["https://a.example/\(number)"]))
    }
}
