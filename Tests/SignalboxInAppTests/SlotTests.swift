import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Slots, by the rules of Granify's documentation of inline messages.
@Suite struct SlotTests {
    private func request(
        _ slots: [SlotRequest.Slot], isProductPage: Bool = false, override: SlotRequest.Override? = nil,
        ticket: String = "s"
    ) -> SlotRequest {
        SlotRequest(
            device: "phone", user: "ann", page: "product", isProductPage: isProductPage, slots: slots,
            override: override,
            client: ClientState(), ticket: ticket)
    }

    private func inline(_ id: MessageID, _ label: SlotLabel, _ change: (inout Message) -> Void = { _ in }) throws
        -> Definition
    {
        try message(id, vendor: "granify", .inline, on: [.slot(label)], change)
    }

    @Test func equalLabelsAndMissingProductsAreRejected() throws {
        var world = World(try inline("m", SlotLabel("top")))
        let equal = world.place(request([.init(SlotLabel("top")), .init(SlotLabel("top")), .init(SlotLabel("end"))]))
        #expect(equal.slots.map(\.error) == [.duplicateLabel, .duplicateLabel, nil])
        #expect(equal.slots.allSatisfy { $0.offer == nil })
        let product = world.place(request([.init(SlotLabel("top"))], isProductPage: true))
        #expect(product.slots[0].error == .productMissing)
        let sku = world.place(request([.init(SlotLabel("top", sku: "1"))]))
        #expect(sku.slots[0].error == .skuWithoutProduct)
    }

    @Test func anOverrideIgnoresTargetingAndCountsNoDisplay() throws {
        var world = World(
            try inline("m", SlotLabel("top")) {
                $0.schedule.end = noon - 1; $0.limits = [Limit(1, .lifetime)]
            })
        let unknown = world.place(request([.init(SlotLabel("top"))], override: .init(label: SlotLabel("other"))))
        #expect(unknown.error == .unknownLabel && unknown.slots[0].offer == nil)
        for ticket in ["a", "b"] {
            let known = world.place(
                request([.init(SlotLabel("top"))], override: .init(label: SlotLabel("top")), ticket: ticket))
            let offer = try #require(known.slots[0].offer)
            try world.report(.shown, offer.id)
            try world.report(.dismissed(how: "user"), offer.id)
        }
        #expect(world.rows.ledger(.user("ann")) == Ledger())
        let concept = world.place(
            request([.init(SlotLabel("top"))], override: .init(label: SlotLabel("top"), message: "none"), ticket: "c"))
        #expect(concept.slots[0].offer == nil)
    }

    @Test func fillsASlotDuringTheIntervalAndNextToAVisibleMessage() throws {
        var world = World(
            try inline("m", SlotLabel("top")) { $0.rank = 400 }, try inline("other", SlotLabel("top")),
            try message("modal"),
            interval: hour)
        let modal = try #require(world.trigger(bought).offer)
        try world.report(.shown, modal.id)
        let decision = world.place(request([.init(SlotLabel("top"))]), explain: true)
        #expect(decision.slots[0].offer?.message == "m")
        #expect(decision.slots[0].candidates.map(\.result).sorted { $0.rawValue < $1.rawValue } == [.lost, .shown])
        let offer = try #require(decision.slots[0].offer)
        try world.report(.shown, offer.id)
        #expect(world.place(request([.init(SlotLabel("top"))], ticket: "s2")).slots[0].offer?.id == offer.id)
        #expect(world.state(modal.id) == .shown)
    }

    @Test func matchesProductAndSKU() throws {
        var world = World(try inline("m", SlotLabel("row", productID: "7", sku: "x")))
        let decision = world.place(
            request([
                .init(SlotLabel("row", productID: "7")), .init(SlotLabel("row", productID: "7", sku: "x")),
                .init(SlotLabel("row", productID: "8", sku: "x")),
            ]))
        #expect(decision.slots.map { $0.offer?.message } == [nil, "m", nil])
    }

    @Test func collapsesTheOldSlotOfARecycledView() throws {
        var world = World(try inline("m", SlotLabel("row")))
        let first = world.place(request([.init(SlotLabel("row", productID: "1"), view: "v")]))
        let offer = try #require(first.slots[0].offer)
        try world.report(.shown, offer.id)
        let second = world.place(
            request(
                [
                    .init(SlotLabel("row", productID: "1"), view: "v"),
                    .init(SlotLabel("row", productID: "2"), view: "v"),
                ], ticket: "s2"))
        #expect(second.slots.map(\.label.productID) == ["2"])
        #expect(world.rows.offers[offer.id]?.reason == EndReason.collapsed)
    }

    @Test func warnsOfUndeclaredNamesAndSkipsSlotsThatCannotDisplay() throws {
        var world = World(try inline("m", SlotLabel("top")))
        world.policy.slotNames = ["end"]
        let decision = world.place(request([.init(SlotLabel("top")), .init(SlotLabel("end"), canDisplay: false)]))
        #expect(decision.slots.map(\.warning) == [.unknownName, nil])
        #expect(decision.slots.map(\.error) == [nil, .notDisplayable])
        #expect(decision.slots[0].offer != nil)
    }

    @Test func holdsAnInlineBackFromAControlGroup() throws {
        var world = World(try inline("m", SlotLabel("top")))
        world.policy.controlGroups = [ControlGroup("all", share: 10_000, coverage: .everything)]
        #expect(world.place(request([.init(SlotLabel("top"))])).slots[0].offer == nil)
        #expect(world.records.map(\.kind) == [.held])
    }
}
