// The choice among the candidates of one event. Reference, section 7.2.
extension Turn {
    /// One event brings one message of each vendor at most (Braze: "highest priority only"), and one of them gets the
    /// screen. `contenders` are sorted, best first.
    mutating func select(_ contenders: [Contender], _ event: TriggerEvent) {
        var bestOfVendor = BestOfVendor()
        var screenWinner: Rank?
        var stacked: Rank?
        var runnersUp: [MessageID] = []
        for contender in contenders {
            var result = Candidate.Result.discarded
            var checks = contender.list.checks
            if contender.isNew, contender.list.competes,
                let best = bestOfVendor[contender.definition.message.vendor]
            {
                result = .lost
                if explains { checks.append(contender.rank.lost(against: best)) }
                runnersUp.append(contender.rank.id)
            } else if contender.list.competes, contender.definition.message.delay > 0, contender.isNew {
                bestOfVendor.insert(contender.rank, contender.definition.message.vendor)
                result = delay(contender, &checks)
            } else if contender.list.competes, let winner = screenWinner ?? (contender.list.passes ? nil : stacked) {
                result = .lost
                if explains { checks.append(contender.rank.lost(against: winner)) }
                if contender.isNew { runnersUp.append(contender.rank.id) }
                if let offer = offer(of: contender) { stack(offer, until: contender.list.until) }
            } else if contender.list.competes {
                if contender.isNew { bestOfVendor.insert(contender.rank, contender.definition.message.vendor) }
                if contender.list.passes { screenWinner = contender.rank } else { stacked = contender.rank }
                result = win(contender, event)
            } else {
                result = postpone(contender, &checks)
            }
            explain(contender.definition, result, checks)
        }
        if let offer = answer.offer, !runnersUp.isEmpty { name(Array(runnersUp.prefix(5)), behind: offer.id) }
    }

    private mutating func delay(_ contender: Contender, _ checks: inout [Check]) -> Candidate.Result {
        guard hasPlace(for: .triggered, atMost: Bounds.delayed, &checks) else { return .discarded }
        put(newOffer(contender.definition, since: contender.triggeredAt, .triggered))
        return .waiting
    }

    /// Shows, holds back or stacks the best message.
    private mutating func win(_ contender: Contender, _ event: TriggerEvent) -> Candidate.Result {
        var offer = offer(of: contender) ?? newOffer(contender.definition, since: contender.triggeredAt, .ready)
        if case .messageClick = event, contender.isNew { offer.flags.insert(.followUp) }
        if case .show(let id) = event, id == offer.message { offer.request() }
        guard contender.list.passes else {
            stack(offer, until: contender.list.until)
            return .waiting
        }
        return show(offer, contender.definition, isSessionStart: event.isSessionStart)
    }

    private mutating func offer(of contender: Contender) -> Offer? {
        contender.offer.flatMap { id in live.first { $0.id == id } }
    }

    /// A candidate that fails: a ready one waits or ends, a new one waits only if time or the client can cure the
    /// failure.
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

    private mutating func hasPlace(for offerState: Offer.State, atMost most: Int, _ checks: inout [Check]) -> Bool {
        let count = activeOffers().count { $0.state == offerState }
        if count < most { return true }
        checks.append(
            Check(
                code: .stackFull, ok: false, expected: "fewer than \(most) \(offerState)", actual: "\(count)",
                until: nil,
                source: "device"))
        return false
    }
}

/// The best rank of each vendor. Vendors are few, so the first ones are searched one by one.
private struct BestOfVendor {
    private var few: [(vendor: Vendor, rank: Rank)] = []
    private var others: [Vendor: Rank] = [:]

    subscript(vendor: Vendor) -> Rank? {
        for known in few where known.vendor == vendor { return known.rank }
        return others[vendor]
    }

    mutating func insert(_ rank: Rank, _ vendor: Vendor) {
        if few.count < 8 { few.append((vendor, rank)) } else { others[vendor] = rank }
    }
}
