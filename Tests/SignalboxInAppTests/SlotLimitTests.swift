import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Limits, counts and bounds of slots.
@Suite struct SlotLimitTests {
    private func request(
        _ names: [String], page: String = "home", client: ClientState = ClientState(), ticket: String
    ) -> SlotRequest {
        SlotRequest(
            device: "phone", user: "ann", page: page, slots: names.map { .init(SlotLabel($0)) }, client: client,
            ticket: ticket)
    }

    private func inline(_ id: MessageID, _ names: [String], _ change: (inout Message) -> Void = { _ in }) throws
        -> Definition
    {
        try message(id, vendor: "granify", .inline, on: names.map { .slot(SlotLabel($0)) }, change)
    }

    /// Reference, section 3: a slot competes with the other slots of its page only.
    @Test func slotsNeitherObeyNorFillLimitsAcrossMessages() throws {
        let names = ["a", "b", "c", "d"]
        var world = World(try inline("inline", names), try message("modal") { $0.reEligibility = .always })
        world.policy.limits = [
            Limit(1, .lifetime, owner: .scope), Limit(1, .lifetime, per: .device, owner: .vendor("granify")),
        ]
        world.policy.exemptions.areCounted = true
        let page = world.place(request(names, ticket: "p"))
        #expect(page.slots.allSatisfy { $0.offer != nil })
        for slot in page.slots { try world.report(.shown, try #require(slot.offer).id) }
        let modal = world.trigger(bought, explain: true)
        #expect(modal.offer?.message == "modal", "reserved and shown slots leave the place free")
        try world.report(.shown, try #require(modal.offer).id)
        #expect(world.place(request(names, page: "other", ticket: "q")).slots.allSatisfy { $0.offer != nil })
        #expect(world.rows.ledger(.user("ann")).totals[.scope]?.count == 1)
        #expect(world.rows.ledger(.user("ann")).totals[.message("inline")]?.count == 4)
    }

    @Test func aSlotObeysTheLimitsOfItsMessage() throws {
        var world = World(try inline("inline", ["a", "b", "c"]) { $0.limits = [Limit(2, .lifetime)] })
        let page = world.place(request(["a", "b", "c"], ticket: "p"))
        #expect(page.slots.map { $0.offer != nil } == [true, true, false])
    }

    /// An explanation checks every message for every slot; without one, a message that failed is not checked again.
    @Test func anExplanationFillsTheSameSlots() throws {
        var random = Seeded(20_261_123)
        for _ in 0..<60 {
            var world = World()
            for number in 0..<12 {
                let labels = (0...Int.random(in: 0...2, using: &random)).map { _ in
                    SlotLabel(
                        ["a", "b"].randomElement(using: &random) ?? "a",
                        productID: [nil, "1", "2", "3"].randomElement(using: &random) ?? nil)
                }
                world.messages.register(
                    try message("m\(number)", vendor: "granify", .inline, on: labels.map { .slot($0) }) {
                        $0.rank = Int.random(in: 0...5, using: &random)
                        $0.limits = [Limit(Int.random(in: 1...2, using: &random), .lifetime)]
                    })
            }
            let slots = (0..<8).map { number in
                SlotRequest.Slot(SlotLabel(number < 4 ? "a" : "b", productID: number % 4 == 0 ? nil : "\(number % 4)"))
            }
            var page = request([], ticket: "p")
            page.slots = slots
            var other = world
            let offers = world.place(page).slots.map { $0.offer?.message }
            #expect(offers == other.place(page, explain: true).slots.map { $0.offer?.message })
            #expect(Set(offers).count > 1)
        }
    }

    /// A named limit is a limit across messages.
    @Test func anInlineMessageHasNoNamedLimit() {
        #expect(throws: InputFault(.contradictory, "/namedLimits", "inline messages obey limits of their own only")) {
            try inline("inline", ["a"]) { $0.namedLimits = ["season"] }
        }
    }

    /// A page for each product: the pages that the device left long ago end.
    @Test func boundsTheSlotsOfManyPages() throws {
        let names = ["a", "b", "c", "d"]
        var world = World(try inline("m", names))
        for number in 0..<150 {
            let page = world.place(request(names, page: "/p/\(number)", ticket: "p\(number)"))
            for slot in page.slots { try world.report(.shown, try #require(slot.offer).id) }
            world.wait(second)
        }
        let live = world.rows.offers.values.filter { !$0.state.isEnded }
        #expect(live.count == 400)
        #expect(Set(live.compactMap(\.page)) == Set((50..<150).map { "/p/\($0)" }), "the newest pages")
        let ended = world.rows.offers.values.filter { $0.state.isEnded }
        #expect(ended.allSatisfy { $0.state == .done && $0.reason == EndReason.collapsed })
    }

    /// A shown slot counts once too.
    @Test func aHeldSlotCountsOnceInASession() throws {
        var world = World(try inline("m", ["a", "b"]))
        world.policy.controlGroups = [ControlGroup("all", share: 10_000, coverage: .everything)]
        world.trigger(.sessionStart)
        for ticket in ["p", "q", "r"] {
            let page = world.place(request(["a", "b"], ticket: ticket), explain: true)
            #expect(page.slots.allSatisfy { $0.offer == nil })
            #expect(page.slots[0].candidates.map(\.result) == [.held])
        }
        #expect(world.kinds("m") == [.held, .held])
        world.place(request(["a", "b"], page: "other", ticket: "s"))
        #expect(world.kinds("m").count == 4, "another page")
        world.trigger(.sessionStart)
        world.place(request(["a", "b"], ticket: "t"))
        #expect(world.kinds("m").count == 6, "another session")
        #expect(world.rows.ledger(.user("ann")).totals[.message("m")]?.count == 6)
    }

    /// A member of the group must not see the next message.
    @Test func aHeldSlotStaysEmptyWhenItsMessageIsSpent() throws {
        var world = World(
            try inline("m", ["a"]) {
                $0.rank = 1; $0.vendor = "held"; $0.limits = [Limit(1, .lifetime)]
            }, try inline("next", ["a"]))
        world.policy.controlGroups = [ControlGroup("some", share: 10_000, coverage: .vendor("held"))]
        for ticket in ["p", "q"] {
            #expect(world.place(request(["a"], ticket: ticket)).slots[0].offer == nil)
        }
        #expect(world.records.map(\.kind) == [.held])
    }

    /// A page lists its slots itself.
    @Test func aListOfVisibleMessagesEndsNoSlot() throws {
        var world = World(try inline("m", ["a"]), try message("modal"))
        let inline = try #require(world.place(request(["a"], ticket: "p")).slots[0].offer)
        try world.report(.shown, inline.id)
        let modal = try #require(world.trigger(bought).offer)
        try world.report(.shown, modal.id)
        world.client.visible = [modal.id]
        world.trigger(.poll)
        #expect(world.state(inline.id) == .shown && world.state(modal.id) == .shown)
        world.client.visible = []
        world.trigger(.poll)
        #expect(world.state(inline.id) == .shown && world.state(modal.id) == .done)
    }
}
