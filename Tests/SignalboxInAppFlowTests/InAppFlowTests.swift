import Foundation
import SignalboxInApp
import SignalboxNotification
import SignalboxRouting
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite struct InAppFlowTests {
    @Test func offersAMessageWithItsContentAndRecordsEveryStep() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring", #","action":{"type":"openUrl"}"#)
        let answer = try await setting.buy()
        #expect(answer.message == "spring")
        #expect(answer["offer"]["message"]["content"]["title"].text == "spring")
        #expect(answer["offer"]["message"]["action"]["type"].text == "openUrl")
        let offer = try #require(answer.offer)
        #expect(offer.hasPrefix("of_") && offer.utf8.count == 3 + 12 + 32)
        try await setting.report("shown", of: offer)
        try await setting.report("clicked", of: offer, more: #","button":"yes","closes":false"#)
        let last = try await setting.report("dismissed", of: offer, more: #","how":"swipe""#)
        #expect(last["state"].text == "done")
        #expect(setting.types == ["offered", "impression", "clicked", "dismissed"])
        let events = setting.store.events
        #expect(events.allSatisfy { $0.routes == ["all"] && $0.destinations.map(\.name) == ["crm"] })
        #expect(Set(events.map(\.event.id.description)).count == 4)
        #expect(setting.counts.all["all"]?.matched == 4)
    }

    /// Devices of two apps may have equal ids.
    @Test func aDeviceBelongsToOneSource() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring")
        let offer = try #require(try await setting.buy().offer)
        let report = try await failure { try await setting.report("shown", of: offer, from: "web") }
        guard case .unknownOffer = report else { throw report }
        let trigger = try await failure { try await setting.buy(by: "evil", from: "web") }
        guard case .foreignDevice = trigger else { throw trigger }
        #expect(setting.types == ["offered"])
        try await setting.report("shown", of: offer)
        #expect(try await setting.buy(on: "d-2", from: "web").offer != nil)
    }

    /// A source that was renamed.
    @Test func aDeviceOfARemovedSourceIsFree() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring")
        _ = try await setting.buy(from: "removed")
        _ = try await setting.buy()
        let other = try await failure { try await setting.buy(from: "web") }
        guard case .foreignDevice = other else { throw other }
    }

    @Test func recordsAnEventThatNoMessageMatches() async throws {
        let setting = try await InAppSetting()
        #expect(try await setting.buy().offer == nil)
        #expect(setting.types == ["no-match"])
    }

    /// One offer, the same answer.
    @Test func answersARepeatedTriggerAsBefore() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring")
        let first = try await setting.buy(id: "t-1")
        for _ in 0..<2 { #expect(try await setting.buy(id: "t-1").offer == first.offer) }
        #expect(setting.types == ["offered"])
        let counts = setting.flow.shared.counts.current
        #expect(counts.decisions == [.offered: 1, .repeated: 2])
    }

    /// One impression.
    @Test func countsARepeatedReportOnce() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring")
        let offer = try await setting.buy().offer
        let first = try await setting.report("shown", of: offer)
        let again = try await setting.report("shown", of: offer)
        #expect(first["state"].text == "shown" && again["state"].text == "shown")
        #expect(setting.types == ["offered", "impression"])
    }

    @Test func rejectsAContradictingReportAndKeepsTheState() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring")
        let offer = try await setting.buy().offer
        try await setting.report("shown", of: offer)
        guard case .contradicts(let conflict) = try await failure({ try await setting.report("later", of: offer) })
        else {
            Issue.record("accepted")
            return
        }
        #expect(conflict.code == .alreadyShown && conflict.state == .shown)
        #expect(try await setting.report("dismissed", of: offer)["state"].text == "done")
    }

    @Test func aDeviceCannotReportTheOfferOfAnother() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring")
        let offer = try await setting.buy().offer
        for (id, more) in [(offer, #","device":"d-2""#), ("of_unknown", "")] {
            guard case .unknownOffer = try await failure({ try await setting.report("shown", of: id, more: more) })
            else {
                Issue.record("accepted")
                return
            }
        }
        #expect(try await setting.report("shown", of: offer, more: #","device":"d-1""#)["state"].text == "shown")
        #expect(setting.flow.shared.counts.current.replies == [.unknown: 2, .accepted: 1])
    }

    @Test func twoDevicesOfAUserGetOneOffer() async throws {
        let setting = try await InAppSetting { $0.limits = [Limit(1, .lifetime, owner: .scope)] }
        try await setting.register("spring")
        async let one = setting.buy(on: "d-1", more: #","explain":true"#)
        async let other = setting.buy(on: "d-2", more: #","explain":true"#)
        let answers = try await [one, other]
        #expect(answers.count { $0.offer != nil } == 1)
        let loser = try #require(answers.first { $0.offer == nil })
        let checks = try #require(loser["candidates"][0]["checks"].value as? [[String: Any]])
        #expect(checks.contains { $0["code"] as? String == "limit.scope" && $0["ok"] as? Bool == false })
    }

    /// The decision runs again once it knows which tallies it needs.
    @Test func aCampaignCapHoldsAcrossUsers() async throws {
        let setting = try await InAppSetting()
        try await setting.register("capped", #","limits":[{"count":3,"per":"everyone","window":"lifetime"}]"#)
        var offers = 0
        for number in 0..<6 {
            let answer = try await setting.buy(on: "d-\(number)", by: "u-\(number)")
            guard let offer = answer.offer else { continue }
            offers += 1
            if number.isMultiple(of: 2) { try await setting.report("shown", of: offer) }
        }
        #expect(offers == 3)
        #expect(setting.store.with { $0.asked }.contains(["capped"]))
    }

    /// A report that brings the next message of the same event reads its tally too.
    @Test func aRunnerUpRespectsItsCampaignCap() async throws {
        let setting = try await InAppSetting()
        try await setting.register(
            "capped", #","rank":700,"limits":[{"count":1,"per":"everyone","window":"lifetime"}]"#)
        let taken = try await setting.buy(on: "d-0", by: "u-0")
        #expect(taken.message == "capped")
        try await setting.register("first", #","rank":100"#)
        let answer = try await setting.buy()
        #expect(answer.message == "first")
        let next = try await setting.report("template-aborted", of: answer.offer)
        #expect(next.offer == nil, "the cap is reserved")
        try await setting.report("discard", of: taken.offer)
        let free = try await setting.buy()
        #expect(try await setting.report("template-aborted", of: free.offer).message == "capped")
    }

    /// A late message may match an event of the past, and the device may have an ended offer of it.
    @Test func aReplayedEventRespectsTheCampaignCap() async throws {
        let setting = try await InAppSetting { $0.replay = 30_000 }
        let cap = #","limits":[{"count":1,"per":"everyone","window":"lifetime"}]"#
        try await setting.register("capped", cap)
        let own = try await setting.buy()
        try await setting.report("discard", of: own.offer)
        let other = try await setting.buy(on: "d-2", by: "u-2")
        try await setting.report("shown", of: other.offer)
        setting.clock.advance(by: 1)
        try await setting.register("capped", cap + #","rank":10"#)
        setting.clock.advance(by: 1)
        #expect(try await setting.poll().offer == nil, "the cap is used up")
    }

    /// A store may run a step again after the failure of a shared commit.
    @Test func aStepIsAFunctionOfItsRows() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring")
        setting.store.with { $0.runsTwice = true }
        let offer = try await setting.buy().offer
        try await setting.report("shown", of: offer)
        #expect(setting.types == ["offered", "impression"])
        #expect(Set(setting.store.events.map(\.event.id.description)).count == 2)
    }

    @Test func keepsTheAnswerOfADecisionWhoseContentCannotBeRead() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring")
        let offer = try await setting.buy(id: "t-1").offer
        setting.store.with { $0.failure = .unavailable(reason: "full") }
        guard case .store = try await failure({ try await setting.buy(id: "t-1") }) else {
            Issue.record("answered")
            return
        }
        setting.store.with { $0.failure = nil }
        #expect(try await setting.buy(id: "t-1").offer == offer)
    }

    @Test func fillsSlotsAndExplainsThem() async throws {
        let setting = try await InAppSetting()
        let message =
            #"{"vendor":"granify","kind":"inline","triggers":[{"type":"slot","name":"above"}],"content":{"html":"x"}}"#
        _ = try await setting.flow.register(Array(message.utf8), as: "inline")
        let body = #"{"device":"d-1","page":"cart","explain":true,"slots":[{"name":"above"},{"name":"below"}]}"#
        let request = try setting.flow.read(page: Array(body.utf8), from: setting.source, mayExplain: true)
        let answer = try JSON(await setting.flow.answer(request))
        #expect(answer["slots"][0].message == "inline")
        #expect(answer["slots"][0]["offer"]["message"]["content"]["html"].text == "x")
        #expect(answer["slots"][1].offer == nil)
        #expect(answer["slots"][0]["candidates"].count == 1)
    }

    @Test func explainsWithoutStoring() async throws {
        let setting = try await InAppSetting()
        try await setting.register("spring", #","limits":[{"count":1,"per":"user","window":"24h"}]"#)
        let question =
            #"{"device":"d-1","user":"u-9","event":{"type":"event","name":"buy"},"state":{"foreground":true}"#
        let free = try JSON(await setting.flow.explain(Array((question + "}").utf8)))
        #expect(free.message == "spring")
        let counters = #","counters":[{"message":"spring","count":1}]}"#
        let full = try JSON(await setting.flow.explain(Array((question + counters).utf8)))
        #expect(full["offer"].value == nil)
        #expect(setting.store.events.isEmpty && setting.store.with { $0.rows } == MemoryRows())
    }

    @Test func namesTheLocationOfAMistake() async throws {
        let setting = try await InAppSetting()
        for (body, pointer) in [
            ("", ""), ("[]", ""), (#"{"event":{"type":"poll"}}"#, "/device"),
            (#"{"device":"d","event":{"type":"dance"}}"#, "/event/type"),
            (#"{"device":"d","user":"anonymous:d","event":{"type":"poll"}}"#, "/user"),
        ] {
            guard
                case .malformed(let fault) = try await failure({
                    try setting.flow.read(trigger: Array(body.utf8), from: setting.source, mayExplain: false)
                })
            else {
                Issue.record("accepted \(body)")
                continue
            }
            #expect(fault.pointer == pointer, "\(body)")
        }
        #expect(setting.store.events.isEmpty)
    }
}
