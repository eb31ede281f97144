import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// The bound of a ledger, and the merge of an anonymous user's.
@Suite struct LedgerTests {
    private func display(
        _ number: Int, _ message: MessageID = "m", device: DeviceID = "d", session: Int = 0
    ) -> Ledger.Display {
        Ledger.Display(
            offer: "o\(number)", at: Instant(number) * second, message: message, vendor: "v", device: device,
            session: session)
    }

    /// The impressions that the displays of a ledger stand for.
    private func impressions(_ ledger: Ledger) -> Int { ledger.displays.reduce(0) { $0 + $1.count } }

    @Test func aDisplayCountsOnceInALimitThatItsMessageNamesTwice() {
        var named = display(1)
        named.namedLimits = ["n", "n"]
        #expect(Ledger.keys(of: named) == [.message("m"), .vendor("v"), .scope, .named("n")])
        var ledger = Ledger()
        ledger.add(named)
        #expect(ledger.totals[.named("n")]?.count == 1)
    }

    /// A tablet in a shop: a session for each visitor.
    @Test func boundsTheDisplaysOfManySessions() {
        var ledger = Ledger()
        for number in 0..<3000 {
            ledger.add(display(number, "m\(number % 3)", session: number))
            _ = ledger.prune(before: 0)
        }
        #expect(ledger.displays.count <= Bounds.history)
        #expect(impressions(ledger) == 3000)
        #expect(ledger.totals[.scope]?.count == 3000)
    }

    /// A user that many people share.
    @Test func boundsTheDisplaysOnManyDevices() {
        var ledger = Ledger()
        for number in 0..<3000 {
            ledger.add(display(number, "m\(number % 3)", device: "d\(number)"))
            _ = ledger.prune(before: 0)
        }
        #expect(ledger.displays.count <= Bounds.history)
        #expect(impressions(ledger) == 3000)
    }

    @Test func boundsTheDisplaysOfManyMessages() {
        var ledger = Ledger()
        for number in 0..<3000 {
            ledger.add(display(number, "m\(number)"))
            _ = ledger.prune(before: 0)
        }
        #expect(ledger.displays.count <= 2048)
        #expect(ledger.displays.last?.offer == "o2999", "the oldest ones go")
        #expect(ledger.totals[.scope]?.count == 3000)
    }

    /// A limit of a session counts neither more nor fewer displays of a running session.
    @Test func keepsTheRunningSessionsApart() {
        var ledger = Ledger()
        for number in 0..<3 { ledger.add(display(number, device: "watch", session: 7)) }
        for number in 3..<1000 {
            ledger.add(display(number, session: number / 2))
            _ = ledger.prune(before: 0)
        }
        let limit = Limit(1, .session, owner: .scope)
        for (device, session, count) in [("watch", 7, 3), ("d", 499, 2)] {
            let context = WindowContext(now: 1000 * second, device: device, session: session, zone: nil)
            #expect(ledger.count(by: limit, "m", context) == count)
        }
        #expect(ledger.displays.count <= Bounds.history)
    }

    @Test func namesTheRowsThatAMergeChanges() {
        var ledger = Ledger()
        for number in 0..<600 { ledger.add(display(number, "m\(number % 3)", session: number)) }
        var rebuilt = ledger
        let pruned = ledger.prune(before: 10 * second)
        rebuilt.displays.removeAll { pruned.removed.contains($0.offer) }
        for display in pruned.changed {
            guard let index = rebuilt.displays.firstIndex(where: { $0.offer == display.offer }) else { continue }
            rebuilt.displays[index] = display
        }
        #expect(rebuilt == ledger)
        #expect(impressions(ledger) == 590)
    }

    /// The known user's ledger forgets displays that the anonymous user's still has.
    @Test func aSecondLoginCountsEachDisplayOnce() throws {
        var world = World(try message("m") { $0.reEligibility = .always })
        try world.showAndDismiss(bought, user: nil)
        world.trigger(.poll)
        #expect(world.rows.ledger(.user("ann")).totals[.scope]?.count == 1)
        world.wait(36 * 24 * hour)
        try world.showAndDismiss(bought)
        #expect(world.rows.ledger(.user("ann")).displays.count == 1, "the first display is beyond the history")
        world.trigger(.poll, user: nil)
        world.trigger(.poll)
        #expect(world.rows.ledger(.user("ann")).totals[.scope]?.count == 2)
        #expect(world.rows.ledger(.user("ann")).displays.count == 1)
    }

    /// Also without another display; the totals of removed messages can end then.
    @Test func aNewDayForgetsDisplaysBeyondTheHistory() throws {
        var world = World(try message("m"))
        try world.showAndDismiss(bought)
        world.wait(34 * 24 * hour)
        world.trigger(.sessionStart)
        #expect(world.rows.ledger(.user("ann")).displays.count == 1)
        world.wait(2 * 24 * hour)
        world.trigger(.sessionStart)
        for subject in [RowChange.Subject.user("ann"), .device("phone")] {
            #expect(world.rows.ledger(subject).displays.isEmpty)
            #expect(world.rows.ledger(subject).totals[.message("m")]?.count == 1)
        }
    }

    /// Displays to the anonymous user of a second time are added to those of the first.
    @Test func aSecondLoginAddsNewDisplays() throws {
        var world = World(try message("m") { $0.reEligibility = .always })
        for count in [1, 2] {
            try world.showAndDismiss(bought, user: nil)
            world.wait(minute)
            world.trigger(.poll)
            #expect(world.rows.ledger(.user("ann")).totals[.scope]?.count == count)
            #expect(world.rows.ledger(.user("ann")).displays.count == count)
        }
    }
}
