import Dispatch
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

@Suite(.timeLimit(.minutes(15))) struct MediaServiceTests {
    private static let now = Date(timeIntervalSince1970: 1_795_210_140)
    private static let file = MediaFile(
        sha256: String(repeating: "a", count: 64), bytes: 3, contentType: "image/png")
    private let retry = Destination.Retry(attempts: 3, base: .seconds(2), max: .seconds(60))
    private let crm = DestinationName("crm")

    private func end(_ outcome: MediaOutcome, number: Int, random: Double = 0.5) -> MediaSettlement.End {
        MediaService.end(of: outcome, number: number, by: retry, random: random)
    }

    @Test func retriesTemporaryFailuresWithBackoff() {
        let failure = MediaFailure(.timeout, "slow")
        #expect(
            end(.interrupted(failure, after: nil), number: 1) == .retry(after: .seconds(1), failure))
        #expect(
            end(.interrupted(failure, after: nil), number: 2) == .retry(after: .seconds(2), failure))
        #expect(
            end(.interrupted(failure, after: .seconds(30)), number: 1)
                == .retry(after: .seconds(31), failure), "on top of what was asked for")
        #expect(
            end(.interrupted(failure, after: .seconds(1_000_000)), number: 1, random: 0)
                == .retry(after: .seconds(86_400), failure), "no longer than a day")
    }

    @Test func keepsTheStoredFileAfterTheLastAttempt() {
        let failure = MediaFailure(.refused, "down")
        #expect(
            end(.interrupted(failure, after: nil), number: 3)
                == .keptStale(failure, for: .seconds(600)))
    }

    @Test func doesNotRetryPermanentFailures() {
        let failure = MediaFailure(.tls, "expired")
        #expect(end(.failed(failure), number: 1) == .failed(failure))
    }

    /// An event whose delivery waits for a file.
    private func event(_ number: Int, url: String, transformRoute: String? = nil) -> RoutedEvent {
        let body = #"{"id":"\#(number)","data":{"media":[{"url":"\#(url)","role":"icon","status":"skipped"}]}}"#
        var order = DeliveryOrder(to: crm)
        order.mediaUntil = Self.now.addingTimeInterval(3600)
        order.transformRoute = transformRoute
        return RoutedEvent(
            event: Event(
                id: EventID(at: Self.now, random: (UInt64(number), 7)), source: .default, acceptedAt: Self.now,
                vendor: .unknown, kind: .alert, warnings: [], body: Array(body.utf8)),
            routes: [], deliveries: [order], media: MediaWait(urls: [url]))
    }

    private func service(
        _ queue: SQLiteQueue, exists: @escaping @Sendable () -> Bool = { true },
        patience: Duration = .seconds(600), log: LogLines = LogLines(), concurrency: Int = 16,
        shortestWait: Duration? = nil,
        download: @escaping @Sendable (MediaJob) async -> MediaOutcome
    ) -> MediaService {
        var settings = GatewayConfig.Media()
        settings.retry = Destination.Retry(attempts: 5, base: .zero, max: .zero)
        settings.concurrency = concurrency
        return MediaService(
            queue,
            MediaService.Setup(
                settings: settings, shortestWait: shortestWait, href: { "/media/" + $0.sha256 },
                exists: { _ in exists() },
                patience: patience,
                transform: { event, route in Array("\(route) of \(event.count > 0)".utf8) },
                download: download), logger: log.logger)
    }

    @Test func releasesDeliveriesWithTheirFilesTransformed() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { Self.now }, elapsed: { .zero })
            let service = service(queue) { job in
                job.url.hasSuffix("good")
                    ? .stored(Self.file, MediaFreshness(until: Self.now.addingTimeInterval(60)), remarks: [])
                    : .failed(MediaFailure(.html, "a page"))
            }
            try await service.open()
            queue.openLane(crm) {}
            try await queue.append([
                event(1, url: "https://a.example/good"), event(2, url: "https://a.example/bad"),
                event(3, url: "https://a.example/good", transformRoute: "short"),
            ])
            service.drain()
            await service.runUntilDrained()
            let bodies = try await queue.claim(from: crm, upTo: 5).map { String(decoding: $0.body, as: UTF8.self) }
            #expect(bodies.count == 3)
            #expect(bodies[0].contains(#""status":"stored""#) && bodies[0].contains("/media/aaaa"))
            #expect(bodies[1].contains(#""status":"failed","reason":"html""#))
            #expect(bodies[2] == "short of true")
        }
    }

    /// The host is slower than its new URLs arrive.
    @Test func prefersDownloadsThatCanBeInTime() async throws {
        try await withTemporaryDirectory { directory in
            for age in [20.0, 15, 0] {
                let queue = try SQLiteQueue(
                    in: directory, now: { Self.now.addingTimeInterval(-age) }, elapsed: { .zero })
                try await queue.append([event(Int(age), url: "https://a.example/\(Int(age))")])
            }
            let queue = try SQLiteQueue(in: directory, now: { Self.now }, elapsed: { .zero })
            let order = Mutex<[String]>([])
            let service = service(queue, concurrency: 1, shortestWait: .seconds(30)) { job in
                order.withLock { $0.append(job.url) }
                return .failed(MediaFailure(.html, "a page"))
            }
            try await service.open()
            service.drain()
            await service.runUntilDrained()
            #expect(order.withLock(\.self) == ["15", "0", "20"].map { "https://a.example/" + $0 })
        }
    }

    @Test func releasesADeliveryWithoutALinkToAVanishedFile() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { Self.now }, elapsed: { .zero })
            let service = service(queue, exists: { false }) { _ in
                .stored(Self.file, MediaFreshness(until: Self.now.addingTimeInterval(60)), remarks: [])
            }
            try await service.open()
            queue.openLane(crm) {}
            try await queue.append([event(1, url: "https://a.example/gone")])
            service.drain()
            await service.runUntilDrained()
            let body = try #require(try await queue.claim(from: crm, upTo: 5).first).body
            #expect(String(decoding: body, as: UTF8.self).contains(#""status":"failed","reason":"storage""#))
        }
    }

    /// A server may call a file fresh for a year.
    @Test func theNextEventDownloadsAVanishedFileAgain() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { Self.now }, elapsed: { .zero })
            let (downloads, log) = (Counter(), LogLines())
            queue.openLane(crm) {}
            for (number, exists) in [(1, false), (2, true), (3, true)] {
                let service = service(queue, exists: { exists }, log: log) { _ in
                    _ = downloads.next()
                    return .stored(Self.file, MediaFreshness(until: Self.now.addingTimeInterval(3600)), remarks: [])
                }
                try await service.open()
                try await queue.append([event(number, url: "https://a.example/i.png")])
                service.drain()
                await service.runUntilDrained()
            }
            let bodies = try await queue.claim(from: crm, upTo: 5).map { String(decoding: $0.body, as: UTF8.self) }
            #expect(bodies.map { $0.contains(#""status":"stored""#) } == [false, true, true])
            #expect(downloads.next() == 3, "one for each of the first two events")
            #expect(log.count(of: "Stored media files are missing; the next events download them again.") == 1)
        }
    }

    /// A directory on a network may not answer for minutes.
    @Test func looksForFilesOutsideOfSwiftTasks() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { Self.now }, elapsed: { .zero })
            let isInTask = Replaceable<Bool?>(nil)
            let service = service(
                queue,
                exists: {
                    isInTask.replace(by: withUnsafeCurrentTask { $0 != nil })
                    return true
                }
            ) { _ in .stored(Self.file, MediaFreshness(until: Self.now.addingTimeInterval(60)), remarks: []) }
            try await service.open()
            try await queue.append([event(1, url: "https://a.example/i.png")])
            service.drain()
            await service.runUntilDrained()
            #expect(isInTask.value == false)
        }
    }

    @Test func deliveriesDoNotWaitForADirectoryThatDoesNotAnswer() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { Self.now }, elapsed: { .zero })
            let (answers, log) = (DispatchSemaphore(value: 0), LogLines())
            defer { answers.signal() }
            let service = service(
                queue,
                exists: {
                    answers.wait()
                    return true
                }, patience: .milliseconds(10), log: log
            ) { _ in .stored(Self.file, MediaFreshness(until: Self.now.addingTimeInterval(60)), remarks: []) }
            try await service.open()
            queue.openLane(crm) {}
            try await queue.append((1...3).map { event($0, url: "https://a.example/\($0).png") })
            service.drain()
            await service.runUntilDrained()
            let bodies = try await queue.claim(from: crm, upTo: 5).map { String(decoding: $0.body, as: UTF8.self) }
            #expect(bodies.map { $0.contains(#""status":"stored""#) } == [true, true, true])
            #expect(log.count(of: "Media directory does not answer; events link to its files unchecked.") == 1)
        }
    }

    @Test func downloadsAURLOnceForAllWaitingDeliveries() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { Self.now }, elapsed: { .zero })
            let asked = Replaceable(0)
            let service = service(queue) { _ in
                asked.replace(by: asked.value + 1)
                return .stored(Self.file, MediaFreshness(until: Self.now.addingTimeInterval(60)), remarks: [])
            }
            try await service.open()
            queue.openLane(crm) {}
            try await queue.append((1...50).map { event($0, url: "https://a.example/i.png") })
            service.drain()
            await service.runUntilDrained()
            #expect(asked.value == 1)
            #expect(try await queue.claim(from: crm, upTo: 100).count == 50)
        }
    }

    /// The downloads of a full disk fail by the hundred.
    @Test func anOutageOfTheStorageIsLoggedOnceWithItsEnd() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory, now: { Self.now }, elapsed: { .zero })
            let log = LogLines()
            let service = service(queue, log: log) { [calls = Counter()] _ in
                calls.next() < 4
                    ? .interrupted(MediaFailure(.storage, "disk full"), after: nil)
                    : .stored(Self.file, MediaFreshness(until: Self.now.addingTimeInterval(60)), remarks: [])
            }
            try await service.open()
            queue.openLane(crm) {}
            try await queue.append([event(1, url: "https://a.example/i.png")])
            service.drain()
            await service.runUntilDrained()
            #expect(log.count(of: "Cannot store media files; events have none, or older ones.") == 1)
            #expect(log.count(of: "Download failed.") == 3)
            #expect(log.count(of: "Media files stored again.") == 1)
        }
    }
}
