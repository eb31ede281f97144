import Foundation
import SignalboxGateway
import SignalboxInApp
import SignalboxNotification
import Testing

@Suite struct InAppEventTests {
    private func expected(_ type: String, _ data: String, subject: String = "braze/modal", index: Int = 0) -> String {
        let id = InAppEvent.id(index, at: Date(timeIntervalSince1970: 1_795_348_800), random: (1, 2))
        return #"""
            {"specversion": "1.0", "id": "\#(id)", "source": "/signalbox/demo/app", "type": "io.signalbox.inapp.\#(type)",
             "subject": "\#(subject)", "time": "2026-11-22T12:00:00.000Z", "datacontenttype": "application/json",
             "dataschema": "urn:signalbox:schema:inapp:1", "data": \#(data)}
            """#
    }

    private let offer =
        #"""
        "vendor": "braze", "kind": "modal", "message": "spring-modal", "revision": 1, "campaign": "spring",
        "offer": "of_1", "device": "d-1", "user": "u-9"
        """#
    private let triggered = #""triggeredAt": "2026-11-22T12:00:00.000Z""#

    @Test func tellsTheStoryOfAnOffer() throws {
        var setting = try InAppSetting(["spring-modal": AnswerFormTests.spring])
        _ = try setting.trigger(AnswerFormTests.opened())
        _ = try setting.report(#"{"outcome": "shown"}"#, of: "of_1", at: noon + 1000)
        _ = try setting.report(
            #"{"outcome": "clicked", "button": "yes", "closes": false}"#, of: "of_1", at: noon + 2000)
        _ = try setting.report(#"{"outcome": "dismissed", "how": "back"}"#, of: "of_1", at: noon + 3000)
        let found = setting.events()
        let story = [
            (
                "offered",
                #"{\#(offer), "at": "2026-11-22T12:00:00.000Z", \#(triggered), "leaseUntil": "2026-11-22T12:00:30.000Z"}"#
            ),
            (
                "impression",
                #"{\#(offer), "at": "2026-11-22T12:00:01.000Z", \#(triggered), "shownAt": "2026-11-22T12:00:01.000Z"}"#
            ),
            (
                "clicked",
                #"""
                {\#(offer), "at": "2026-11-22T12:00:02.000Z", "button": "yes", \#(triggered),
                 "shownAt": "2026-11-22T12:00:01.000Z"}
                """#
            ),
            (
                "dismissed",
                #"""
                {\#(offer), "at": "2026-11-22T12:00:03.000Z", "how": "back", \#(triggered),
                 "shownAt": "2026-11-22T12:00:01.000Z", "endedAt": "2026-11-22T12:00:03.000Z"}
                """#
            ),
        ]
        try #require(found.count == story.count)
        for (index, (type, data)) in story.enumerated() {
            #expect(try differences(expected(type, data, index: index), found[index]) == [])
        }
    }

    @Test func namesReasonsGroupsAndFlags() throws {
        var policy = Policy()
        policy.controlGroups = [ControlGroup("all", share: 10_000, coverage: .everything)]
        var held = try InAppSetting(["spring-modal": AnswerFormTests.spring], policy: policy)
        _ = try held.trigger(AnswerFormTests.opened())
        #expect(
            try differences(
                expected(
                    "held",
                    #"""
                    {\#(offer), "at": "2026-11-22T12:00:00.000Z", "group": "all", \#(triggered),
                     "shownAt": "2026-11-22T12:00:00.000Z", "endedAt": "2026-11-22T12:00:00.000Z"}
                    """#
                ), held.events().first ?? "") == [])
        var discarded = try InAppSetting(["spring-modal": AnswerFormTests.spring])
        _ = try discarded.trigger(AnswerFormTests.opened())
        _ = try discarded.report(#"{"outcome": "asset-failed"}"#, of: "of_1")
        let event = discarded.events().last ?? ""
        #expect(try value("/type", of: event) == #""io.signalbox.inapp.discarded""#)
        #expect(try value("/data/reason", of: event) == #""asset-failed""#)
        var late = try InAppSetting(["t": #"{"vendor": "acme", "kind": "bar", "test": true}"#])
        _ = try late.trigger(#"{"device": "d-1", "user": "u-9", "event": {"type": "poll"}}"#)
        _ = try late.report(#"{"outcome": "shown"}"#, of: "of_1", at: noon + 40_000)
        #expect(try value("/data/flags", of: late.events().last ?? "") == #"["test","late"]"#)
    }

    @Test func namesTheEventWithoutAMessageButNoProperties() throws {
        var setting = try InAppSetting([:])
        _ = try setting.trigger(AnswerFormTests.opened())
        #expect(
            try differences(
                expected(
                    "no-match",
                    #"""
                    {"device": "d-1", "user": "u-9", "at": "2026-11-22T12:00:00.000Z",
                     "trigger": {"type": "event", "name": "cart_opened"}}
                    """#,
                    subject: "unknown/no-match"), setting.events().first ?? "") == [])
    }

    @Test func namesTheSlotOfAnInline() throws {
        var setting = try InAppSetting([
            "i": #"{"vendor": "granify", "kind": "inline", "triggers": [{"type": "slot", "name": "a"}]}"#
        ])
        _ = try setting.place(
            #"{"device": "d-1", "user": "u-9", "page": "p", "slots": [{"name": "a", "productId": "x", "sku": "y"}]}"#)
        let event = setting.events().first ?? ""
        #expect(try value("/subject", of: event) == #""granify/inline""#)
        #expect(try value("/data/slot", of: event) == #"{"page":"p","name":"a","productId":"x","sku":"y"}"#)
    }

    @Test func leavesOutAnAnonymousUser() throws {
        var setting = try InAppSetting(["spring-modal": AnswerFormTests.spring])
        setting.state = InAppState(
            user: UserState(id: AnonymousUser.id(on: "d-1")), device: DeviceState(id: "d-1"))
        _ = try setting.trigger(AnswerFormTests.opened().replacing(#""user": "u-9","#, with: ""))
        #expect(try value("/data/user", of: setting.events().first ?? "") == nil)
    }

    @Test func repeatsIdsForTheSameDecision() {
        let time = Date(timeIntervalSince1970: 1_795_348_800)
        let ids = (0..<1000).map { InAppEvent.id($0, at: time, random: (.max, .max)) }
        #expect(ids == (0..<1000).map { InAppEvent.id($0, at: time, random: (.max, .max)) })
        #expect(Set(ids).count == ids.count)
        #expect(ids.map(\.description) == ids.map(\.description).sorted())
        #expect(ids[0] != InAppEvent.id(0, at: time, random: (.max, 0)))
    }
}
