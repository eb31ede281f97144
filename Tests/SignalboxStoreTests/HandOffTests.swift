import Foundation
import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxStore

@Suite struct HandOffTests {
    private let inbox = DestinationName("inbox")

    private func lease(_ number: Int64) -> Lease {
        Lease(delivery: number, event: "e\(number)", destination: inbox, attempts: 0, body: [])
    }

    private struct UnexpectedClaim: Error {}

    @Test func handsFreshDeliveriesOverOnce() throws {
        var handOff = HandOff()
        handOff.open(inbox)
        for number in 1...3 {
            let room = handOff.reserve(lease(Int64(number)))
            #expect(room)
            handOff.deliver(lease(Int64(number)))
        }
        guard case .leases(let first) = handOff.claim(from: inbox, upTo: 2) else { throw UnexpectedClaim() }
        guard case .leases(let second) = handOff.claim(from: inbox, upTo: 2) else { throw UnexpectedClaim() }
        #expect(first.map(\.delivery) == [1, 2])
        #expect(second.map(\.delivery) == [3])
    }

    @Test func takesOverdueDeliveriesOutOfTheWindow() throws {
        let now = Date(timeIntervalSince1970: 1_000_000)
        var handOff = HandOff()
        handOff.open(inbox)
        let expiries: [Date?] = [now, nil, now + 60, .afterFirstAttempt, now - 1]
        for (position, expiry) in expiries.enumerated() {
            let lease = Lease(
                delivery: Int64(position), event: "e", destination: inbox, attempts: 0, body: [1, 2], notAfter: expiry)
            let room = handOff.reserve(lease)
            #expect(room)
            handOff.deliver(lease)
        }
        let (early, due) = (handOff.takeOverdue(at: now - 10), handOff.takeOverdue(at: now))
        #expect(early.isEmpty)
        #expect(due.map(\.delivery) == [0, 4])
        #expect(handOff.isHeld(0, of: inbox), "until it is given back")
        #expect(handOff.reserved == 3 * (2 + HandOff.overhead))
        let later = handOff.takeOverdue(at: now + 60)
        #expect(later.map(\.delivery) == [2])
        guard case .leases(let left) = handOff.claim(from: inbox, upTo: 5) else { throw UnexpectedClaim() }
        #expect(left.map(\.delivery) == [1, 3])
        #expect(handOff.reserved == 0)
    }

    @Test func leavesDeliveriesBeyondTheWindowToTheStore() {
        var handOff = HandOff()
        handOff.open(inbox)
        for number in 0..<HandOff.window {
            let room = handOff.reserve(lease(Int64(number)))
            #expect(room)
        }
        let room = handOff.reserve(lease(Int64(HandOff.window)))
        #expect(!room)
    }

    @Test func aLaneReservesAtMostItsBytes() {
        var handOff = HandOff()
        handOff.open(inbox)
        let body = [UInt8](repeating: 7, count: HandOff.windowBytes / 4 - HandOff.overhead)
        for number in 0..<40 {
            let large = Lease(delivery: Int64(number), event: "e", destination: inbox, attempts: 0, body: body)
            let room = handOff.reserve(large)
            #expect(room == (handOff.lanes[inbox]?.fresh.count ?? 0 < 4))
            if room { handOff.deliver(large) }
            if number.isMultiple(of: 3) { _ = handOff.claim(from: inbox, upTo: 1) }
            #expect((handOff.lanes[inbox]?.fresh.count ?? 0) <= 4)
        }
    }

    /// A thousand slow destinations share the budget, and the first of them leave room for others.
    @Test func allLanesTogetherReserveAtMostTheBudget() {
        var handOff = HandOff(totalBytes: 8 * 1024 * 1024)
        let body = [UInt8](repeating: 7, count: 64 * 1024)
        let names = (0..<1000).map { DestinationName("d\($0)") }
        var next: Int64 = 0
        for (position, name) in names.enumerated() {
            handOff.open(name)
            var taken = 0
            for _ in 0..<300 {
                next += 1
                let lease = Lease(delivery: next, event: "e", destination: name, attempts: 0, body: body)
                guard handOff.reserve(lease) else { break }
                handOff.deliver(lease)
                taken += 1
            }
            if position < 5 { #expect(taken > 0, "\(name)") }
            #expect(handOff.reserved <= 8 * 1024 * 1024)
        }
        let held = handOff.lanes.values.reduce(0) { $0 + $1.fresh.reduce(0) { $0 + $1.bytes + HandOff.overhead } }
        #expect(handOff.reserved == held)
        for name in names { _ = handOff.takeFresh(of: [name]) }
        #expect(handOff.reserved == 0)
    }

    /// A delivery takes memory in addition to its event.
    @Test func reservesTheOverheadOfSmallDeliveries() {
        var handOff = HandOff(totalBytes: 100 * HandOff.overhead)
        handOff.open(inbox)
        let reserved = (0..<200).count { handOff.reserve(lease(Int64($0))) }
        #expect(reserved == 50, "a lane gets as many bytes as it leaves free")
        handOff.close(inbox)
        #expect(handOff.reserved == 0)
    }

    private func read(_ handOff: inout HandOff) throws -> Int {
        guard case .read(let number) = handOff.claim(from: inbox, upTo: 1) else { throw UnexpectedClaim() }
        return number
    }

    @Test func anUnfinishedReadingAllowsTheNextOne() throws {
        var handOff = HandOff()
        handOff.open(inbox)
        let first = try read(&handOff)
        guard case .leases = handOff.claim(from: inbox, upTo: 1) else { throw UnexpectedClaim() }
        handOff.end(first, of: inbox)
        #expect(handOff.lanes[inbox]?.reading == nil)
        let second = try read(&handOff)
        handOff.end(first, of: inbox)
        #expect(handOff.lanes[inbox]?.reading != nil, "the first has ended already")
        handOff.finishReading([], of: inbox)
        handOff.end(second, of: inbox)
        #expect(handOff.lanes[inbox]?.mayHaveMore == false, "it was finished")
    }

    @Test func anUnreadableDeliveryIsNotReadAgain() throws {
        var handOff = HandOff()
        handOff.open(inbox)
        _ = try read(&handOff)
        handOff.finishReading([], of: inbox, isComplete: false, unreadable: [7])
        #expect(handOff.isHeld(7, of: inbox))
    }

    /// Deliveries in the store are read even if fresh ones arrive all the time.
    @Test func readsTheStoreAfterSomeClaimsFromMemory() {
        var handOff = HandOff()
        handOff.open(inbox)
        var reads = 0
        for number in 0..<100 {
            if handOff.reserve(lease(Int64(number))) { handOff.deliver(lease(Int64(number))) }
            handOff.leaveToStore(inbox)
            if case .read = handOff.claim(from: inbox, upTo: 1) {
                reads += 1
                handOff.finishReading([], of: inbox)
            }
        }
        #expect(reads >= 100 / (HandOff.freshClaims + 1))
    }

    /// Only the store knows the first delivery of a key. The end of a lease lets the lane read it again.
    @Test func anOrderedLaneReadsTheStoreOnly() throws {
        var handOff = HandOff()
        handOff.open(inbox, isOrdered: true)
        let room = handOff.reserve(lease(1))
        #expect(!room)
        guard case .read = handOff.claim(from: inbox, upTo: 5) else { throw UnexpectedClaim() }
        handOff.finishReading([lease(1)], of: inbox)
        #expect(handOff.isHeld(1, of: inbox))
        guard case .leases(let none) = handOff.claim(from: inbox, upTo: 5) else { throw UnexpectedClaim() }
        #expect(none.isEmpty)
        handOff.release(lease(1), due: nil)
        guard case .read = handOff.claim(from: inbox, upTo: 5) else { throw UnexpectedClaim() }
    }

    @Test func aStaleReleaseKeepsALaterLease() {
        var handOff = HandOff()
        handOff.open(inbox, isOrdered: true)
        func lease(_ earlier: Int) -> Lease {
            Lease(delivery: 1, event: "e", destination: inbox, attempts: 0, earlier: earlier, body: [], orderKey: "a")
        }
        handOff.finishReading([lease(1)], of: inbox)
        handOff.release(lease(0), due: nil)
        #expect(handOff.isHeld(1, of: inbox) && handOff.lanes[inbox]?.heldKeys == ["a"])
        handOff.release(lease(1), due: nil)
        #expect(!handOff.isHeld(1, of: inbox) && handOff.lanes[inbox]?.heldKeys == [])
    }

    @Test func aRollbackRemovesItsReservations() {
        var handOff = HandOff()
        handOff.open(inbox)
        let room = handOff.reserve(lease(1))
        #expect(room)
        handOff.forget(lease(1))
        #expect(handOff.lanes[inbox]?.held.isEmpty == true)
        #expect(handOff.lanes[inbox]?.fresh.isEmpty == true)
    }

    /// Runs writer, reader and sender in random order against a table that stands for the store. Every delivery is
    /// leased, never twice at the same time, and never after it has been delivered.
    @Test(arguments: [1, 2, 3, 20_261_120] as [UInt64]) func leasesEveryDeliveryOnceAtATime(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var play = Play(handOff: HandOff(), inbox: inbox)
        play.handOff.open(inbox)
        for _ in 0..<20_000 { play.step(using: &random) }
        play.finish()
        #expect(play.delivered.count == play.appended, "seed \(seed)")
        #expect(play.doubled == 0, "seed \(seed)")
    }

    private struct Play {
        var handOff: HandOff
        let inbox: DestinationName
        var appended = 0
        var waiting: Set<Int64> = []
        var leased: Set<Int64> = []
        var delivered: Set<Int64> = []
        var doubled = 0
        /// The limit of the claim that has yet to read the store.
        var reading: Int?

        mutating func step(using random: inout SeededGenerator) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3: append(Int.random(in: 1...400, using: &random))
            case 4...6: claim(Int.random(in: 1...50, using: &random))
            case 7: finishRead()
            default: settle(again: Bool.random(using: &random), count: Int.random(in: 1...80, using: &random))
            }
        }

        mutating func append(_ count: Int) {
            guard appended < 5000 else { return }
            for _ in 0..<count {
                appended += 1
                let id = Int64(appended)
                waiting.insert(id)
                if handOff.reserve(lease(id)) { handOff.deliver(lease(id)) } else { handOff.leaveToStore(inbox) }
            }
        }

        mutating func claim(_ limit: Int) {
            guard reading == nil else { return }
            switch handOff.claim(from: inbox, upTo: limit) {
            case .leases(let leases): take(leases)
            case .read: reading = limit
            }
        }

        mutating func finishRead() {
            guard let limit = reading else { return }
            reading = nil
            let found = waiting.filter { !handOff.isHeld($0, of: inbox) }.sorted().prefix(limit).map(lease)
            handOff.finishReading(found, of: inbox, isComplete: false)
            take(found)
        }

        mutating func take(_ leases: [Lease]) {
            for lease in leases {
                if !leased.insert(lease.delivery).inserted || delivered.contains(lease.delivery) { doubled += 1 }
            }
        }

        mutating func settle(again: Bool, count: Int) {
            for id in leased.sorted().prefix(count) {
                leased.remove(id)
                if again, id.isMultiple(of: 7) {
                    handOff.release(lease(id), due: Date())
                    handOff.leaveToStore(inbox)
                } else {
                    waiting.remove(id)
                    delivered.insert(id)
                    handOff.release(lease(id), due: nil)
                }
            }
        }

        mutating func finish() {
            finishRead()
            while delivered.count < appended {
                handOff.leaveToStore(inbox)
                let before = delivered.count
                claim(100)
                finishRead()
                settle(again: false, count: 5000)
                if delivered.count == before, handOff.lanes[inbox]?.held.isEmpty == true, waiting.isEmpty { return }
            }
        }

        func lease(_ id: Int64) -> Lease {
            Lease(delivery: id, event: "e\(id)", destination: inbox, attempts: 0, body: [])
        }
    }
}

extension HandOff {
    fileprivate mutating func deliver(_ lease: Lease) { withLane(lease.destination) { $0.deliver(lease) } }
    fileprivate mutating func forget(_ lease: Lease) { withLane(lease.destination) { $0.forget(lease) } }
    fileprivate mutating func leaveToStore(_ destination: DestinationName) {
        withLane(destination) { $0.leaveToStore() }
    }

    fileprivate mutating func release(_ lease: Lease, due: Date?) {
        withLane(lease.destination) { $0.release(lease, due: due) }
    }

    fileprivate mutating func claim(from destination: DestinationName, upTo limit: Int) -> Lane.Claim {
        withLane(destination) { $0.claim(upTo: limit) } ?? .leases([])
    }

    fileprivate mutating func end(_ reading: Int, of destination: DestinationName) {
        withLane(destination) { $0.endReading(reading) }
    }

    fileprivate mutating func finishReading(
        _ leases: [Lease], of destination: DestinationName, isComplete: Bool = true, unreadable: [Int64] = []
    ) {
        var search = DueSearch(of: destination, limit: leases.count, Lanes())
        for lease in leases { search.add(.init(id: lease.delivery, key: lease.orderKey)) }
        (search.isComplete, search.unreadable) = (isComplete, unreadable)
        withLane(destination) { $0.finishReading(leases, of: search) }
    }
}
