/// One condition of a decision, with the evidence.
package struct Check: Sendable, Hashable {
    /// The rule. Events, explanations and errors use the raw value.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The triggers match, but a condition on the event's properties does not hold; the message has an offer
        /// already.
        case filter, alreadyPending = "already-pending"
        /// Times of the message: its schedule, Sourse's embargo and moment, and the timeout, which counts from the
        /// trigger.
        case scheduleNotStarted = "schedule.not-started", scheduleEnded = "schedule.ended", embargo, moment, timeout
        /// Repetition: the message's own rule, and Synerise's rule that a walkthrough differs from the last one.
        case reEligibility = "re-eligibility", walkthroughNotUnique = "walkthrough.not-unique"
        /// Limits, by the displays that they count: of the message, of its vendor, of all messages or of a named
        /// group.
        case limitMessage = "limit.message", limitVendor = "limit.vendor", limitScope = "limit.scope"
        /// Other messages: the time since the last display, a better rank, a control group, the companion of a pair,
        /// and a pause of the policy.
        case interval, priorityLost = "priority-lost", control, paired, paused
        /// The device's subscriptions.
        case topics
        /// The client's screen: it forbids the message, is another screen, is in use, or is in the background.
        case screenBlocked = "screen-blocked", screen, slotBusy = "slot-busy", background
        /// The client's abilities and files.
        case orientation, templateUnknown = "template-unknown", imageMissing = "image-missing"
        case assetPending = "asset-pending", assetFailed = "asset-failed"
        /// The device has as many waiting or delayed messages as ``Bounds`` permits.
        case stackFull = "stack-full"
        /// No trigger of the inline message is for the slot.
        case label = "inline.label"

        /// Whether the client may meet the condition later.
        var isCapability: Bool { [.orientation, .templateUnknown, .imageMissing, .assetFailed].contains(self) }
    }

    /// The rule that was checked.
    package let code: Code
    /// Whether the candidate passed it.
    package let ok: Bool
    /// The condition, in words and numbers; times are milliseconds since 1970.
    package let expected: String
    /// The value that was found.
    package let actual: String
    /// When the check may pass; nil if time alone does not make it pass.
    package let until: Instant?
    /// The rule's origin: a field of the message, a part of the policy, or a vendor.
    package let source: String
}

/// A message that an event concerned, and the result.
package struct Candidate: Sendable, Hashable {
    /// The outcome for this event; a later event decides anew.
    package enum Result: String, Sendable, Hashable {
        /// The offer of this answer, or one that the client still holds.
        case shown
        /// Delayed, on the stack or ready; it needs no further event.
        case waiting
        /// Cannot be shown for this event.
        case discarded
        /// The winner, held back from a member of a control group.
        case held
        /// Could be shown, but another message was ranked before it.
        case lost
    }

    package let message: MessageID
    package let revision: Int
    /// The result for the message.
    package var result: Result
    /// In the order in which they were made.
    package var checks: [Check]
}

/// Collects the checks of one candidate. Without an explanation it keeps the verdict only, and builds no text.
struct CheckList {
    /// How long a failed check keeps the message from being shown.
    enum Failure {
        /// The message is out: no time and no change of the client lets this trigger pass.
        case permanent
        /// This event is lost for the message; a later event may pass.
        case event
        /// The message waits by itself, and others may be shown before it.
        case waits
        /// The message keeps its turn, but cannot be shown now: it is stacked.
        case screen
    }

    /// Whether checks that pass are kept too, with their evidence.
    let explains: Bool
    /// Empty without an explanation.
    private(set) var checks: [Check] = []
    /// The first failure of each kind.
    private(set) var permanent: Check.Code?
    private(set) var event: Check.Code?
    private(set) var waits: Check.Code?
    private(set) var screen: Check.Code?
    /// The latest time of all failures that time cures.
    private(set) var until: Instant?

    /// An empty list: the message passes.
    init(explains: Bool) { self.explains = explains }

    /// Whether further checks cannot change the result, and no explanation needs them. A message without an offer
    /// must pass, or wait by itself; an offer that exists stays until it fails for good.
    func isSettled(hasOffer: Bool) -> Bool { !explains && (permanent != nil || (event != nil && !hasOffer)) }

    /// Whether the message may be chosen for this event: now, or by waiting.
    var mayBeChosen: Bool { permanent == nil && event == nil }

    /// Whether the message can be shown now.
    var passes: Bool { permanent == nil && event == nil && waits == nil && screen == nil }

    /// Whether the candidate competes: it passes, or only the screen is not free.
    var competes: Bool { permanent == nil && event == nil && waits == nil }

    /// The code of the gravest failure; nil if the message passes.
    var firstFailure: Check.Code? { permanent ?? event ?? waits ?? screen }

    /// Records one check. `failure` applies if it fails; `until` is the time at which it may pass, nil if time does
    /// not cure it. The texts are built for explanations only, and this part is inlined, so that a check that passes
    /// costs its comparison.
    @inline(__always)
    mutating func check(
        _ code: Check.Code, _ ok: Bool, else failure: Failure, until: @autoclosure () -> Instant? = nil,
        _ source: @autoclosure () -> String, expected: @autoclosure () -> String, actual: @autoclosure () -> String
    ) {
        if ok && !explains { return }
        let until = ok ? nil : until()
        if !ok { fail(code, failure, until: until) }
        guard explains else { return }
        checks.append(
            Check(code: code, ok: ok, expected: expected(), actual: actual(), until: until, source: source()))
    }

    private mutating func fail(_ code: Check.Code, _ failure: Failure, until: Instant?) {
        if let until { self.until = max(self.until ?? until, until) }
        switch failure {
        case .permanent: permanent = permanent ?? code
        case .event: event = event ?? code
        case .waits: waits = waits ?? code
        case .screen: screen = screen ?? code
        }
    }
}
