import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// In-app messages over time, and simultaneous requests, on the built binary.
@Suite(.timeLimit(.minutes(15)), .enabled(if: ClockLibrary.isAvailable, "no C compiler"))
struct InAppClockTests {
    /// `inApp`: the section of the config.
    private func run(
        _ inApp: String, from time: String = "2026-11-22T12:00:00Z",
        _ body: @escaping @Sendable (Gateway, ReceivingServer, StandingClock) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let clock = try StandingClock(in: directory, at: time)
            try await Gateway.run(config: #""inapp": \#(inApp),"#, environment: clock.environment) {
                gateway, receiver, _ in
                try await body(gateway, receiver, clock)
            }
        }
    }

    @Test func aMessageWhoseTimeoutIsBeforeItsDelayExpires() async throws {
        try await run("{}") { gateway, receiver, clock in
            try await gateway.put("m", #","delay":"10s","timeout":"8s""#)
            #expect(try await gateway.buy().json["nextCheck"] as? String == "2026-11-22T12:00:10.000Z")
            try clock.set("2026-11-22T12:00:10Z")
            #expect(try await gateway.poll().json.offer == nil)
            let expired = try #require(try await receiver.next().map { try InAppArrival($0) }.first)
            #expect(expired.kind == "expired" && expired.data["reason"] as? String == "timeout")
        }
    }

    @Test func noMessageIsOfferedDuringTheInterval() async throws {
        try await run(#"{ "interval": "30s" }"#) { gateway, _, clock in
            try await gateway.put("m", #","reEligibility":"always""#)
            try await gateway.show()
            try clock.set("2026-11-22T12:00:29.999Z")
            #expect(try await gateway.buy().json.offer == nil)
            try clock.set("2026-11-22T12:00:30Z")
            #expect(try await gateway.buy().json.offer != nil)
        }
    }

    @Test func aShownMessageIsOfferedAgainOnlyWhenEligible() async throws {
        try await run(#"{ "interval": "0s" }"#) { gateway, _, clock in
            try await gateway.put("m", #","reEligibility":"60s""#)
            try await gateway.show()
            try clock.set("2026-11-22T12:00:59.999Z")
            #expect(try await gateway.buy().json.offer == nil)
            try clock.set("2026-11-22T12:01:00Z")
            #expect(try await gateway.buy().json.offer != nil)
        }
    }

    @Test func aMessageIsOfferedFromItsEmbargoToItsExpiry() async throws {
        try await run(#"{ "interval": "0s" }"#) { gateway, _, clock in
            let schedule = #""schedule":{"start":"2026-11-22T13:00:00Z","end":"2026-11-22T14:00:00Z"}"#
            try await gateway.put("m", #","reEligibility":"always",\#(schedule)"#, vendor: "sourse")
            for (time, isShown) in [
                ("12:59:59.999", false), ("13:00:00.000", true), ("14:00:00.000", true), ("14:00:00.001", false),
            ] {
                try clock.set("2026-11-22T\(time)Z")
                // The device does not let the gateway choose the moment.
                let answer = try await gateway.buy(more: #","state":{"smartDelay":false}"#)
                #expect((answer.json.offer != nil) == isShown, "\(time)")
                if let offer = answer.json.offer { try await gateway.report("discard", of: offer) }
            }
        }
    }

    /// Eight requests at once, like those of an app that repeats its requests too early.
    @Test func simultaneousRepeatsAreAnsweredAlike() async throws {
        try await run(#"{ "interval": "0s" }"#) { gateway, receiver, _ in
            try await gateway.put("m", #","reEligibility":"always""#)
            let offers = try await atOnce { try await gateway.buy(id: "t").json.offer }
            let offer = try #require(offers.first ?? nil)
            #expect(offers == Array(repeating: offer, count: 8))
            for outcome in ["shown", "dismissed"] {
                let id = #","reportId":"\#(outcome)""#
                let statuses = try await atOnce { try await gateway.report(outcome, of: offer, more: id).status }
                #expect(statuses == Array(repeating: 200, count: 8))
            }
            let kinds = try await receiver.next(3).map { try InAppArrival($0).kind }
            #expect(Set(kinds) == ["offered", "impression", "dismissed"])
        }
    }

    @Test func anUnansweredMessageIsOfferedOnceMore() async throws {
        try await run("{}") { gateway, receiver, clock in
            try await gateway.put("m")
            let offer = try await gateway.buy().json.offer
            try clock.set("2026-11-22T12:00:29.999Z")
            #expect(try await gateway.buy().json.offer == nil, "it is leased")
            try clock.set("2026-11-22T12:00:30Z")
            #expect(try await gateway.poll().json.offer == offer)
            try clock.set("2026-11-22T12:01:00Z")
            #expect(try await gateway.poll().json.offer == nil)
            let arrivals = try await receiver.next(3).map { try InAppArrival($0) }
            #expect(arrivals.map(\.kind).sorted() == ["discarded", "offered", "offered"])
            #expect(arrivals.contains { $0.data["reason"] as? String == "no-answer" })
        }
    }

    @Test func aLateImpressionCounts() async throws {
        try await run("{}") { gateway, receiver, clock in
            try await gateway.put("m")
            try await gateway.put("other", on: "sell")
            let late = try await gateway.buy().json.offer
            try clock.set("2026-11-22T12:00:30Z")
            #expect(try await gateway.event("sell").json.message == "other")
            #expect(try await gateway.report("shown", of: late).json["state"] as? String == "done")
            let arrivals = try await receiver.next(3).map { try InAppArrival($0) }
            let impression = try #require(arrivals.first { $0.kind == "impression" })
            #expect(impression.data["flags"] as? [String] == ["late"])
        }
    }

    @Test func aMessageWhoseScheduleEndsDuringItsDelayExpires() async throws {
        try await run("{}") { gateway, receiver, clock in
            try await gateway.put("m", #","delay":"10s","schedule":{"end":"2026-11-22T12:00:05Z"}"#)
            try await gateway.buy()
            try clock.set("2026-11-22T12:00:10Z")
            #expect(try await gateway.poll().json.offer == nil)
            let expired = try #require(try await receiver.next().map { try InAppArrival($0) }.first)
            #expect(expired.kind == "expired" && expired.data["reason"] as? String == "schedule.ended")
        }
    }

    @Test func aMessageWhoseDelayEndsInBackgroundWaits() async throws {
        try await run("{}") { gateway, _, clock in
            try await gateway.put("m", #","delay":"10s""#)
            try await gateway.buy(more: #","state":{"foreground":false}"#)
            try clock.set("2026-11-22T12:00:10Z")
            #expect(try await gateway.event("other", more: #","state":{"foreground":false}"#).json.offer == nil)
            #expect(try await gateway.poll().json.message == "m")
        }
    }

    /// The delay ends while no gateway runs.
    @Test func theDueTimeOfADelaySurvivesAKill() async throws {
        try await withTemporaryDirectory { directory in
            let clock = try StandingClock(in: directory, at: "2026-11-22T12:00:00Z")
            try await ReceivingServer.run { receiver in
                let config = Gateway.config(to: receiver.url)
                let first = try await Gateway.start(in: directory, config: config, environment: clock.environment)
                try await first.put("m", #","delay":"10s""#)
                try await first.buy()
                await first.kill()
                try clock.set("2026-11-22T12:00:09.999Z")
                let second = try await Gateway.start(in: directory, config: config, environment: clock.environment)
                let early = try await second.poll()
                #expect(early.json.offer == nil)
                #expect(early.json["nextCheck"] as? String == "2026-11-22T12:00:10.000Z")
                await second.kill()
                try clock.set("2026-11-22T12:00:10Z")
                let third = try await Gateway.start(in: directory, config: config, environment: clock.environment)
                #expect(try await third.poll().json.message == "m")
                #expect(try await third.buy().json.offer == nil, "no second offer")
                #expect(await third.stop() == 0)
            }
        }
    }

    /// The limit holds even if the gateway was killed before the clock was set back.
    @Test func aClockSetBackReopensNoLimit() async throws {
        try await withTemporaryDirectory { directory in
            let clock = try StandingClock(in: directory, at: "2026-11-22T12:00:00Z")
            try await ReceivingServer.run { receiver in
                let config = Gateway.config(to: receiver.url, more: #""inapp": { "interval": "0s" },"#)
                let first = try await Gateway.start(in: directory, config: config, environment: clock.environment)
                try await first.put("m", #","reEligibility":"always","limits":[{"count":1,"window":"24h"}]"#)
                try await first.show()
                try clock.set("2026-11-22T11:00:00Z")
                #expect(try await first.buy().json.offer == nil)
                await first.kill()
                let second = try await Gateway.start(in: directory, config: config, environment: clock.environment)
                for (time, isShown) in [
                    ("22T11:00:00.000", false), ("23T11:30:00.000", false), ("23T12:00:00.000", false),
                    ("23T12:00:00.001", true),
                ] {
                    try clock.set("2026-11-\(time)Z")
                    #expect((try await second.buy().json.offer != nil) == isShown, "\(time)")
                }
                #expect(await second.stop() == 0)
            }
        }
    }

    @Test func overdueMessagesAreOfferedOnePerInterval() async throws {
        try await run(#"{ "interval": "30s" }"#) { gateway, _, clock in
            try await gateway.put("m", #","delay":"1m""#)
            try await gateway.put("other", #","delay":"1m""#, vendor: "another")
            try await gateway.buy()
            try clock.set("2026-11-22T13:00:00Z")
            let first = try await gateway.show(by: { try await $0.poll() })
            #expect(first["flags"] as? [String] == ["overdue"])
            let early = try await gateway.poll()
            #expect(early.json.offer == nil)
            #expect(early.json["nextCheck"] as? String == "2026-11-22T13:00:30.000Z")
            try clock.set("2026-11-22T13:00:30Z")
            let second = try await gateway.show(by: { try await $0.poll() })
            #expect(second["flags"] as? [String] == ["overdue"])
            try clock.set("2026-11-22T14:00:00Z")
            #expect(try await gateway.poll().json.offer == nil, "once each")
        }
    }

    @Test(arguments: [("24h", false), ("day", true)])
    func aRollingWindowEndsAfterItsSpanAndADayAtMidnight(_ window: String, _ isShownAfterMidnight: Bool) async throws {
        try await run(#"{ "interval": "0s" }"#, from: "2026-11-22T23:00:00Z") { gateway, _, clock in
            try await gateway.put("m", #","reEligibility":"always","limits":[{"count":1,"window":"\#(window)"}]"#)
            try await gateway.show()
            try clock.set("2026-11-23T00:30:00Z")
            #expect((try await gateway.buy().json.offer != nil) == isShownAfterMidnight)
            guard !isShownAfterMidnight else { return }
            try clock.set("2026-11-23T23:00:00Z")
            #expect(try await gateway.buy().json.offer == nil)
            try clock.set("2026-11-23T23:00:00.001Z")
            #expect(try await gateway.buy().json.offer != nil)
        }
    }

    /// In Warsaw, 28 March 2027 has 23 hours.
    @Test func aDayOf23HoursCountsAsOneDay() async throws {
        try await run(#"{ "interval": "0s" }"#, from: "2027-03-27T23:00:00Z") { gateway, _, clock in
            let limit = #"{"count":1,"window":"day","zone":"Europe/Warsaw"}"#
            try await gateway.put("m", #","reEligibility":"always","limits":[\#(limit)]"#)
            try await gateway.show()
            try clock.set("2027-03-28T21:59:59.999Z")
            #expect(try await gateway.buy().json.offer == nil)
            try clock.set("2027-03-28T22:00:00Z")
            #expect(try await gateway.buy().json.offer != nil)
        }
    }

    @Test func aDisplayFreesTheScreenAfterHalfAnHourOfSilence() async throws {
        try await run("{}") { gateway, receiver, clock in
            try await gateway.put("m", #","limits":[{"count":1,"window":"lifetime"}]"#)
            try await gateway.put("other", on: "sell")
            try await gateway.report("shown", of: try await gateway.buy().json.offer)
            try clock.set("2026-11-22T12:30:00Z")
            #expect(try await gateway.event("sell").json.offer == nil, "the interval since its end")
            try clock.set("2026-11-22T12:30:30Z")
            #expect(try await gateway.event("sell").json.message == "other")
            #expect(try await gateway.buy().json.offer == nil, "the impression counts")
            let arrivals = try await receiver.next(3).map { try InAppArrival($0) }
            #expect(arrivals.contains { $0.kind == "dismissed" && $0.data["how"] as? String == "interrupted" })
        }
    }
}

/// The results of eight simultaneous calls.
private func atOnce<Value: Sendable>(_ call: @escaping @Sendable () async throws -> Value) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for _ in 0..<8 { group.addTask { try await call() } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}

extension Gateway {
    /// Registers a message for an event. `more`: further members of the form.
    fileprivate func put(
        _ id: String, _ more: String = "", on event: String = "buy", vendor: String = "own"
    ) async throws {
        let form = #"{"vendor":"\#(vendor)","kind":"modal","triggers":[{"type":"event","name":"\#(event)"}]\#(more)}"#
        let answer = try await request("PUT", "/v1/inapp/messages/\(id)", form)
        try #require(answer.status == 201, "\(answer.json)")
    }

    /// An event on the same device as ``buy(on:by:id:more:)``.
    fileprivate func event(_ name: String, more: String = "") async throws -> Answer {
        try await post(
            Data(#"{"device":"d-1","user":"u-9","event":{"type":"event","name":"\#(name)"}\#(more)}"#.utf8),
            to: "/v1/inapp/triggers")
    }

    /// Shows and dismisses the offer of a request; returns the offer.
    @discardableResult
    fileprivate func show(
        by request: (Gateway) async throws -> Answer = { try await $0.buy() }
    ) async throws -> [String: Any] {
        let offer = try #require(try await request(self).json["offer"] as? [String: Any])
        for outcome in ["shown", "dismissed"] {
            let report = try await report(outcome, of: offer["id"] as? String)
            try #require(report.status == 200)
        }
        return offer
    }
}
