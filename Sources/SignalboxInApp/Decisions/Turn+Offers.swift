/// The offers of this device, and when they need another decision.
extension Turn {
    /// Whether an offer is of this device. A turn also knows leases of the user's other devices.
    func isOwn(_ offer: borrowing Offer) -> Bool { offer.device.hasBytes(of: state.device.id) }

    /// Whether an offer is of the user of this turn.
    func isOfUser(_ offer: borrowing Offer) -> Bool { offer.user.hasBytes(of: state.user.id) }

    /// Whether an offer is of the user of the device's last request.
    func isOfDeviceUser(_ offer: borrowing Offer) -> Bool { state.device.user?.hasBytes(of: offer.user) ?? false }

    /// The offers that have not ended, in the order in which they were stacked.
    mutating func activeOffers() -> [Offer] {
        if live.isEmpty { return [] }
        return live.filter { isOwn($0) }.sorted { ($0.order, $0.id) < ($1.order, $1.id) }
    }

    /// The offers that have ended, the oldest first.
    mutating func endedOffers() -> [Offer] {
        state.offers.values.filter { isOwn($0) && $0.state.isEnded }
            .sorted { ($0.endedAt ?? 0, $0.id) < ($1.endedAt ?? 0, $1.id) }
    }

    /// The one on the screen of this device, or leased for it.
    mutating func holder() -> Offer? { live.first { isOwn($0) && $0.holdsScreen } }

    /// Whether a message that waits on this device may be shown now, because the lease or the display before it is
    /// over. For a turn that changes no row, so the ended lease may still be in the rows.
    mutating func isScreenFreeAgain() -> Bool {
        if let holder = holder() {
            return (holder.state == .offered ? holder.leaseUntil ?? 0 : interruption(of: holder)) <= now
        }
        let client = state.device.client
        guard client.foreground && !client.isBusy else { return false }
        return live.contains { offer in
            isOwn(offer) && offer.state == .waiting && offer.until == nil && !client.isBlocked(for: offer.vendor)
        }
    }

    /// The offers that have not ended, by message, without inlines.
    mutating func pendingOffers() -> [MessageID: Offer] {
        if live.isEmpty { return [:] }
        let pending = live.filter { isOwn($0) && $0.needsScreen }
        return Dictionary(pending.map { ($0.message, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// When the client may ask again, and when ``InAppEngine/advance(_:messages:now:)`` has work.
    mutating func nextTimes() -> (check: Instant?, due: Instant?) {
        var times: (check: Instant?, due: Instant?)
        for offer in live where isOwn(offer) {
            let next = self.times(of: offer)
            if let check = next.check { times.check = min(times.check ?? check, check) }
            // Only a turn of the device's user knows the end of a message that is addressed to that user.
            let isUnknown = isOfDeviceUser(offer) && isLeftToItsUser(offer)
            if let due = isUnknown ? now : next.due { times.due = min(times.due ?? due, due) }
        }
        return times
    }

    /// The same two times for one offer.
    private mutating func times(of offer: Offer) -> (check: Instant?, due: Instant?) {
        switch offer.state {
        case .triggered: (max(offer.due, now), earliestEnd(of: offer, offer.due))
        case .waiting, .ready: (check(of: offer), earliestEnd(of: offer, nil))
        case .offered: (nil, offer.leaseUntil)
        case .shown: (nil, interruption(of: offer))
        case .done, .discarded, .expired, .held: (nil, nil)
        }
    }

    /// When an offer that waits may be shown: at once if its time has come and the screen is free.
    private mutating func check(of offer: Offer) -> Instant? {
        if let until = offer.until, until > now { return until }
        let isDue = offer.state == .ready || offer.until != nil
        return isDue && holder() == nil ? now : nil
    }

    /// The earliest of the end of the delay, the lapse, the end of the schedule and the end of the device's absence.
    private mutating func earliestEnd(of offer: Offer, _ due: Instant?) -> Instant? {
        let end = messages[offer.message]?.message.schedule.end.map { max($0, now) + 1 }
        return [due, offer.lapse, end, absenceEnd].compactMap { $0 }.min()
    }

    /// When a device that stays away loses the messages that wait for it: the policy's history after the end of the
    /// day (UTC) on which it was last seen. The same for all requests of a day, so that few of them change the
    /// device's due time.
    var absenceEnd: Instant {
        let day: Span = 86_400_000
        return (state.device.lastSeen / day + 1) * day + policy.history
    }
}
