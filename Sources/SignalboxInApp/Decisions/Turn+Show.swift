// New offers, the display of a message, and the stack.
extension Turn {
    mutating func newOffer(_ definition: Definition, since triggeredAt: Instant, _ offerState: Offer.State) -> Offer {
        let message = definition.message
        var flags: Offer.Flags = []
        if message.isTest { flags.insert(.test) }
        if policy.isExempt(message) && !policy.exemptions.areCounted { flags.insert(.exempt) }
        if message.asksApp { flags.insert(.asksApp) }
        if message.isBlocking { flags.insert(.blocking) }
        return Offer(
            id: nextOfferID(), device: state.device.id, user: state.user.id, message: message.id,
            revision: message.revision, vendor: message.vendor, kind: message.kind, state: offerState,
            triggeredAt: triggeredAt, due: triggeredAt + message.delay,
            lapse: timeout(of: definition).map { triggeredAt + $0 }, flags: flags, namedLimits: message.namedLimits,
            session: state.device.session)
    }

    /// Gives a message that passes to the client, or holds it back from a member of a control group. A held message
    /// has its whole turn: it counts, starts the interval, and no other message takes its place (CleverTap showed
    /// the next).
    mutating func show(_ offer: Offer, _ definition: Definition, _ event: TriggerEvent?) -> Candidate.Result {
        guard let group = controlGroup(of: definition.message) else {
            if let holder, isReplaced(holder, by: definition) { finish(holder, .done, EndReason.replaced) }
            give(
                offer, detail: definition.message.isSmart ? moment(of: definition.message, event).manner.rawValue : nil)
            return .shown
        }
        var held = offer
        held.session = state.device.session
        commit(&held)
        held.state = .held
        held.shownAt = now
        held.endedAt = now
        held.reason = group
        put(held)
        state.device.lastEnd = now
        record(.held, held, group)
        isHeld = true
        return .held
    }

    /// Offers the newest message on the stack that passes all checks; blocking messages come first. Messages that no
    /// longer can be shown end.
    mutating func popStack(for event: TriggerEvent?) {
        guard !isHeld, answer.offer == nil else { return }
        let waiting = activeOffers.filter { $0.state == .waiting }.reversed()
        for offer in waiting.filter({ $0.flags.contains(.blocking) })
            + waiting.filter({ !$0.flags.contains(.blocking) })
        {
            guard let definition = messages[offer.message],
                let list = evaluate(
                    definition,
                    Context(event: event?.ifSessionStart, triggeredAt: offer.triggeredAt, pending: offer.flags))
            else { continue }
            var result = Candidate.Result.waiting
            if let code = list.permanent {
                finish(offer, code == .scheduleEnded ? .expired : .discarded, code.rawValue)
                result = .discarded
            } else if list.passes {
                result = show(offer, definition, event)
            } else if offer.until != list.until {
                var later = offer
                later.until = list.until
                put(later)
            }
            explainPopped(definition, result, list.checks)
            if answer.offer != nil || isHeld { return }
        }
    }

    /// Replaces an explanation of the same message in this turn, because the later result counts.
    private mutating func explainPopped(_ definition: Definition, _ result: Candidate.Result, _ checks: [Check]) {
        if let index = answer.candidates.firstIndex(where: { $0.message == definition.message.id }) {
            answer.candidates[index] = explained(definition, result, answer.candidates[index].checks + checks)
        } else {
            explain(definition, result, checks)
        }
    }
}
