// The client's reports. Reference, section 7.3: an accepted report changes the state once, a repeat gets the same
// answer, a contradicting report is a conflict.
extension Turn {
    /// Applies a report. Throws before any row of the offer changes. Leases and waits that are over end first, so a
    /// report about a lapsed lease meets the state after it.
    mutating func report(_ report: Report) throws(ReportFault) {
        guard let offer = state.offers[report.offer], isOwn(offer), report.device.hasBytes(of: offer.device) else {
            throw .unknownOffer
        }
        sweep()
        guard var offer = state.offers[report.offer], isOfUser(offer) else { throw .unknownOffer }
        if try isRepeat(report, offer) {
            repeatAnswer(report.answer(among: offer.reports))
            return
        }
        guard offer.reports.count < Bounds.reports || report.ends(offer) else { throw conflict(.tooMany, offer) }
        state.device.lastSeen = now
        offer.reports.append(Offer.AcceptedReport(key: report.key))
        switch report.outcome {
        case .shown: showed(&offer)
        case .clicked(let button, let closes):
            if offer.shownAt == nil { showed(&offer) }
            click(&offer, button, closes)
        case .dismissed(let how):
            if offer.shownAt == nil { showed(&offer) }
            if offer.state == .shown { finish(offer, .done, how) }
        case .interrupted: finish(offer, offer.state == .shown ? .done : .discarded, EndReason.interrupted)
        default: decline(&offer, report.outcome)
        }
        afterReport(report, of: offer)
    }

    /// Whether the report is accepted already. Throws if it contradicts an accepted one.
    private mutating func isRepeat(_ report: Report, _ offer: Offer) throws(ReportFault) -> Bool {
        if offer.reports.contains(where: { $0.key == report.key }) { return true }
        if let id = report.idKey, offer.reports.contains(where: { $0.key.hasPrefix(id) }) {
            throw conflict(.idReused, offer)
        }
        // No client has a message that was held back.
        if offer.state == .held { throw conflict(.notOffered, offer) }
        let wasGiven = offer.state == .offered || offer.shownAt != nil || offer.isUnanswered
        switch report.outcome {
        case .shown:
            if offer.shownAt != nil { return true }
        case .clicked:
            // A click may arrive after an end that the client did not report.
            if offer.state == .done && !offer.hasEngineReason { throw conflict(.alreadyEnded, offer) }
        case .dismissed(let how):
            if offer.flags.contains(.blocking) && offer.state != .done && wasGiven {
                throw conflict(.notDismissible, offer)
            }
            if offer.state == .done {
                if offer.reason == how || offer.hasEngineReason || offer.reason == EndReason.click { return true }
                throw conflict(.alreadyEnded, offer)
            }
        case .interrupted:
            if offer.state == .done || offer.reason == EndReason.interrupted { return true }
            guard offer.state == .shown || offer.state == .offered else {
                throw conflict(offer.isGone ? .alreadyEnded : .notOffered, offer)
            }
        default:
            if offer.shownAt != nil { throw conflict(.alreadyShown, offer) }
            if offer.reason == report.outcome.word || (offer.isGone && offer.isUnanswered) { return true }
        }
        if wasGiven { return false }
        throw conflict(offer.isGone ? .alreadyEnded : .notOffered, offer)
    }

    /// A contradiction, with the state that stays.
    private mutating func conflict(_ code: ReportFault.Conflict.Code, _ offer: Offer) -> ReportFault {
        .conflict(ReportFault.Conflict(code: code, state: offer.state, reason: offer.reason))
    }

    /// Counts the impression. One that arrives after the lease counts too, because the user has seen it: the offer
    /// takes the screen if it is free, and is done otherwise.
    mutating func showed(_ offer: inout Offer) {
        var flags: [String] = []
        let definition = messages[offer.message]
        if definition == nil { flags.append(EndReason.withdrawn) }
        if let definition, definition.message.revision != offer.revision { flags.append("revision-changed") }
        if offer.state != .offered {
            offer.flags.insert(.late)
            if let definition, !offer.flags.contains(.uncounted), isFull(for: definition) { flags.append("over-limit") }
        }
        let isFree =
            offer.state == .offered || (offer.state.isPending && holder() == nil && isOfDeviceUser(offer))
        commit(&offer)
        offer.shownAt = now
        offer.leaseUntil = nil
        offer.until = isFree ? now + policy.silence : nil
        offer.unanswered = 0
        offer.state = isFree ? .shown : .done
        offer.reason = isFree ? nil : EndReason.late
        offer.endedAt = isFree ? nil : now
        if !isFree && offer.needsScreen { state.device.lastEnd = now }
        if offer.kind == .walkthrough { state.device.lastWalkthrough = offer.message }
        put(offer)
        record(.impression, offer, flags: flags)
        if let pair = definition?.message.pair { recordCompanion(of: pair, behind: offer) }
    }

    /// Records that the device does not get the other message with the same news (Sourse). It has no row: the rows say
    /// which of them was shown.
    private mutating func recordCompanion(of pair: Message.Pair, behind shown: Offer) {
        guard let companion = messages.companion(of: pair), !companion.hasEnded(at: now) else { return }
        var offer = newOffer(companion, since: now, .discarded, id: shown.id + "-" + EndReason.paired)
        offer.endedAt = now
        offer.reason = EndReason.paired
        record(.discarded, offer, EndReason.paired)
    }

    /// Whether one more display exceeds a limit: others took the place that a late impression had.
    private mutating func isFull(for definition: Definition) -> Bool {
        if definition.message.isTest { return false }
        var list = CheckList(explains: false)
        checkOwnLimits(of: definition, &list)
        if policy.isLimiting(definition) { checkPolicyLimits(of: definition, &list) }
        return !list.passes
    }

    /// HTML messages report several clicks (Braze, changelog); each is recorded.
    private mutating func click(_ offer: inout Offer, _ button: String?, _ closes: Bool) {
        offer.clicks += 1
        if offer.state == .shown { offer.until = now + policy.silence }
        put(offer)
        record(.clicked, offer, button, flags: offer.clicks > 1 ? ["again"] : [])
        guard closes else { return }
        if offer.state == .shown {
            finish(offer, .done, EndReason.click)
        } else if offer.flags.contains(.blocking) && offer.hasEngineReason {
            endSuccessor(of: offer)
        }
    }

    /// Ends the offer that continues a mandatory message, because the action of the message was taken before. Leaves
    /// one that is on the screen.
    private mutating func endSuccessor(of former: Offer) {
        var id = former.successorID
        while var offer = state.offers[id] {
            if offer.state.isPending || offer.state == .offered {
                // The client may show it before it knows; the impression is late then.
                if offer.state == .offered { offer.unanswered += 1 }
                return finish(offer, .discarded, EndReason.click)
            }
            guard offer.state.isEnded else { return }
            id = offer.successorID
        }
    }

    /// Ends an offer that was not shown, or puts it back on the stack: its reservation is released, and nothing is
    /// spent.
    private mutating func decline(_ offer: inout Offer, _ outcome: Report.Outcome) {
        offer.unanswered = 0
        release(&offer)
        if outcome == .later && offer.needsScreen {
            stack(offer)
            if var later = state.offers[offer.id], later.state == .waiting {
                later.reason = outcome.word
                put(later)
            }
        } else {
            finish(offer, .discarded, outcome.word)
            if offer.isResumed { resume(offer) }
        }
    }

    /// Offers what may follow: the next message of the same event if the client cannot show this one, or the newest
    /// one on the stack when a display has ended.
    private mutating func afterReport(_ report: Report, of offer: Offer) {
        guard isOfDeviceUser(offer), offer.needsScreen else { return }
        if report.outcome.triesNext { tryNext(offer.runnersUp) }
        if state.offers[offer.id]?.state == .done { popStack(for: nil) }
        guard let next = answer.offer, var reported = state.offers[offer.id], !reported.reports.isEmpty else { return }
        reported.reports[reported.reports.count - 1].offer = next.id
        put(reported)
    }

    /// The next message of the same event that passes all checks.
    private mutating func tryNext(_ messageIDs: [MessageID]) {
        let pending = pendingOffers()
        for (index, id) in messageIDs.enumerated() {
            guard let definition = messages[id], definition.message.delay == 0, pending[id] == nil else { continue }
            let list = evaluate(definition, Context(triggeredAt: now))
            guard list.passes else { continue }
            var offer = newOffer(definition, since: now, .ready)
            offer.runnersUp = Array(messageIDs[(index + 1)...])
            explain(definition, show(offer, definition, isSessionStart: false), list.checks)
            return
        }
    }
}

extension Report {
    /// The offer that the answer to the first of these reports had. Another id of the same end gets it as well.
    fileprivate func answer(among reports: [Offer.AcceptedReport]) -> OfferID? {
        if let first = reports.first(where: { $0.key == key }) { return first.offer }
        return outcome == .shown ? nil : reports.last { $0.offer != nil }?.offer
    }

    /// Whether the offer ends with this report, so that no further one can follow.
    fileprivate func ends(_ offer: Offer) -> Bool {
        switch outcome {
        case .later: false
        case .shown: offer.shownAt == nil
        case .clicked(_, let closes): closes && !offer.state.isEnded
        default: !offer.state.isEnded
        }
    }
}

extension Offer {
    /// Whether a client had the offer and its lease ended without a report.
    var isUnanswered: Bool { unanswered > 0 && shownAt == nil }

    fileprivate var isGone: Bool { state.isEnded }

    /// Whether the engine ended the offer without a report of its end.
    fileprivate var hasEngineReason: Bool {
        [EndReason.interrupted, EndReason.replaced, EndReason.late, EndReason.userChanged, EndReason.collapsed]
            .contains(reason)
    }
}
