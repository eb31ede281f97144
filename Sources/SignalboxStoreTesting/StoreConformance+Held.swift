import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    private static let url = "https://a.example/x.png"
    private static let other = "https://b.example/y.png"

    /// Deliveries that wait for files. ``DownloadStore/heldDeliveries(upTo:)`` lists those whose files are all
    /// settled, and then those whose wait is over. None of them can be claimed before its release.
    ///
    /// Each delivery has a wait of its own, because routes have different patience. When the wait is over, the
    /// delivery has the files that are stored by then; downloads continue for later events. A delivery that is not
    /// released is sent unchanged a minute later, so that a stopped media service cannot hold it back. The exception
    /// is an event that a route is yet to transform: its stored form may contain values that the destination must not
    /// receive.
    ///
    /// A wait survives a restart. It ends with its delivery, for example when that expires or is purged.
    static let held = [
        Self("holdsOnlyDeliveriesThatWaitForFiles") { bench in
            let event = bench.event(1, waitingFor: [url])
            let first = try bench.open()
            try await first.append([event.with(deliveries: event.deliveries + [DeliveryOrder(to: bench.inbox)])])
            for isFirst in [true, false] {
                let queue = isFirst ? first : try bench.open()
                #expect(try await bench.claimNumbers(queue).isEmpty)
                #expect(try await queue.claim(from: bench.inbox, upTo: 5).map(\.number) == [1])
                #expect(try await queue.heldDeliveries(upTo: 5).isEmpty)
                #expect(try await queue.nextMediaUntil() == bench.clock.now.addingTimeInterval(60))
                #expect(try await bench.count(.waiting, in: queue) == 1)
                #expect(try await queue.audit().isRight)
            }
        },
        Self("aDeliveryIsReadyOnceAllItsFilesAreSettled") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, waitingFor: [url, other]), bench.event(2, waitingFor: [other])])
            let jobs = try await queue.dueMedia(upTo: 5, perHost: 5)
            #expect(jobs.map(\.url) == [url, other])
            let freshness = MediaFreshness(until: bench.clock.now.addingTimeInterval(60))
            try await queue.settle(
                media: MediaSettlement(
                    jobs[0].id, .stored(bench.file("a"), freshness, remarks: [.contentType, .fileExtension])))
            #expect(try await queue.heldDeliveries(upTo: 5).isEmpty)
            let failure = MediaFailure(.html, "it is HTML")
            try await queue.settle(media: MediaSettlement(jobs[1].id, .failed(failure)))
            for queue in [queue, try bench.open()] {
                let held = try await queue.heldDeliveries(upTo: 5)
                #expect(held.map(\.number) == [1, 2])
                #expect(held.map(\.destination) == [bench.crm, bench.crm])
                #expect(held.last?.media == [other: .failed(failure)])
                #expect(
                    held.first?.media == [
                        url: .stored(bench.file("a"), remarks: [.contentType, .fileExtension]),
                        other: .failed(failure),
                    ])
                #expect(try await queue.heldDeliveries(upTo: 1).map(\.number) == [1])
            }
        },
        Self("aDeliveryWhoseWaitIsOverHasTheFilesThatAreStored") { bench in
            let queue = try bench.open()
            let job = try await bench.staleJob(queue)
            try await queue.append([bench.event(3, waitingFor: [job.url, other])])
            bench.clock.advance(by: 59)
            #expect(try await queue.heldDeliveries(upTo: 5).isEmpty)
            bench.clock.advance(by: 1)
            let held = try await queue.heldDeliveries(upTo: 5)
            let old = MediaState.stored(bench.file("old"), remarks: [])
            #expect(held.map(\.number) == [2, 3])
            #expect(held.map(\.media) == [[job.url: old], [job.url: old, other: .pending]])
            #expect(try await queue.dueMedia(upTo: 5, perHost: 5).count == 2, "both are still requested")
        },
        Self("eachDeliveryHasItsOwnWait") { bench in
            let queue = try bench.open()
            let event = bench.event(1, waitingFor: [url])
            var order = DeliveryOrder(to: bench.inbox)
            order.mediaUntil = bench.clock.now.addingTimeInterval(5)
            try await queue.append([event.with(deliveries: event.deliveries + [order])])
            bench.clock.advance(by: 5)
            let first = try await queue.heldDeliveries(upTo: 5)
            #expect(first.map(\.destination) == [bench.inbox])
            #expect(first.map(\.media) == [[url: .pending]])
            try await queue.release(first.map { MediaRelease($0, body: [7], files: []) })
            #expect(try await queue.claim(from: bench.inbox, upTo: 5).map(\.body) == [[7]])
            try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), "a"))
            let second = try await queue.heldDeliveries(upTo: 5)
            #expect(second.map(\.destination) == [bench.crm])
            #expect(second.map(\.media) == [[url: .stored(bench.file("a"), remarks: [])]])
        },
        Self("anEventThatARouteIsYetToTransformIsNeverLeased") { bench in
            let queue = try bench.open()
            let event = bench.event(1, waitingFor: [url])
            var order = event.deliveries[0]
            order.transformRoute = "redacting"
            try await queue.append([event.with(deliveries: [order])])
            for _ in 0..<3 {
                bench.clock.advance(by: 3600)
                try await queue.tick()
                #expect(try await bench.claimNumbers(queue).isEmpty)
            }
            let held = try await queue.heldDeliveries(upTo: 5)
            #expect(held.map(\.transformRoute) == ["redacting"])
            try await queue.release(held.map { MediaRelease($0, body: [9], files: []) })
            #expect(try await bench.claimOne(queue).body == [9])
        },
        Self("aDeliveryThatIsNotReleasedIsSentUnchangedAMinuteLater") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, waitingFor: [url])])
            bench.clock.advance(by: 119)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            let held = try await queue.heldDeliveries(upTo: 5)
            bench.clock.advance(by: 1)
            try await queue.tick()
            let lease = try await bench.claimOne(queue)
            #expect(lease.number == 1)
            // Too late: its attempt has begun.
            try await queue.release(held.map { MediaRelease($0, body: [9], files: []) })
            try await queue.settle(lease, .failed(after: 0))
            try await queue.tick()
            #expect(try await bench.claimOne(queue).number == 1)
            #expect(try await queue.nextMediaUntil() == nil)
        },
        Self("aRestartGivesAMinuteToRelease") { bench in
            try await bench.open().append([
                bench.event(1, waitingFor: [url]),
                bench.event(2, waitingFor: [url], notBefore: bench.clock.now.addingTimeInterval(90_000)),
            ])
            bench.clock.advance(by: 86_400)
            let queue = try bench.location.open(bench.clock)
            try await queue.openMedia {}
            queue.openLane(bench.crm) {}
            bench.clock.advance(by: 59)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            #expect(try await queue.heldDeliveries(upTo: 5).map(\.number) == [1, 2])
            bench.clock.advance(by: 1)
            #expect(try await bench.claimNumbers(queue) == [1])
        },
        Self("aHeldDeliveryThatEndsLosesItsWait") { bench in
            let queue = try bench.open()
            let notAfter = bench.clock.now.addingTimeInterval(30)
            try await queue.append((1...5).map { bench.event($0, waitingFor: [url], notAfter: notAfter) })
            try await queue.append([bench.event(6, waitingFor: [url])])
            try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), "a"))
            let held = try await queue.heldDeliveries(upTo: 6)
            bench.clock.advance(by: 30)
            try await queue.tick()
            #expect(try await bench.count(.expired, in: queue) == 5)
            try await queue.release(held.prefix(1).map { MediaRelease($0, body: [9], files: []) })
            #expect(try await queue.heldDeliveries(upTo: 2).map(\.number) == [6], "behind those that ended")
            let last = try #require(held.last)
            #expect(try await queue.purge(DeliveryFilter(ids: [last.delivery])) == 1)
            #expect(try await queue.heldDeliveries(upTo: 5).isEmpty)
            #expect(try await queue.nextMediaUntil() == nil)
            try await queue.release([MediaRelease(last, body: [9], files: [])])
            #expect(try await bench.count(.expired, in: queue) == 5)
            #expect(try await queue.audit().isRight)
        },
        Self("retryKeepsHeldDeliveriesWaiting") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, waitingFor: [url])])
            #expect(try await queue.retry(DeliveryFilter(destination: bench.crm)) == 0)
            #expect(try await bench.claimNumbers(queue).isEmpty)
        },
        Self("aHeldDeliveryBlocksLaterOnesOfItsKey") { bench in
            let queue = try bench.open(isOrdered: true)
            try await queue.append([
                bench.event(1, waitingFor: [url], orderKey: "k"),
                bench.event(2, to: [DeliveryOrder(to: bench.crm, orderKey: "k")]),
                bench.event(3, to: [DeliveryOrder(to: bench.crm, orderKey: "l")]),
            ])
            #expect(try await bench.claimNumbers(queue) == [3])
            try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), "a"))
            let held = try await queue.heldDeliveries(upTo: 5)
            try await queue.release(held.map { MediaRelease($0, body: nil, files: []) })
            let first = try await bench.claimOne(queue)
            #expect(first.number == 1)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            try await queue.settle(first, .delivered(status: 200))
            #expect(try await bench.claimNumbers(queue) == [2])
        },
    ]

    /// The release of held deliveries: ``DownloadStore/release(_:)`` sets the final body and makes the delivery due,
    /// in one commit with the other releases.
    ///
    /// A scheduled time still applies afterwards. The stored event keeps its form; a destination with a variant
    /// receives its media in that variant. A delivery of an event whose files are all stored is ready at once, but it
    /// must still be released. An append that fails requests no file.
    static let released = [
        Self("aReleasedDeliveryIsDueWithItsNewBody") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, waitingFor: [url]), bench.event(2, waitingFor: [url])])
            let job = try await bench.onlyJob(queue)
            try await queue.settle(media: bench.stored(job, "a"))
            let held = try await queue.heldDeliveries(upTo: 5)
            try await queue.release([
                MediaRelease(held[0], body: Array("11".utf8), files: [bench.file("a").sha256]),
                MediaRelease(held[1], body: nil, files: []),
            ])
            #expect(try await bench.claimNumbers(queue) == [11, 2])
            let next = try bench.open()
            #expect(try await bench.claimNumbers(next) == [11, 2])
            #expect(try await next.heldDeliveries(upTo: 5).isEmpty)
            #expect(try await next.nextMediaUntil() == nil)
            let event = try #require(try await next.deliveries(DeliveryFilter(ids: [held[0].delivery]), limit: 1).first)
            #expect(try await next.eventRecord(event.event)?.body == Array("1".utf8), "the event is unchanged")
            #expect(try await next.audit().isRight)
        },
        Self("aReleasedDeliveryWaitsForItsScheduledTime") { bench in
            let queue = try bench.open()
            let notBefore = bench.clock.now.addingTimeInterval(600)
            try await queue.append([bench.event(1, waitingFor: [url], notBefore: notBefore)])
            try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), "a"))
            let held = try await queue.heldDeliveries(upTo: 5)
            try await queue.release(held.map { MediaRelease($0, body: Array("11".utf8), files: []) })
            bench.clock.advance(by: 599)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            bench.clock.advance(by: 1)
            #expect(try await bench.claimNumbers(queue) == [11])
        },
        Self("aDestinationWithAVariantReceivesItsMediaInThatVariant") { bench in
            let queue = try bench.open()
            var orders = [DeliveryOrder(to: bench.crm), DeliveryOrder(to: bench.inbox)]
            for position in orders.indices { orders[position].mediaUntil = bench.clock.now.addingTimeInterval(60) }
            orders[1].variant = 0
            let event = bench.event(1, to: orders, variants: [Array("2".utf8)], media: MediaWait(urls: [url]))
            try await queue.append([event])
            try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), "a"))
            let held = try await queue.heldDeliveries(upTo: 5)
            #expect(held.map(\.number) == [1, 2])
            try await queue.release(held.map { MediaRelease($0, body: $0.body + [48], files: []) })
            #expect(try await queue.claim(from: bench.crm, upTo: 5).map(\.number) == [10])
            #expect(try await queue.claim(from: bench.inbox, upTo: 5).map(\.number) == [20])
            let stored = try #require(try await queue.event(event.event.id.description))
            #expect(stored.variants == [Array("20".utf8)], "without variants that differ in their media only")
        },
        Self("aStoredFileMakesAnEventReadyAtOnce") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, waitingFor: [url])])
            try await queue.settle(media: bench.stored(try await bench.onlyJob(queue), "a"))
            try await queue.append([bench.event(2, waitingFor: [url]), bench.event(3, waitingFor: [])])
            let held = try await queue.heldDeliveries(upTo: 5)
            #expect(held.map(\.number) == [1, 2, 3])
            #expect(held[2].media == [:])
            #expect(try await bench.claimNumbers(queue).isEmpty, "it has to be released first")
        },
        Self("aFailedAppendRequestsNoFile") { bench in
            let queue = try bench.open()
            let taken = bench.event(1)
            try await queue.append([taken])
            await #expect(throws: StoreError.self) {
                try await queue.append([bench.event(2, waitingFor: [url]), taken])
            }
            #expect(try await queue.dueMedia(upTo: 5, perHost: 5).isEmpty)
            #expect(try await queue.nextMediaUntil() == nil)
        },
    ]
}
