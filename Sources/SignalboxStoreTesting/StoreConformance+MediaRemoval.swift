import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Used by checks that need one URL only.
    private static let url = "https://a.example/x.png"
    private static let day: TimeInterval = 86_400

    /// Returns the digests that the store has forgotten, in their order. `days`: since the last use. `bytes`: the
    /// quota for all files together.
    private static func remove(
        _ queue: any Store, days: Double = 30, bytes: Int64 = .max
    ) async throws -> [String] {
        var gone: [String] = []
        let count = try await queue.removeMedia(
            beyond: .init(unused: .seconds(days * day), bytes: bytes), gone: { gone += $0 })
        #expect(count == gone.count)
        return gone
    }

    /// Appends an event with one file, and delivers it. `word`: names the file and its URL. The file is stale after a
    /// second.
    private static func deliver(_ word: String, _ bench: StoreBench, _ queue: any Store) async throws {
        try await queue.append([bench.event(1, waitingFor: ["https://a.example/\(word)"])])
        try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), word, for: 1))
        let held = try await queue.heldDeliveries(upTo: 1)
        try await queue.release(held.map { MediaRelease($0, body: nil, files: [bench.file(word).sha256]) })
        try await queue.settle(bench.claimOne(queue), .delivered(status: 200))
    }

    /// Delivers every due delivery to `crm`. Claims until none is due.
    private static func deliverAll(_ bench: StoreBench, _ queue: any Store) async throws {
        try await queue.tick()
        while case let leases = try await queue.claim(from: bench.crm, upTo: 500), !leases.isEmpty {
            for lease in leases { try await queue.settle(lease, .delivered(status: 200)) }
        }
    }

    /// Removal of files: ``UpkeepStore/removeMedia(beyond:pause:gone:)`` forgets files by their last use, and beyond
    /// the quota the least recently used first. The caller removes their content from the disk.
    ///
    /// A file stays while a waiting delivery points to it or may come to point to it, even beyond the quota. Using a
    /// file keeps it. A file with many URLs and events is forgotten in steps, between which other writes run. The URL
    /// of a forgotten file is requested from scratch: the server must send the whole file. A failure is forgotten
    /// after a day.
    static let mediaRemoval = [
        Self("aFileIsRemovedOnceItsLastUseIsTooLongAgo") { bench in
            let queue = try bench.open()
            try await deliver("a", bench, queue)
            bench.clock.advance(by: 20 * day)
            try await deliver("b", bench, queue)
            bench.clock.advance(by: 10 * day)
            #expect(try await remove(queue).isEmpty)
            bench.clock.advance(by: 1)
            #expect(try await remove(queue) == [bench.file("a").sha256])
            #expect(try await queue.mediaFiles(limit: 5).map(\.file) == [bench.file("b")])
            // Its URL is forgotten too.
            try await queue.append([bench.event(2, waitingFor: ["https://a.example/a"])])
            #expect(try await bench.onlyJob(queue).validators == nil)
        },
        Self("usingAFileKeepsIt") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, waitingFor: [url])])
            try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), "a", for: 100 * day))
            for _ in 0..<4 {
                bench.clock.advance(by: 20 * day)
                try await queue.append([bench.event(2, waitingFor: [url])])
                let held = try await queue.heldDeliveries(upTo: 5)
                try await queue.release(held.map { MediaRelease($0, body: nil, files: [bench.file("a").sha256]) })
                try await deliverAll(bench, queue)
                #expect(try await remove(queue).isEmpty)
            }
        },
        Self("keepsFilesThatWaitingDeliveriesNeed") { bench in
            let queue = try bench.open()
            // One is held. One is released and waits for an attempt. One points to a file that was stored before.
            let urls = ["a", "b"].map { "https://a.example/\($0)" }
            for (number, url) in urls.enumerated() {
                try await queue.append([bench.event(number, waitingFor: [url])])
                try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), String(url.suffix(1))))
            }
            let held = try await queue.heldDeliveries(upTo: 5)
            try await queue.release([MediaRelease(held[1], body: nil, files: [bench.file("b").sha256])])
            try await queue.append([bench.event(7, files: [bench.file("c")])])
            // One file is not used by any delivery.
            try await queue.append([bench.event(8, waitingFor: [url])])
            try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), "d"))
            try await queue.release(
                try await queue.heldDeliveries(upTo: 5).filter { $0.number == 8 }
                    .map { MediaRelease($0, body: nil, files: []) })
            bench.clock.advance(by: 50)
            #expect(try await remove(queue, bytes: 0) == [bench.file("d").sha256])
            try await deliverAll(bench, queue)
            #expect(Set(try await remove(queue, bytes: 0)) == Set(["b", "c"].map { bench.file($0).sha256 }))
            try await queue.release([MediaRelease(held[0], body: nil, files: [bench.file("a").sha256])])
            #expect(try await remove(queue, bytes: 0).isEmpty, "it waits for its attempt")
            try await deliverAll(bench, queue)
            #expect(try await remove(queue, bytes: 0) == [bench.file("a").sha256])
        },
        Self("removesTheLeastRecentlyUsedFilesFirst") { bench in
            let queue = try bench.open()
            for word in ["a", "b", "c", "d"] {
                try await deliver(word, bench, queue)
                bench.clock.advance(by: 7200)
            }
            // Each has 1000 bytes.
            #expect(try await remove(queue, bytes: 4000).isEmpty)
            #expect(try await remove(queue, bytes: 2500) == ["a", "b"].map { bench.file($0).sha256 })
            #expect(try await queue.mediaGauges().bytes == 2000)
        },
        Self("aFileOfManyURLsAndEventsIsRemovedInSteps") { bench in
            let queue = try bench.open()
            let urls = (0..<1200).map { "https://a.example/\($0)" }
            try await queue.append([bench.event(1, waitingFor: urls)])
            for job in try await queue.dueMedia(upTo: 2000, perHost: 2000) {
                try await queue.settle(media: bench.stored(job, "a"))
            }
            for start in stride(from: 0, to: 1200, by: 400) {
                try await queue.append(
                    (start..<start + 400).map { bench.event($0, files: [bench.file("a")]) })
            }
            let held = try await queue.heldDeliveries(upTo: 1)
            try await queue.release(held.map { MediaRelease($0, body: nil, files: [bench.file("a").sha256]) })
            try await deliverAll(bench, queue)
            var steps = 0
            var gone: [String] = []
            _ = try await queue.removeMedia(
                beyond: .init(unused: .seconds(day), bytes: 0), pause: { steps += 1 }, gone: { gone += $0 })
            #expect(gone == [bench.file("a").sha256])
            #expect(steps >= 2)
            #expect(try await queue.mediaGauges().stored == 0)
        },
        Self("keepsTheURLsOfAFileThatAnOldDeliveryNeeds") { bench in
            let queue = try bench.open()
            try await queue.append([
                bench.event(1, to: [DeliveryOrder(to: bench.inbox)], files: [bench.file("a")])
            ])
            try await queue.append([bench.event(2, waitingFor: [url])])
            try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), "a"))
            let held = try await queue.heldDeliveries(upTo: 1)
            try await queue.release(held.map { MediaRelease($0, body: nil, files: []) })
            // More events than one step reads, all of them delivered.
            try await queue.append((0..<400).map { bench.event($0, files: [bench.file("a")]) })
            try await queue.append((400..<800).map { bench.event($0, files: [bench.file("a")]) })
            try await deliverAll(bench, queue)
            #expect(try await remove(queue, bytes: 0).isEmpty)
            try await queue.append([bench.event(3, waitingFor: [url])])
            #expect(try await queue.dueMedia(upTo: 5, perHost: 5).isEmpty, "the file is still fresh")
        },
        Self("aForgottenFileIsDownloadedAgainWithANewBudget") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, waitingFor: [url])])
            let job = try await bench.onlyJob(queue)
            let failure = MediaFailure(.timeout, "no answer for 20 s")
            try await queue.settle(media: MediaSettlement(job.id, .retry(after: .zero, failure)))
            try await queue.settle(media: bench.stored(job, "a"))
            bench.clock.advance(by: 5)
            try await queue.forgetMedia([bench.file("a").sha256])
            let urls = try await queue.mediaURLs(limit: 5)
            #expect(urls.map(\.state) == [.wanted])
            #expect(urls.map(\.attempts) == [0])
            #expect(urls.map(\.wantedAt) == [bench.clock.now])
            #expect(try await bench.onlyJob(queue).validators == nil)
        },
        Self("aRequestedURLOutlivesItsFileAndStartsFromScratch") { bench in
            let queue = try bench.open()
            let job = try await bench.staleJob(queue)
            #expect(job.validators != nil)
            // No delivery waits for it any longer.
            bench.clock.advance(by: 60)
            let held = try await queue.heldDeliveries(upTo: 5)
            try await queue.release(held.map { MediaRelease($0, body: nil, files: []) })
            #expect(try await remove(queue, bytes: 0) == [bench.file("old").sha256])
            let again = try await bench.onlyJob(queue)
            #expect(again.id == job.id && again.validators == nil)
            let freshness = MediaFreshness(until: bench.clock.now.addingTimeInterval(60))
            try await queue.settle(media: MediaSettlement(job.id, .unchanged(freshness)))
            #expect(try await bench.onlyJob(queue) == again, "the unchanged file was removed")
        },
        Self("aFailureIsForgottenAfterADay") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, media: MediaWait(urls: [url]))])
            let failure = MediaFailure(.notFound, "answered 404")
            try await queue.settle(media: MediaSettlement(try await bench.onlyJob(queue).id, .failed(failure)))
            bench.clock.advance(by: day)
            _ = try await remove(queue)
            #expect(try await queue.mediaURLs(limit: 5).map(\.failure) == [failure])
            bench.clock.advance(by: 1)
            _ = try await remove(queue)
            #expect(try await queue.mediaURLs(limit: 5).isEmpty)
        },
        Self("filesAreFoundByTheirDigest") { bench in
            let queue = try bench.open()
            try await deliver("a", bench, queue)
            let digests = ["a", "b"].map { bench.file($0).sha256 }
            #expect(try await queue.knownFiles(of: digests) == [digests[0]])
            #expect(try await queue.knownFiles(of: []).isEmpty)
        },
    ]

    /// Files and downloads as operators see them: pages of files by their last use and of URLs by their number, and
    /// counts for metrics.
    static let mediaInspection = [
        Self("filesAndURLsAreListedPageByPage") { bench in
            let queue = try bench.open()
            for word in ["a", "b", "c"] {
                try await deliver(word, bench, queue)
                bench.clock.advance(by: 7200)
            }
            let first = try await queue.mediaFiles(limit: 2)
            #expect(first.map(\.file) == ["c", "b"].map { bench.file($0) })
            #expect(first.map(\.urls) == [["https://a.example/c"], ["https://a.example/b"]])
            #expect(try await queue.mediaFiles(after: first.last, limit: 2).map(\.file) == [bench.file("a")])
            let digests = ["b", "d"].map { bench.file($0).sha256 }
            #expect(try await queue.knownFiles(of: digests) == [digests[0]])

            let urls = (0..<3).map { "https://b.example/\($0)" }
            try await queue.append([bench.event(1, waitingFor: urls)])
            let jobs = try await queue.dueMedia(upTo: 5, perHost: 5)
            let failure = MediaFailure(.timeout, "no answer for 20 s")
            let due = bench.clock.now.addingTimeInterval(30)
            try await queue.settle(media: MediaSettlement(jobs[0].id, .retry(after: .seconds(30), failure)))
            try await queue.settle(media: MediaSettlement(jobs[1].id, .failed(failure)))
            let page = try await queue.mediaURLs(limit: 2)
            #expect(page.map(\.url) == [urls[2], urls[1]])
            #expect(page.map(\.state) == [.wanted, .failed])
            #expect(page.map(\.failure) == [nil, failure])
            #expect(page.map(\.checkedAt) == [nil, bench.clock.now])
            let rest = try await queue.mediaURLs([.wanted, .resting, .failed], before: page.last?.id, limit: 2)
            #expect(rest.map(\.url) == [urls[0]])
            #expect(rest.map(\.state) == [.resting])
            #expect(rest.map(\.attempts) == [1])
            #expect(rest.map(\.due) == [due])
            #expect(try await queue.mediaURLs([.stored], limit: 5).map(\.sha256).count == 3)
        },
        Self("aFileThatIsUsedBetweenTwoPagesIsListed") { bench in
            let queue = try bench.open()
            for word in ["a", "b", "c"] {
                try await deliver(word, bench, queue)
                bench.clock.advance(by: 7200)
            }
            let first = try await queue.mediaFiles(numberedAfter: 0, limit: 1)
            #expect(first.map(\.file) == [bench.file("a")])
            try await queue.append([bench.event(1, files: [bench.file("b")])])
            let rest = try await queue.mediaFiles(numberedAfter: try #require(first.last).id, limit: 5)
            #expect(rest.map(\.file) == ["b", "c"].map { bench.file($0) })
        },
        Self("expiredFilesAreRequestedByTheNextEvent") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, waitingFor: [url])])
            let validators = MediaValidators(etag: "\"1\"")
            try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), "a", validators: validators))
            let held = try await queue.heldDeliveries(upTo: 5)
            try await queue.release(held.map { MediaRelease($0, body: nil, files: []) })
            try await queue.expireMedia([bench.file("a").sha256, bench.file("other").sha256])
            #expect(try await queue.dueMedia(upTo: 5, perHost: 5).isEmpty)
            #expect(try await queue.mediaGauges().files == 1)
            try await queue.append([bench.event(2, waitingFor: [url])])
            let job = try await bench.onlyJob(queue)
            #expect(job.stored == bench.file("a").sha256)
            #expect(job.validators == nil, "a server would confirm a file whose size is wrong")
            #expect(try await queue.heldDeliveries(upTo: 5).isEmpty)
        },
        Self("countsRequestedStoredFailedAndHeld") { bench in
            let queue = try bench.open()
            try await deliver("a", bench, queue)
            try await queue.append([bench.event(1, waitingFor: (0..<3).map { "https://b.example/\($0)" })])
            let jobs = try await queue.dueMedia(upTo: 5, perHost: 5)
            let failure = MediaFailure(.timeout, "no answer for 20 s")
            try await queue.settle(media: MediaSettlement(jobs[0].id, .retry(after: .zero, failure)))
            try await queue.settle(media: MediaSettlement(jobs[1].id, .failed(failure)))
            let gauges = try await queue.mediaGauges()
            #expect(gauges.wanted == 2 && gauges.stored == 1 && gauges.failed == 1, "\(gauges)")
            #expect(gauges.files == 1 && gauges.bytes == 1000 && gauges.held == 1, "\(gauges)")
        },
    ]
}
