/// The label of an inline's place (Granify). Nil product and SKU of a message's trigger match any.
package struct SlotLabel: Sendable, Hashable {
    package var name: String
    package var productID: String?
    package var sku: String?

    package init(_ name: String, productID: String? = nil, sku: String? = nil) {
        self.name = name
        self.productID = productID
        self.sku = sku
    }

    func accepts(_ label: SlotLabel) -> Bool {
        name == label.name && (productID == nil || productID == label.productID) && (sku == nil || sku == label.sku)
    }
}

/// The labels that a page of a device shows now, all of them: a slot that is no longer listed collapses.
package struct SlotRequest: Sendable, Hashable {
    /// One place on the page.
    package struct Slot: Sendable, Hashable {
        package var label: SlotLabel
        /// The view, if views are recycled: a later slot of the same view replaces an earlier one.
        package var view: String?
        /// Whether the client can display an inline there.
        package var canDisplay = true

        package init(_ label: SlotLabel, view: String? = nil, canDisplay: Bool = true) {
            self.label = label
            self.view = view
            self.canDisplay = canDisplay
        }
    }

    /// Test mode: any message of that label, or one message, without targeting and without counts.
    package struct Override: Sendable, Hashable {
        package var label: SlotLabel
        package var message: MessageID?

        package init(label: SlotLabel, message: MessageID? = nil) {
            self.label = label
            self.message = message
        }
    }

    package var device: DeviceID
    package var user: UserID?
    package var page: String
    /// Whether each label needs a product.
    package var isProductPage: Bool
    package var slots: [Slot]
    package var override: Override?
    package var client: ClientState
    package var ticket: String

    package init(
        device: DeviceID, user: UserID?, page: String, isProductPage: Bool = false, slots: [Slot],
        override: Override? = nil, client: ClientState, ticket: String
    ) {
        self.device = device
        self.user = user
        self.page = page
        self.isProductPage = isProductPage
        self.slots = slots
        self.override = override
        self.client = client
        self.ticket = ticket
    }

    /// Throws the first value that is empty or beyond its bound.
    package func validate() throws(InputFault) {
        try InputFault.check(device, at: "/device")
        if let user { try InputFault.check(user: user, at: "/user") }
        try InputFault.check(page, at: "/page")
        try InputFault.check(count: slots.count, atMost: Bounds.labelsPerPage, at: "/slots")
        for (index, slot) in slots.enumerated() {
            try InputFault.check(slot.label.name, at: "/slots/\(index)/name")
            for text in [slot.label.productID, slot.label.sku, slot.view].compactMap({ $0 }) {
                try InputFault.check(text, at: "/slots/\(index)")
            }
        }
        try client.validate()
    }
}

/// The result for one slot, in the order of the request.
package struct SlotAnswer: Sendable, Hashable {
    /// Mistakes of a label. The raw values are stable codes.
    package enum Problem: String, Sendable, Hashable {
        /// Two slots of the page have equal labels: neither is filled.
        case duplicateLabel = "inline.duplicate-label"
        case productMissing = "inline.product-missing"
        case skuWithoutProduct = "inline.sku-without-product"
        case notDisplayable = "inline.not-displayable"
        /// A warning: the name is not among the declared ones.
        case unknownName = "inline.unknown-name"
        /// The override names a label that the page does not have.
        case unknownLabel = "inline.unknown-label"
    }

    package let label: SlotLabel
    /// The inline to show and to report, new or leased before.
    package var offer: Offer?
    /// The slot stays empty.
    package var error: Problem?
    package var warning: Problem?
    package var candidates: [Candidate] = []
}

/// The result of a page: its slots, and the decision to commit.
package struct SlotDecision: Sendable, Hashable {
    package var slots: [SlotAnswer]
    /// Of the override.
    package var error: SlotAnswer.Problem?
    package var decision: Decision
}

extension Turn {
    mutating func place(_ request: SlotRequest) -> (slots: [SlotAnswer], error: SlotAnswer.Problem?) {
        sweep()
        accept(request.client, of: state.user.id)
        let slots = Self.current(request.slots)
        var counts: [SlotLabel: Int] = [:]
        for slot in slots { counts[slot.label, default: 0] += 1 }
        var answers = slots.map { slot in
            SlotAnswer(
                label: slot.label, error: problem(of: slot, counts[slot.label] ?? 0, request),
                warning: policy.slotNames.isEmpty || policy.slotNames.contains(slot.label.name) ? nil : .unknownName)
        }
        collapse(page: request.page, keeping: Set(answers.filter { $0.error == nil }.map(\.label)))
        for index in answers.indices where answers[index].error == nil { fill(&answers[index], request) }
        let isKnown = request.override.map { counts[$0.label] != nil } ?? true
        return (answers, isKnown ? nil : .unknownLabel)
    }

    /// A new label of a view replaces the old one.
    private static func current(_ slots: [SlotRequest.Slot]) -> [SlotRequest.Slot] {
        var last: [String: Int] = [:]
        for (index, slot) in slots.enumerated() { if let view = slot.view { last[view] = index } }
        return slots.enumerated().filter { index, slot in slot.view.map { last[$0] == index } ?? true }.map(\.element)
    }

    private mutating func problem(of slot: SlotRequest.Slot, _ count: Int, _ request: SlotRequest) -> SlotAnswer
        .Problem?
    {
        if count > 1 { return .duplicateLabel }
        if slot.label.sku != nil && slot.label.productID == nil { return .skuWithoutProduct }
        if request.isProductPage && slot.label.productID == nil { return .productMissing }
        return slot.canDisplay ? nil : .notDisplayable
    }

    private mutating func collapse(page: String, keeping labels: Set<SlotLabel>) {
        for offer in activeOffers() where offer.page == page {
            guard let label = offer.slot, !labels.contains(label) else { continue }
            finish(offer, offer.state == .shown ? .done : .discarded, EndReason.collapsed)
        }
    }

    private mutating func fill(_ slot: inout SlotAnswer, _ request: SlotRequest) {
        let override = request.override.flatMap { $0.label == slot.label ? $0 : nil }
        let live = activeOffers().first { $0.page == request.page && $0.slot == slot.label }
        if let live {
            let fits =
                override == nil
                || (live.flags.contains(.uncounted) && override?.message ?? live.message == live.message)
            if fits {
                slot.offer = live
                return
            }
            finish(live, live.state == .shown ? .done : .discarded, EndReason.collapsed)
        }
        var passing: [(rank: Rank, definition: Definition)] = []
        for definition in messages.candidates(forSlots: [slot.label.name]) {
            if let id = override?.message, id != definition.message.id { continue }
            let list = evaluateSlot(definition, slot.label, isOverride: override != nil)
            let rank = Rank(definition, due: now, policy)
            if list.passes { passing.append((rank, definition)) }
            guard explains, slot.candidates.count < Bounds.explained else { continue }
            slot.candidates.append(explained(definition, list.passes ? .lost : .discarded, list.checks))
        }
        guard let best = passing.min(by: { $0.rank < $1.rank }) else { return }
        let isHeld = give(best.definition, to: &slot, request, isOverride: override != nil)
        guard explains else { return }
        for index in slot.candidates.indices where slot.candidates[index].result == .lost {
            let id = slot.candidates[index].message
            if id == best.rank.id {
                slot.candidates[index].result = isHeld ? .held : .shown
            } else if let rank = passing.first(where: { $0.rank.id == id })?.rank {
                slot.candidates[index].checks.append(rank.lost(against: best.rank))
            }
        }
    }

    /// Slots know no interval, no blocking screen and no limits across messages.
    private mutating func evaluateSlot(_ definition: Definition, _ label: SlotLabel, isOverride: Bool) -> CheckList {
        var list = CheckList(explains: explains)
        let message = definition.message
        let accepts = message.triggers.contains { if case .slot(let own) = $0 { own.accepts(label) } else { false } }
        list.check(
            .label, accepts, else: .permanent, "triggers", expected: "a trigger for this slot",
            actual: "\(label.name), product \(label.productID ?? "none"), SKU \(label.sku ?? "none")")
        if isOverride { return list }
        checkSlot(definition, &list)
        return list
    }

    private mutating func give(
        _ definition: Definition, to slot: inout SlotAnswer, _ request: SlotRequest, isOverride: Bool
    ) -> Bool {
        var offer = newOffer(definition, since: now, .ready)
        offer.slot = slot.label
        offer.page = request.page
        if isOverride { offer.flags.insert(.uncounted) }
        if !isOverride, let group = controlGroup(of: definition) {
            hold(&offer, group)
            return true
        }
        give(offer)
        slot.offer = state.offers[offer.id]
        answer.offer = nil
        return false
    }
}
