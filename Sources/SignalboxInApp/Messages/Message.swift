/// An in-app message of any vendor in the engine's own form. Content and action stay with the store: no decision
/// depends on them.
package struct Message: Sendable, Hashable {
    /// Unique among all vendors. Histories, limits and re-eligibility count by it.
    package var id: MessageID
    /// Greater for each change of the message.
    package var revision: Int = 1
    /// Selects the vendor's rules; one message of each vendor competes for an event.
    package var vendor: Vendor
    /// The vendor's campaign, for records only.
    package var campaign: String?
    /// Decides whether the message takes the screen or a slot.
    package var kind: Kind
    /// One that matches is enough.
    package var triggers: [MessageTrigger]
    /// A trigger that ends a delayed or waiting offer of this message (Leanplum, "unless").
    package var unless: [MessageTrigger] = []
    /// Absolute times of the first and the last display.
    package var schedule = Schedule()
    /// From the trigger to the display. The client's state is checked when it ends.
    package var delay: Span = 0
    /// From the trigger, delay included: shown only while less than this has passed (Braze web, `models/trigger.js`).
    package var timeout: Span?
    /// Limits of this message alone: owner `message`.
    package var limits: [Limit] = []
    /// Names of limits in the policy that this message shares with others (Airship, "shared constraints").
    package var namedLimits: [String] = []
    /// When an impression to a user permits the next one.
    package var reEligibility: ReEligibility
    /// 0 to 1000, lower first.
    package var rank: Int = 500
    /// Instead of the interval of the policy (Braze, `min_seconds_since_last_trigger`).
    package var interval: Span?
    /// Conditions on the client.
    package var requirements = Requirements()
    /// A mandatory upgrade: ranked first, never covered, ended only by its action (Synerise).
    package var isBlocking = false
    /// Spared by limits of vendors and of the scope.
    package var isExempt = false
    /// A test send: spared by limits, interval and re-eligibility (Braze).
    package var isTest = false
    /// The companion message with the same news, if there is one.
    package var pair: Pair?
    /// The control group of the policy that applies to this message.
    package var experiment: String?
    /// A Sourse smart notification: the engine picks the moment of display.
    package var isSmart = false
    /// Whether the app decides before the display (Synerise, `shouldBannerAppear`).
    package var asksApp = false
    /// The client reports `render-failed` after this time (Synerise: 5 s by default, at least 1 s).
    package var renderTimeout: Span?
    /// When this revision was registered, by the server's clock. Ties of rank go to the newest.
    package var registeredAt: Instant

    /// A message. Nil re-eligibility is the vendor's default. Not validated; ``Definition`` does that.
    package init(
        id: MessageID, vendor: Vendor, kind: Kind, triggers: [MessageTrigger], reEligibility: ReEligibility? = nil,
        registeredAt: Instant = 0
    ) {
        (self.id, self.vendor, self.kind, self.triggers) = (id, vendor, kind, triggers)
        self.reEligibility = reEligibility ?? VendorRules.of(vendor).reEligibility
        self.registeredAt = registeredAt
    }

    /// How a message is shown. Inline messages take a slot, all others the screen.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case modal, fullscreen, bar, banner, walkthrough, inline
        /// Shows no content and logs an impression of its own (Braze, `is_control`).
        case control
    }

    /// Counted per user, from impressions, not from triggers.
    package enum ReEligibility: Sendable, Hashable {
        case never, always
        /// Open again when exactly this time has passed since the last impression (Braze web).
        case after(Span)
    }

    /// When a message may be shown. The vendor's rules say whether the bounds belong to it (``VendorRules``).
    package struct Schedule: Sendable, Hashable {
        /// When the message begins; nil for at once.
        package var start: Instant?
        /// When the message ends; nil for never.
        package var end: Instant?

        /// Nil bounds are open.
        package init(start: Instant? = nil, end: Instant? = nil) { (self.start, self.end) = (start, end) }
    }

    /// Conditions on the client. Nil and empty mean that every client fulfils them.
    package struct Requirements: Sendable, Hashable {
        /// Clients that report another one discard the message.
        package var orientation: ClientState.Orientation?
        /// The name of the template that the client must be able to show.
        package var template: String?
        /// Shown only when all of them are ready.
        package var assets: Set<String> = []
        /// Screens that may show the message; empty for all.
        package var screens: Set<String> = []
        /// Groups of topics (FCM, "Send messages to topics"). The device fulfils one of each group: it is subscribed to
        /// the topic, or not subscribed to it after `!`. A client that reports no topics is subscribed to no topic.
        package var topics: [[String]] = []
        /// Braze discards a FULL message and an image-only MODAL without an image; the reader of the payload sets
        /// this.
        package var lacksImage = false

        /// Every client fulfils them.
        package init() {}
    }

    /// One of two messages with the same news; a device shows only one of them (Sourse, companion notifications).
    package struct Pair: Sendable, Hashable {
        /// The part of a message in its pair: one of the two is for devices that support smart delays. The raw values
        /// are those of the form.
        package enum Role: String, Sendable, Hashable, CaseIterable { case smart, plain }

        /// Equal for both messages: ``SoursePair/pair(condition:title:body:)``.
        package var key: String
        /// The part of this message.
        package var role: Role
        /// Devices subscribed to this topic show the smart message; other devices, and devices whose topics are
        /// unknown, show the plain message.
        package var marker: String

        /// Takes the key that both messages share, the part of this one, and the topic that decides.
        package init(key: String, role: Role, marker: String) {
            (self.key, self.role, self.marker) = (key, role, marker)
        }
    }
}
