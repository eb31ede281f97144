import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Ordered destinations: deliveries with equal keys are leased one after the other, in the order of their
    /// appends. Deliveries without a key, or with different keys, are not held back.
    ///
    /// A delivery that waits for its next attempt blocks its own key only, even in another process and after a crash.
    /// One that ends in any state unblocks it. After a manual retry, a delivery waits for a successor that is in
    /// progress.
    ///
    /// Keys take turns: neither a long queue of one key nor a blocked key starves the others.
    static let orders = [
        Self("leasesEqualKeysOneAfterAnother") { bench in
            let queue = try bench.open(isOrdered: true)
            try await queue.append(["a", "b", "a", "b", "a"].enumerated().map { bench.event($0, under: $1) })
            var lines: [[Int]] = []
            while case let leases = try await queue.claim(from: bench.crm, upTo: 10), !leases.isEmpty {
                lines.append(leases.map(\.number).sorted())
                #expect(try await bench.claimNumbers(queue).isEmpty, "the others wait for these")
                for lease in leases { try await queue.settle(lease, .delivered(status: 200)) }
            }
            #expect(lines == [[0, 1], [2, 3], [4]])
        },
        Self("aWaitingDeliveryBlocksItsOwnKeyOnly") { bench in
            let queue = try bench.open(isOrdered: true)
            try await queue.append(["a", "a", "b", "b"].enumerated().map { bench.event($0, under: $1) })
            for lease in try await queue.claim(from: bench.crm, upTo: 10) {
                try await queue.settle(lease, lease.number == 0 ? .failed(after: 30) : .delivered(status: 200))
            }
            #expect(try await bench.claimNumbers(queue) == [3])
            #expect(try await bench.claimNumbers(bench.open(isOrdered: true)) == [3], "in another process, too")
            bench.clock.advance(by: 30)
            #expect(try await bench.claimNumbers(queue) == [0])
        },
        Self("aDeadDeliveryUnblocksItsKey") { bench in
            let queue = try bench.open(isOrdered: true)
            try await queue.append((0..<3).map { bench.event($0, under: "a") })
            try await queue.settle(bench.claimOne(queue), .refused)
            let second = try await bench.claimOne(queue)
            #expect(second.number == 1)
            try await queue.settle(second, .expired)
            #expect(try await bench.claimNumbers(queue) == [2])
        },
        Self("aDeliveryThatExpiresInTheQueueUnblocksItsKey") { bench in
            let queue = try bench.open(isOrdered: true)
            let over = DeliveryOrder(to: bench.crm, notAfter: bench.clock.now.addingTimeInterval(10), orderKey: "a")
            try await queue.append([bench.event(0, to: [over]), bench.event(1, under: "a")])
            bench.clock.advance(by: 20)
            #expect(try await bench.claimNumbers(queue) == [1], "at once, without another wake-up")
        },
        Self("aDeliveryThatExpiresAtATickUnblocksItsKey") { bench in
            let queue = try bench.open(isOrdered: true)
            _ = try await bench.makeBlockedLine(in: queue)
            bench.clock.advance(by: 20)
            try await queue.tick()
            #expect(try await bench.claimNumbers(queue) == [1])
        },
        Self("aRemovedDeliveryUnblocksItsKey") { bench in
            let queue = try bench.open(isOrdered: true)
            let first = try await bench.makeBlockedLine(in: queue)
            #expect(try await queue.purge(DeliveryFilter(ids: [first])) == 1)
            try await queue.tick()
            #expect(try await bench.claimNumbers(queue) == [1])
        },
        Self("aRetriedDeliveryWaitsForItsSuccessorInProgress") { bench in
            let queue = try bench.open(isOrdered: true)
            try await queue.append(["a", "a", "b"].enumerated().map { bench.event($0, under: $1) })
            let first = try await bench.claimOne(queue)
            try await queue.settle(first, .refused)
            let second = try await bench.claimOne(queue)
            #expect((first.number, second.number) == (0, 2), "keys take turns")
            try await queue.settle(second, .delivered(status: 200))
            let successor = try await bench.claimOne(queue)
            #expect(successor.number == 1)
            #expect(try await queue.retry(DeliveryFilter(ids: [first.delivery])) == 1)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            try await queue.settle(successor, .delivered(status: 200))
            #expect(try await bench.claimNumbers(queue) == [0])
        },
        Self("aLongLineDoesNotStarveOthers") { bench in
            let queue = try bench.open(isOrdered: true)
            try await queue.append((0..<400).map { bench.event($0, under: "a") })
            try await queue.append((400..<403).map { bench.event($0, under: "b\($0)") })
            var seen: [Int] = []
            for _ in 0..<8 {
                // One at a time: otherwise the queue of `a` would always go first.
                let lease = try await bench.claimOne(queue)
                seen.append(lease.number)
                try await queue.settle(lease, .delivered(status: 200))
            }
            #expect(Set(seen).isSuperset(of: [400, 401, 402]), "\(seen)")
            #expect(seen.filter { $0 < 400 } == Array(0..<5))
        },
        Self("aLongBlockedLineDoesNotStarveOthers") { bench in
            let queue = try bench.open(isOrdered: true)
            try await queue.append((0..<1000).map { bench.event($0, under: "a") })
            try await queue.settle(bench.claimOne(queue), .failed(after: 60))
            try await queue.append((1000..<1020).map { bench.event($0, under: "z\($0)") })
            #expect(try await bench.claimNumbers(queue, upTo: 50).sorted() == Array(1000..<1020))
        },
        Self("aReadyKeyBehindManyThatAreNotDueIsServed") { bench in
            let queue = try bench.open(isOrdered: true)
            let later = bench.clock.now.addingTimeInterval(60)
            for start in stride(from: 0, to: 2500, by: 500) {
                try await queue.append((start..<start + 500).map { bench.event($0, under: "k\($0)", at: later) })
            }
            try await queue.append([bench.event(2500, under: "z")])
            #expect(try await bench.claimNumbers(queue) == [2500])
            #expect(try await bench.claimNumbers(queue).isEmpty)
            bench.clock.advance(by: 60)
            #expect(try await bench.claimNumbers(queue).count == 100)
        },
        Self("orderHoldsAcrossACrash") { bench in
            let queue = try bench.open(isOrdered: true)
            try await queue.append((0..<3).map { bench.event($0, under: "a") })
            try await queue.settle(bench.claimOne(queue), .delivered(status: 200))
            _ = try await bench.claimOne(queue)
            #expect(try await bench.claimNumbers(bench.open(isOrdered: true)) == [1])
        },
    ]
}

extension StoreBench {
    /// Two deliveries of one key. The first one waits for a retry in a minute and expires before it. The lane has found
    /// nothing to send. Returns the number of the first one.
    fileprivate func makeBlockedLine(in queue: any Store) async throws -> Int64 {
        let order = DeliveryOrder(to: crm, notAfter: clock.now.addingTimeInterval(10), orderKey: "a")
        try await queue.append([event(0, to: [order])])
        let first = try await claimOne(queue)
        try await queue.settle(first, .failed(after: 60))
        try await queue.append([event(1, under: "a")])
        #expect(try await claimNumbers(queue).isEmpty)
        return first.delivery
    }

    /// An event with a delivery to `crm`, which the check opens with `isOrdered`.
    fileprivate func event(_ number: Int, under key: String, at date: Date? = nil) -> RoutedEvent {
        event(number, to: [DeliveryOrder(to: crm, notBefore: date, orderKey: key)])
    }
}
