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
        var shelves: [String: SlotShelf] = [:]
        for index in answers.indices where answers[index].error == nil {
            fill(&answers[index], request, present[answers[index].label], &shelves)
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
        for offer in held + activeOffers() where offer.page == page && isOfUser(offer) {
            if let label = offer.slot { found[label] = offer }
        }
        return found
    }

    /// Ends the offers of the pages that the device left first, beyond ``Bounds/slots``.
    private mutating func endOldPages(before page: String) {
        let inlines = live.filter { isOwn($0) && !$0.needsScreen }
        let surplus = inlines.count - Bounds.slots
        guard surplus > 0 else { return }
        let others = inlines.filter { $0.page != page }.sorted { ($0.triggeredAt, $0.id) < ($1.triggeredAt, $1.id) }
        for offer in others.prefix(surplus) { collapse(offer) }
    }

    private mutating func collapse(_ offer: Offer) {
        finish(offer, offer.state == .shown ? .done : .discarded, EndReason.collapsed)
    }

    /// Keeps the present offer of the slot, or gives it the best message that passes.
    private mutating func fill(
        _ slot: inout SlotAnswer, _ request: SlotRequest, _ present: Offer?, _ shelves: inout [String: SlotShelf]
    ) {
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
            shelves.removeAll()
        }
        guard explains || override != nil else {
            if let best = best(for: slot.label, &shelves) {
                _ = give(best, to: &slot, request, present, isOverride: false)
            }
            return
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

    /// The best message that passes for a slot. A message that failed for one slot of the page is not checked again: a
    /// filled slot makes no other message pass. So the work does not grow with slots times messages.
    private mutating func best(for label: SlotLabel, _ shelves: inout [String: SlotShelf]) -> Definition? {
        var shelf =
            shelves.removeValue(forKey: label.name)
            ?? SlotShelf(
                messages.candidates(forSlots: [label.name]).map { (Rank($0, due: now, policy), $0) }, name: label.name)
        defer { shelves[label.name] = shelf }
        for place in shelf.places(for: label) {
            var list = CheckList(explains: false)
            checkSlot(shelf.definitions[place], &list)
            if list.passes { return shelf.definitions[place] }
            shelf.hasFailed[place] = true
        }
        return nil
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
