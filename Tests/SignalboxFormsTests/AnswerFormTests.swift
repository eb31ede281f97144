import SignalboxGateway
import SignalboxInApp
import Testing

@Suite struct AnswerFormTests {
    static let spring = #"""
        {"vendor": "braze", "kind": "modal", "campaign": "spring", "rank": 300,
         "triggers": [{"type": "event", "name": "cart_opened", "filter": [[{"property": "total", "greaterThan": 20}]]}],
         "requires": {"template": "modal", "assets": ["b.png", "a.png"]},
         "content": {"title": "Spring"}, "action": {"open": "app://sale"}}
        """#
    static let survey =
        #"{"vendor": "braze", "kind": "bar", "triggers": [{"type": "event", "name": "cart_opened"}]}"#

    static func opened(_ total: Double = 42.5, _ more: String = "") -> String {
        #"""
        {"device": "d-1", "user": "u-9",
         "event": {"type": "event", "name": "cart_opened", "properties": {"total": \#(total)}}\#(more)}
        """#
    }

    private func setting(_ policy: Policy = Policy()) throws -> InAppSetting {
        try InAppSetting(["spring-modal": Self.spring, "survey": Self.survey], policy: policy)
    }

    // MARK: Triggers

    @Test func writesTheOfferWithEverythingThatAClientNeeds() throws {
        var setting = try setting()
        let expected = #"""
            {"offer": {"id": "of_1", "leaseUntil": "2026-11-22T12:00:30.000Z",
              "message": {"id": "spring-modal", "revision": 1, "vendor": "braze", "kind": "modal",
                "campaign": "spring", "template": "modal", "assets": ["a.png", "b.png"],
                "content": {"title": "Spring"}, "action": {"open": "app://sale"}},
              "report": ["shown", "clicked", "dismissed", "later", "undo", "discard", "asset-failed", "orientation",
                "template-unknown", "image-missing", "render-failed", "template-aborted", "interrupted"]}}
            """#
        #expect(try differences(expected, setting.trigger(Self.opened())) == [])
    }

    @Test func writesAnEmptyObjectForNoOffer() throws {
        var setting = try setting()
        #expect(try setting.trigger(#"{"device": "d-1", "user": "u-9", "event": {"type": "sessionStart"}}"#) == "{}")
    }

    @Test func explainsEveryCandidate() throws {
        var setting = try setting()
        let answer = try setting.trigger(Self.opened(42.5, #", "triggerId": "t", "explain": true"#))
        #expect(try value("/candidates/0/message", of: answer) == #""spring-modal""#)
        #expect(try value("/candidates/0/result", of: answer) == #""shown""#)
        #expect(
            try value("/candidates/0/checks/0", of: answer)
                == #"{"code":"filter","ok":true,"expected":"a trigger matches","actual":"matches","source":"triggers"}"#
        )
        #expect(try value("/candidates/1/result", of: answer) == #""lost""#)
        #expect(
            answer.contains(
                #"{"code":"priority-lost","ok":false,"expected":"rank below 300","actual":"rank 500","source":"spring-modal"}"#
            ))
        let again = try setting.trigger(Self.opened(42.5, #", "triggerId": "t", "explain": true"#))
        #expect(try value("/repeat", of: again) == "true")
        #expect(try value("/offer/id", of: again) == #""of_1""#)
    }

    @Test func writesTimesOfChecksInRFC3339() throws {
        var setting = try InAppSetting([
            "m": #"{"vendor": "acme", "kind": "modal", "schedule": {"end": "2026-11-22T11:00:00Z"}}"#
        ])
        let answer = try setting.trigger(
            #"{"device": "d-1", "user": "u-9", "event": {"type": "poll"}, "explain": true}"#)
        #expect(
            answer.contains(
                #""expected":"before 2026-11-22T11:00:00.000Z","actual":"2026-11-22T12:00:00.000Z""#
            ))
    }

    @Test func tellsWhetherTheEndBelongsToTheSchedule() throws {
        for (vendor, word) in [("acme", "before"), ("mce", "until")] {
            let form = #"{"vendor": "\#(vendor)", "kind": "modal", "triggers": [{"type": "sessionStart"}],"#
            var setting = try InAppSetting(["m": form + #""schedule": {"end": "2026-11-22T12:00:00Z"}}"#])
            let answer = try setting.trigger(
                #"{"device": "d-1", "user": "u-9", "event": {"type": "sessionStart"}, "explain": true}"#)
            #expect(answer.contains(#""expected":"\#(word) 2026-11-22T12:00:00.000Z""#), "\(vendor): \(answer)")
        }
    }

    @Test func tellsWhenToAskAgain() throws {
        var setting = try InAppSetting([
            "m": #"{"vendor": "acme", "kind": "modal", "triggers": [{"type": "sessionStart"}], "delay": "10s"}"#
        ])
        let answer = try setting.trigger(#"{"device": "d-1", "user": "u-9", "event": {"type": "sessionStart"}}"#)
        #expect(answer == #"{"nextCheck":"2026-11-22T12:00:10.000Z"}"#)
    }

    @Test func asksForNoDismissalOfAMandatoryMessage() throws {
        var setting = try InAppSetting([
            "upgrade": #"""
            {"vendor": "synerise", "kind": "fullscreen", "blocking": true, "asksApp": true, "test": true,
             "triggers": [{"type": "sessionStart"}]}
            """#
        ])
        let answer = try setting.trigger(#"{"device": "d-1", "user": "u-9", "event": {"type": "sessionStart"}}"#)
        let expected = #"""
            {"offer": {"id": "of_1", "leaseUntil": "2026-11-22T12:00:30.000Z", "asksApp": true, "flags": ["test"],
              "message": {"id": "upgrade", "revision": 1, "vendor": "synerise", "kind": "fullscreen", "blocking": true,
                "renderTimeout": "5s"},
              "report": ["shown", "clicked", "later", "undo", "discard", "asset-failed", "orientation",
                "template-unknown", "image-missing", "render-failed", "template-aborted", "interrupted"]}}
            """#
        let found = try differences(expected, answer)
        #expect(found == [], "\(found)")
    }

    // MARK: Reports

    @Test func answersAReportWithTheStateAndTheNextOffer() throws {
        var policy = Policy()
        policy.interval = 0
        var setting = try setting(policy)
        _ = try setting.trigger(Self.opened())
        #expect(try setting.report(#"{"outcome": "shown"}"#, of: "of_1") == #"{"state":"shown"}"#)
        #expect(try setting.report(#"{"outcome": "shown"}"#, of: "of_1") == #"{"state":"shown"}"#)
        let dismissed = #"{"outcome": "dismissed", "how": "swipe"}"#
        #expect(try setting.report(dismissed, of: "of_1") == #"{"state":"done","reason":"swipe"}"#)
        _ = try setting.trigger(Self.opened(), ticket: "of_2")
        let answer = try setting.report(#"{"outcome": "template-unknown"}"#, of: "of_2")
        #expect(answer == #"{"state":"discarded","reason":"template-unknown"}"#)
    }

    @Test func offersTheNextMessageIfTheClientCannotShowTheFirst() throws {
        var setting = try setting()
        _ = try setting.trigger(Self.opened())
        let answer = try setting.report(#"{"outcome": "template-unknown"}"#, of: "of_1")
        #expect(try value("/state", of: answer) == #""discarded""#)
        #expect(try value("/offer/id", of: answer) == #""of_next""#)
        #expect(try value("/offer/message/id", of: answer) == #""survey""#)
    }

    // MARK: Slots

    @Test func answersEachSlotInOrder() throws {
        var setting = try InAppSetting([
            "inline": #"""
            {"vendor": "granify", "kind": "inline", "triggers": [{"type": "slot", "name": "below-price"}], "content": 1}
            """#
        ])
        let answer = try setting.place(
            #"""
            {"device": "d-1", "user": "u-9", "page": "product", "explain": true,
             "slots": [{"name": "below-price", "productId": "p"}, {"name": "twice"}, {"name": "twice"},
               {"name": "hidden", "canDisplay": false}]}
            """#)
        let duplicate =
            #"""
            "candidates": [], "error": {"code": "inline.duplicate-label",
             "detail": "Two slots of this page have the same label: give each its own name."}
            """#
        let checks = try #require(try value("/slots/0/candidates/0/checks", of: answer))
        let expected = #"""
            {"slots": [
              {"name": "below-price", "productId": "p",
               "offer": {"id": "of_s", "leaseUntil": "2026-11-22T12:00:30.000Z",
                "message": {"id": "inline", "revision": 1, "vendor": "granify", "kind": "inline", "content": 1},
                "flags": ["exempt"],
                "report": ["shown", "clicked", "dismissed", "discard", "asset-failed", "template-unknown",
                 "image-missing", "render-failed", "template-aborted", "interrupted"]},
               "candidates": [{"message": "inline", "revision": 1, "result": "shown", "checks": \#(checks)}]},
              {"name": "twice", \#(duplicate)}, {"name": "twice", \#(duplicate)},
              {"name": "hidden", "error": {"code": "inline.not-displayable",
               "detail": "The client cannot display an inline in this slot."}, "candidates": []}]}
            """#
        let found = try differences(expected, answer)
        #expect(found == [], "\(found)")
    }

    @Test func namesAnUnknownLabelOfAnOverride() throws {
        var setting = try InAppSetting([:])
        let answer = try setting.place(
            #"{"device": "d-1", "user": "u-9", "page": "p", "slots": [], "override": {"name": "x"}}"#)
        #expect(
            try differences(
                #"""
                {"slots": [], "error": {"code": "inline.unknown-label",
                 "detail": "The override names a label that this page does not have."}}
                """#,
                answer) == [])
    }
}

/// The same function as a trigger, over other rows.
@Suite struct ExplainFormTests {
    private func setting(_ change: (inout Policy) -> Void = { _ in }) throws -> InAppSetting {
        var policy = Policy()
        policy.interval = 0
        change(&policy)
        return try InAppSetting(
            [
                "m": #"""
                {"vendor": "acme", "kind": "modal", "triggers": [{"type": "event", "name": "e"}],
                 "reEligibility": "always", "schedule": {"start": "2026-11-22T10:00:00Z"},
                 "limits": [{"count": 2, "window": "24h"}, {"count": 100, "per": "everyone", "window": "lifetime"}]}
                """#
            ], policy: policy)
    }

    private func question(_ more: String = "") -> String {
        #"{"device": "d-1", "user": "u-9", "event": {"type": "event", "name": "e"}\#(more)}"#
    }

    /// The code of the first check that failed; nil if the message would be shown.
    private func failure(_ answer: String) throws -> String? {
        if try value("/candidates/0/result", of: answer) == #""shown""# { return nil }
        return answer.split(separator: #"{"code":""#).first { $0.contains(#""ok":false"#) }
            .flatMap { $0.split(separator: "\"").first.map(String.init) }
    }

    @Test func showsTheOfferAndTheEventsOfAnExplanation() throws {
        let setting = try setting()
        let answer = try setting.explain(question())
        #expect(try value("/at", of: answer) == #""2026-11-22T12:00:00.000Z""#)
        #expect(try value("/offer/message/id", of: answer) == #""m""#)
        #expect(try value("/offer/id", of: answer) == nil)
        #expect(try value("/events", of: answer) == #"[{"type":"io.signalbox.inapp.offered","message":"m"}]"#)
    }

    @Test func decidesAtAnotherTimeAndForAnotherState() throws {
        var setting = try setting()
        // A decision has been made; a question may be about the time before it.
        _ = try setting.trigger(question())
        _ = try setting.report(#"{"outcome": "discard"}"#, of: "of_1")
        #expect(try failure(setting.explain(question())) == nil)
        let early = try setting.explain(question(#", "at": "2026-11-22T09:00:00Z""#))
        #expect(try failure(early) == "schedule.not-started")
        #expect(try failure(setting.explain(question(#", "state": {"blocks": true}"#))) == "screen-blocked")
    }

    @Test(
        arguments: [
            (#"{"message": "m", "count": 2}"#, "limit.message"), (#"{"message": "m", "count": 1}"#, nil),
            (#"{"message": "m", "count": 2, "last": "2026-11-21T11:00:00Z"}"#, nil),
            (#"{"message": "m", "per": "everyone", "count": 100}"#, "limit.message"),
            (#"{"message": "m", "per": "device", "count": 2}"#, nil),
            (#"{"vendor": "acme", "count": 3}"#, "limit.vendor"), (#"{"vendor": "braze", "count": 3}"#, nil),
            (#"{"scope": true, "per": "device", "count": 5}"#, "limit.scope"), (#"{"scope": true, "count": 5}"#, nil),
        ] as [(String, String?)])
    func countsTheDisplaysOfTheQuestion(_ counter: String, _ code: String?) throws {
        let setting = try setting {
            $0.limits = [
                Limit(3, .rolling(3_600_000), owner: .vendor("acme")), Limit(5, .session, per: .device, owner: .scope),
            ]
        }
        #expect(try failure(setting.explain(question(#", "counters": [\#(counter)]"#))) == code)
    }

    @Test(
        arguments: [
            (#"{"limit": "daily", "count": 3}"#, "limit.scope"), (#"{"limit": "daily", "count": 2}"#, nil),
            (#"{"limit": "acme", "count": 2}"#, "limit.vendor"), (#"{"limit": "acme", "count": 1}"#, nil),
        ] as [(String, String?)])
    func countsTheDisplaysOfALimitOfTheConfig(_ counter: String, _ code: String?) throws {
        let setting = try setting {
            $0.limits = [
                Limit(3, .rolling(3_600_000), per: .device, owner: .scope, name: "daily"),
                Limit(2, .rolling(3_600_000), owner: .vendor("acme"), name: "acme"),
            ]
        }
        #expect(try failure(setting.explain(question(#", "counters": [\#(counter)]"#))) == code)
    }

    @Test func aCounterOfALimitReplacesTheRecordedDisplays() throws {
        var setting = try setting { $0.limits = [Limit(2, .rolling(3_600_000), owner: .scope, name: "daily")] }
        _ = try setting.trigger(question())
        _ = try setting.report(#"{"outcome": "dismissed"}"#, of: "of_1")
        #expect(try failure(setting.explain(question(#", "counters": [{"limit": "daily", "count": 1}]"#))) == nil)
    }

    @Test func rejectsACounterOfAnUnknownLimit() throws {
        let setting = try setting()
        #expect(throws: FormFault.self) {
            _ = try setting.explain(question(#", "counters": [{"limit": "none", "count": 1}]"#))
        }
    }

    @Test func replacesAndForgetsTheRecordedHistory() throws {
        var setting = try setting { $0.limits = [Limit(2, .rolling(3_600_000), owner: .vendor("acme"))] }
        for offer in ["of_1", "of_2"] {
            _ = try setting.trigger(question(), ticket: offer)
            _ = try setting.report(#"{"outcome": "dismissed"}"#, of: offer)
        }
        #expect(try failure(setting.explain(question())) == "limit.message")
        #expect(try failure(setting.explain(question(#", "history": "empty""#))) == nil)
        #expect(try failure(setting.explain(question(#", "counters": [{"message": "m", "count": 0}]"#))) == nil)
        #expect(
            try failure(setting.explain(question(#", "counters": [{"vendor": "acme", "count": 0}]"#)))
                == "limit.message")
        let before = setting.state
        _ = try setting.explain(question(#", "history": "empty""#))
        #expect(setting.state == before)
    }
}
