import Foundation
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite struct CaptureWaitTests {
    private static func wait(
        _ count: Int, run: String? = nil, after: Int64? = nil, timeout: Duration = .seconds(3600)
    ) -> CaptureWait {
        var selection = CaptureSelection()
        selection.outcome = .accepted
        selection.run = run
        return CaptureWait(selection, count: count, after: after, timeout: timeout)
    }

    @Test func countsPushesThatCameBefore() async throws {
        let log = CaptureLog()
        for run in ["a", "b", "a", "a"] { log.append(CaptureSetting.accepted(run: run)) }
        let result = try await log.wait(Self.wait(2, run: "a"))
        #expect(result.captures.map(\.number) == [1, 3])
        #expect(result.examined == 3 && !result.isTruncated)
    }

    @Test func endsWithTheAppendThatCompletesIt() async throws {
        let (log, clock) = (CaptureLog(), ManualClock())
        async let waiting = log.wait(Self.wait(2), by: clock)
        await clock.waitForSleepers(1)
        log.append(CaptureSetting.refused())
        log.append(CaptureSetting.accepted())
        log.append(CaptureSetting.accepted())
        // No time passes on this clock.
        #expect(try await waiting.captures.map(\.number) == [2, 3])
        #expect(log.waits == 0)
    }

    @Test func listsNearMissesAfterTheTimeout() async throws {
        let (log, clock) = (CaptureLog(), ManualClock())
        log.append(CaptureSetting.accepted(run: "before"))
        let wait = Self.wait(2, run: "a", after: 1, timeout: .seconds(10))
        async let waiting = log.wait(wait, by: clock)
        await clock.waitForSleepers(1)
        for _ in 0..<30 { log.append(CaptureSetting.accepted(run: "b")) }
        log.append(CaptureSetting.accepted(run: "a"))
        log.append(CaptureSetting.refused(run: "a"))
        clock.advance(by: .seconds(10))
        let result = try await waiting
        #expect(result.captures.map(\.number) == [32])
        #expect(result.nearMisses.count == CaptureLog.mostNearMisses)
        #expect(result.nearMisses.map(\.capture.number) == [33] + (13...31).reversed().map { Int64($0) })
        #expect(result.nearMisses[0].capture.reason == "InvalidProviderToken")
        #expect(result.nearMisses[0].mismatch.words == "outcome is rejected, expected accepted")
        #expect(result.nearMisses[1].mismatch.words == "run is b, expected a")
    }

    /// Refused pushes have a limit of their own.
    @Test func saysThatRefusedPushesWereDropped() async throws {
        let log = CaptureLog()
        for _ in 0..<CaptureRing.mostRefused + 5 { log.append(CaptureSetting.refused()) }
        log.append(CaptureSetting.accepted())
        var selection = CaptureSelection()
        #expect(await log.captures(selection, after: 4, upTo: 1).isTruncated)
        #expect(await !log.captures(selection, after: 5, upTo: 1).isTruncated)
        #expect(await !log.captures(selection, after: nil, upTo: 1).isTruncated)
        selection.outcome = .rejected
        #expect(await log.captures(selection, after: 1, upTo: 1).isTruncated)
        // It has every push that this selection asks for.
        selection.outcome = .accepted
        #expect(await !log.captures(selection, after: 1, upTo: 1).isTruncated)
    }

    @Test func saysThatPushesWereDroppedBeforeItReadThem() async throws {
        let log = CaptureLog(limits: CaptureSetting.limits(count: 2))
        for _ in 0..<5 { log.append(CaptureSetting.accepted()) }
        #expect(try await !log.wait(Self.wait(2)).isTruncated)
        #expect(try await log.wait(Self.wait(2, after: 1)).isTruncated)
        #expect(try await !log.wait(Self.wait(2, after: 3)).isTruncated)
    }

    @Test func refusesTheWaitBeyondTheLimit() async throws {
        let (log, clock) = (CaptureLog(), ManualClock())
        try await withThrowingTaskGroup(of: CaptureWait.Result.self) { group in
            for _ in 0..<CaptureLog.mostWaits { group.addTask { try await log.wait(Self.wait(1), by: clock) } }
            await clock.waitForSleepers(CaptureLog.mostWaits)
            await #expect(throws: CaptureWait.Failure.tooManyWaits) { try await log.wait(Self.wait(1), by: clock) }
            log.append(CaptureSetting.accepted())
            for try await result in group { #expect(result.captures.map(\.number) == [1]) }
        }
        #expect(log.waits == 0)
        #expect(try await log.wait(Self.wait(1)).captures.count == 1)
    }

    @Test func boundsTheMemoryOfAllWaits() async throws {
        let log = CaptureLog(limits: CaptureSetting.limits(bytes: 1 << 30))
        var large = CaptureSetting.accepted()
        large.event = [UInt8](repeating: 0x20, count: CaptureLog.mostHeld / 4)
        for _ in 0..<5 { log.append(large) }
        await #expect(throws: CaptureWait.Failure.tooMuchMemory) { try await log.wait(Self.wait(5)) }
        #expect(try await log.wait(Self.wait(3)).captures.count == 3)
    }

    @Test func aCancelledWaitFreesItsPlace() async throws {
        let (log, clock) = (CaptureLog(), ManualClock())
        let task = Task { try await log.wait(Self.wait(1), by: clock) }
        await clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CaptureWait.Failure.cancelled) { try await task.value }
        #expect(log.waits == 0)
    }

    @Test func aSwitchedOffLogKeepsNoCapture() {
        let log = CaptureLog(limits: CaptureSetting.limits(count: 0))
        log.append(CaptureSetting.accepted())
        #expect(!log.isOn && log.last == 0)
        log.set(CaptureSetting.limits())
        log.append(CaptureSetting.accepted())
        #expect(log.isOn && log.last == 1)
    }

    @Test func aCursorOfAnotherProcessIsTheBeginning() {
        let (log, other) = (CaptureLog(), CaptureLog())
        #expect(log.number(ofCursor: log.cursor(7)) == 7)
        #expect(log.number(ofCursor: other.cursor(7)) == 0)
        #expect(log.number(ofCursor: "0") == 0)
        for text in ["", "7", "-7", "abc", log.cursor(-1), "0123456-1"] { #expect(log.number(ofCursor: text) == nil) }
    }

    private static func run(_ random: inout SeededGenerator) -> String { "run\(Int.random(in: 0...3, using: &random))" }

    /// In any order of appends and waits, a wait returns exactly the first captures that match, in their order.
    @Test(arguments: 0..<40 as Range<UInt64>) func returnsTheFirstThatMatch(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let log = CaptureLog()
        let runs = (0..<Int.random(in: 20...300, using: &random)).map { _ in Self.run(&random) }
        let isRefused = runs.map { _ in Int.random(in: 0...5, using: &random) == 0 }
        var waits: [(at: Int, wait: CaptureWait, expected: [Int64])] = []
        for _ in 0..<20 {
            let (run, after) = (Self.run(&random), Int64.random(in: 0...100, using: &random))
            let matching = runs.indices.filter { runs[$0] == run && !isRefused[$0] }.map { Int64($0 + 1) }
                .filter { $0 > after }
            guard !matching.isEmpty else { continue }
            let count = Int.random(in: 1...matching.count, using: &random)
            let wait = Self.wait(count, run: run, after: Bool.random(using: &random) || after > 0 ? after : nil)
            waits.append((Int.random(in: 0...runs.count, using: &random), wait, Array(matching.prefix(count))))
        }
        let yields = runs.map { _ in Int.random(in: 0...2, using: &random) }
        let result: [([Int64], [Int64])] = try await withThrowingTaskGroup(of: ([Int64], [Int64]).self) { group in
            for position in 0...runs.count {
                for (_, wait, expected) in waits.filter({ $0.at == position }) {
                    group.addTask { (try await log.wait(wait).captures.map(\.number), expected) }
                }
                guard position < runs.count else { break }
                log.append(
                    isRefused[position]
                        ? CaptureSetting.refused(run: runs[position]) : CaptureSetting.accepted(run: runs[position]))
                for _ in 0..<yields[position] { await Task.yield() }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(result.count == waits.count, "seed \(seed)")
        for (found, expected) in result { #expect(found == expected, "seed \(seed)") }
    }
}

extension ManualClock {
    /// Returns once `count` tasks sleep.
    fileprivate func waitForSleepers(_ count: Int) async { while sleepers < count { await Task.yield() } }
}
