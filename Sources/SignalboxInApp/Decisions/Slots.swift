/// The label of an inline's place (Granify). Nil product and SKU of a message's trigger match any.
package struct SlotLabel: Sendable, Hashable {
    /// The name that the app and the vendor agreed on; unique per location on a parent view.
    package var name: String
    /// The product that the slot belongs to: required on a product page.
    package var productID: String?
    /// The variant of the product, if it has several. Needs a product.
    package var sku: String?

    /// A label as the app reports it, or the pattern of a slot trigger.
    package init(_ name: String, productID: String? = nil, sku: String? = nil) {
        self.name = name
        self.productID = productID
        self.sku = sku
    }

    /// Whether a trigger with this label fills a slot with the other one.
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

        /// A slot; without a view it is never replaced within one request.
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

        /// Without a message, any message of the label.
        package init(label: SlotLabel, message: MessageID? = nil) {
            self.label = label
            self.message = message
        }
    }

    package var device: DeviceID
    package var user: UserID?
    /// The app's name of the page. Offers of other pages stay, up to ``Bounds/slots`` of the device.
    package var page: String
    /// Whether each label needs a product.
    package var isProductPage: Bool
    /// At most ``Bounds/labelsPerPage``, in the order of the page.
    package var slots: [Slot]
    /// For one label; the other slots are filled as usual.
    package var override: Override?
    /// Becomes the state of the device, as with a trigger.
    package var client: ClientState
    /// Names the offers of this decision; unique, and not to be guessed.
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

    /// As in the request.
    package let label: SlotLabel
    /// The inline to show and to report, new or leased before.
    package var offer: Offer?
    /// The slot stays empty.
    package var error: Problem?
    package var warning: Problem?
    /// Only with `explain`: the messages filed under the name, at most ``Bounds/explained``.
    package var candidates: [Candidate] = []
}

/// The result of a page: its slots, and the decision to commit.
package struct SlotDecision: Sendable, Hashable {
    /// One for each slot of the request that a later one of its view has not replaced.
    package var slots: [SlotAnswer]
    /// Of the override.
    package var error: SlotAnswer.Problem?
    /// The rows and records of all slots together.
    package var decision: Decision
}

extension Turn {
    /// Fills the slots of one page in order. Slots that are no longer on the page collapse: their offers end.
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
        let present = offers(onPage: request.page)
        for index in answers.indices where answers[index].error == nil {
            fill(&answers[index], request, present[answers[index].label])
        }
        endOldPages(before: request.page)
        let isKnown = request.override.map { counts[$0.label] != nil } ?? true
        return (answers, isKnown ? nil : .unknownLabel)
    }

    /// A new label of a view replaces the old one.
    private static func current(_ slots: [SlotRequest.Slot]) -> [SlotRequest.Slot] {
        var last: [String: Int] = [:]
        for (index, slot) in slots.enumerated() { if let view = slot.view { last[view] = index } }
        return slots.enumerated().filter { index, slot in slot.view.map { last[$0] == index } ?? true }.map(\.element)
    }

    /// The mistake that keeps a slot empty (Granify's document on inlines; `count` slots have this label).
    private mutating func problem(of slot: SlotRequest.Slot, _ count: Int, _ request: SlotRequest) -> SlotAnswer
        .Problem?
    {
        if count > 1 { return .duplicateLabel }
        if slot.label.sku != nil && slot.label.productID == nil { return .skuWithoutProduct }
        if request.isProductPage && slot.label.productID == nil { return .productMissing }
        return slot.canDisplay ? nil : .notDisplayable
    }

    /// Ends the offers of a page whose labels are gone.
    private mutating func collapse(page: String, keeping labels: Set<SlotLabel>) {
        for offer in activeOffers() where offer.page == page {
            guard let label = offer.slot, !labels.contains(label) else { continue }
            collapse(offer)
        }
    }

    /// The offers of a page's slots: the one that has not ended, or else the last one that a control group held back
    /// in this session.
    private mutating func offers(onPage page: String) -> [SlotLabel: Offer] {
        var found: [SlotLabel: Offer] = [:]
        let held = endedOffers().filter { $0.state == .held && $0.session == state.device.session }
        for offer in held + activeOffers() where offer.page == page && offer.user == state.user.id {
            if let label = offer.slot { found[label] = offer }
        }
        return found
    }

    /// Ends the offers of the pages that the device left first, beyond ``Bounds/slots``.
    private mutating func endOldPages(before page: String) {
        let inlines = live.filter { $0.device == state.device.id && !$0.needsScreen }
        let surplus = inlines.count - Bounds.slots
        guard surplus > 0 else { return }
        let others = inlines.filter { $0.page != page }.sorted { ($0.triggeredAt, $0.id) < ($1.triggeredAt, $1.id) }
        for offer in others.prefix(surplus) { collapse(offer) }
    }

    private mutating func collapse(_ offer: Offer) {
        finish(offer, offer.state == .shown ? .done : .discarded, EndReason.collapsed)
    }

    /// Keeps the present offer of the slot, or gives it the best message that passes.
    private mutating func fill(_ slot: inout SlotAnswer, _ request: SlotRequest, _ present: Offer?) {
        let override = request.override.flatMap { $0.label == slot.label ? $0 : nil }
        if let live = present, !live.state.isEnded {
            let fits =
                override == nil
                || (live.flags.contains(.uncounted) && override?.message ?? live.message == live.message)
            if fits {
                slot.offer = live
                return
            }
            collapse(live)
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
        let isHeld = give(best.definition, to: &slot, request, present, isOverride: override != nil)
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

    /// Leases the slot to the client; true if a control group holds the message back instead. A slot that one has
    /// held empty in this session stays empty and counts once, as a shown one keeps its message.
    private mutating func give(
        _ definition: Definition, to slot: inout SlotAnswer, _ request: SlotRequest, _ present: Offer?,
        isOverride: Bool
    ) -> Bool {
        if !isOverride, let present, present.state == .held { return true }
        var offer = newOffer(definition, since: now, .ready)
        offer.slot = slot.label
        offer.page = request.page
        if isOverride { offer.flags.insert(.uncounted) }
        if !isOverride, let group = controlGroup(of: definition) {
            hold(&offer, group)
            return true
        }
        give(offer, definition)
        slot.offer = state.offers[offer.id]
        answer.offer = nil
        return false
    }
}
