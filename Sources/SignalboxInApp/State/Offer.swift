/// A message on its way to one device: a row. While it is offered it holds a lease on the screen (or on a slot) and a
/// reservation in each of its limits. All times are absolute, so a restart changes nothing.
package struct Offer: Sendable, Hashable {
    /// The states; docs/internals/in-app.md lists which follows which. The raw values are for rows.
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

    /// Flags of an offer. The raw value is stored in rows; its bits do not change their meaning.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// Follows a click inside a shown message: no interval (Braze).
        package static let followUp = Flags(rawValue: 1)
        /// A test send: no limit, interval or re-eligibility applies.
        package static let test = Flags(rawValue: 2)
        /// Leaves no trace in any limit: a slot in override mode, or a mandatory message that was interrupted.
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

    /// One element, always: an array shares its storage until one of its copies changes. A decision hands an offer to
    /// its state, its answer, its records and its changes, and each copy is a reference.
    private var fields: [Fields]

    /// The ticket of the request that made it, or the ticket with a number.
    package var id: OfferID { fields[0].id }
    /// The device that the message was triggered on; an offer never moves.
    package var device: DeviceID { fields[0].device }
    /// The user of that device. An anonymous user's offers become those of the known one.
    package var user: UserID {
        get { fields[0].user }
        set { fields[0].user = newValue }
    }
    /// The message, which may be withdrawn or changed since.
    package var message: MessageID { fields[0].message }
    /// The revision of the message when it was last offered or triggered.
    package var revision: Int {
        get { fields[0].revision }
        set { fields[0].revision = newValue }
    }
    /// The message's vendor and kind, because a withdrawn message still counts.
    package var vendor: Vendor { fields[0].vendor }
    /// The kind of the offered message.
    package var kind: Message.Kind { fields[0].kind }
    /// Only the engine changes it.
    package var state: State {
        get { fields[0].state }
        set { fields[0].state = newValue }
    }
    /// The trigger's time; timeout and delay count from it.
    package var triggeredAt: Instant { fields[0].triggeredAt }
    /// When the delay ends.
    package var due: Instant { fields[0].due }
    /// Not shown at this time or later.
    package var lapse: Instant? { fields[0].lapse }
    /// Kept for the whole life of the offer.
    package var flags: Flags {
        get { fields[0].flags }
        set { fields[0].flags = newValue }
    }
    /// The vendor's campaign, as it is when the message is offered: a withdrawn message still has it in records.
    package var campaign: String? {
        get { fields[0].campaign }
        set { fields[0].campaign = newValue }
    }
    /// Named limits of the message, as they are when it is offered.
    package var namedLimits: [String] {
        get { fields[0].namedLimits }
        set { fields[0].namedLimits = newValue }
    }
    /// The session of the device when the message was last offered.
    package var session: Int {
        get { fields[0].session }
        set { fields[0].session = newValue }
    }
    /// Place on the stack: the greatest is on top.
    package var order: Int {
        get { fields[0].order }
        set { fields[0].order = newValue }
    }
    /// A waiting offer cannot be shown before this time. A shown one counts as interrupted at this time, unless the
    /// client reports it or lists it before.
    package var until: Instant? {
        get { fields[0].until }
        set { fields[0].until = newValue }
    }
    /// When the client loses the offer without a report.
    package var leaseUntil: Instant? {
        get { fields[0].leaseUntil }
        set { fields[0].leaseUntil = newValue }
    }
    /// Leases in a row that ended without a report.
    package var unanswered: Int {
        get { fields[0].unanswered }
        set { fields[0].unanswered = newValue }
    }
    /// When the impression was reported; also set for a held message.
    package var shownAt: Instant? {
        get { fields[0].shownAt }
        set { fields[0].shownAt = newValue }
    }
    /// When it was done, discarded, expired or held; nil before.
    package var endedAt: Instant? {
        get { fields[0].endedAt }
        set { fields[0].endedAt = newValue }
    }
    /// How a shown offer ended, or why it was not shown: a word of ``EndReason`` or of the client.
    package var reason: String? {
        get { fields[0].reason }
        set { fields[0].reason = newValue }
    }
    /// Clicks reported with different keys.
    package var clicks: Int {
        get { fields[0].clicks }
        set { fields[0].clicks = newValue }
    }
    /// Accepted reports, the oldest first.
    package var reports: [AcceptedReport] {
        get { fields[0].reports }
        set { fields[0].reports = newValue }
    }
    /// Messages that the client may get if it cannot show this one, best first.
    package var runnersUp: [MessageID] {
        get { fields[0].runnersUp }
        set { fields[0].runnersUp = newValue }
    }
    /// The slot that an inline message fills.
    package var slot: SlotLabel? {
        get { fields[0].slot }
        set { fields[0].slot = newValue }
    }
    /// The page of the slot.
    package var page: String? {
        get { fields[0].page }
        set { fields[0].page = newValue }
    }

    /// A report that was accepted once. A repeat gets the same answer.
    package struct AcceptedReport: Sendable, Hashable {
        /// ``Report/key``.
        package var key: String
        /// The offer that the answer had.
        package var offer: OfferID?

        /// Takes the key of the report. `offer`: nil if the answer had none.
        package init(key: String, offer: OfferID? = nil) { (self.key, self.offer) = (key, offer) }
    }

    /// The app asks for the message itself, so it is not asked.
    mutating func request() {
        flags.insert(.requested)
        flags.remove(.asksApp)
    }

    /// Whether it continues a mandatory message, which has been shown and ends only by its action.
    var isResumed: Bool { flags.isSuperset(of: [.blocking, .uncounted]) && needsScreen }

    /// Whether it competes for the screen: every kind except inline.
    var needsScreen: Bool { kind != .inline }

    /// Whether the offer is on the screen or leased for it.
    var holdsScreen: Bool { needsScreen && (state == .offered || state == .shown) }
}

extension Offer {
    private struct Fields: Sendable, Hashable {
        let id: OfferID
        let device: DeviceID
        var user: UserID
        let message: MessageID
        var revision: Int
        let vendor: Vendor
        let kind: Message.Kind
        var state: State
        let triggeredAt: Instant
        let due: Instant
        let lapse: Instant?
        var flags: Flags
        var campaign: String?
        var namedLimits: [String]
        var session: Int
        var order: Int = 0
        var until: Instant?
        var leaseUntil: Instant?
        var unanswered: Int = 0
        var shownAt: Instant?
        var endedAt: Instant?
        var reason: String?
        var clicks: Int = 0
        var reports: [AcceptedReport] = []
        var runnersUp: [MessageID] = []
        var slot: SlotLabel?
        var page: String?
    }

    /// An offer before its lease; the other members have their defaults.
    package init(
        id: OfferID, device: DeviceID, user: UserID, message: MessageID, revision: Int, vendor: Vendor,
        kind: Message.Kind, state: State, triggeredAt: Instant, due: Instant, lapse: Instant?, flags: Flags,
        namedLimits: [String], session: Int
    ) {
        fields = [
            Fields(
                id: id, device: device, user: user, message: message, revision: revision, vendor: vendor, kind: kind,
                state: state, triggeredAt: triggeredAt, due: due, lapse: lapse, flags: flags, namedLimits: namedLimits,
                session: session)
        ]
    }
}

/// Reasons that the engine itself gives for the end of an offer.
package enum EndReason {
    /// Two leases in a row ended without a report.
    package static let noAnswer = "no-answer"
    /// The app was killed, the device was silent, or the client no longer lists the message as visible.
    package static let interrupted = "interrupted"
    /// A banner took the place of this one (MCE `MCEInAppBannerTemplate.m`).
    package static let replaced = "replaced"
    /// The message is no longer registered.
    package static let withdrawn = "withdrawn"
    /// Another user uses the device.
    package static let userChanged = "user-changed"
    /// A trigger that cancels the message.
    package static let unless = "unless"
    /// A newer message took the last place of the stack.
    package static let stackFull = "stack-full"
    /// The timeout is over, which counts from the trigger.
    package static let timeout = "timeout"
    /// The device did not come back within the policy's history.
    package static let deviceAbsent = "device-absent"
    /// The end of the message's schedule.
    package static let scheduleEnded = "schedule.ended"
    /// Shown after the lease, while the screen was in use: counted and done.
    package static let late = "late"
    /// A click that closes, or one that was reported after the message was offered again.
    package static let click = "click"
    /// The device has the companion message (Sourse).
    package static let paired = "paired"
    /// The slot is no longer on the page.
    package static let collapsed = "slot-collapsed"
}
