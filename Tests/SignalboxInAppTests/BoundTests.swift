import Foundation
import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Bad input, and bounds of work and memory.
@Suite struct BoundTests {
    private func fault(_ change: (inout Message) -> Void) -> InputFault? {
        do {
            _ = try message("m", .modal, change)
            return nil
        } catch { return error as? InputFault }
    }

    @Test func rejectsMessagesBeyondTheirBounds() {
        let condition = Filter.Condition("p", .exists)
        #expect(fault { $0.id = "" }?.pointer == "/id")
        #expect(fault { $0.triggers = [] }?.code == .empty)
        #expect(fault { $0.rank = 1001 }?.pointer == "/rank")
        #expect(fault { $0.delay = -1 }?.pointer == "/delay")
        #expect(fault { $0.reEligibility = .after(-1) }?.pointer == "/reEligibility")
        #expect(fault { $0.reEligibility = .after(36_600 * 24 * hour) } == nil)
        #expect(fault { $0.reEligibility = .after(36_601 * 24 * hour) }?.pointer == "/reEligibility")
        #expect(fault { $0.triggers = [.slot(SlotLabel("a"))] }?.code == .contradictory)
        #expect(fault { $0.triggers = Array(repeating: buy, count: 51) }?.code == .tooMany)
        let wide = Filter([Array(repeating: condition, count: 51)])
        #expect(fault { $0.triggers = [.event(name: "e", filter: wide)] }?.pointer == "/triggers/0/filter/0")
        let long = Filter(Array(repeating: [condition], count: 51))
        #expect(fault { $0.triggers = [.event(name: "e", filter: long)] }?.pointer == "/triggers/0/filter")
        #expect(fault { $0.limits = [Limit(0, .lifetime)] }?.pointer == "/limits/0/count")
        #expect(fault { $0.limits = [Limit(1001, .session)] }?.code == .outOfRange)
        #expect(fault { $0.limits = [Limit(1, .session, per: .everyone)] }?.code == .contradictory)
    }

    @Test func rejectsRequestsBeyondTheirBounds() {
        func fault(_ event: TriggerEvent, device: String = "d") -> InputFault? {
            let request = TriggerRequest(device: device, user: nil, event: event, client: ClientState(), ticket: "t")
            do { try request.validate() } catch { return error }
            return nil
        }
        #expect(fault(.poll, device: "")?.pointer == "/device")
        for device in ["a\u{0}", "a\nb", "\u{7F}"] {
            #expect(fault(.poll, device: device)?.code == .outOfRange)
        }
        let request = TriggerRequest(
            device: "d", user: AnonymousUser.id(on: "d"), event: .poll, client: ClientState(), ticket: "t")
        #expect(throws: InputFault.self) { try request.validate() }
        #expect(fault(.event(name: "", properties: nil))?.pointer == "/event/name")
        #expect(fault(bought(["a/b": .text(String(repeating: "x", count: 1025))]))?.pointer == "/event/properties/a~1b")
        #expect(fault(bought(["a": .list([.list([])])]))?.code == .nested)
        let many = Dictionary(uniqueKeysWithValues: (0..<101).map { ("k\($0)", PropertyValue.boolean(true)) })
        #expect(fault(bought(many))?.code == .tooMany)
        #expect(fault(bought) == nil)
    }

    @Test func rejectsPoliciesThatCannotBeKept() throws {
        var policy = Policy()
        try policy.validate()
        policy.limits = [Limit(1, .rolling(36 * 24 * hour), owner: .scope)]
        #expect(throws: InputFault.self) { try policy.validate() }
        policy.limits = [Limit(1, .lifetime)]
        #expect(throws: InputFault.self) { try policy.validate() }
        policy.limits = []
        var message = Message(id: "m", vendor: "own", kind: .modal, triggers: [buy])
        message.namedLimits = ["none"]
        #expect(throws: InputFault(.unknownLimit, "/namedLimits/0", "the policy has no limit none")) {
            try policy.validate(message)
        }
        policy.limits = [Limit(1, .lifetime, owner: .scope, name: "none")]
        #expect(throws: InputFault(.unknownLimit, "/namedLimits/0", "the owner of limit none is not `named`")) {
            try policy.validate(message)
        }
        policy.limits = [Limit(1, .lifetime, owner: .named("none"), name: "none")]
        try policy.validate(message)
    }

    @Test func rejectsExperimentsOfGroupsThatDoNotCoverTheMessage() throws {
        var policy = Policy()
        var message = Message(id: "m", vendor: "own", kind: .modal, triggers: [buy])
        message.experiment = "holdout"
        for coverage in [ControlGroup.Coverage.experiment, .everything, .vendor("own")] {
            policy.controlGroups = [ControlGroup("holdout", share: 500, coverage: coverage)]
            try policy.validate(message)
        }
        policy.controlGroups = [ControlGroup("holdout", share: 500, coverage: .vendor("braze"))]
        let detail = "control group holdout holds back messages of another vendor only"
        #expect(throws: InputFault(.unknownGroup, "/experiment", detail)) { try policy.validate(message) }
    }

    @Test func searchesPatternsInLinearTime() throws {
        for (source, text, isFound) in [
            ("sale", "Big SALE", true), ("^big", "Big SALE", true), ("sale$", "SALE!", false), ("a.c", "xabcx", true),
            ("[0-9]{2,3}x", "a12x", true), ("[0-9]{2,3}x", "a1x", false), ("(red|blue) shoes?", "BLUE SHOE", true),
            ("\\bcat\\b", "concat", false), ("\\bcat\\b", "a cat!", true), ("[^a-z]", "abc", false),
            ("é+", "CAFÉÉ", true),
            ("[!-\\/]", "a5Z", false), ("[!-\\/]", "5%", true), ("[+-\\.]", "5A", false), ("[ -\\]]", "]", true),
            ("[Z-a]", "Z", true), ("[Z-a]", "^", true), ("[Z-a]", "b", false), ("[A-_]", "_", true),
            ("[!-Z]", "_", false), ("[!-Z]", "q", true), ("[^A-Z]", "q", false), ("[À-Þ]", "é", true),
            ("[\\w-.]", "-", true), ("[a-\\d]", "-", true), ("[a-\\d]", "c", false), ("[]a]", "]", true),
            ("(?i)sale", "SALE", true), ("\\x41\\u00e9", "AÉ", true), ("[\\x30-\\x32]", "2", true),
            ("a{", "a{", true), ("a{,3}", "a{,3}", true), ("{x}", "{x}", true), ("a{x}b", "a{x}b", true),
            ("", "", true), ("\\d+\\.\\d", "v1.5", true), ("(a|b)*c", "ababc", true), ("x?y{0}z", "xz", true),
        ] {
            #expect(try TextPattern(source).isFound(in: text) == isFound, "\(source) in \(text)")
        }
        // Exponential for a backtracking engine.
        let hard = try TextPattern("(a*)*(a*)*b")
        #expect(!hard.isFound(in: String(repeating: "a", count: Bounds.textLength)))
        for source in [
            "(", ")", "*a", "[a", "a{2,1}", "(?=a)", "\\1", "(?<n>a)", "a++", "((a{99}){99}){99}", "\\q", "[z-a]",
            "(?i", "(?s)a", "\\x4", "\\u00g0", "\\ud800", "[a-\\", "[\\",
        ] {
            #expect(throws: InputFault.self, "\(source)") { try TextPattern(source) }
        }
        #expect(throws: InputFault.self) { try TextPattern(String(repeating: "(", count: 100)) }
    }

    @Test func boundsStackDelaysAnswersAndEndedOffers() throws {
        var world = World()
        world.comparesExplanations = false
        for index in 0..<200 {
            let event = MessageTrigger.event(name: "e\(index)", filter: nil)
            world.messages.register(try message("w\(index)", on: [event]) { $0.reEligibility = .always })
            world.messages.register(try message("d\(index)", vendor: "braze", on: [event]) { $0.delay = hour })
        }
        world.client.foreground = false
        for index in 0..<200 { world.trigger(.event(name: "e\(index)", properties: nil), id: "t\(index)") }
        #expect(world.rows.offers.values.count { $0.state == .waiting } == Bounds.stack)
        #expect(world.rows.offers.values.count { $0.state == .triggered } == Bounds.delayed)
        #expect(world.rows.offers.values.count { $0.state.isEnded } <= Bounds.endedOffers + 1)
        #expect(world.rows.devices["phone"]?.answers.count == Bounds.answers)
    }

    @Test func mergesOldDisplaysWithoutOpeningALimitEarly() {
        var ledger = Ledger()
        for index in 0..<600 {
            ledger.add(
                Ledger.Display(
                    offer: "o\(index)", at: Instant(index) * second, message: "m\(index % 3)", vendor: "v", device: "d",
                    session: 0))
        }
        let before = ledger
        let pruned = ledger.prune(before: 10 * second)
        #expect(ledger.displays.count <= Bounds.history)
        #expect(pruned.removed.count == before.displays.count - ledger.displays.count)
        #expect(ledger.displays.reduce(0) { $0 + $1.count } == 590)
        #expect(ledger.totals == before.totals)
        let limit = Limit(1, .rolling(300 * second), owner: .scope)
        let windows = WindowContext(now: 600 * second, device: "d", session: 0, zone: nil)
        func count(_ ledger: Ledger) -> Int { ledger.counted(by: limit, "m0", windows).reduce(0) { $0 + $1.count } }
        #expect(count(ledger) >= count(before))
        var rebuilt = before
        rebuilt.displays.removeAll { pruned.removed.contains($0.offer) }
        for display in pruned.changed { rebuilt.displays.replace(display) }
        #expect(rebuilt == ledger)
    }

    @Test func decidesTenThousandMessagesOfOneTrigger() throws {
        var world = World()
        world.comparesExplanations = false
        for index in 0..<10_000 { world.messages.register(try message("m\(index)") { $0.rank = 1 + index % 1000 }) }
        #expect(world.trigger(bought).offer?.message == "m0")
        let answer = world.trigger(bought, device: "tablet", user: "bob", explain: true)
        #expect(answer.candidates.count == Bounds.explained)
        #expect(answer.omitted == 10_000 - Bounds.explained)
        #expect(answer.candidates.first?.result == .shown)
    }

    @Test func visitsOnlyMessagesOfTheEvent() throws {
        for count in [200, 5000] {
            let index = MessageIndex(
                try (0..<count).map {
                    try message("m\($0)", on: [.event(name: "e\($0 / 10)", filter: nil), .sessionStart])
                })
            #expect(index.candidates(for: .event(name: "e3", properties: nil)).count == 10)
            #expect(index.candidates(for: .poll).isEmpty)
        }
    }

    @Test func keepsTheLaterRevision() throws {
        var index = MessageIndex()
        index.register(try message("m") { $0.revision = 2 })
        index.register(
            try message("m") {
                $0.revision = 1; $0.rank = 1
            })
        #expect(index["m"]?.message.revision == 2)
        index.register(try message("m", on: [.sessionStart]) { $0.revision = 3 })
        #expect(index["m"]?.message.revision == 3)
        #expect(index.candidates(for: bought).isEmpty && index.candidates(for: .sessionStart).count == 1)
        #expect(index["m"]?.message.rank == 500)
    }

    @Test func splitsControlGroupsByTheirShare() {
        let group = ControlGroup("x", salt: "s", share: 2000)
        let members = (0..<10_000).count { group.contains("user-\($0)") }
        #expect((1800...2200).contains(members))
    }

    @Test func drawsMembersOfTwoGroupsIndependently() {
        let (one, other) = (ControlGroup("spring", salt: "4", share: 5000), ControlGroup("exp-9", share: 5000))
        let both = (1_000_000..<1_010_000).count { one.contains("\($0)") && other.contains("\($0)") }
        #expect((2300...2700).contains(both))
    }

    @Test func mapsVendorPrioritiesToRanks() {
        #expect(VendorRules.rank(of: 10, vendor: "braze") == 490)
        #expect(VendorRules.rank(of: 300, vendor: "iterable") == 300)
        #expect(VendorRules.rank(of: 7, vendor: "airship") == 70)
        #expect(VendorRules.rank(of: 9999, vendor: "clevertap") == 0)
        #expect(VendorRules.rank(of: 3, vendor: "synerise") == 500)
        #expect(VendorRules.rank(of: nil, vendor: "braze") == 500)
        #expect(VendorRules.rank(ofBrazeBucket: "high") == 250)
    }
}

extension [Ledger.Display] {
    fileprivate mutating func replace(_ display: Ledger.Display) {
        guard let index = firstIndex(where: { $0.offer == display.offer }) else { return }
        self[index] = display
    }
}
