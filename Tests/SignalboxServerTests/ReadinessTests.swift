import SignalboxStore
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxServer

@Suite(.timeLimit(.minutes(15))) struct ReadinessTests {
    private let timer = ManualTimer()

    private func readiness(_ probe: @escaping @Sendable () async -> Readiness.Verdict) -> Readiness {
        Readiness(
            delayed: DelayedCall { [timer] in timer.schedule(after: $0, $1) }, now: { [timer] in timer.now }, probe)
    }

    @Test func isNotReadyWhileAProbeHangs() async {
        let (disk, end) = AsyncStream<Void>.makeStream()
        let readiness = readiness {
            for await _ in disk { break }
            return .ready
        }
        async let first = readiness.verdict()
        async let second = readiness.verdict()
        while timer.count < 2 { await Task.yield() }
        timer.pass(.seconds(5))
        let verdicts = await [first, second]
        #expect(verdicts == Array(repeating: .notReady(.stalled(for: .seconds(5))), count: 2))
        timer.pass(.seconds(3600))
        #expect(await readiness.verdict() == .notReady(.stalled(for: .seconds(3605))), "at once")

        end.finish()
        while await readiness.verdict() != .ready { await Task.yield() }
    }

    @Test func oneProbeAnswersAllConcurrentRequests() async {
        let count = Counter()
        let (disk, end) = AsyncStream<Void>.makeStream()
        let readiness = readiness {
            count.add()
            for await _ in disk { break }
            return .ready
        }
        await withTaskGroup(of: Readiness.Verdict.self) { group in
            for _ in 0..<50 { group.addTask { await readiness.verdict() } }
            while count.value == 0 { await Task.yield() }
            end.finish()
            for await verdict in group { #expect(verdict == .ready) }
        }
        #expect(count.value == 1)
    }

    @Test func probesAgainAfterASecond() async {
        let count = Counter()
        let readiness = readiness {
            count.add()
            return count.value == 1 ? .ready : .notReady(.unavailable(reason: "the disk is full"))
        }
        #expect(await readiness.verdict() == .ready)
        timer.pass(.milliseconds(999))
        #expect(await readiness.verdict() == .ready)
        timer.pass(.milliseconds(1))
        #expect(await readiness.verdict() == .notReady(.unavailable(reason: "the disk is full")))
        #expect(count.value == 2)
    }

    /// A class because probes run in tasks of their own.
    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock(\.self) }
        func add() { count.withLock { $0 += 1 } }
    }
}
