// The limits of a message and of the policy. Committed displays are in the ledgers, reserved ones in the live offers.
extension Turn {
    /// The displays that a limit counts.
    struct Usage {
        /// Displays in the window of the limit, or all of them if they are fewer than its count.
        var used: Int
        /// Running leases; a lower bound unless ``isKnown``.
        var reserved: Int
        /// Whether all leases were counted.
        var isKnown: Bool
        /// Whether the limit permits one more display.
        var isFree: Bool

        /// Counts of one limit at this time.
        init(_ limit: Limit, used: Int, reserved: Int, isKnown: Bool = true) {
            (self.used, self.reserved, self.isKnown) = (used, reserved, isKnown)
            isFree = isKnown && used + reserved < limit.count
        }
    }

    /// The message's own limits.
    mutating func checkOwnLimits(of definition: Definition, _ list: inout CheckList) {
        for limit in definition.message.limits {
            check(limit, usage(of: limit, definition.message.id), definition, &list)
        }
    }

    /// The limits of the vendor and of the scope, and those that the message names. They count the displays of many
    /// messages, so one count serves every candidate.
    mutating func checkPolicyLimits(of definition: Definition, _ list: inout CheckList) {
        if policyUsages.isEmpty { policyUsages = Array(repeating: nil, count: policy.limits.count) }
        for index in policyUsages.indices {
            if !explains, let known = policyUsages[index], known.isFree { continue }
            let limit = policy.limits[index]
            guard policy.includes(definition, in: limit) else { continue }
            let usage = policyUsages[index] ?? usage(of: limit, "")
            policyUsages[index] = usage
            check(limit, usage, definition, &list)
        }
    }

    /// Adds the check of one limit. It fails for good only if nothing can free it.
    private mutating func check(_ limit: Limit, _ usage: Usage, _ definition: Definition, _ list: inout CheckList) {
        // A lifetime limit that committed displays fill stays full.
        let isFinal = limit.window == .lifetime && usage.used >= limit.count
        list.check(
            limit.code, usage.isFree, else: isFinal ? .permanent : .event,
            until: opens(limit, definition.message.id, usage.reserved),
            limit.name ?? (limit.owner == .message ? "limits" : "inapp.limits"),
            expected: "fewer than \(limit.count) per \(limit.per.rawValue)",
            actual: "used \(usage.used), reserved \(usage.reserved)\(usage.isKnown ? "" : " or more")")
    }

    /// `message`: the one that is checked; only a limit of its own depends on it.
    private mutating func usage(of limit: Limit, _ message: MessageID) -> Usage {
        switch limit.per {
        case .everyone:
            let tally = state.tallies[message] ?? Tally()
            return Usage(limit, used: tally.committed, reserved: tally.reserved)
        case .user: return usage(of: limit, message, in: state.user.ledger)
        case .device: return usage(of: limit, message, in: state.device.ledger)
        }
    }

    /// Committed displays of a ledger, and running leases.
    private mutating func usage(of limit: Limit, _ message: MessageID, in ledger: Ledger) -> Usage {
        let total = ledger.total(of: limit, message)
        let reserved = reservations(of: limit.per) { limit.counts($0, message) }
        // A lease that was not read may have the last place.
        let isKnown = limit.per != .user || !hasUnreadLeases
        // The total is at least what a window holds: a limit that it does not fill needs no look at the history.
        if limit.window == .lifetime || total == 0 || (total + reserved < limit.count && !explains) {
            return Usage(limit, used: total, reserved: reserved, isKnown: isKnown)
        }
        return Usage(limit, used: ledger.count(by: limit, message, windows()), reserved: reserved, isKnown: isKnown)
    }

    /// Now, with the session and the zone of the device.
    private mutating func windows() -> WindowContext {
        WindowContext(now: now, device: state.device.id, session: state.device.session, zone: state.device.client.zone)
    }

    /// When enough displays have left the window of a full limit; nil if time alone does not free it.
    private mutating func opens(_ limit: Limit, _ message: MessageID, _ reserved: Int) -> Instant? {
        if limit.per == .everyone { return nil }
        let ledger = limit.per == .user ? state.user.ledger : state.device.ledger
        let displays = ledger.counted(by: limit, message, windows())
        let used = displays.reduce(0) { $0 + $1.count }
        let surplus = used + reserved - limit.count + 1
        return used >= surplus ? windows().opens(limit.window, displays, leaving: surplus) : nil
    }

    /// The offers of the user or the device whose lease runs, of those that `isCounted` accepts. Each holds a place in
    /// its limits until it is reported or the lease ends.
    mutating func reservations(of subject: Limit.Subject, where isCounted: (Offer) -> Bool) -> Int {
        if live.isEmpty { return 0 }
        return live.count { offer in
            offer.isReserved(at: now)
                && (subject == .user ? isOfUser(offer) : isOwn(offer))
                && isCounted(offer)
        }
    }
}

extension Offer {
    /// Whether the offer holds a place in its limits.
    fileprivate func isReserved(at now: Instant) -> Bool {
        state == .offered && leaseUntil.map { $0 > now } ?? false && !flags.contains(.uncounted)
    }
}

extension Limit {
    /// Whether a lease counts for the limit. Exempt offers count for their own message only.
    fileprivate func counts(_ offer: Offer, _ message: MessageID) -> Bool {
        let isExempt = offer.flags.contains(.exempt)
        return switch owner {
        case .message: offer.message == message
        case .vendor(let vendor): offer.vendor == vendor && !isExempt
        case .scope: !isExempt
        case .named(let name): offer.namedLimits.contains(name) && !isExempt
        }
    }
}
