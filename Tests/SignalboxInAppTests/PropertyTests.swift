import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Properties that hold for every sequence of requests, reports and waits.
@Suite struct PropertyTests {
    private static let vendors = ["braze", "synerise", "mce", "sourse", "own"]
    private static let devices = ["phone", "tablet"]

    /// Messages of all vendors on four events.
    private static func definitions(_ random: inout Seeded, count: Int = 12) throws -> [Definition] {
        try (0..<count).map { index in
            let event = MessageTrigger.event(name: "e\(random.below(4))", filter: nil)
            return try message(
                "m\(index)", vendor: random.pick(vendors), random.pick([.modal, .banner, .control]), on: [event]
            ) {
                $0.rank = random.pick([100, 500, 500])
                $0.delay = random.pick([0, 0, 0, 5 * second, minute])
                $0.timeout = random.pick([nil, nil, 2 * minute])
                $0.reEligibility = random.pick([.always, .always, .never, .after(minute)])
                $0.limits = random.pick([
                    [], [], [Limit(2, .rolling(10 * minute))], [Limit(3, .lifetime, per: .device)],
                ])
                $0.isBlocking = random.chance(5)
                $0.isExempt = random.chance(5)
                $0.schedule.end = random.pick([nil, nil, noon + hour])
                $0.registeredAt = Instant(random.below(3))
            }
        }
    }

    private static func world(_ random: inout Seeded, _ definitions: [Definition]) -> World {
        var world = World()
        for definition in definitions { world.messages.register(definition) }
        world.policy.interval = random.pick([0, 0, 10 * second])
        world.policy.limits = [
            Limit(3, .rolling(10 * minute), owner: .scope),
            Limit(2, .rolling(5 * minute), per: .device, owner: .vendor("braze")),
        ]
        world.policy.replay = random.pick([0, 30 * second])
        world.comparesExplanations = random.chance(30)
        return world
    }

    private static let outcomes: [Report.Outcome] = [
        .shown, .shown, .shown, .dismissed(how: "user"), .dismissed(how: "user"), .clicked(button: nil, closes: true),
        .later,
        .undo, .discard, .assetFailed, .templateAborted, .interrupted,
    ]

    /// One random step; reports are about any offer, fitting or not. Returns false if the report was a conflict.
    @discardableResult
    private static func step(_ world: inout World, _ random: inout Seeded, isPunctual: Bool = false) -> Bool {
        let device = random.pick(devices)
        switch random.below(10) {
        case 0...3: world.trigger(.event(name: "e\(random.below(4))", properties: nil), device: device)
        case 4: world.trigger(random.pick([.poll, .sessionStart, .show("m\(random.below(12))")]), device: device)
        case 5: world.wait(random.pick([second, 10 * second, isPunctual ? second : 40 * second, 2 * minute]))
        case 6: world.advance(device: device)
        default:
            // In an order of its own: that of a dictionary changes from run to run.
            let live = world.rows.offers.values.filter { $0.device == device && (!isPunctual || !$0.state.isEnded) }
                .map(\.id).sorted()
            guard !live.isEmpty else { return true }
            do { try world.report(random.pick(outcomes), random.pick(live), device: device) } catch { return false }
        }
        world.clients[device, default: world.client].foreground = random.chance(90)
        return true
    }

    @Test(arguments: 1...25)
    func orderOfRegistrationChangesNoDecision(_ seed: Int) throws {
        var random = Seeded(UInt64(seed))
        let definitions = try Self.definitions(&random)
        var one = Self.world(&random, definitions)
        var other = one
        other.messages = MessageIndex(definitions.shuffled(using: &random))
        var same = random
        for _ in 0..<120 {
            Self.step(&one, &random)
            Self.step(&other, &same)
            try #require((one.rows == other.rows) as Bool)
        }
        #expect((one.records == other.records) as Bool)
    }

    @Test(arguments: 1...25)
    func anUnrelatedMessageChangesNoDecision(_ seed: Int) throws {
        var random = Seeded(UInt64(seed))
        let definitions = try Self.definitions(&random)
        var one = Self.world(&random, definitions)
        var other = one
        other.messages.register(try message("unrelated", on: [.event(name: "unrelated", filter: nil)]) { $0.rank = 0 })
        var same = random
        for _ in 0..<120 {
            Self.step(&one, &random)
            Self.step(&other, &same)
        }
        #expect((one.rows == other.rows && one.records == other.records) as Bool)
    }

    @Test(arguments: 1...25)
    func anExplanationContainsItsDecision(_ seed: Int) throws {
        var random = Seeded(UInt64(seed))
        var world = Self.world(&random, try Self.definitions(&random))
        world.comparesExplanations = true
        for _ in 0..<80 {
            Self.step(&world, &random)
            let event = TriggerEvent.event(name: "e\(random.below(4))", properties: nil)
            let known = Set(world.rows.offers.keys)
            let answer = world.trigger(event, explain: true)
            if let offer = answer.offer {
                #expect(answer.result(offer.message) == .shown)
                let last = answer.candidates.first { $0.message == offer.message }?.checks
                #expect(known.contains(offer.id) || last?.allSatisfy(\.ok) == true)
            }
            for candidate in answer.candidates where candidate.result == .lost {
                #expect(candidate.checks.contains { !$0.ok })
            }
            #expect(Set(answer.candidates.map(\.message)).count == answer.candidates.count)
        }
    }

    /// Displays that were granted while the limit was free never exceed it. Reports here arrive before their lease
    /// ends, because a late impression is a fact that no limit can prevent.
    @Test(arguments: 1...40)
    func noInterleavingExceedsALimit(_ seed: Int) throws {
        var random = Seeded(UInt64(seed))
        var world = Self.world(&random, try Self.definitions(&random))
        for _ in 0..<200 {
            Self.step(&world, &random, isPunctual: true)
            let late = Set(world.records.filter { $0.flags.contains("late") }.compactMap { $0.offer?.id })
            let displays = world.rows.ledger(.user("ann")).displays.filter { !late.contains($0.offer) }
            let reserved = world.rows.offers.values.count {
                $0.state == .offered && $0.flags.isDisjoint(with: [.exempt, .uncounted])
                    && ($0.leaseUntil ?? 0) > world.now
            }
            let recent = displays.filter { !$0.isExempt && world.now - $0.at <= 10 * minute }.count
            #expect(recent + reserved <= 3)
            for device in Self.devices {
                let braze = world.rows.ledger(.device(device)).displays.filter {
                    $0.vendor == "braze" && !$0.isExempt && world.now - $0.at <= 5 * minute && !late.contains($0.offer)
                }
                #expect(braze.count <= 2)
            }
        }
    }

    @Test(arguments: 1...25)
    func everyReservationEnds(_ seed: Int) throws {
        var random = Seeded(UInt64(seed))
        var world = Self.world(&random, try Self.definitions(&random))
        for _ in 0..<100 { Self.step(&world, &random) }
        world.wait(hour)
        for device in Self.devices { world.advance(device: device) }
        #expect(
            !world.rows.offers.values.contains { $0.state == .offered || $0.state == .shown || $0.state == .triggered })
        #expect(world.rows.tallies.values.allSatisfy { $0.reserved == 0 })
    }

    @Test(arguments: 1...25)
    func aRepeatedReportChangesNoRow(_ seed: Int) throws {
        var random = Seeded(UInt64(seed))
        var world = Self.world(&random, try Self.definitions(&random))
        for round in 0..<100 {
            Self.step(&world, &random)
            guard let offer = world.rows.offers.values.filter({ $0.device == "phone" }).map(\.id).sorted().first else {
                continue
            }
            let outcome = random.pick(Self.outcomes)
            do { try world.report(outcome, offer, id: "r\(round)") } catch { continue }
            let (rows, records) = (world.rows, world.records)
            let isLeft = world.rows.offers[offer] != nil
            if isLeft { #expect(try world.report(outcome, offer, id: "r\(round)").isRepeat) }
            #expect((world.rows == rows && world.records == records) as Bool)
        }
    }

    @Test(arguments: 1...25)
    func everyImpressionIsCountedOnce(_ seed: Int) throws {
        var random = Seeded(UInt64(seed))
        var world = Self.world(&random, try Self.definitions(&random))
        for _ in 0..<150 { Self.step(&world, &random) }
        let impressions = world.records.filter { $0.kind == .impression || $0.kind == .held }
        #expect(Set(impressions.compactMap { $0.offer?.id }).count == impressions.count)
        let totals = world.rows.ledger(.user("ann")).totals
        for message in Set(impressions.compactMap { $0.offer?.message }) {
            #expect(totals[.message(message)]?.count == impressions.count { $0.offer?.message == message })
        }
    }
}
