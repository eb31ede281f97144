// New offers, the display of a message, and the stack.
extension Turn {
    /// An offer of a message of this turn, with the facts that later steps need from the message.
    /// Its id is the next of the turn, unless `id` is given.
    mutating func newOffer(
        _ definition: Definition, since triggeredAt: Instant, _ offerState: Offer.State, id: OfferID? = nil
    ) -> Offer {
        var flags: Offer.Flags = []
        if definition.message.isTest { flags.insert(.test) }
        if policy.isUncounted(definition) { flags.insert(.exempt) }
        if definition.message.asksApp { flags.insert(.asksApp) }
        if definition.message.isBlocking { flags.insert(.blocking) }
        var offer = Offer(
            id: id ?? nextOfferID(), device: state.device.id, user: state.user.id, message: definition.message.id,
            revision: definition.message.revision, vendor: definition.message.vendor, kind: definition.message.kind,
            state: offerState, triggeredAt: triggeredAt, due: triggeredAt + definition.message.delay,
            lapse: timeout(of: definition).map { triggeredAt + $0 }, flags: flags,
            namedLimits: definition.message.namedLimits, session: state.device.session)
        offer.campaign = definition.message.campaign
        return offer
    }

    /// Gives a message that passes to the client, or holds it back from a member of a control group. A held message
    /// has its whole turn: it counts, starts the interval, and no other message takes its place (CleverTap showed
    /// the next).
    mutating func show(_ offer: consuming Offer, _ definition: Definition, isSessionStart: Bool) -> Candidate.Result {
        guard let group = controlGroup(of: definition) else {
            if let holder = holder(), isReplaced(holder, by: definition) { finish(holder, .done, EndReason.replaced) }
            let isSmart = definition.message.isSmart
            give(
                consume offer, definition,
                detail: isSmart ? moment(of: definition, isSessionStart: isSessionStart).manner.rawValue : nil)
            return .shown
        }
        hold(&offer, group)
        state.device.lastEnd = now
        isHeld = true
        return .held
    }

    /// Counts a message that a control group holds back, and shows nothing.
    mutating func hold(_ offer: inout Offer, _ group: String) {
        offer.session = state.device.session
        commit(&offer)
        offer.state = .held
        offer.shownAt = now
        offer.endedAt = now
        offer.reason = group
        put(offer)
        record(.held, offer, group)
    }

    /// Offers the newest message on the stack that passes all checks; blocking messages come first. Messages that no
    /// longer can be shown end.
    mutating func popStack(for event: TriggerEvent?) {
        guard !isHeld, answer.offer == nil, !live.isEmpty else { return }
        let isSessionStart = event?.isSessionStart ?? false
        let waiting = activeOffers().filter { $0.state == .waiting }.reversed()
        for offer in waiting.filter({ $0.flags.contains(.blocking) })
            + waiting.filter({ !$0.flags.contains(.blocking) })
        {
            guard let definition = messages[offer.message] else { continue }
            let list = evaluate(definition, Context(offer, isSessionStart: isSessionStart))
            var result = Candidate.Result.waiting
            if let code = list.permanent, !(offer.isResumed && code.isCapability) {
                finish(offer, code == .scheduleEnded ? .expired : .discarded, code.rawValue)
                result = .discarded
            } else if list.passes {
                result = show(offer, definition, isSessionStart: isSessionStart)
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
