// Transitions that time, a change of the user or a change of the client causes. Reference, section 7.3.
extension Turn {
    /// Ends leases, delays, waits and displays whose time is over.
    mutating func sweep() {
        for offer in activeOffers() where !isLeftToItsUser(offer) {
            switch offer.state {
            case .offered:
                if let until = offer.leaseUntil, until <= now { endLease(offer) }
            case .shown:
                if interruption(of: offer) <= now { finish(offer, .done, EndReason.interrupted) }
            case .triggered, .waiting, .ready: sweepPending(offer)
            case .done, .discarded, .expired, .held: break
            }
        }
        forgetEnded()
    }

    /// Whether this turn cannot tell a withdrawn message from one that is addressed to another user of the device: a
    /// turn has the messages of its own user only. Messages cannot be addressed to an anonymous user.
    func isLeftToItsUser(_ offer: borrowing Offer) -> Bool {
        !isOfUser(offer) && !AnonymousUser.contains(offer.user) && messages[offer.message] == nil
    }

    /// When a shown message counts as interrupted. A request that does not list it does not count as a sign,
    /// because its app may have been killed. A slot stays while the device makes requests.
    mutating func interruption(of offer: borrowing Offer) -> Instant {
        (offer.needsScreen ? offer.until : nil) ?? state.device.lastSeen + policy.silence
    }

    /// Removes ended offers beyond the policy's time and beyond ``Bounds/endedOffers()``.
    private mutating func forgetEnded() {
        let oldest = now - policy.endedOffers
        let mayHaveSurplus = state.offers.count > Bounds.endedOffers
        guard mayHaveSurplus || earliestEnd.map({ $0 <= oldest }) ?? false else { return }
        let ended = endedOffers()
        let surplus = ended.count - Bounds.endedOffers
        for (index, offer) in ended.enumerated() where index < surplus || offer.endedAt ?? now <= oldest {
            remove(offer.id)
        }
    }

    /// Ends a pending offer whose message is withdrawn or whose time is over, and makes a delayed offer ready when it
    /// is due. In the background or on a screen in use it is stacked; its delay does not start again.
    private mutating func sweepPending(_ offer: Offer) {
        guard let definition = messages[offer.message] else { return finish(offer, .discarded, EndReason.withdrawn) }
        let ended = definition.hasEnded(at: now)
        let lapsed = offer.lapse.map { $0 <= now } ?? false
        if ended || lapsed {
            // Both are over: the earlier one ended the offer.
            let lapsedFirst = lapsed && (!ended || offer.lapse ?? now < definition.message.schedule.end ?? now)
            return finish(offer, .expired, lapsedFirst ? EndReason.timeout : EndReason.scheduleEnded)
        }
        if absenceEnd <= now { return finish(offer, .expired, EndReason.deviceAbsent) }
        guard offer.state == .triggered, offer.due <= now else { return }
        var due = offer
        if now - offer.due >= 60_000 { due.flags.insert(.overdue) }
        let client = state.device.client
        if client.foreground && !client.isBusy && !client.isBlocked(for: offer.vendor) {
            due.state = .ready
            put(due)
        } else {
            stack(due)
        }
    }

    /// An offer without an answer goes back to the stack once: the client may have missed it.
    private mutating func endLease(_ offer: consuming Offer) {
        release(&offer)
        offer.unanswered += 1
        if offer.unanswered > 1 || !offer.needsScreen {
            finish(copy offer, .discarded, EndReason.noAnswer)
            if offer.isResumed { resume(offer) }
        } else {
            let id = offer.id
            stack(offer)
            // Its time may be over as well: a later sweep finds nothing to do.
            if let waiting = state.offers[id], waiting.state == .waiting { sweepPending(waiting) }
        }
    }

    /// Puts an offer on top of the stack, and ends the oldest one beyond ``Bounds/stack``.
    mutating func stack(_ offer: consuming Offer, until: Instant? = nil) {
        state.device.lastOrder += 1
        offer.order = state.device.lastOrder
        offer.state = .waiting
        offer.until = until
        // They belong to the event of the first lease.
        if !offer.runnersUp.isEmpty { offer.runnersUp = [] }
        put(offer)
        let waiting = activeOffers().filter { $0.state == .waiting }
        guard waiting.count > Bounds.stack else { return }
        let oldest = waiting.first { !$0.flags.contains(.blocking) } ?? waiting[0]
        finish(oldest, .discarded, EndReason.stackFull)
    }

    /// Ends an offer and records why. The interval begins when a shown message ends.
    mutating func finish(_ offer: consuming Offer, _ end: Offer.State, _ reason: String) {
        let wasShown = offer.state == .shown
        release(&offer)
        offer.state = end
        offer.endedAt = now
        offer.reason = reason
        offer.runnersUp = []
        put(offer)
        if wasShown && offer.needsScreen { state.device.lastEnd = now }
        switch end {
        case .done: record(.dismissed, offer, reason)
        case .expired: record(.expired, offer, reason)
        default: record(.discarded, offer, reason)
        }
        let isMandatory = wasShown ? offer.flags.contains(.blocking) : offer.isResumed
        if isMandatory && reason == EndReason.interrupted { resume(offer) }
    }

    /// Puts a mandatory message back on the stack, because a restart of the app is not its action (Synerise). The new
    /// offer counts no second display, and no limit holds it back.
    mutating func resume(_ former: Offer) {
        guard let definition = messages[former.message], !definition.hasEnded(at: now) else { return }
        var offer = newOffer(definition, since: now, .waiting, id: former.successorID)
        // The turn may be one of another user, of a late report.
        offer.user = former.user
        offer.flags.formUnion([.blocking, .uncounted])
        stack(offer)
    }

    /// Whether the request is of another person than the device's last one. A known user who follows an anonymous one
    /// is the same person.
    var changesPerson: Bool {
        guard let former = state.device.user, !former.hasBytes(of: state.user.id) else { return false }
        return !AnonymousUser.contains(former) || AnonymousUser.contains(state.user.id)
    }

    /// Accepts the user and the client's state of a request. A known user follows an anonymous one: the ledger is
    /// merged and the offers stay, because it is the same person. Any other change ends the offers of the former
    /// user, and their triggers are not repeated.
    mutating func accept(_ client: ClientState, of user: UserID) {
        beginDay()
        if changesPerson {
            state.device.answers.removeAll()
            for var offer in activeOffers() {
                // The client may show it before it knows; the impression is late then.
                if offer.state == .offered { offer.unanswered += 1 }
                finish(offer, offer.state == .shown ? .done : .discarded, EndReason.userChanged)
            }
        } else if let former = state.device.user, !former.hasBytes(of: user) {
            if let anonymous = state.anonymous { merge(anonymous, of: former) }
            // Ended ones too: a late impression counts for the known user.
            for var offer in activeOffers() + endedOffers() where offer.user.hasBytes(of: former) {
                offer.user = user
                put(offer)
            }
        }
        state.anonymous = nil
        state.device.user = user
        state.device.client = client.completed(by: state.device.client)
        if let visible = client.visible { follow(visible) }
        state.device.lastSeen = now
    }

    /// Follows the client's list of messages on the screen: a shown message that is missing has ended, and a leased
    /// message that is listed is shown, although its report is late or lost. A page lists its slots itself.
    private mutating func follow(_ visible: Set<OfferID>) {
        for offer in activeOffers() where offer.state == .shown && offer.needsScreen && !visible.contains(offer.id) {
            finish(offer, .done, EndReason.interrupted)
        }
        for var offer in activeOffers() where offer.needsScreen && visible.contains(offer.id) {
            if offer.shownAt == nil && (offer.state == .offered || offer.isUnanswered) {
                showed(&offer)
            } else if offer.state == .shown && interruption(of: offer) < now + policy.silence * 3 / 4 {
                // Not at every request: it is a row to write.
                offer.until = now + policy.silence
                put(offer)
            }
        }
    }

    /// Renews the rows of a user and a device once on each day (UTC): upkeep reads in them who still comes, and
    /// displays beyond the history go. No message is addressed to an anonymous user.
    private mutating func beginDay() {
        if !AnonymousUser.contains(state.user.id), isNewDay(since: state.user.lastNow) {
            changesUser = true
            prune(\.user.ledger, .user(state.user.id))
        }
        if isNewDay(since: state.device.lastNow) { prune(\.device.ledger, .device(state.device.id)) }
    }

    private func isNewDay(since last: Instant) -> Bool { last / 86_400_000 != now / 86_400_000 }

    /// Ends pending offers whose message names this event as "unless".
    mutating func cancel(by event: TriggerEvent) {
        if live.isEmpty { return }
        var reader = EventReader(event)
        for offer in activeOffers() where offer.state.isPending {
            guard let definition = messages[offer.message] else { continue }
            if definition.message.unless.contains(where: { $0.outcome(of: &reader, definition.rules) == .matches }) {
                finish(offer, .discarded, EndReason.unless)
            }
        }
    }

    /// Counts a session for limits and for the most active hour.
    mutating func beginSession() {
        state.device.session += 1
        if state.device.activity.count != 24 { state.device.activity = [Int](repeating: 0, count: 24) }
        state.device.activity[LocalDay(state.device.client.zone).hour(of: now)] += 1
    }
}

extension Offer {
    /// The id of an offer that continues this one: `of_x_2` after `of_x`, then `of_x_3`. It is as hard to guess.
    var successorID: OfferID {
        let parts = id.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count > 2, let number = parts.last.flatMap({ Int($0) }) else { return id + "_2" }
        return parts.dropLast().joined(separator: "_") + "_\(number + 1)"
    }
}

extension ClientState {
    /// The screen, the platform and the zone seldom change: a request that leaves them out keeps the known values.
    fileprivate func completed(by former: ClientState) -> ClientState {
        var client = self
        client.screen = screen ?? former.screen
        client.platform = platform ?? former.platform
        client.zone = zone ?? former.zone
        return client
    }
}
