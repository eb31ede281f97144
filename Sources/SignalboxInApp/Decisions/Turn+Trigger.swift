// A trigger's candidates, their order, and the one that is shown.
extension Turn {
    /// A candidate that may be chosen.
    struct Contender {
        /// The message.
        let definition: Definition
        /// The trigger's time: now, or earlier for a past event and a ready offer.
        let triggeredAt: Instant
        let rank: Rank
        /// The verdict, with the checks if they are explained.
        let list: CheckList
        /// The offer of a message that is ready on the device.
        var offer: OfferID?

        /// Whether the message has no offer yet.
        var isNew: Bool { offer == nil }
    }

    /// Decides about one request. A repeat finds its answer in the device's row and changes nothing. Another person may
    /// use an id again.
    mutating func decide(_ request: TriggerRequest) {
        let key = request.repeatKey
        if let key, !changesPerson, let answered = state.device.answers.first(where: { $0.key.hasBytes(of: key) }) {
            repeatAnswer(answered.offer)
            if answer.offer == nil && isScreenFreeAgain() { answer.nextCheck = now }
            return
        }
        let formerScreen = state.device.client.screen
        sweep()
        accept(request.client, of: state.user.id)
        // A view of the screen that is shown already is a return to the foreground (Airship's changelog).
        let isNewView = if case .screen(let name) = request.event { name != formerScreen } else { true }
        if case .screen(let name) = request.event { state.device.client.screen = name }
        if request.event.isSessionStart {
            // The former session's screen is gone.
            state.device.client.screen = request.client.screen
            beginSession()
        }
        cancel(by: request.event)
        isFollowUp = follows(request.event)
        choose(for: isNewView ? request.event : .poll)
        if answer.offer == nil { popStack(for: request.event) }
        if policy.replay > 0 { remember(request.event) }
        state.device.lastDecision = now
        if let key {
            state.device.answers.append(DeviceState.AnsweredTrigger(key: key, offer: answer.offer?.id))
            let surplus = state.device.answers.count - Bounds.answers
            if surplus > 0 { state.device.answers.removeFirst(surplus) }
        }
    }

    /// Whether the event is a click on the message on the screen, or on the one that ended last: the client may report
    /// the click before or after the event.
    private mutating func follows(_ event: TriggerEvent) -> Bool {
        guard case .messageClick(let message, _) = event else { return false }
        if let holder = holder() { return holder.message == message }
        guard let lastEnd = state.device.lastEnd else { return false }
        return state.offers.values.contains { offer in
            offer.message == message && isOwn(offer) && offer.shownAt != nil && offer.endedAt == lastEnd
        }
    }

    /// Keeps the event for definitions that arrive within the policy's replay time (Airship: 30 s).
    private mutating func remember(_ event: TriggerEvent) {
        state.device.recent.removeAll { now - $0.at > policy.replay }
        if !event.isPoll { state.device.recent.append(DeviceState.PastTrigger(event: event, at: now)) }
        let surplus = state.device.recent.count - Bounds.replayedTriggers
        if surplus > 0 { state.device.recent.removeFirst(surplus) }
    }

    /// Gathers, sorts and selects. Records `no-match` if no message has a trigger for the event.
    private mutating func choose(for event: TriggerEvent) {
        var found = Found()
        gather(messages.candidates(for: event), event, at: now, &found)
        for past in state.device.recent where now - past.at <= policy.replay {
            let newer = max(past.at, state.device.lastDecision)
            let late = messages.candidates(for: past.event).filter { definition in
                definition.message.registeredAt > newer && !hasOffer(of: definition.message.id, triggeredAt: past.at)
            }
            gather(late, past.event, at: past.at, &found)
        }
        for offer in activeOffers() where offer.state == .ready { gather(offer, event, &found) }
        // The best one last, so that it is on top of the stack.
        found.pending.sort { $1.rank < $0.rank }
        for pending in found.pending { keepPending(pending.offer, pending.definition, event) }
        found.contenders.sort { $0.rank < $1.rank }
        select(found.contenders, event)
        if !found.hasMatch && !event.isPoll { record(.noMatch, nil, trigger: event) }
    }

    /// Whether an earlier revision of a message has had its turn for a past event.
    private func hasOffer(of message: MessageID, triggeredAt instant: Instant) -> Bool {
        state.offers.values.contains { $0.message == message && $0.triggeredAt == instant && isOwn($0) }
    }

    /// The messages that an event concerns.
    fileprivate struct Found {
        var contenders: [Contender] = []
        var pending: [(rank: Rank, offer: Offer, definition: Definition)] = []
        /// Messages that are pending or may be chosen; only kept if past events are evaluated again.
        var seen: Set<MessageID> = []
        /// Whether a message matched that is not a candidate of every event.
        var hasMatch = false
    }

    /// Checks messages that are filed under the event.
    private mutating func gather(
        _ definitions: [Definition], _ event: TriggerEvent, at triggeredAt: Instant, _ found: inout Found
    ) {
        if definitions.isEmpty { return }
        var reader = EventReader(event)
        let pending = pendingOffers()
        if found.contenders.isEmpty { found.contenders.reserveCapacity(min(definitions.count, 16)) }
        for definition in definitions where !definition.isInline {
            if let offer = pending[definition.message.id] {
                gather(pending: offer, definition, &reader, at: triggeredAt, &found)
                continue
            }
            guard let list = evaluate(definition, for: &reader, triggeredAt: triggeredAt) else { continue }
            if list.firstFailure != .filter && (definition.needsEvent || event.isRequest) { found.hasMatch = true }
            guard explains || list.mayBeChosen else { continue }
            if policy.replay > 0 && !found.isFirst(definition.message.id, list) { continue }
            let rank = Rank(definition, due: triggeredAt + definition.message.delay, policy)
            found.contenders.append(
                Contender(definition: definition, triggeredAt: triggeredAt, rank: rank, list: list))
        }
    }

    /// Keeps the offer of a message that the event concerns again.
    private mutating func gather(
        pending offer: Offer, _ definition: Definition, _ event: inout EventReader, at triggeredAt: Instant,
        _ found: inout Found
    ) {
        guard concerns(definition, &event) else { return }
        found.hasMatch = true
        // A ready offer is a contender anyway.
        guard offer.state != .ready && found.seen.insert(definition.message.id).inserted else { return }
        let rank = Rank(definition, due: triggeredAt + definition.message.delay, policy)
        found.pending.append((rank, offer, definition))
    }

    /// Checks a message whose delay has ended; it competes with those of the event.
    private mutating func gather(_ offer: Offer, _ event: TriggerEvent, _ found: inout Found) {
        guard let definition = messages[offer.message] else { return }
        var offer = offer
        if event.requests(offer.message) {
            offer.request()
            put(offer)
        }
        let list = evaluate(definition, Context(offer, isSessionStart: event.isSessionStart))
        let rank = Rank(definition, due: offer.due, policy)
        found.contenders.append(
            Contender(definition: definition, triggeredAt: offer.triggeredAt, rank: rank, list: list, offer: offer.id))
    }

    /// Whether the event is for this message, which is pending already.
    private mutating func concerns(_ definition: Definition, _ event: inout EventReader) -> Bool {
        if event.event.isRequest { return true }
        for trigger in definition.message.triggers where trigger != .immediate {
            if trigger.outcome(of: &event, definition.rules) == .matches { return true }
        }
        return false
    }

    /// A repeated trigger keeps the earlier offer; one on the stack moves to the top (Braze Swift).
    private mutating func keepPending(_ pending: Offer, _ definition: Definition, _ event: TriggerEvent) {
        var moved = pending
        if event.isRequest { moved.request() }
        switch pending.state {
        case .waiting: stack(moved, until: pending.until)
        case .triggered where event.isRequest: put(moved)
        default: break
        }
        var list = CheckList(explains: explains)
        list.check(
            .alreadyPending, false, else: .event, pending.id, expected: "no pending offer",
            actual: pending.state.rawValue)
        explain(definition, pending.holdsScreen ? .shown : .waiting, list.checks)
    }

    mutating func explained(_ definition: Definition, _ result: Candidate.Result, _ checks: [Check]) -> Candidate {
        Candidate(message: definition.message.id, revision: definition.message.revision, result: result, checks: checks)
    }

    /// Adds an entry to the answer, if it is explained; beyond ``Bounds/explained`` it only counts.
    mutating func explain(_ definition: Definition, _ result: Candidate.Result, _ checks: [Check]) {
        guard explains else { return }
        if answer.candidates.count < Bounds.explained {
            answer.candidates.append(explained(definition, result, checks))
        } else {
            answer.omitted += 1
        }
    }
}

extension Turn.Found {
    /// Whether the message is not known yet from a newer event. One that failed then gives way to one that may be
    /// chosen: only an explanation has the former.
    mutating func isFirst(_ id: MessageID, _ list: CheckList) -> Bool {
        if seen.contains(id) { return false }
        let former = contenders.firstIndex { $0.definition.message.id == id }
        guard list.mayBeChosen else { return former == nil }
        if let former { contenders.remove(at: former) }
        seen.insert(id)
        return true
    }
}

extension TriggerEvent {
    /// Whether the app asks for one message by name.
    var isRequest: Bool { if case .show = self { true } else { false } }

    /// Whether the app asks for this message.
    func requests(_ message: MessageID) -> Bool { if case .show(message) = self { true } else { false } }

    /// Whether the client reports a click on a message.
    var isMessageClick: Bool { if case .messageClick = self { true } else { false } }

    /// The only event that a pending message still depends on: Sourse's moment may be a session start.
    var isSessionStart: Bool { if case .sessionStart = self { true } else { false } }

    /// Whether the app asks for waiting messages. A poll without a match is not recorded.
    var isPoll: Bool { if case .poll = self { true } else { false } }
}
