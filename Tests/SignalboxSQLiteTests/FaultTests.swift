import Foundation
import GRDB
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// Faults of disk and file are reported, change no delivery, and end when their cause ends.
@Suite(.timeLimit(.minutes(15))) struct FaultTests {
    private let crm = DestinationName("crm")

    private func event(_ number: UInt8, size: Int = 1) -> RoutedEvent {
        RoutedEvent(Array(repeating: number, count: size), to: crm)
    }

    private func limitPages(of queue: SQLiteQueue, to count: Int) async throws {
        try await queue.file.pool.writeWithoutTransaction { db in
            _ = try Int.fetchOne(db, sql: "PRAGMA max_page_count = \(count)")
        }
    }

    private func open(_ directory: String) throws -> SQLiteQueue {
        let queue = try SQLiteQueue(in: directory)
        queue.openLane(crm) {}
        return queue
    }

    /// Every verb that writes throws while the disk is full, and changes no row.
    @Test func everyVerbThrowsWhileTheDiskIsFull() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            try await queue.append([event(1), event(2)])
            let lease = try #require(try await queue.claim(from: crm, upTo: 1).first)
            try await limitPages(of: queue, to: 1)
            let large = Attempt(
                startedAt: Date(), duration: .zero, excerpt: Array(repeating: 7, count: 100_000))
            await #expect(throws: StoreError.unavailable(reason: "the disk is full")) {
                try await queue.append([event(3, size: 100_000)])
            }
            await #expect(throws: StoreError.unavailable(reason: "the disk is full")) {
                try await queue.settle(Settlement(lease, .delivered(status: 200), attempt: large))
            }
            await #expect(throws: StoreError.unavailable(reason: "the disk is full")) { try await queue.probe() }
            #expect(try await queue.counts() == [crm: [.waiting: 2]])
            #expect(try await queue.audit().isRight)

            try await limitPages(of: queue, to: 1_000_000)
            try await queue.settle(Settlement(lease, .delivered(status: 200), attempt: large))
            try await queue.append([event(4)])
            try await queue.probe()
            #expect(try await queue.claim(from: crm, upTo: 5).map(\.body) == [[2], [4]])
            #expect(try await queue.audit().isRight)
        }
    }

    /// The repeat needs no room. Otherwise the gateway would be ready although it stores no new event.
    @Test func aRepeatedEventDoesNotEndTheFaultOfAFullDisk() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let known = RoutedEvent([1], to: crm, hasLastingID: true)
            try await queue.append([known])
            try await limitPages(of: queue, to: 1)
            let full = StoreError.unavailable(reason: "the disk is full")
            await #expect(throws: full) { try await queue.append([event(2, size: 100_000)]) }
            try await queue.append([known])
            #expect(queue.health.fault == full)

            try await limitPages(of: queue, to: 1_000_000)
            try await queue.append([event(3)])
            #expect(queue.health.fault == nil)
        }
    }

    @Test func aLockedFileThrowsAndRecovers() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            try await queue.append([event(1)])
            // This test does not wait for the lock.
            try await queue.file.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA busy_timeout = 0") }
            let other = try lock(directory)
            await #expect(throws: StoreError.unavailable(reason: "database is locked")) {
                try await queue.append([event(2)])
            }
            let lease = try #require(try await queue.claim(from: crm, upTo: 1).first)
            await #expect(throws: StoreError.self) { try await queue.settle(lease, .delivered(status: 200)) }
            try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
            try await queue.settle(lease, .delivered(status: 200))
            try await queue.append([event(3)])
            #expect(try await queue.claim(from: crm, upTo: 5).map(\.body) == [[3]])
            #expect(try await queue.audit().isRight)
        }
    }

    /// A write that waits for the lock of another process ends with a definite result before its request times out,
    /// even when it first waits behind another such write, for example that of a probe.
    @Test func twoWaitsForALockEndBeforeARequestTimesOut() async throws {
        #expect(2 * SQLiteFile.busyTime < StoreLimits.patience / .seconds(1))
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let milliseconds = try await queue.file.pool.writeWithoutTransaction { db in
                try Double.fetchOne(db, sql: "PRAGMA busy_timeout")
            }
            #expect(milliseconds == SQLiteFile.busyTime * 1000, "the limit applies to the connection that writes")
            let ofCommand = try await SQLiteQueue.existing(in: directory).file.pool.writeWithoutTransaction { db in
                try Double.fetchOne(db, sql: "PRAGMA busy_timeout")
            }
            #expect(ofCommand == SQLiteFile.busyTimeOfCommands * 1000, "no request waits for a command")

            try await queue.file.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA busy_timeout = 20") }
            let other = try lock(directory)
            let locked = StoreError.unavailable(reason: "database is locked")
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await #expect(throws: locked) { try await queue.probe() } }
                group.addTask { await #expect(throws: locked) { try await queue.append([event(1)]) } }
            }
            try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
            try await queue.append([event(2)])
            #expect(try await queue.claim(from: crm, upTo: 5).map(\.body) == [[2]])
        }
    }

    /// A claim, a give-back of fresh deliveries and an event that cannot be written form one commit group, which is
    /// split. A failed attempt at the group does not release the leases: each delivery is claimed once.
    @Test func aSplitGroupReleasesAGiveBackOnce() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            try await rejectEvents(7, in: queue)
            try await queue.append([event(1)])
            let fresh = queue.file.lanes.withHandOff { $0.takeFresh(of: [crm]) }
            #expect(fresh.map(\.body) == [[1]])
            let disk = DispatchSemaphore(value: 0)
            queue.file.pool.asyncWriteWithoutTransaction { _ in disk.wait() }
            // The first group waits for the disk; the next three writes become one group.
            queue.commits.submit(.giveBack([])) { _ in }
            while queue.commits.commitTime == nil { await Task.yield() }
            let claimed = Mutex<[[UInt8]]>([])
            queue.commits.submit(.claim(crm, upTo: 5, of: nil)) { result in
                if case .success(.claimed(let leases)) = result { claimed.withLock { $0 += leases.map(\.body) } }
            }
            queue.commits.submit(.giveBack(fresh)) { _ in }
            let refusals = Mutex<[StoreError]>([])
            queue.commits.submit(.append([event(7)], nil)) { result in
                if case .failure(let error) = result { refusals.withLock { $0.append(error) } }
            }
            disk.signal()
            await queue.finish()
            #expect(refusals.withLock(\.self) == [.unavailable(reason: "bad")])
            queue.wakeAll()
            for _ in 0..<2 {
                let more = try await queue.claim(from: crm, upTo: 5).map(\.body)
                claimed.withLock { $0 += more }
                queue.wakeAll()
            }
            #expect(claimed.withLock(\.self) == [[1]])
        }
    }

    /// The file still says that the attempt began, so it counts as interrupted.
    @Test func aFailedGiveBackReleasesItsLeases() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            try await queue.append([event(1)])
            try await queue.file.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") }
            await #expect(throws: StoreError.self) { try await queue.giveBackFresh() }
            try await queue.file.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 0") }
            queue.wakeAll()
            let leases = try await queue.claim(from: crm, upTo: 5)
            #expect(leases.map(\.body) == [[1]])
            #expect(leases.map(\.attempts) == [1])
        }
    }

    /// Makes the file reject events with this body.
    private func rejectEvents(_ body: UInt8, in queue: SQLiteQueue) async throws {
        try await queue.file.pool.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER bad BEFORE INSERT ON events WHEN NEW.body = x'0\(body)'
                    BEGIN SELECT RAISE(ABORT, 'bad'); END
                    """)
        }
    }

    /// The file has a backlog, and another process locks it when the clock is set, so the claim cannot follow the
    /// clock.
    @Test(arguments: [3600, -3600] as [TimeInterval]) func aLaneClaimsAgainAfterAFailedClaim(
        by jump: TimeInterval
    ) async throws {
        try await withTemporaryDirectory { directory in
            let clock = ManualDate()
            try await open(directory).append([event(1)])
            let queue = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
            queue.openLane(crm) {}
            try await queue.tick()
            try await queue.file.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA busy_timeout = 0") }
            let other = try lock(directory)
            clock.set(by: jump)
            for _ in 0..<3 {
                await #expect(throws: StoreError.unavailable(reason: "database is locked")) {
                    try await queue.claim(from: crm, upTo: 5)
                }
            }
            try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
            try await queue.tick()
            #expect(try await queue.claim(from: crm, upTo: 5).map(\.body) == [[1]])
        }
    }

    private func lock(_ directory: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        // A tick may record the time.
        configuration.busyMode = .timeout(60)
        let other = try DatabaseQueue(path: directory + "/queue.db", configuration: configuration)
        try other.inDatabase { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        return other
    }

    /// An event that cannot be written is rejected; the events that came with it are accepted.
    @Test func anEventThatCannotBeWrittenFailsAlone() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            try await rejectEvents(7, in: queue)
            let failed = try await withThrowingTaskGroup(of: UInt8?.self) { group in
                for number in 0..<UInt8(200) {
                    group.addTask {
                        do throws(StoreError) {
                            try await queue.append([event(number)])
                            return nil
                        } catch {
                            #expect(error == .unavailable(reason: "bad"))
                            return number
                        }
                    }
                }
                return try await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
            }
            #expect(failed == [7])
            #expect(try await queue.claim(from: crm, upTo: 300).count == 199)
            #expect(try await queue.audit().isRight)
            try await queue.probe()
        }
    }

    /// The writer blocks like a disk that does not answer: requests are answered, the probe fails, and both recover
    /// afterwards. The event with the unknown outcome is stored once.
    @Test func answersWhileTheDiskHangsAndRecovers() async throws {
        let timer = ManualTimer()
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(
                in: directory, elapsed: { timer.elapsed },
                delayed: DelayedCall { timer.schedule(after: $0, $1) })
            queue.openLane(crm) {}
            let disk = DispatchSemaphore(value: 0)
            queue.file.pool.asyncWriteWithoutTransaction { _ in disk.wait() }
            let request = Task { try await queue.append([event(1)]) }
            while queue.commits.commitTime == nil { await Task.yield() }
            timer.pass(.seconds(5))
            await #expect(throws: StoreError.stalled(for: .seconds(5))) { try await queue.probe() }
            await #expect(throws: StoreError.stalled(for: .seconds(5))) { try await queue.set(nil, of: crm) }
            timer.pass(.seconds(10))
            await #expect(throws: StoreError.undecided(after: .seconds(15))) { try await request.value }
            await #expect(throws: StoreError.stalled(for: .seconds(15))) { try await queue.append([event(2)]) }

            disk.signal()
            while queue.commits.commitTime != nil { await Task.yield() }
            try await queue.probe()
            try await queue.append([event(3)])
            #expect(try await queue.claim(from: crm, upTo: 5).map(\.body) == [[1], [3]])
            #expect(try await queue.audit().isRight)
        }
    }

    /// The disk is full while the store moves waits along with the clock. Each wait is still moved once.
    @Test(arguments: [3600, -3600] as [TimeInterval]) func waitsAreMovedOnceAfterAFailedMove(
        by jump: TimeInterval
    ) async throws {
        try await withTemporaryDirectory { directory in
            let clock = ManualDate()
            let queue = try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
            try await queue.append((0..<2500).map { event(UInt8($0 % 256)) })
            let due = clock.now.milliseconds + 600_000
            try await queue.file.pool.write { db in
                try db.execute(sql: "UPDATE deliveries SET attempts = 1, begun = 1, due = ?", arguments: [due])
                try db.execute(
                    sql: """
                        CREATE TRIGGER full BEFORE UPDATE ON deliveries WHEN NEW.id = 2300
                        BEGIN SELECT RAISE(ABORT, 'full'); END
                        """)
            }
            try await queue.tick()
            clock.set(by: jump)
            await #expect(throws: StoreError.unavailable(reason: "full")) { try await queue.tick() }
            try await queue.file.pool.write { try $0.execute(sql: "DROP TRIGGER full") }
            try await queue.tick()
            try await queue.tick()
            let dues = try await queue.file.pool.read { try Int64.fetchSet($0, sql: "SELECT due FROM deliveries") }
            #expect(dues == [due + Int64(jump * 1000)])
        }
    }
}
