import Foundation
import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Limits and their windows.
@Suite struct LimitWindowTests {
    private func limited(_ limits: Limit...) throws -> World {
        World(
            try message("m") {
                $0.reEligibility = .always; $0.limits = limits
            })
    }

    @Test func theTotalAndThePeriodCapBothStopAMessage() throws {
        var world = try limited(Limit(3, .lifetime), Limit(2, .rolling(hour)))
        try world.showAndDismiss(bought)
        try world.showAndDismiss(bought)
        #expect(world.trigger(bought, explain: true).check("m")?.expected == "fewer than 2 per user")
        world.wait(hour + 1)
        try world.showAndDismiss(bought)
        world.wait(2 * hour)
        #expect(world.trigger(bought, explain: true).check("m")?.expected == "fewer than 3 per user")
    }

    @Test func anMCEMessageEndsAfterItsViews() throws {
        var world = World(
            try message("m", vendor: "mce", .banner, on: [.rule("k")]) { $0.limits = [Limit(2, .lifetime)] })
        try world.showAndDismiss(.rule("k"))
        try world.showAndDismiss(.rule("k"))
        let answer = world.trigger(.rule("k"), explain: true)
        #expect(answer.offer == nil && answer.result("m") == .discarded)
        #expect(answer.check("m")?.code == .limitMessage)
        #expect(answer.check("m")?.until == nil)
    }

    @Test func aReservationOnOneDeviceCountsOnAnother() throws {
        var world = World(try message("m") { $0.reEligibility = .always })
        world.policy.limits = [Limit(1, .lifetime, owner: .scope)]
        #expect(world.trigger(bought, device: "phone").offer != nil)
        let answer = world.trigger(bought, device: "tablet", explain: true)
        #expect(answer.offer == nil)
        #expect(answer.check("m")?.code == .limitScope)
        #expect(answer.check("m")?.actual == "used 0, reserved 1")
    }

    @Test func aRollingWindowEndsAfterItsSpanAndADayAtMidnight() throws {
        let late = noon + 11 * hour
        var rolling = try limited(Limit(1, .rolling(24 * hour)))
        rolling.now = late
        try rolling.showAndDismiss(bought)
        rolling.wait(90 * minute)
        #expect(rolling.trigger(bought, explain: true).check("m")?.until == late + 24 * hour + 1)
        rolling.now = late + 24 * hour
        #expect(rolling.trigger(bought).offer == nil)
        rolling.wait(second)
        #expect(rolling.trigger(bought).offer != nil)

        var day = try limited(Limit(1, .day(.user)))
        day.now = late
        try day.showAndDismiss(bought)
        day.wait(59 * minute)
        #expect(day.trigger(bought, explain: true).check("m")?.until == noon + 12 * hour)
        day.wait(31 * minute)
        #expect(day.trigger(bought).offer != nil)
    }

    @Test func aDayBeginsAtMidnightInTheUsersZone() throws {
        var world = try limited(Limit(1, .day(.user)))
        world.client.zone = TimeZone(identifier: "Asia/Tokyo")
        // 14:30 UTC is 23:30 in Tokyo.
        world.now = noon + 150 * minute
        try world.showAndDismiss(bought)
        world.wait(31 * minute)
        #expect(world.trigger(bought).offer != nil)
    }

    @Test func aDayOf23HoursCountsAsOneDay() throws {
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        var world = try limited(Limit(1, .day(.fixed(berlin))))
        // 2026-03-29 has 23 hours in Berlin; 2026-03-28T23:00Z is its midnight.
        let midnight: Instant = 1_774_738_800_000
        world.now = midnight
        try world.showAndDismiss(bought)
        world.now = midnight + 23 * hour - 1
        #expect(world.trigger(bought, explain: true).check("m")?.until == midnight + 23 * hour)
        world.now = midnight + 23 * hour
        #expect(world.trigger(bought).offer != nil)
    }

    @Test func countsCalendarWeeksFromMonday() throws {
        var world = try limited(Limit(1, .week(.fixed(.gmt))))
        // noon is on a Sunday.
        try world.showAndDismiss(bought)
        #expect(world.trigger(bought, explain: true).check("m")?.until == noon + 12 * hour)
        world.wait(12 * hour)
        try world.showAndDismiss(bought)
        world.wait(6 * 24 * hour)
        #expect(world.trigger(bought).offer == nil)
    }

    @Test func countsTheSessionOfTheDevice() throws {
        var world = try limited(Limit(1, .session))
        world.trigger(.sessionStart)
        try world.showAndDismiss(bought)
        #expect(world.trigger(bought).offer == nil)
        world.trigger(.sessionStart)
        #expect(world.trigger(bought).offer != nil)
    }

    @Test func anUnknownKindOfLimitIsRejected() {
        #expect(
            throws: InputFault(
                .unknownLimitKind, "/inapp/limits/0/window", "expected session, day, week, lifetime or a duration")
        ) {
            try Limit.Window(kind: "fortnight", at: "/inapp/limits/0/window")
        }
        #expect(throws: InputFault.self) { try Limit.Window(kind: nil, at: "") }
        #expect(throws: InputFault.self) { try Limit.Window(kind: "ever", span: hour, at: "") }
    }

    @Test func theLastDisplayOfACampaignIsOfferedOnce() throws {
        var world = try limited(Limit(100, .lifetime, per: .everyone))
        world.rows.tallies["m"] = Tally(committed: 99)
        let offer = try #require(world.trigger(bought, device: "phone", user: "ann").offer)
        let answer = world.trigger(bought, device: "tablet", user: "bob", explain: true)
        #expect(answer.check("m")?.actual == "used 99, reserved 1")
        #expect(world.rows.tallies["m"] == Tally(committed: 99, reserved: 1))
        try world.report(.shown, offer.id)
        #expect(world.rows.tallies["m"] == Tally(committed: 100))
        #expect(world.trigger(bought, device: "tablet", user: "bob").offer == nil)
    }

    @Test(arguments: [false, true])
    func anExemptMessageIsShownAndCountsOnlyIfConfigured(_ counts: Bool) throws {
        var world = World(
            try message("free") {
                $0.isExempt = true; $0.rank = 1
            }, try message("m", on: [.sessionStart]))
        world.policy.limits = [Limit(1, .lifetime, owner: .scope)]
        world.policy.exemptions.areCounted = counts
        try world.showAndDismiss(bought)
        #expect((world.trigger(.sessionStart).offer == nil) == counts)

        var full = World(try message("free") { $0.isExempt = true }, try message("m", on: [.sessionStart]))
        full.policy.limits = [Limit(1, .lifetime, owner: .scope)]
        try full.showAndDismiss(.sessionStart)
        #expect(full.trigger(bought).offer?.message == "free")
    }

    @Test func aChangedWindowCountsTheEarlierDisplays() throws {
        var world = try limited(Limit(2, .rolling(hour)))
        try world.showAndDismiss(bought)
        world.wait(30 * minute)
        try world.showAndDismiss(bought)
        world.wait(5 * hour)
        world.messages.register(
            try message("m") {
                $0.revision = 2; $0.reEligibility = .always; $0.limits = [Limit(2, .rolling(24 * hour))]
            })
        let answer = world.trigger(bought, explain: true)
        #expect(answer.check("m")?.actual == "used 2, reserved 0")
        #expect(answer.check("m")?.until == noon + 24 * hour + 1)
    }

    @Test func aNewCampaignLimitCountsTheEarlierDisplays() throws {
        var world = World(try message("m") { $0.reEligibility = .always })
        for user in ["ann", "bob"] { try world.showAndDismiss(bought, device: user, user: user) }
        world.messages.register(
            try message("m") {
                $0.reEligibility = .always
                $0.revision = 2
                $0.limits = [Limit(3, .lifetime, per: .everyone)]
            })
        try world.showAndDismiss(bought, device: "cem", user: "cem")
        #expect(world.trigger(bought, device: "dan", user: "dan", explain: true).failure("m") == .limitMessage)
    }

    @Test func rulesSinceTheLastDisplayPassBeforeAnyDisplay() throws {
        var world = World(
            try message("m") {
                $0.interval = hour; $0.reEligibility = .after(hour)
            }, interval: hour)
        #expect(world.trigger(bought).offer != nil)
    }

    @Test func countsAVendorsAndANamedLimitOverTheirMessages() throws {
        var world = World(
            try message("a", vendor: "braze"), try message("b", vendor: "braze", on: [.sessionStart]),
            try message("c", on: [.screen("x")]) { $0.namedLimits = ["promo"] },
            try message("d", on: [.screen("y")]) { $0.namedLimits = ["promo"] })
        world.policy.limits = [
            Limit(1, .rolling(hour), owner: .vendor("braze")),
            Limit(1, .rolling(hour), owner: .named("promo"), name: "promo"),
        ]
        try world.showAndDismiss(bought)
        #expect(world.trigger(.sessionStart, explain: true).failure("b") == .limitVendor)
        try world.showAndDismiss(.screen("x"))
        #expect(world.trigger(.screen("y"), explain: true).check("d")?.source == "promo")
    }

    @Test func countsADevicesDisplaysToAllItsUsers() throws {
        var world = World(
            try message("m") {
                $0.reEligibility = .always; $0.limits = [Limit(1, .lifetime, per: .device)]
            })
        try world.showAndDismiss(bought, user: "ann")
        #expect(world.trigger(bought, user: "bob").offer == nil)
        #expect(world.trigger(bought, device: "tablet", user: "ann").offer != nil)
    }
}
