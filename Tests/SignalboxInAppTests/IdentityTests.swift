import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// The users of a device, one after another.
@Suite struct IdentityTests {
    /// A client may number its triggers anew for each user.
    @Test func aRepeatedTriggerIdOfAnotherUserIsAnotherTrigger() throws {
        var world = World(try message("m"))
        let first = try #require(world.trigger(bought, user: "ann", id: "1").offer)
        let other = world.trigger(bought, user: "bob", id: "1")
        #expect(!other.isRepeat)
        #expect(other.offer?.message == "m" && other.offer?.id != first.id && other.offer?.user == "bob")
        #expect(world.rows.offers[first.id]?.reason == EndReason.userChanged)
        let again = world.trigger(bought, user: "bob", id: "1")
        #expect(again.isRepeat && again.offer?.id == other.offer?.id)
    }

    /// The same person: the answer stays.
    @Test func aRepeatedTriggerIdAfterTheLoginIsARepeat() throws {
        var world = World(try message("m"))
        let first = try #require(world.trigger(bought, user: nil, id: "1").offer)
        let again = world.trigger(bought, user: "ann", id: "1")
        #expect(again.isRepeat && again.offer?.id == first.id)
    }

    /// A turn has the messages that are addressed to its own user only.
    @Test func aReportAboutAFormerUsersOfferKeepsTheMessagesOfTheNextUser() throws {
        let toBob = addressed(
            try message("later", vendor: "braze") { $0.delay = 2 * hour },
            try message("update", on: [.sessionStart]) { $0.isBlocking = true })
        var world = World(try message("sale"))
        let sale = try #require(world.trigger(bought, user: "ann").offer)
        world.addressed["phone"] = toBob
        let update = try #require(world.trigger(.sessionStart, user: "bob").offer)
        world.trigger(bought, user: "bob")
        try world.report(.shown, update.id)
        world.wait(world.policy.silence)
        world.addressed["phone"] = nil
        try world.report(.shown, sale.id)
        #expect(world.rows.offers.values.first { $0.message == "later" }?.state == .triggered)
        #expect(world.state(update.id) == .shown)
        world.addressed["phone"] = toBob
        world.client.visible = []
        #expect(world.trigger(.poll, user: "bob").offer?.message == "update", "a mandatory message comes back")
    }

    @Test func aMessageToTheFormerUserIsNotWithdrawn() throws {
        var world = World()
        world.addressed["phone"] = addressed(try message("later") { $0.delay = minute })
        world.trigger(bought, user: "ann")
        world.addressed["phone"] = nil
        world.trigger(.poll, user: "bob")
        #expect(world.records.last?.detail == EndReason.userChanged)
    }

    /// A turn of another user may end the display before the timer does.
    @Test func aMandatoryMessageComesBackForItsOwnUser() throws {
        var world = World(
            try message("sale"), try message("update", on: [.sessionStart]) { $0.isBlocking = true })
        let sale = try #require(world.trigger(bought, user: "ann").offer)
        let update = try #require(world.trigger(.sessionStart, user: "bob").offer)
        try world.report(.shown, update.id)
        world.wait(world.policy.silence)
        try world.report(.shown, sale.id)
        #expect(world.rows.offers[update.id]?.reason == EndReason.interrupted)
        #expect(world.rows.offers.values.first { $0.state == .waiting }?.user == "bob")
        world.messages.withdraw("update")
        world.advance()
        #expect(world.records.last?.detail == EndReason.withdrawn)
    }

    /// The timer decides about the device's present user, whose messages the turn of a former one does not have.
    @Test func aReportAboutAFormerUsersOfferIsFollowedByATurnOfThePresentUser() throws {
        var world = World(try message("sale"))
        let sale = try #require(world.trigger(bought, user: "ann").offer)
        world.addressed["phone"] = addressed(
            try message("later", vendor: "braze") {
                $0.delay = 2 * hour
                $0.schedule.end = noon + hour
            })
        world.trigger(bought, user: "bob")
        let report = Report(offer: sale.id, device: "phone", outcome: .shown, ticket: world.ticket())
        let rows = world.rows.load(device: "phone", user: "ann")
        let messages = ActiveMessages(world.messages)
        let decision = try world.engine.report(report, rows, messages: messages, now: world.now)
        #expect(decision.nextDue == world.now)
    }

    private func addressed(_ definitions: Definition...) -> MessageIndex {
        definitions.reduce(into: MessageIndex()) { $0.register($1) }
    }

    /// An id such as "guest" that many devices share: a decision does not read all of their leases.
    @Test func manyLeasesOfOneUserExceedNoLimit() throws {
        var world = World(
            try message("capped") {
                $0.reEligibility = .always
                $0.limits = [Limit(200, .lifetime)]
            },
            try message("again") {
                $0.reEligibility = .after(hour)
                $0.rank = 600
            },
            try message("free") {
                $0.reEligibility = .always
                $0.rank = 700
            })
        world.comparesExplanations = false
        for number in 0..<Bounds.leasesElsewhere * 2 { world.trigger(bought, device: "d\(number)", user: "guest") }
        func offered(_ id: MessageID) -> Int {
            world.rows.offers.values.count { $0.message == id && $0.state == .offered }
        }
        #expect(offered("capped") == Bounds.leasesElsewhere && offered("again") == 0)
        #expect(offered("free") == Bounds.leasesElsewhere, "it has no limit")
        let answer = world.trigger(bought, device: "last", user: "guest", explain: true)
        #expect(answer.check("capped")?.actual.hasSuffix("or more") == true)
        #expect(answer.failure("again") == .reEligibility)

        world.wait(world.policy.lease)
        for number in 0..<Bounds.leasesElsewhere * 2 { world.advance(device: "d\(number)") }
        #expect(world.trigger(bought, device: "new", user: "guest").offer?.message == "capped")
    }

    /// Upkeep reads the row to see who still comes.
    @Test func aKnownUserIsSeenOnEachDayWithoutAnOffer() {
        var world = World()
        world.trigger(.sessionStart)
        #expect(world.rows.users["ann"] == noon)
        world.wait(hour)
        world.trigger(.sessionStart)
        #expect(world.rows.users["ann"] == noon, "one row for each day")
        world.wait(24 * hour)
        world.trigger(.sessionStart)
        #expect(world.rows.users["ann"] == noon + 25 * hour)
        world.wait(24 * hour)
        world.advance()
        #expect(world.rows.users["ann"] == noon + 25 * hour, "the timer is not the user")
        world.trigger(.sessionStart, device: "guest", user: nil)
        #expect(world.rows.users.count == 1, "no message is addressed to an anonymous user")
    }
}
