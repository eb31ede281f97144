/// The user's row. Its displays and totals are rows of their own.
package struct UserState: Sendable, Hashable {
    /// The id that the app uses.
    package var id: UserID
    /// The greatest time of a display to this user; no later decision happens before it, so a clock that was set back
    /// reopens no limit. A decision that changes no display does not write the row, unless messages are addressed
    /// to the user.
    package var lastNow: Instant = 0
    /// Displays to the user on all devices.
    package var ledger = Ledger()

    /// A user without displays.
    package init(id: UserID) { self.id = id }
}

/// The device's row. Its displays and totals are rows of their own.
package struct DeviceState: Sendable, Hashable {
    /// As the client reports it.
    package var id: DeviceID
    /// The source whose token the device uses. The engine keeps it; the caller compares it. Nil if unknown.
    package var source: String?
    /// The user of the last request.
    package var user: UserID?
    /// The greatest time of a decision about this device, as for users.
    package var lastNow: Instant = 0
    /// The last request of the device, reports included.
    package var lastSeen: Instant = 0
    /// Sessions begun so far.
    package var session: Int = 0
    /// As last reported.
    package var client = ClientState(foreground: false)
    /// End of the last display; nil before the first.
    package var lastEnd: Instant?
    /// The last walkthrough shown; only a different walkthrough is unique (Synerise).
    package var lastWalkthrough: MessageID?
    /// Greatest place on the stack so far.
    package var lastOrder: Int = 0
    /// The last decision about a trigger: late definitions are newer.
    package var lastDecision: Instant = 0
    /// Sessions begun by local hour, 24 counters, or empty before the first.
    package var activity: [Int] = []
    /// Answered triggers, oldest first, at most ``Bounds/answers``.
    package var answers: [AnsweredTrigger] = []
    /// Triggers that late definitions may still match, oldest first.
    package var recent: [PastTrigger] = []
    /// Displays on this device to any user.
    package var ledger = Ledger()

    /// A device that has made no request.
    package init(id: DeviceID) { self.id = id }

    /// A trigger that was answered, with its offer if there was one.
    package struct AnsweredTrigger: Sendable, Hashable {
        /// ``TriggerRequest/repeatKey``.
        package var key: String
        /// The offer that the first answer had.
        package var offer: OfferID?

        /// Takes the key of the trigger. `offer`: nil if nothing was offered.
        package init(key: String, offer: OfferID?) { (self.key, self.offer) = (key, offer) }
    }

    /// A trigger within the policy's replay time.
    package struct PastTrigger: Sendable, Hashable {
        /// The event of the device.
        package var event: TriggerEvent
        /// The time of the decision.
        package var at: Instant

        /// Takes the event and the time of its decision.
        package init(event: TriggerEvent, at: Instant) { (self.event, self.at) = (event, at) }
    }
}

/// Committed displays of one message to every user, and the reserved ones if it has a limit that counts them.
package struct Tally: Sendable, Hashable {
    /// Impressions, at least 0.
    package var committed: Int
    /// Running leases.
    package var reserved: Int

    /// Takes the two counts; both begin at zero.
    package init(committed: Int = 0, reserved: Int = 0) { (self.committed, self.reserved) = (committed, reserved) }
}

/// The rows that one decision reads.
package struct InAppState: Sendable, Hashable {
    /// The row of the user.
    package var user: UserState
    /// The row of the device.
    package var device: DeviceState
    /// Every kept offer of the device, and the offered ones of the user on other devices, at most
    /// ``Bounds/leasesElsewhere`` of them.
    package var offers: [OfferID: Offer]
    /// The ledger of the device's anonymous user, if the user of the request is known and the device's last one was
    /// not (``AnonymousUser``).
    package var anonymous: Ledger?
    /// Tallies of the messages that ``ActiveMessages/tallies(for:)`` names and of the device's offers; an absent one is
    /// zero.
    package var tallies: [MessageID: Tally]

    package init(
        user: UserState, device: DeviceState, offers: [Offer] = [], anonymous: Ledger? = nil,
        tallies: [MessageID: Tally] = [:]
    ) {
        (self.user, self.device) = (user, device)
        self.offers = Dictionary(offers.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        (self.anonymous, self.tallies) = (anonymous, tallies)
    }
}

/// The user of a device that names none. The prefix is reserved: a known user must not have it.
package enum AnonymousUser {
    /// The user's id for one device.
    package static func id(on device: DeviceID) -> UserID { "anonymous:" + device }

    /// Whether the id is one of these. Compares bytes: a device's id may begin with a combining mark, which forms one
    /// character with the colon.
    package static func contains(_ user: UserID) -> Bool { user.utf8.starts(with: "anonymous:".utf8) }
}

/// One row to write. The changes of a decision belong in one commit, which is applied once.
package enum RowChange: Sendable, Hashable {
    /// The owner of a ledger's rows.
    package enum Subject: Sendable, Hashable { case user(UserID), device(DeviceID) }

    /// `lastNow` only; displays and totals are changes of their own.
    case user(UserID, lastNow: Instant)
    /// Every column except the ledger.
    indirect case device(DeviceState)
    case offer(Offer)
    case removeOffer(OfferID)
    /// Inserts or replaces by subject and offer.
    case display(Subject, Ledger.Display)
    case removeDisplay(Subject, OfferID)
    /// Inserts or replaces by subject and key.
    case total(Subject, Ledger.Key, Ledger.Total)
    /// Adds to the campaign's row, which devices share.
    case tally(MessageID, committed: Int, reserved: Int)
}
