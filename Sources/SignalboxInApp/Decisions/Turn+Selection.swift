// The choice among the candidates of one event (docs/internals/in-app.md).
extension Turn {
    /// One event brings one message of each vendor at most (Braze: "highest priority only"), and one of them gets the
    /// screen. `contenders` are sorted, best first.
    mutating func select(_ contenders: [Contender], _ event: TriggerEvent) {
        var bestOfVendor = BestOfVendor()
        var screenWinner: Rank?
        var stacked: Rank?
        var runnersUp: [MessageID] = []
        runnersUp.reserveCapacity(contenders.count)
        for index in contenders.indices {
            let definition = contenders[index].definition
            let (isNew, competes) = (contenders[index].isNew, contenders[index].list.competes)
            var result = Candidate.Result.discarded
            var checks = contenders[index].list.checks
            if isNew, competes, let best = bestOfVendor[definition.message.vendor] {
                result = .lost
                if explains { checks.append(contenders[index].rank.lost(against: best)) }
                runnersUp.append(definition.message.id)
            } else if competes, definition.message.delay > 0, isNew {
                bestOfVendor.insert(contenders[index].rank, definition.message.vendor)
                result = delay(contenders[index], event, &checks)
            } else if competes, let winner = screenWinner ?? (contenders[index].list.passes ? nil : stacked) {
                result = .lost
                if explains { checks.append(contenders[index].rank.lost(against: winner)) }
                if isNew { runnersUp.append(definition.message.id) }
                if let offer = offer(of: contenders[index]) { stack(offer, until: contenders[index].list.until) }
            } else if competes {
                if isNew { bestOfVendor.insert(contenders[index].rank, definition.message.vendor) }
                if contenders[index].list.passes {
                    screenWinner = contenders[index].rank
                } else {
                    stacked = contenders[index].rank
                }
                result = win(contenders[index], event)
            } else {
                result = postpone(contenders[index], &checks)
            }
            explain(definition, result, checks)
        }
        if let offer = answer.offer, !runnersUp.isEmpty {
            name(
                runnersUp.count > Bounds.runnersUp ? Array(runnersUp.prefix(Bounds.runnersUp)) : runnersUp,
                behind: offer.id)
        }
    }

    /// Starts the delay of a message; it competes for the screen when the delay ends.
    private mutating func delay(
        _ contender: Contender, _ event: TriggerEvent, _ checks: inout [Check]
    ) -> Candidate.Result {
        guard hasPlace(for: .triggered, atMost: Bounds.delayed, &checks) else { return .discarded }
        var offer = newOffer(contender.definition, since: contender.triggeredAt, .triggered)
        if event.requests(offer.message) { offer.request() }
        put(offer)
        return .waiting
    }

    /// Shows, holds back or stacks the best message.
    private mutating func win(_ contender: Contender, _ event: TriggerEvent) -> Candidate.Result {
        var offer = offer(of: contender) ?? newOffer(contender.definition, since: contender.triggeredAt, .ready)
        if case .messageClick = event, contender.isNew { offer.flags.insert(.followUp) }
        if event.requests(offer.message) { offer.request() }
        guard contender.list.passes else {
            stack(offer, until: contender.list.until)
            return .waiting
        }
        return show(consume offer, contender.definition, isSessionStart: event.isSessionStart)
    }

    /// The present offer of a contender that is ready; nil for a new one.
    private mutating func offer(of contender: Contender) -> Offer? {
        contender.offer.flatMap { id in live.first { $0.id == id } }
    }

    /// A candidate that fails: a ready candidate waits or ends, a new candidate waits only if time or the client can
    /// cure the failure.
    private mutating func postpone(_ contender: Contender, _ checks: inout [Check]) -> Candidate.Result {
        let list = contender.list
        if let offer = offer(of: contender) {
            if let code = list.permanent {
                finish(offer, code == .scheduleEnded ? .expired : .discarded, code.rawValue)
                return .discarded
            }
            stack(offer, until: list.until)
            return .waiting
        }
        guard list.permanent == nil, list.event == nil, list.waits != nil else { return .discarded }
        // Further messages stay candidates of later events: the stack is for the newest.
        guard hasPlace(for: .waiting, atMost: Bounds.stack, &checks) else { return .discarded }
        stack(newOffer(contender.definition, since: contender.triggeredAt, .ready), until: list.until)
        return .waiting
    }

    /// Whether the device may have one more offer of this state; otherwise the failed check is added.
    private mutating func hasPlace(for offerState: Offer.State, atMost most: Int, _ checks: inout [Check]) -> Bool {
        let count = pendingCounts[offerState] ?? 0
        if count < most { return true }
        checks.append(
            Check(
                code: .stackFull, ok: false, expected: "fewer than \(most) \(offerState)", actual: "\(count)",
                until: nil, source: "device"))
        return false
    }
}

/// The best rank of each vendor. Vendors are few, so the first ones are searched one by one.
private struct BestOfVendor {
    private var few: [Best] = []
    private var others: [Vendor: Rank] = [:]

    private struct Best {
        let vendor: Vendor
        let rank: Rank
    }

    /// Nil for a vendor without a contender so far.
    subscript(vendor: Vendor) -> Rank? {
        for index in few.indices where few[index].vendor == vendor { return few[index].rank }
        return others[vendor]
    }

    /// The vendor must be new.
    mutating func insert(_ rank: Rank, _ vendor: Vendor) {
        if few.count < 8 { few.append(Best(vendor: vendor, rank: rank)) } else { others[vendor] = rank }
    }
}
