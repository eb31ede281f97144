import Foundation
import SignalboxModel
import SignalboxTesting
import Testing

@testable import SignalboxStore

@Suite struct HandOffTests {
    private let inbox = DestinationName("inbox")

    private func lease(_ number: Int64) -> Lease {
        Lease(delivery: number, event: "e\(number)", destination: inbox, attempts: 0, body: [])
    }

    private struct NothingGiven: Error {}

    @Test func handsFreshDeliveriesOverOnce() throws {
        var handOff = HandOff()
        handOff.open(inbox)
        for number in 1...3 {
            let room = handOff.reserve(Int64(number), for: inbox)
            #expect(room)
            handOff.deliver(lease(Int64(number)))
        }
        guard case .leases(let first) = handOff.claim(from: inbox, upTo: 2) else { throw NothingGiven() }
        guard case .leases(let second) = handOff.claim(from: inbox, upTo: 2) else { throw NothingGiven() }
        #expect(first.map(\.delivery) == [1, 2])
        #expect(second.map(\.delivery) == [3])
    }

    @Test func leavesWhatFindsNoRoomToTheFile() {
        var handOff = HandOff()
        handOff.open(inbox)
        for number in 0..<HandOff.window {
            let room = handOff.reserve(Int64(number), for: inbox)
            #expect(room)
        }
        let room = handOff.reserve(Int64(HandOff.window), for: inbox)
        #expect(!room)
    }

    @Test func neverGivesOutWhatIsHeldOrWasLetGoDuringARead() throws {
        var handOff = HandOff()
        handOff.open(inbox)
        let room = handOff.reserve(1, for: inbox)
        #expect(room)
        handOff.deliver(lease(1))
        guard case .leases = handOff.claim(from: inbox, upTo: 1) else { throw NothingGiven() }
        guard case .read(held: 1) = handOff.claim(from: inbox, upTo: 5) else { throw NothingGiven() }
        // The reader has seen 1 as waiting; meanwhile 1 is delivered and committed.
        handOff.release(lease(1), due: nil)
        let found = handOff.finishReading([lease(1), lease(2)], of: inbox, upTo: 5, isWhole: true, nextDue: nil)
        #expect(found.map(\.delivery) == [2])
        handOff.release(lease(2), due: nil)
        #expect(handOff.lanes[inbox]?.held.isEmpty == true)
    }

    @Test func aRollbackLeavesNoTrace() {
        var handOff = HandOff()
        handOff.open(inbox)
        let room = handOff.reserve(1, for: inbox)
        #expect(room)
        handOff.forget(lease(1))
        #expect(handOff.lanes[inbox]?.held.isEmpty == true)
        #expect(handOff.lanes[inbox]?.fresh.isEmpty == true)
    }

    /// Plays writer, reader and sender in random order against a table that stands for the file: every delivery is given
    /// out, none twice at the same time, none after it was delivered.
    @Test(arguments: [1, 2, 3, 20_261_120] as [UInt64]) func losesAndDoublesNothing(seed: UInt64) {
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
        var reading: (snapshot: [Int64], limit: Int)?

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
                if handOff.reserve(id, for: inbox) { handOff.deliver(lease(id)) } else { handOff.leaveToFile(inbox) }
            }
        }

        mutating func claim(_ limit: Int) {
            guard reading == nil else { return }
            switch handOff.claim(from: inbox, upTo: limit) {
            case .leases(let leases): take(leases)
            case .read(let held): reading = (Array(waiting.sorted().prefix(limit + held)), limit)
            }
        }

        mutating func finishRead() {
            guard let (snapshot, limit) = reading else { return }
            reading = nil
            take(
                handOff.finishReading(
                    snapshot.map(lease), of: inbox, upTo: limit, isWhole: false, nextDue: nil))
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
                    handOff.leaveToFile(inbox)
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
                handOff.leaveToFile(inbox)
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
