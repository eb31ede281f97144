// A trigger's candidates, their order, and the one that is shown.
extension Turn {
    /// A candidate that may be chosen. A class, because thousands of them are sorted.
    final class Contender {
        let definition: Definition
        let triggeredAt: Instant
        let rank: Rank
        let list: CheckList
        /// Of a message that is ready on the device.
        let offer: Offer?
        /// Whether the message has no offer yet.
        let isNew: Bool

        init(definition: Definition, triggeredAt: Instant, rank: Rank, list: CheckList, offer: Offer? = nil) {
            self.definition = definition
            self.triggeredAt = triggeredAt
            self.rank = rank
            self.list = list
            self.offer = offer
            isNew = offer == nil
        }
    }

    mutating func decide(_ request: TriggerRequest) {
        let key = request.repeatKey
        if let key, let answered = state.device.answers.first(where: { $0.key == key }) {
            answer.isRepeat = true
            let offer = answered.offer.flatMap { state.offers[$0] }
            answer.offer = offer.flatMap { $0.state == .offered && $0.leaseUntil ?? 0 > now ? $0 : nil }
            return
        }
        let formerScreen = state.device.client.screen
        sweep()
        accept(request.client, of: state.user.id)
        // A view of the screen that is shown already is a return to the foreground (Airship's changelog).
        let isNewView = if case .screen(let name) = request.event { name != formerScreen } else { true }
        if case .screen(let name) = request.event { state.device.client.screen = name }
        if request.event == .sessionStart { beginSession() }
        cancel(by: request.event)
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

    private mutating func remember(_ event: TriggerEvent) {
        state.device.recent.removeAll { now - $0.at > policy.replay }
        if event != .poll { state.device.recent.append(DeviceState.PastTrigger(event: event, at: now)) }
        let surplus = state.device.recent.count - Bounds.replayedTriggers
        if surplus > 0 { state.device.recent.removeFirst(surplus) }
    }

    private mutating func choose(for event: TriggerEvent) {
        var found = Found()
        gather(messages.candidates(for: event), event, at: now, &found)
        for past in state.device.recent where now - past.at <= policy.replay {
            let newer = max(past.at, state.device.lastDecision)
            let late = messages.candidates(for: past.event).filter { $0.message.registeredAt > newer }
            gather(late, past.event, at: past.at, &found)
        }
        for offer in activeOffers where offer.state == .ready { gather(offer, event, &found) }
        // The best one last, so that it is on top of the stack.
        for pending in found.pending.sorted(by: { $1.rank < $0.rank }) {
            keepPending(pending.offer, pending.definition, event)
        }
        select(found.contenders.sorted { $0.rank < $1.rank }, event)
        if !found.hasMatch && event != .poll { record(.noMatch, nil, trigger: event) }
    }

    /// The messages that an event concerns.
    private struct Found {
        var contenders: [Contender] = []
        var pending: [(rank: Rank, offer: Offer, definition: Definition)] = []
        var seen: Set<MessageID> = []
        /// Whether a message matched that is not a candidate of every event.
        var hasMatch = false
    }

    private mutating func gather(
        _ definitions: [Definition], _ event: TriggerEvent, at triggeredAt: Instant, _ found: inout Found
    ) {
        let live = liveOffers
        for definition in definitions where !definition.isInline {
            let message = definition.message
            let rank = Rank(message, due: triggeredAt + message.delay, policy)
            if let offer = live[message.id] {
                guard concerns(definition, event) else { continue }
                found.hasMatch = true
                // A ready one is a contender anyway.
                if offer.state != .ready && found.seen.insert(message.id).inserted {
                    found.pending.append((rank, offer, definition))
                }
                continue
            }
            guard let list = evaluate(definition, Context(event: event, triggeredAt: triggeredAt)) else {
                continue
            }
            if list.firstFailure != .filter && (event.isRequest || message.triggers.contains { $0 != .immediate }) {
                found.hasMatch = true
            }
            if !explains && !list.competes && list.waits == nil { continue }
            // The present event comes before past ones.
            if policy.replay > 0 && !found.seen.insert(message.id).inserted { continue }
            found.contenders.append(
                Contender(definition: definition, triggeredAt: triggeredAt, rank: rank, list: list))
        }
    }

    private mutating func gather(_ offer: Offer, _ event: TriggerEvent, _ found: inout Found) {
        guard let definition = messages[offer.message],
            let list = evaluate(
                definition, Context(event: event.ifSessionStart, triggeredAt: offer.triggeredAt, pending: offer.flags))
        else { return }
        let rank = Rank(definition.message, due: offer.due, policy)
        found.contenders.append(
            Contender(definition: definition, triggeredAt: offer.triggeredAt, rank: rank, list: list, offer: offer))
    }

    /// Whether the event is for this message, which is pending already.
    private func concerns(_ definition: Definition, _ event: TriggerEvent) -> Bool {
        event.isRequest
            || definition.message.triggers.contains {
                $0 != .immediate && $0.outcome(of: event, definition.rules) == .matches
            }
    }

    /// A repeated trigger keeps the earlier offer; one on the stack moves to the top (Braze Swift).
    private mutating func keepPending(_ pending: Offer, _ definition: Definition, _ event: TriggerEvent) {
        var moved = pending
        if event.isRequest { moved.request() }
        if pending.state == .waiting { stack(moved, until: pending.until) }
        var list = CheckList(explains: explains)
        list.check(
            .alreadyPending, false, else: .event, pending.id, expected: "no pending offer",
            actual: pending.state.rawValue)
        explain(definition, pending.holdsScreen ? .shown : .waiting, list.checks)
    }

    func explained(_ definition: Definition, _ result: Candidate.Result, _ checks: [Check]) -> Candidate {
        Candidate(message: definition.message.id, revision: definition.message.revision, result: result, checks: checks)
    }

    mutating func explain(_ definition: Definition, _ result: Candidate.Result, _ checks: [Check]) {
        guard explains else { return }
        if answer.candidates.count < Bounds.explained {
            answer.candidates.append(explained(definition, result, checks))
        } else {
            answer.omitted += 1
        }
    }
}

extension TriggerEvent {
    /// Whether the app asks for one message by name.
    var isRequest: Bool { if case .show = self { true } else { false } }

    /// The only event that a pending message still depends on: Sourse's moment may be a session start.
    var ifSessionStart: TriggerEvent? { self == .sessionStart ? self : nil }
}
