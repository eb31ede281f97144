import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

@Suite struct BatchTests {
    private let start = Duration.zero
    private let date = Date(timeIntervalSince1970: 1_800_000_000)

    private func lease(_ number: Int64, attempts: Int = 0, bytes: Int = 10, notAfter: Date? = nil) -> Lease {
        Lease(
            delivery: number, event: "event-\(number)", destination: DestinationName("hook"), attempts: attempts,
            body: Array(repeating: UInt8(ascii: "x"), count: bytes), notAfter: notAfter)
    }

    private func cutter(count: Int = 3, bytes: Int = 100) -> BatchCutter {
        BatchCutter(Destination.Batch(count: count, bytes: bytes, age: .seconds(1)))
    }

    private func numbers(_ batches: [[Lease]]) -> [[Int64]] { batches.map { $0.map(\.delivery) } }

    @Test func completesABatchAtItsCount() {
        var cutter = cutter()
        #expect(cutter.add(lease(1), at: start, wallClock: date).isEmpty)
        #expect(cutter.add(lease(2), at: start, wallClock: date).isEmpty)
        #expect(numbers(cutter.add(lease(3), at: start, wallClock: date)) == [[1, 2, 3]])
        #expect(cutter.count == 0)
        #expect(cutter.due == nil)
    }

    @Test func limitsTheBytesOfABatch() {
        var cutter = cutter(count: 100)
        #expect(cutter.add(lease(1, bytes: 60), at: start, wallClock: date).isEmpty)
        #expect(numbers(cutter.add(lease(2, bytes: 41), at: start, wallClock: date)) == [[1]])
        #expect(numbers(cutter.add(lease(3, bytes: 59), at: start, wallClock: date)) == [[2, 3]])
    }

    @Test func aLargeEventGoesAlone() {
        var cutter = cutter(count: 100)
        #expect(cutter.add(lease(1), at: start, wallClock: date).isEmpty)
        #expect(numbers(cutter.add(lease(2, bytes: 1000), at: start, wallClock: date)) == [[1], [2]])
        #expect(cutter.count == 0)
    }

    @Test func completesABatchAtItsAge() {
        var cutter = cutter()
        _ = cutter.add(lease(1), at: start, wallClock: date)
        _ = cutter.add(lease(2), at: start + .milliseconds(900), wallClock: date)
        #expect(cutter.due == start + .seconds(1))
        #expect(cutter.cut(at: start + .milliseconds(999)).isEmpty)
        #expect(numbers(cutter.cut(at: start + .seconds(1))) == [[1, 2]])
        #expect(cutter.due == nil)
        _ = cutter.add(lease(3), at: start + .seconds(2), wallClock: date)
        #expect(cutter.due == start + .seconds(3))
    }

    @Test func sendsABatchBeforeOneOfItsEventsExpires() {
        var cutter = cutter()
        #expect(cutter.add(lease(1), at: start, wallClock: date).isEmpty)
        let later = cutter.add(lease(2, notAfter: date + 1.2), at: start + .milliseconds(500), wallClock: date + 0.5)
        #expect(later.isEmpty)
        let sooner = cutter.add(lease(3, notAfter: date + 0.9), at: start + .milliseconds(600), wallClock: date + 0.6)
        #expect(numbers(sooner) == [[1, 2, 3]])
        #expect(cutter.due == nil)
        #expect(cutter.add(lease(4, notAfter: .afterFirstAttempt), at: start, wallClock: date).isEmpty)
    }

    @Test func keepsFailedBatchesTogether() {
        var cutter = cutter()
        _ = cutter.add(lease(1, attempts: 1), at: start, wallClock: date)
        _ = cutter.add(lease(2), at: start, wallClock: date)
        _ = cutter.add(lease(3, attempts: 1), at: start, wallClock: date)
        _ = cutter.add(lease(4), at: start + .milliseconds(1), wallClock: date)
        #expect(numbers(cutter.cut(at: start + .seconds(1))) == [[2, 4], [1, 3]])
    }

    @Test func aFlushGivesEverything() {
        var cutter = cutter()
        _ = cutter.add(lease(1, attempts: 1), at: start + .milliseconds(5), wallClock: date)
        _ = cutter.add(lease(2), at: start, wallClock: date)
        #expect(numbers(cutter.flush()) == [[2], [1]])
        #expect(cutter.count == 0)
    }

    /// Deliveries added in any order, at any time, are returned once, within the limits.
    @Test(arguments: 0..<50)
    func returnsEachDeliveryOnceWithinTheLimits(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limits = Destination.Batch(
            count: Int.random(in: 1...5, using: &random), bytes: Int.random(in: 1...200, using: &random),
            age: .milliseconds(Int.random(in: 1...50, using: &random)))
        var cutter = BatchCutter(limits)
        var batches: [[Lease]] = []
        var now = start
        for number in 0..<200 {
            now += .milliseconds(Int.random(in: 0...10, using: &random))
            let bytes = Int.random(in: 0...80, using: &random)
            let lease = lease(Int64(number), attempts: Int.random(in: 0...2, using: &random), bytes: bytes)
            batches += cutter.add(lease, at: now, wallClock: date)
            batches += cutter.cut(at: now)
            #expect(cutter.due.map { $0 > now } ?? (cutter.count == 0))
        }
        batches += cutter.flush()
        #expect(batches.flatMap { $0.map(\.delivery) }.sorted() == Array(0..<200))
        for batch in batches {
            #expect((1...limits.count).contains(batch.count))
            #expect(batch.count == 1 || batch.reduce(0) { $0 + $1.body.count } <= limits.bytes)
            #expect(Set(batch.map(\.attempts)).count == 1)
        }
    }

    @Test func batchIDsAreIndependentOfTheOrder() {
        let id = WebhookMessageID.of([lease(1), lease(2), lease(3)])
        #expect(id == WebhookMessageID.of([lease(3), lease(1), lease(2)]))
        #expect(id == WebhookMessageID.of([lease(1, attempts: 4), lease(2), lease(3)]))
        #expect(id.count == 32 && id.allSatisfy(\.isHexDigit))
        #expect(id != WebhookMessageID.of([lease(1), lease(2)]))
        #expect(id != WebhookMessageID.of([lease(1), lease(2), lease(4)]))
    }

    @Test func oneEventKeepsItsOwnID() {
        #expect(WebhookMessageID.of([lease(7)]) == "event-7")
    }
}
