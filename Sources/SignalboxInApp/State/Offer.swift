/// A message on its way to one device: a row. While it is offered it holds a lease on the screen (or on a slot) and a
/// reservation in each of its limits. All times are absolute, so a restart changes nothing.
package struct Offer: Sendable, Hashable {
    /// The states of the reference, section 7.3. The raw values are for rows.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Triggered; the delay runs.
        case triggered = "T"
        /// On the device's stack.
        case waiting = "W"
        /// The delay is over; the next request of the device may show it.
        case ready = "R"
        /// Leased to the client.
        case offered = "O"
        case shown = "S"
        case done = "D"
        case discarded = "X"
        case expired = "E"
        /// Held back from a member of a control group.
        case held = "H"

        /// Whether no later event changes the state, except an impression after the lease.
        package var isEnded: Bool {
            switch self {
            case .triggered, .waiting, .ready, .offered, .shown: false
            case .done, .discarded, .expired, .held: true
            }
        }

        /// Whether the offer waits for its turn and has no lease.
        var isPending: Bool { self == .triggered || self == .waiting || self == .ready }
    }

    /// Facts about an offer. The raw value is for rows and does not change its meaning.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Follows a click inside a shown message: no interval (Braze, doc:004).
        package static let followUp = Flags(rawValue: 1)
        /// A test send: no limit, interval or re-eligibility applies.
        package static let test = Flags(rawValue: 2)
        /// Leaves no trace in any limit: a slot in override mode.
        package static let uncounted = Flags(rawValue: 4)
        /// Counts for its own message only.
        package static let exempt = Flags(rawValue: 8)
        /// The app decides before the display.
        package static let asksApp = Flags(rawValue: 16)
        /// Ends only by a click.
        package static let blocking = Flags(rawValue: 32)
        /// The impression was reported after the lease.
        package static let late = Flags(rawValue: 64)
        /// The delay ended at least a minute before the engine ran.
        package static let overdue = Flags(rawValue: 128)
        /// The app asked for the message itself.
        package static let requested = Flags(rawValue: 256)
        /// Holds a reservation in the campaign's tally.
        package static let tallied = Flags(rawValue: 512)

        private static let named: [(flag: Flags, name: String)] = [
            (.followUp, "follow-up"), (.test, "test"), (.uncounted, "uncounted"), (.exempt, "exempt"),
            (.late, "late"), (.overdue, "overdue"), (.requested, "requested"),
        ]

        /// Names for records, in a fixed order.
        package var names: [String] {
            if isEmpty { return [] }
            return Self.named.filter { contains($0.flag) }.map(\.name)
        }
    }

    package let id: OfferID
    package let device: DeviceID
    package var user: UserID
    package let message: MessageID
    /// Of the message when it was last offered or triggered.
    package var revision: Int
    package let vendor: Vendor
    package let kind: Message.Kind
    package var state: State
    /// The trigger's time; timeout and delay count from it.
    package let triggeredAt: Instant
    /// When the delay ends.
    package let due: Instant
    /// Not shown at this time or later.
    package let lapse: Instant?
    package var flags: Flags
    /// Named limits of the message, as they are when it is offered.
    package var namedLimits: [String]
    /// Of the device, when it was last offered.
    package var session: Int
    /// Place on the stack: the greatest is on top.
    package var order: Int = 0
    /// Why a waiting offer cannot be shown before this time.
    package var until: Instant?
    /// When the client loses the offer without a report.
    package var leaseUntil: Instant?
    /// Leases in a row that ended without a report.
    package var unanswered: Int = 0
    /// When the impression was reported; also set for a held message.
    package var shownAt: Instant?
    package var endedAt: Instant?
    /// How a shown offer ended, or why it was not shown: a word of ``EndReason`` or of the client.
    package var reason: String?
    /// Clicks reported with different keys.
    package var clicks: Int = 0
    /// Keys of accepted reports, at most ``Bounds/reports``.
    package var reports: [String] = []
    /// Messages that the client may get if it cannot show this one, best first.
    package var runnersUp: [MessageID] = []
    /// The slot that an inline message fills.
    package var slot: SlotLabel?
    /// The page of the slot.
    package var page: String?

    /// The app asks for the message itself, so it is not asked.
    mutating func request() {
        flags.insert(.requested)
        flags.remove(.asksApp)
    }

    var needsScreen: Bool { kind != .inline }

    /// Whether the offer is on the screen or leased for it.
    var holdsScreen: Bool { needsScreen && (state == .offered || state == .shown) }
}

extension Offer {
    /// An offer before its lease; the other members have their defaults.
    package init(
        id: OfferID, device: DeviceID, user: UserID, message: MessageID, revision: Int, vendor: Vendor,
        kind: Message.Kind, state: State, triggeredAt: Instant, due: Instant, lapse: Instant?, flags: Flags,
        namedLimits: [String], session: Int
    ) {
        (self.id, self.device, self.user, self.message, self.revision) = (id, device, user, message, revision)
        (self.vendor, self.kind, self.state) = (vendor, kind, state)
        (self.triggeredAt, self.due, self.lapse) = (triggeredAt, due, lapse)
        (self.flags, self.namedLimits, self.session) = (flags, namedLimits, session)
    }
}

/// Reasons that the engine itself gives for the end of an offer.
package enum EndReason {
    package static let noAnswer = "no-answer"
    package static let interrupted = "interrupted"
    package static let replaced = "replaced"
    package static let withdrawn = "withdrawn"
    package static let userChanged = "user-changed"
    package static let unless = "unless"
    package static let stackFull = "stack-full"
    package static let timeout = "timeout"
    package static let scheduleEnded = "schedule.ended"
    package static let late = "late"
    package static let click = "click"
    package static let collapsed = "slot-collapsed"
}
