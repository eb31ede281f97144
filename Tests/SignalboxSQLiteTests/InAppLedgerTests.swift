import Foundation
import GRDB
import SignalboxInApp
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// Displays and totals in the rows of users and devices, and in rows of their own as a former version kept them.
@Suite(.timeLimit(.minutes(15))) struct InAppLedgerTests {
    private let day = 86_400.0
    private let subject = InAppSubject.device("d1", user: "u1")

    private func open(_ directory: String, _ clock: ManualDate) throws -> SQLiteQueue {
        try SQLiteQueue(in: directory, now: { clock.now }, elapsed: { clock.elapsed })
    }

    /// The row of an anonymous user changes with a display only, so its day may be long ago in each decision.
    @Test func onlyOwnersThatADecisionSeesForgetTotals() {
        var rows = InAppRowsInMemory()
        let ledger = Ledger(totals: [.message("old"): Ledger.Total(count: 1, last: 0)])
        var user = UserState(id: "u1")
        user.ledger = ledger
        rows.users["u1"] = .init(user, .init(seen: 0))
        var device = DeviceState(id: "d1")
        device.lastNow = InAppWalk.day
        #expect(rows.oldTotals(of: [.device(device)]).isEmpty)
        #expect(rows.oldTotals(of: [.user("u1", lastNow: InAppWalk.day - 1)]).isEmpty)
        #expect(rows.oldTotals(of: [.user("u1", lastNow: InAppWalk.day)]) == ["old"])
    }

    /// The number of rows of `inapp_displays` and `inapp_totals`.
    private func separateRows(_ queue: SQLiteQueue) async throws -> [Int64?] {
        try await queue.file.pool.read { db in
            try ["displays", "totals"].map { try db.number("SELECT count(*) FROM inapp_\($0)") }
        }
    }

    private func show(_ message: MessageID, in queue: SQLiteQueue, at now: Instant) async throws {
        try await queue.decide(about: subject, tallies: []) { rows in
            var device = rows.state.device
            device.lastNow = now
            let display = Ledger.Display(
                offer: "of_\(message)", at: now, message: message, vendor: "own", device: "d1", session: 2)
            let ledgers = [RowChange.Subject.user("u1"), .device("d1")].flatMap { subject in
                let total = RowChange.total(subject, .message(message), Ledger.Total(count: 1, last: now))
                return [RowChange.display(subject, display), total]
            }
            return InAppStep((), changes: [.user("u1", lastNow: now), .device(device)] + ledgers)
        }
    }

    @Test func readsTheRowsOfAFormerVersion() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            for number in 0..<15 { try await queue.writeInAppRows(number, at: Date()) }
            let before = try await queue.rows(of: subject, tallies: []).state
            #expect(!before.user.ledger.displays.isEmpty && !before.device.ledger.totals.isEmpty)
            try await queue.spreadLedgers()
            #expect(try await queue.rows(of: subject, tallies: []).state == before)
            #expect(try await queue.audit().isRight)
        }
    }

    /// The other users and devices keep their rows until a decision changes them.
    @Test func aDecisionMovesTheRowsOfItsUserAndDevice() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            for number in 0..<15 { try await queue.writeInAppRows(number, at: Date()) }
            let before = try await queue.rows(of: subject, tallies: []).state
            let other = try await queue.rows(of: .device("d2", user: "u2"), tallies: []).state
            try await queue.spreadLedgers()
            try await show("new", in: queue, at: before.user.lastNow)
            let after = try await queue.rows(of: subject, tallies: []).state
            #expect(after.user.ledger.displays.count == before.user.ledger.displays.count + 1)
            #expect(Set(before.device.ledger.displays).isSubset(of: after.device.ledger.displays))
            #expect(after.user.ledger.totals.count == before.user.ledger.totals.count + 1)
            #expect(try await queue.rows(of: .device("d2", user: "u2"), tallies: []).state == other)
            let left = try await queue.file.pool.read { db in
                try db.number("SELECT count(*) FROM inapp_totals WHERE owner IN ('u1', 'd1')")
            }
            #expect(left == 0)
            #expect(try await queue.audit().isRight)
        }
    }

    /// Upkeep finds the totals of unseen users and devices in rows; those of others end here.
    @Test func anOwnerForgetsARemovedMessageOnAnotherDay() async throws {
        try await withTemporaryDirectory { directory in
            let clock = ManualDate()
            let queue = try open(directory, clock)
            func totals() async throws -> [Ledger.Key] {
                let state = try await queue.rows(of: subject, tallies: []).state
                #expect(state.user.ledger.totals.keys == state.device.ledger.totals.keys)
                return state.user.ledger.totals.keys.sorted { "\($0)" < "\($1)" }
            }
            _ = try await queue.register(InAppRegistration(id: "kept", body: []))
            for id in ["kept", "removed"] { try await show(id, in: queue, at: clock.now.milliseconds) }
            // Displays of the history keep their totals.
            clock.advance(by: day)
            try await show("kept", in: queue, at: clock.now.milliseconds)
            #expect(try await totals() == [.message("kept"), .message("removed")])
            try await queue.decide(about: subject, tallies: []) { rows in
                InAppStep(
                    (),
                    changes: [.removeDisplay(.user("u1"), "of_removed"), .removeDisplay(.device("d1"), "of_removed")])
            }
            #expect(try await totals() == [.message("kept"), .message("removed")])
            clock.advance(by: day)
            try await show("kept", in: queue, at: clock.now.milliseconds)
            #expect(try await totals() == [.message("kept")])
            #expect(try await separateRows(queue) == [0, 0])
        }
    }

    /// A user that was not seen has rows again, which a decision reads when the user comes back.
    @Test func upkeepMovesTheTotalsOfAnUnseenUserToRows() async throws {
        try await withTemporaryDirectory { directory in
            let clock = ManualDate()
            let queue = try open(directory, clock)
            _ = try await queue.register(InAppRegistration(id: "kept", body: []))
            for id in ["kept", "gone"] { try await show(id, in: queue, at: clock.now.milliseconds) }
            clock.advance(by: 60 * day)
            _ = try await queue.remove(
                beyond: Retention(ended: .seconds(day), dead: .seconds(day), bytes: .max))
            #expect(try await separateRows(queue) == [0, 2])
            let state = try await queue.rows(of: subject, tallies: []).state
            #expect(state.user.ledger.totals.keys.map(\.self) == [.message("kept")])
            #expect(state.user.ledger.displays.isEmpty)
            #expect(try await queue.audit().isRight)
            try await show("gone", in: queue, at: clock.now.milliseconds)
            #expect(try await queue.rows(of: subject, tallies: []).state.user.ledger.totals.count == 2)
            #expect(try await separateRows(queue) == [0, 0])
        }
    }

    /// No bytes make the reader trap, and no number of theirs overflows a sum.
    @Test(arguments: [20_261_123, UInt64.random(in: 0 ... .max)]) func readsAnyBytes(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var display = Ledger.Display(offer: "o", at: 1, message: "m", vendor: "v", device: "d", session: 300)
        (display.namedLimits, display.isExempt, display.count) = (["weekly"], true, 2)
        let totals: [Ledger.Key: Ledger.Total] = [
            .scope: .init(count: 3, last: 4), .named("n"): .init(count: 1, last: 1),
        ]
        let whole = LedgerFields.write(Ledger(displays: [display], totals: totals), of: "u")
        let copy = try whole.withUnsafeBytes { try LedgerFields.read($0, of: "u") }
        #expect(LedgerFields.write(copy, of: "u") == whole)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0 ... .max, using: &random)
            }
            bytes.removeLast(Int.random(in: 0...3, using: &random))
            do {
                _ = try bytes.withUnsafeBytes { try LedgerFields.read($0, of: "u") }
            } catch {
                #expect(error is DamagedValue, "seed \(seed)")
            }
        }
    }

    /// In-app rows are not removed for the bytes of events, so they cost no events either.
    @Test func inAppRowsCostNoEvents() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            for number in 0..<40 {
                let body = Array(repeating: UInt8(ascii: " "), count: 100_000)
                _ = try await queue.register(InAppRegistration(id: "m\(number)", body: body))
            }
            try await queue.append((0..<20).map { RoutedEvent([UInt8($0)]) })
            #expect(try await queue.inAppBytes(at: Date()) > 4_000_000)
            let retention = Retention(ended: .seconds(7 * day), dead: .seconds(7 * day), bytes: 1 << 20)
            #expect(try await queue.remove(beyond: retention) == 0)
            #expect(try await queue.eventCount() == 20)
            let large = [UInt8](repeating: 32, count: 5000)
            for _ in 0..<40 { try await queue.append((0..<10).map { _ in RoutedEvent(large) }) }
            #expect(try await queue.remove(beyond: retention) > 0)
        }
    }
}
