import Testing

@testable import SignalboxInApp

/// An explanation decides as the decision itself does, although the latter stops checking a message early.
@Suite struct ExplanationTests {
    private static let names = ["total", "country", "items"]

    private static func filter(_ random: inout Seeded) -> Filter? {
        if random.chance(40) { return nil }
        return Filter(
            (0...random.below(2)).map { _ in
                (0...random.below(2)).map { _ in
                    Filter.Condition(
                        random.pick(names),
                        random.pick([
                            .greaterThan(5), .equals(.text("PL")), .exists, .notExists, .notEquals(.number(3)),
                            .oneOf([.text("PL"), .number(3)]),
                        ]))
                }
            })
    }

    private static func triggers(_ random: inout Seeded) -> [MessageTrigger] {
        (0...random.below(2)).map { _ in
            random.pick([
                .event(name: "e\(random.below(3))", filter: filter(&random)),
                .purchase(product: random.pick([nil, "p"]), filter: filter(&random)), .sessionStart, .immediate,
                .screen("cart"), .messageClick(message: "m1", button: nil),
                .pushOpen(campaign: random.pick([nil, "c"])),
            ])
        }
    }

    private static func definition(_ index: Int, _ random: inout Seeded) throws -> Definition {
        let vendor = random.pick(["braze", "synerise", "mce", "sourse", "own"])
        let kind = random.pick([Message.Kind.modal, .banner, .walkthrough, .control])
        return try message("m\(index)", vendor: vendor, kind, on: triggers(&random)) {
            $0.rank = random.pick([100, 500])
            $0.delay = random.pick([0, 0, 5 * second])
            $0.timeout = random.pick([nil, nil, 20 * second])
            $0.interval = random.pick([nil, nil, 0, minute])
            $0.reEligibility = random.pick([.always, .never, .after(minute)])
            $0.limits = random.pick([
                [], [Limit(1, .rolling(minute))], [Limit(2, .session, per: .device)], [Limit(2, .day(.user))],
                [Limit(1, .lifetime, per: .everyone)],
            ])
            $0.schedule = random.pick([
                Message.Schedule(), Message.Schedule(start: noon + 30 * second, end: noon + 5 * minute),
            ])
            $0.requirements.orientation = random.pick([nil, nil, .landscape])
            $0.requirements.assets = random.pick([[], [], ["image"]])
            $0.requirements.screens = random.pick([[], [], ["cart"]])
            $0.requirements.lacksImage = random.chance(5)
            $0.isTest = random.chance(5)
            $0.isSmart = vendor == "sourse" && random.chance(50)
            $0.isBlocking = random.chance(5)
            $0.unless = random.pick([[], [], [.event(name: "e0", filter: nil)]])
            $0.registeredAt = noon + Instant(random.below(60)) * second
        }
    }

    private static func client(_ random: inout Seeded) -> ClientState {
        var client = ClientState(foreground: random.chance(90), screen: random.pick(["home", "cart"]))
        client.orientation = random.pick([nil, .portrait, .landscape])
        client.platform = random.pick([nil, .web, .ios])
        client.assets = random.pick([nil, ["image": .ready], ["image": .failed], ["image": .loading]])
        client.isBusy = random.chance(10)
        client.blocks = random.chance(5)
        return client
    }

    private static func event(_ random: inout Seeded) -> TriggerEvent {
        var properties: [String: PropertyValue]? = [:]
        for name in names where random.chance(60) {
            properties?[name] = random.pick([.number(3), .number(9), .text("PL"), .boolean(true)])
        }
        if random.chance(20) { properties = nil }
        return random.pick([
            .event(name: "e\(random.below(3))", properties: properties), .event(name: "e0", properties: properties),
            .purchase(product: random.pick([nil, "p"]), properties: properties), .sessionStart, .poll,
            .screen(random.pick(["home", "cart"])), .show("m\(random.below(12))"), .pushOpen(campaign: "c"),
            .messageClick(message: "m1", button: "b"),
        ])
    }

    private static func policy(_ random: inout Seeded) -> Policy {
        var policy = Policy()
        policy.interval = random.pick([0, 10 * second])
        policy.limits = [
            Limit(2, .rolling(minute), owner: .scope), Limit(1, .day(.user), per: .device, owner: .vendor("braze")),
        ]
        policy.replay = random.pick([0, 30 * second])
        var pause = Policy.Pause("screens")
        pause.screens = ["cart"]
        pause.vendors = ["mce"]
        policy.pauses = random.pick([[], [pause]])
        policy.controlGroups = random.pick([[], [ControlGroup("g", share: 5000, coverage: .vendor("own"))]])
        return policy
    }

    /// `World` compares each decision with its explanation; a failure names the seed.
    @Test(arguments: 1...60)
    func decidesAsItExplains(_ seed: Int) throws {
        var random = Seeded(UInt64(seed))
        var world = World()
        world.policy = Self.policy(&random)
        for index in 0..<12 { world.messages.register(try Self.definition(index, &random)) }
        for step in 0..<60 {
            world.client = Self.client(&random)
            let isLate = random.chance(10)
            if isLate { world.messages.register(try Self.definition(12 + step, &random)) }
            let answer = world.trigger(Self.event(&random), explain: random.chance(50))
            #expect(Set(answer.candidates.map(\.message)).count == answer.candidates.count, "each message once")
            world.wait(random.pick([0, second, 10 * second, minute]))
            guard let offer = answer.offer, offer.state == .offered else { continue }
            let outcome: Report.Outcome = random.pick([.shown, .later, .templateUnknown, .dismissed(how: "user")])
            // A mandatory message rejects a dismissal.
            do { try world.report(outcome, offer.id) } catch ReportFault.conflict { continue }
        }
    }

    /// A definition that arrives late is checked against the past event even if the present one does not concern it.
    @Test func explainsAPastEventLikeItsDecision() throws {
        var world = World()
        world.policy.replay = minute
        world.trigger(bought(["total": .number(50)]))
        world.wait(second)
        let filter = Filter([[Filter.Condition("total", .greaterThan(20))]])
        world.messages.register(
            try message("late", on: [.event(name: "buy", filter: filter)]) { $0.registeredAt = noon + second })
        let answer = world.trigger(bought(["total": .number(1)]), explain: true)
        #expect(answer.offer?.message == "late")
        #expect(answer.candidates.map(\.message) == ["late"])
    }

    @Test func namesTheOriginOfEachCheck() throws {
        var world = World(
            try message("m", vendor: "synerise") { $0.requirements.lacksImage = true }, try message("n"))
        let plain = world.trigger(bought, explain: true)
        #expect(plain.candidates.joined(.paused) == ["inapp.pauses", "inapp.pauses"])
        #expect(plain.candidates.joined(.imageMissing).contains("synerise"))
        world.policy.pauses = [Policy.Pause("night")]
        let paused = world.trigger(bought, explain: true)
        #expect(paused.candidates.joined(.paused).contains("inapp.pauses night"))
        for check in (plain.candidates + paused.candidates).flatMap(\.checks) {
            #expect(!check.source.isEmpty && !check.source.hasPrefix(" ") && !check.source.hasSuffix(" "))
        }
    }
}

extension [Candidate] {
    /// The sources of the checks with this code.
    fileprivate func joined(_ code: Check.Code) -> [String] {
        flatMap(\.checks).filter { $0.code == code }.map(\.source)
    }
}
