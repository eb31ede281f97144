import Dispatch
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxStore

@Suite(.timeLimit(.minutes(15))) struct CommitGroupTests {
    private let bench = Bench()

    /// A commit group over a list instead of a file. A class because commits change it and tests read it.
    private final class Bench: Sendable {
        let timer = ManualTimer()
        /// Numbers that cannot be committed.
        let bad = Mutex<Set<Int>>([])
        /// True when no number can be committed.
        let isFull = Mutex(false)
        let performed = Mutex<[Int]>([])
        let commits = Mutex(0)
        /// The numbers of each commit.
        let groups = Mutex<[[Int]]>([])
        /// Signals that the commit of number 0 has begun; `release` ends it.
        let entered = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        let results = Mutex<[Int: Result<Int, StoreError>]>([:])
        private let answered = DispatchSemaphore(value: 0)

        func group(rest: Duration = .zero) -> CommitGroup<Int, Int> {
            CommitGroup(
                limit: 512, heaviest: 1000, patience: .seconds(15), rest: rest,
                delayed: DelayedCall { [timer] in timer.schedule(after: $0, $1) }, now: { [timer] in timer.now }
            ) { [self] (numbers) throws(CommitFailure) in try commit(numbers) }
        }

        private func commit(_ numbers: [Int]) throws(CommitFailure) -> [Int] {
            commits.withLock { $0 += 1 }
            groups.withLock { $0.append(numbers) }
            if numbers == [0] {
                entered.signal()
                release.wait()
            }
            if isFull.withLock(\.self) {
                throw CommitFailure(reason: .unavailable(reason: "the disk is full"), mayBeOfOneWrite: false)
            }
            guard bad.withLock({ $0.isDisjoint(with: numbers) }) else {
                throw CommitFailure(reason: .unavailable(reason: "constraint"), mayBeOfOneWrite: true)
            }
            performed.withLock { $0 += numbers }
            return numbers
        }

        func submit(_ number: Int, to group: CommitGroup<Int, Int>, weight: Int = 1, hasDeadline: Bool = false) {
            group.submit(number, weight: weight, hasDeadline: hasDeadline) { [self] result in
                results.withLock { $0[number] = result }
                answered.signal()
            }
        }

        /// Submits 512 writes that are committed as one group.
        func submitMany(to group: CommitGroup<Int, Int>) {
            submit(0, to: group)
            entered.wait()
            for number in 1...512 { submit(number, to: group) }
            commits.withLock { $0 = 0 }
            release.signal()
            wait(for: 513)
        }

        var answers: Int { results.withLock(\.count) }
        /// Performed numbers, in their order.
        var numbers: [Int] { performed.withLock(\.self) }
        /// Number of attempted commits.
        var count: Int { commits.withLock(\.self) }

        func wait(for count: Int) { for _ in 0..<count { answered.wait() } }

        func failure(of number: Int) -> StoreError? {
            results.withLock { results in
                if case .failure(let error)? = results[number] { error } else { nil }
            }
        }
    }

    // MARK: Weights

    /// A write that is too heavy for any group is committed alone. The order stays.
    @Test func aGroupHasABoundedWeight() {
        let group = bench.group()
        bench.submit(0, to: group)
        bench.entered.wait()
        for number in 1...4 { bench.submit(number, to: group, weight: 400) }
        bench.submit(5, to: group, weight: 5000)
        for number in 6...8 { bench.submit(number, to: group, weight: 1) }
        bench.release.signal()
        bench.wait(for: 9)
        #expect(bench.numbers == Array(0...8))
        #expect(bench.groups.withLock(\.self) == [[0], [1, 2], [3, 4], [5], [6, 7, 8]])
    }

    // MARK: Rests

    private static let rest: Duration = .milliseconds(4)

    /// Submits writes that are committed as one group, behind a commit of one.
    private func submit(_ numbers: ClosedRange<Int>, to group: CommitGroup<Int, Int>) {
        bench.submit(0, to: group)
        bench.entered.wait()
        for number in numbers { bench.submit(number, to: group) }
        bench.release.signal()
        bench.wait(for: numbers.count + 1)
    }

    @Test(arguments: [8, 31]) func writesGatherAfterACommitOfSeveral(count: Int) async {
        let group = bench.group(rest: Self.rest)
        submit(1...count, to: group)
        while bench.timer.count == 0 { await Task.yield() }
        for number in 100...101 { bench.submit(number, to: group) }
        #expect(bench.answers == count + 1, "they wait")
        bench.timer.pass(Self.rest)
        bench.wait(for: 2)
        #expect(bench.numbers == Array(0...count) + [100, 101] && bench.count == 3)
    }

    @Test(arguments: [7, 32]) func otherGroupsAreFollowedAtOnce(count: Int) {
        let group = bench.group(rest: Self.rest)
        submit(1...count, to: group)
        bench.submit(100, to: group)
        bench.wait(for: 1)
        #expect(bench.timer.count == 0)
    }

    @Test func aLargeNextGroupIsNotAwaited() {
        let group = bench.group(rest: Self.rest)
        bench.submit(0, to: group)
        bench.entered.wait()
        for number in 1...7 { bench.submit(number, to: group) }
        group.submit(8) { [bench] _ in for number in 100..<132 { bench.submit(number, to: group) } }
        bench.release.signal()
        bench.wait(for: 8 + 32)
        #expect(bench.timer.count == 0)
    }

    // MARK: Deadlines

    @Test func reportsAnUnknownOutcomeWhenACommitDoesNotEnd() {
        let group = bench.group()
        bench.submit(0, to: group, hasDeadline: true)
        bench.entered.wait()
        bench.submit(1, to: group, hasDeadline: true)
        bench.timer.pass(.seconds(14))
        #expect(bench.answers == 0)
        bench.timer.pass(.seconds(1))
        #expect(bench.failure(of: 0) == .undecided(after: .seconds(15)))
        #expect(bench.failure(of: 1) == .stalled(for: .seconds(15)), "its commit has not begun")

        bench.submit(2, to: group)
        bench.release.signal()
        bench.wait(for: 3)
        #expect(bench.numbers == [0, 2], "withdrawn writes are not performed")
    }

    @Test func rejectsRequestsAtOnceWhileACommitHangs() {
        let group = bench.group()
        bench.submit(0, to: group)
        bench.entered.wait()
        bench.timer.pass(.seconds(20))
        #expect(group.commitTime == .seconds(20))
        bench.submit(1, to: group, hasDeadline: true)
        #expect(bench.failure(of: 1) == .stalled(for: .seconds(20)))
        bench.submit(2, to: group)
        bench.release.signal()
        bench.wait(for: 3)
        #expect(bench.numbers == [0, 2], "a write without a deadline waits")
        #expect(bench.failure(of: 0) == nil)
    }

    @Test func schedulesOneCheckForManyRequests() {
        let group = bench.group()
        bench.submit(0, to: group, hasDeadline: true)
        bench.entered.wait()
        for number in 1...100 { bench.submit(number, to: group, hasDeadline: true) }
        #expect(bench.timer.count == 1)
        bench.release.signal()
        bench.wait(for: 101)
        bench.timer.pass(.seconds(15))
        #expect(bench.timer.count == 0, "no request waits any longer")
    }

    // MARK: Failures

    @Test(arguments: [1, 256, 300, 512]) func aBadWriteFailsAlone(number: Int) {
        bench.bad.withLock { $0 = [number] }
        bench.submitMany(to: bench.group())
        #expect(bench.failure(of: number) == .unavailable(reason: "constraint"))
        #expect(bench.numbers == (0...512).filter { $0 != number }, "in their order")
        #expect(bench.count <= 1 + 2 * 9)
    }

    /// Each write of a list has its own result, at its position.
    @Test func aBadWriteOfAListFailsAlone() async {
        bench.bad.withLock { $0 = [3] }
        let results = await bench.group().write([5, 4, 3, 2, 1])
        #expect(results.map { try? $0.get() } == [5, 4, nil, 2, 1])
        #expect(results[2] == .failure(.unavailable(reason: "constraint")))
        #expect(bench.numbers == [5, 4, 2, 1])
        #expect(await bench.group().write([]).isEmpty)
    }

    @Test func aListIsOneCommit() async {
        #expect(await bench.group().write(Array(1...512)).count == 512)
        #expect(bench.count == 1)
    }

    @Test func aFaultOfTheFileIsNotRetried() {
        let group = bench.group()
        bench.submit(0, to: group)
        bench.entered.wait()
        for number in 1...512 { bench.submit(number, to: group) }
        bench.commits.withLock { $0 = 0 }
        bench.isFull.withLock { $0 = true }
        bench.release.signal()
        bench.wait(for: 513)
        #expect(bench.count == 1, "one commit of the group of 512")
        #expect((1...512).allSatisfy { bench.failure(of: $0) == .unavailable(reason: "the disk is full") })
    }

    @Test func aGroupOfBadWritesCostsABoundedNumberOfCommits() {
        bench.bad.withLock { $0 = Set(1...512) }
        bench.submitMany(to: bench.group())
        #expect(bench.numbers == [0])
        #expect(bench.count <= 1 + 2 * CommitParts.mostSplits)
    }

    /// Tries random sets of bad writes. Every part is decided once, in order, and few bad writes fail no good ones.
    @Test(arguments: [1, 2, 3, 20_261_122] as [UInt64]) func everyWriteIsDecidedOnceAndInOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let count = Int.random(in: 1...512, using: &random)
            let bad = Set(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in Int.random(in: 0..<count, using: &random) })
            var parts = CommitParts(count: count)
            var (decided, failed): ([Int], [Int]) = ([], [])
            while let part = parts.next() {
                let isBad = !bad.isDisjoint(with: part)
                if isBad, parts.split(part) { continue }
                decided += part
                if isBad { failed += part }
            }
            #expect(decided == Array(0..<count), "seed \(seed)")
            if bad.count <= 3 { #expect(Set(failed) == bad, "seed \(seed)") }
        }
    }
}
