import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Synchronization
import Testing

extension StoreConformance {
    /// Requests for files: an append requests the URLs of its event, each once for all events.
    /// ``DownloadStore/dueMedia(upTo:perHost:busy:excluding:dueSince:)`` returns due downloads; the caller keeps
    /// track of those in progress, so a crash loses none.
    ///
    /// Hosts take turns, and each has at most its share of concurrent downloads, so that a slow host does not delay the
    /// others. A download that failed rests until it is due, even across a restart. The signal of the downloads is
    /// called when one becomes due, when a delivery becomes ready, and at the tick after another process requested a
    /// file.
    static let downloads = [
        Self("aURLOfManyEventsIsRequestedOnce") { bench in
            let queue = try bench.open()
            try await queue.append((0..<3).map { bench.event($0, waitingFor: ["https://a.example/x.png"]) })
            try await queue.append([
                bench.event(3, waitingFor: ["https://a.example/x.png", "https://B.example:443/y.png"])
            ])
            for queue in [queue, try bench.open()] {
                let jobs = try await queue.dueMedia(upTo: 10, perHost: 4)
                #expect(jobs.map(\.url) == ["https://a.example/x.png", "https://B.example:443/y.png"])
                #expect(jobs.map(\.host) == ["https://a.example", "https://b.example"])
                #expect(jobs.map(\.attempts) == [0, 0])
                #expect(jobs.allSatisfy { $0.validators == nil })
            }
        },
        Self("aURLIsRequestedEvenIfNoDeliveryWaits") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, media: MediaWait(urls: ["https://a.example/x.png"]))])
            #expect(try await bench.claimNumbers(queue) == [1])
            #expect(try await queue.dueMedia(upTo: 10, perHost: 4).map(\.url) == ["https://a.example/x.png"])
            #expect(try await queue.nextMediaUntil() == nil)
        },
        Self("aHostGetsAtMostItsShareOldestFirst") { bench in
            let queue = try bench.open()
            for number in 0..<5 {
                try await queue.append([bench.event(number, waitingFor: ["https://a.example/\(number)"])])
                bench.clock.advance(by: 1)
            }
            let first = try await queue.dueMedia(upTo: 10, perHost: 2)
            #expect(first.map(\.url) == ["https://a.example/0", "https://a.example/1"])
            let second = try await queue.dueMedia(
                upTo: 10, perHost: 2, busy: ["https://a.example": 1], excluding: [first[0].id])
            #expect(second.map(\.url) == ["https://a.example/1"])
            let full = try await queue.dueMedia(
                upTo: 10, perHost: 2, busy: ["https://a.example": 2], excluding: Set(first.map(\.id)))
            #expect(full.isEmpty)
        },
        Self("recentDownloadsComeBeforeEarlierOnes") { bench in
            let queue = try bench.open()
            for n in 0..<5 {
                try await queue.append([bench.event(n, waitingFor: ["a", "b"].map { "https://\($0).example/\(n)" })])
                bench.clock.advance(by: 1)
            }
            let recent = bench.clock.now.addingTimeInterval(-2)
            let jobs = try await queue.dueMedia(upTo: 10, perHost: 4, busy: [:], excluding: [], dueSince: recent)
            let urls = ["a", "b"].flatMap { host in [3, 4, 2, 1].map { "https://\(host).example/\($0)" } }
            #expect(jobs.map(\.url) == urls)
            let begun = Set(jobs.filter { [urls[0], urls[2]].contains($0.url) }.map(\.id))
            let others = try await queue.dueMedia(upTo: 2, perHost: 2, busy: [:], excluding: begun, dueSince: recent)
            #expect(others.map(\.url) == [urls[1], urls[3]])
        },
        Self("hostsTakeTurns") { bench in
            let queue = try bench.open()
            let urls = ["a", "b", "c"].flatMap { host in (0..<2).map { "https://\(host).example/\($0)" } }
            try await queue.append([bench.event(1, waitingFor: urls)])
            var seen: [MediaJob] = []
            for _ in 0..<6 {
                seen += try await queue.dueMedia(upTo: 1, perHost: 2, excluding: Set(seen.map(\.id)))
            }
            #expect(
                seen.map(\.url) == [0, 1].flatMap { n in ["a", "b", "c"].map { "https://\($0).example/\(n)" } })
            #expect(try await queue.dueMedia(upTo: 1, perHost: 2, excluding: Set(seen.map(\.id))).isEmpty)
        },
        Self("aRetriedDownloadRestsUntilItIsDueAcrossARestart") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, waitingFor: ["https://a.example/x"])])
            let job = try await bench.onlyJob(queue)
            #expect(try await queue.nextMediaDue() == nil, "requested URLs are due")
            let due = bench.clock.now.addingTimeInterval(30)
            try await queue.settle(
                media: MediaSettlement(job.id, .retry(after: .seconds(30), MediaFailure(.timeout, "slow"))))
            // Another event with this URL does not end the rest.
            try await queue.append([bench.event(2, waitingFor: ["https://a.example/x"])])
            for queue in [queue, try bench.open()] {
                #expect(try await queue.nextMediaDue() == due)
                #expect(try await queue.dueMedia(upTo: 5, perHost: 5).isEmpty)
            }
            bench.clock.advance(by: 29)
            #expect(try await queue.dueMedia(upTo: 5, perHost: 5).isEmpty)
            bench.clock.advance(by: 1)
            #expect(try await bench.onlyJob(queue).attempts == 1)
            #expect(try await queue.heldDeliveries(upTo: 5).isEmpty)
        },
        Self("downloadsAreWokenWhenOneIsDueOrADeliveryIsReady") { bench in
            let queue = try bench.open()
            let count = Mutex(0)
            func wakes(_ body: () async throws -> Void) async throws -> Bool {
                count.withLock { $0 = 0 }
                try await body()
                return count.withLock { $0 } > 0
            }
            #expect(try await wakes { try await queue.openMedia { count.withLock { $0 += 1 } } })
            try await queue.tick()
            #expect(try await !wakes { try await queue.append([bench.event(1)]) })
            #expect(try await wakes { try await queue.append([bench.event(2, waitingFor: ["https://a.example/x"])]) })
            let job = try await bench.onlyJob(queue)
            #expect(try await wakes { try await queue.settle(media: bench.stored(job, "a")) })
            #expect(try await wakes { try await queue.append([bench.event(3, waitingFor: ["https://a.example/x"])]) })
            #expect(try await !wakes { try await queue.tick() })
            let other = try bench.open()
            try await other.append([bench.event(4, waitingFor: ["https://a.example/y"])])
            #expect(try await wakes { try await queue.tick() }, "requested by another process")
        },
    ]

    /// Ends of downloads: ``DownloadStore/settle(media:)`` records a stored file, an unchanged one, a failure, or a
    /// retry.
    ///
    /// A stored file serves later events until it is stale. It is then requested again with its validators (RFC 9110,
    /// 13.1), and the events before keep the file that they have. A failure counts for a minute, because the events
    /// of a campaign name the same URL. A file that the server no longer has is forgotten; one whose server does not
    /// answer may be used for longer.
    ///
    /// Settlements of a URL that was forgotten meanwhile change nothing. One file makes any number of events ready.
    static let settledMedia = [
        Self("aStaleFileIsRequestedAgain") { bench in
            let queue = try bench.open()
            let url = "https://a.example/x.png"
            try await queue.append([bench.event(1, waitingFor: [url])])
            let validators = MediaValidators(etag: "\"1\"", lastModified: "Mon, 23 Nov 2026 10:00:00 GMT")
            try await queue.settle(
                media: bench.stored(try await bench.onlyJob(queue), "a", validators: validators, for: 60))
            bench.clock.advance(by: 59)
            try await queue.append([bench.event(2, waitingFor: [url])])
            #expect(try await queue.dueMedia(upTo: 5, perHost: 5).isEmpty)
            #expect(try await queue.heldDeliveries(upTo: 5).map(\.number) == [1, 2])
            bench.clock.advance(by: 1)
            try await queue.append([bench.event(3, waitingFor: [url])])
            let job = try await bench.onlyJob(queue)
            #expect(job.validators == validators && job.stored == bench.file("a").sha256)
            let held = try await queue.heldDeliveries(upTo: 5)
            #expect(held.map(\.number) == [1, 2], "earlier events keep their settled files")
            #expect(held.allSatisfy { $0.media == [url: .stored(bench.file("a"), remarks: [])] })
            // The response sets a new freshness only; the ETag stays.
            let freshness = MediaFreshness(until: bench.clock.now.addingTimeInterval(10))
            try await queue.settle(media: MediaSettlement(job.id, .unchanged(freshness)))
            #expect(try await queue.heldDeliveries(upTo: 5).map(\.number) == [1, 2, 3])
            bench.clock.advance(by: 10)
            try await queue.append([bench.event(4, waitingFor: [url])])
            #expect(try await bench.onlyJob(queue).validators == validators)
        },
        Self("aFileCheckedByAClockThatWasAheadIsRequestedAgain") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, waitingFor: ["https://a.example/x"])])
            try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), "a"))
            bench.clock.set(by: -86_400)
            try await queue.append([bench.event(2, waitingFor: ["https://a.example/x"])])
            #expect(try await queue.dueMedia(upTo: 5, perHost: 5).count == 1)
        },
        Self("aFailureCountsForAMinute") { bench in
            let queue = try bench.open()
            let url = "https://a.example/x.png"
            try await queue.append([bench.event(1, waitingFor: [url])])
            let failure = MediaFailure(.timeout, "no answer for 20 s")
            let job = try await bench.onlyJob(queue)
            try await queue.settle(media: MediaSettlement(job.id, .retry(after: .zero, failure)))
            try await queue.settle(media: MediaSettlement(try await bench.onlyJob(queue).id, .failed(failure)))
            #expect(try await queue.mediaURLs(limit: 5).map(\.attempts) == [2])
            bench.clock.advance(by: 59)
            try await queue.append([bench.event(2, waitingFor: [url])])
            let held = try await queue.heldDeliveries(upTo: 5)
            #expect(held.map(\.media) == [[url: .failed(failure)], [url: .failed(failure)]])
            #expect(try await queue.dueMedia(upTo: 5, perHost: 5).isEmpty)
            bench.clock.advance(by: 1)
            try await queue.append([bench.event(3, waitingFor: [url])])
            #expect(try await bench.onlyJob(queue).attempts == 0)
            #expect(try await queue.heldDeliveries(upTo: 5).map(\.number) == [1, 2])
        },
        Self("aFileThatTheServerNoLongerHasIsForgotten") { bench in
            let queue = try bench.open()
            let job = try await bench.staleJob(queue)
            let failure = MediaFailure(.notFound, "answered 404")
            try await queue.settle(media: MediaSettlement(job.id, .failed(failure)))
            #expect(try await queue.heldDeliveries(upTo: 5).map(\.media) == [[job.url: .failed(failure)]])
            bench.clock.advance(by: 60)
            try await queue.append([bench.event(9, waitingFor: [job.url])])
            #expect(try await bench.onlyJob(queue).validators == nil)
        },
        Self("aFileIsUsedWhileItsServerDoesNotAnswer") { bench in
            let queue = try bench.open()
            let job = try await bench.staleJob(queue)
            let failure = MediaFailure(.refused, "not connected")
            try await queue.settle(media: MediaSettlement(job.id, .keptStale(failure, for: .seconds(60))))
            let stored = MediaState.stored(bench.file("old"), remarks: [])
            #expect(try await queue.heldDeliveries(upTo: 5).map(\.media) == [[job.url: stored]])
            try await queue.append([bench.event(8, waitingFor: [job.url])])
            #expect(try await queue.dueMedia(upTo: 5, perHost: 5).isEmpty)
            bench.clock.advance(by: 60)
            try await queue.append([bench.event(9, waitingFor: [job.url])])
            #expect(try await bench.onlyJob(queue).validators?.etag == "\"old\"")
        },
        Self("withoutAnOlderFileADownloadFails") { bench in
            let queue = try bench.open()
            let failure = MediaFailure(.refused, "not connected")
            try await queue.append([bench.event(1, waitingFor: ["https://a.example/x"])])
            let job = try await bench.onlyJob(queue)
            // A server that answers "not modified" to an unconditional request.
            let freshness = MediaFreshness(until: bench.clock.now.addingTimeInterval(60))
            try await queue.settle(media: MediaSettlement(job.id, .unchanged(freshness)))
            #expect(try await bench.onlyJob(queue) == job)
            #expect(try await queue.heldDeliveries(upTo: 5).isEmpty)
            try await queue.settle(media: MediaSettlement(job.id, .keptStale(failure, for: .zero)))
            #expect(try await queue.heldDeliveries(upTo: 5).map(\.media) == [[job.url: .failed(failure)]])
        },
        Self("aSettlementOfAForgottenURLChangesNothing") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, waitingFor: ["https://a.example/x"])])
            let job = try await bench.onlyJob(queue)
            let end = MediaSettlement.End.failed(MediaFailure(.dns, "no such host"))
            try await queue.settle(media: MediaSettlement(job.id + 1, end))
            #expect(try await bench.onlyJob(queue) == job)
        },
        Self("oneFileMakesTenThousandEventsReady") { bench in
            let queue = try bench.open()
            for start in stride(from: 0, to: 10_000, by: 500) {
                try await queue.append(
                    (start..<start + 500).map { bench.event($0, waitingFor: ["https://a.example/x"]) })
            }
            try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), "a"))
            var seen: Set<Int> = []
            while case let held = try await queue.heldDeliveries(upTo: 1000), !held.isEmpty {
                seen.formUnion(held.map(\.number))
                try await queue.release(held.map { MediaRelease($0, body: nil, files: []) })
            }
            #expect(seen == Set(0..<10_000))
            #expect(try await queue.nextMediaUntil() == nil)
            #expect(try await queue.audit().isRight)
        },
    ]
}

extension StoreBench {
    /// An event to `crm` that waits a minute for these URLs. `notBefore`, `notAfter`: the schedule of the delivery.
    /// `orderKey`: for ordered destinations.
    func event(
        _ number: Int, waitingFor urls: [String], notBefore: Date? = nil, notAfter: Date? = nil,
        orderKey: String? = nil
    ) -> RoutedEvent {
        var order = DeliveryOrder(to: crm, notBefore: notBefore, notAfter: notAfter, orderKey: orderKey)
        order.mediaUntil = clock.now.addingTimeInterval(60)
        return event(number, to: [order], media: MediaWait(urls: urls))
    }

    /// A file whose digest is derived from a word. Equal words give equal files.
    func file(_ word: String) -> MediaFile {
        let digits = word.utf8.map { String($0, radix: 16) }.joined()
        return MediaFile(
            sha256: digits + String(repeating: "0", count: 64 - digits.count), bytes: 1000, contentType: "image/png",
            width: 640, height: 480)
    }

    /// The settlement of a download that was stored. `seconds`: how long the file is fresh.
    func stored(
        _ job: MediaJob, _ word: String, validators: MediaValidators = MediaValidators(), for seconds: Double = 3600
    ) -> MediaSettlement {
        let freshness = MediaFreshness(validators: validators, until: clock.now.addingTimeInterval(seconds))
        return MediaSettlement(job.id, .stored(file(word), freshness, remarks: []))
    }

    /// The only due download. Fails the check unless there is exactly one.
    func onlyJob(_ queue: any Store) async throws -> MediaJob {
        let jobs = try await queue.dueMedia(upTo: 2, perHost: 2)
        #expect(jobs.count == 1)
        return try #require(jobs.first)
    }

    /// A download that event 2 waits for and that has an older file stored. The URL was stored ten seconds ago, with a
    /// freshness of one second.
    func staleJob(_ queue: any Store) async throws -> MediaJob {
        try await queue.append([event(1, waitingFor: ["https://a.example/x"])])
        try await queue.settle(
            media: stored(try await onlyJob(queue), "old", validators: MediaValidators(etag: "\"old\""), for: 1))
        let held = try await queue.heldDeliveries(upTo: 5)
        try await queue.release(held.map { MediaRelease($0, body: nil, files: []) })
        clock.advance(by: 10)
        try await queue.append([event(2, waitingFor: ["https://a.example/x"])])
        return try await onlyJob(queue)
    }
}

extension HeldDelivery {
    /// The number of its event.
    var number: Int { Int(String(decoding: body, as: UTF8.self)) ?? -1 }
}
