// The checks of one candidate, in order (docs/internals/in-app.md). The same function decides and explains.
extension Turn {
    /// The circumstances in which a message is checked.
    struct Context {
        /// The trigger's time; the timeout counts from it.
        var triggeredAt: Instant
        var isSessionStart = false
        /// Whether the app asks for this message itself: neither trigger, re-eligibility nor interval applies.
        var isRequested = false
        /// Flags of the offer, if the message already has one on the device.
        var offer: Offer.Flags?

        /// Whether the message follows a click on the last one: it needs no interval (Braze).
        var isFollowUp = false

        /// Whether the offer continues a mandatory message: its display has counted.
        var isResumed: Bool { offer?.contains(.uncounted) ?? false }
    }

    /// Checks a message that has no offer on this device. Nil if no trigger of the message is for the event.
    mutating func evaluate(
        _ definition: Definition, for event: inout EventReader, triggeredAt: Instant
    ) -> CheckList? {
        var list = CheckList(explains: explains)
        let context = Context(
            triggeredAt: triggeredAt, isSessionStart: event.event.isSessionStart, isRequested: event.event.isRequest,
            isFollowUp: isFollowUp && event.event.isMessageClick)
        if !context.isRequested {
            guard checkFilter(definition, &event, &list) else { return nil }
        }
        checkAll(definition, context, &list)
        return list
    }

    /// Checks a message without its triggers: a message that has an offer, or one that replaces another message.
    mutating func evaluate(_ definition: Definition, _ context: Context) -> CheckList {
        var list = CheckList(explains: explains)
        checkAll(definition, context, &list)
        return list
    }

    /// The checks after the trigger's, in order. Without an explanation it stops when the result is known.
    private mutating func checkAll(_ definition: Definition, _ context: Context, _ list: inout CheckList) {
        let hasOffer = context.offer != nil
        if list.isSettled(hasOffer: hasOffer) { return }
        checkSchedule(definition, context, &list)
        checkPair(definition, &list)
        checkTopics(definition, &list)
        if list.isSettled(hasOffer: hasOffer) { return }
        if !definition.message.isTest && !context.isResumed {
            checkReEligibility(definition, context, &list)
            checkOwnLimits(of: definition, &list)
            if list.isSettled(hasOffer: hasOffer) { return }
            if policy.isLimiting(definition) { checkPolicyLimits(of: definition, &list) }
        }
        checkControl(definition, &list)
        // A delayed message meets the client when its delay ends (Synerise for Android).
        if definition.message.delay > 0 && !hasOffer || list.isSettled(hasOffer: hasOffer) { return }
        checkCapability(definition, &list)
        checkScreen(definition, context, &list)
    }

    /// The checks of an inline message: no interval, no blocking screen, no limits across messages.
    mutating func checkSlot(_ definition: Definition, _ list: inout CheckList) {
        let context = Context(triggeredAt: now)
        checkSchedule(definition, context, &list)
        checkPair(definition, &list)
        checkTopics(definition, &list)
        if !definition.message.isTest {
            checkReEligibility(definition, context, &list)
            checkOwnLimits(of: definition, &list)
        }
        checkControl(definition, &list)
        checkCapability(definition, &list)
    }

    /// Whether a trigger is for the event. If one is, the check says whether its filter holds: one trigger is enough,
    /// and the first failure is the evidence.
    private mutating func checkFilter(_ definition: Definition, _ event: inout EventReader, _ list: inout CheckList)
        -> Bool
    {
        var best: Filter.Outcome = .otherEvent
        for trigger in definition.message.triggers {
            let outcome = trigger.outcome(of: &event, definition.rules)
            if outcome == .matches {
                list.check(
                    .filter, true, else: .permanent, "triggers", expected: "a trigger matches", actual: "matches")
                return true
            }
            if best == .otherEvent { best = outcome }
        }
        switch best {
        case .fails(let group):
            list.check(
                .filter, false, else: .permanent, "triggers", expected: "one condition of every group holds",
                actual: "group \(group): none holds")
        case .noProperties:
            list.check(
                .filter, false, else: .permanent, "triggers (\(definition.message.vendor))",
                expected: "an event with properties", actual: "an event without properties")
        case .otherEvent, .matches: return false
        }
        return true
    }

    /// Schedule, timeout and moment. A schedule that has ended and a timeout are final. Before the start, a message of
    /// Sourse waits for its embargo; every other one needs a later event.
    private mutating func checkSchedule(_ definition: Definition, _ context: Context, _ list: inout CheckList) {
        let word = definition.rules.endIsInside ? "until" : "before"
        list.check(
            .scheduleEnded, !definition.hasEnded(at: now), else: .permanent, "schedule.end",
            expected: definition.message.schedule.end.map { "\(word) \($0)" } ?? "no end", actual: "\(now)")
        let start = definition.message.schedule.start ?? now
        list.check(
            definition.rules.startCode, definition.hasStarted(at: now),
            else: definition.rules.waitsForStart ? .waits : .event,
            until: definition.rules.startIsInside ? start : start + 1, "schedule.start",
            expected: definition.hasStarted(at: start) ? "from \(start)" : "after \(start)", actual: "\(now)")
        if let timeout = timeout(of: definition) {
            list.check(
                .timeout, now < context.triggeredAt + timeout, else: .permanent, "timeout",
                expected: "before \(context.triggeredAt + timeout)", actual: "\(now)")
        }
        guard definition.message.isSmart else { return }
        let moment = moment(of: definition, isSessionStart: context.isSessionStart)
        list.check(
            .moment, moment.isNow(now), else: .waits, until: moment.at, "sourse \(moment.manner.rawValue)",
            expected: moment.at.map { "from \($0)" } ?? "the next session start", actual: "\(now)")
    }

    /// The moment at which a Sourse smart notification is shown.
    mutating func moment(of definition: Definition, isSessionStart: Bool) -> SourseMoment {
        SourseMoment(
            for: definition.message, client: state.device.client, activity: state.device.activity,
            isSessionStart: isSessionStart, now: now)
    }

    /// The message's timeout, or its vendor's on the web.
    mutating func timeout(of definition: Definition) -> Span? {
        if let timeout = definition.message.timeout { return timeout }
        guard let web = definition.rules.webTimeout, state.device.client.platform == .web else { return nil }
        return definition.message.delay + web
    }

    /// Companion messages (Sourse): devices subscribed to the marker show the smart one, all other devices the plain
    /// one.
    private mutating func checkPair(_ definition: Definition, _ list: inout CheckList) {
        guard let pair = definition.message.pair else { return }
        let subscribed = state.device.client.topics?.contains(pair.marker) ?? false
        list.check(
            .paired, subscribed == (pair.role == .smart), else: .permanent, "pair \(pair.key)",
            expected: pair.role == .smart ? "subscribed to \(pair.marker)" : "not subscribed to \(pair.marker)",
            actual: subscribed ? "subscribed" : "not subscribed")
    }

    /// A push to topics is for their subscribers only (FCM).
    private mutating func checkTopics(_ definition: Definition, _ list: inout CheckList) {
        let groups = definition.message.requirements.topics
        if groups.isEmpty { return }
        let subscribed = state.device.client.topics ?? []
        let missing = groups.first { group in
            !group.contains { topic in
                topic.hasPrefix("!") ? !subscribed.contains(String(topic.dropFirst())) : subscribed.contains(topic)
            }
        }
        list.check(
            .topics, missing == nil, else: .permanent, "requires.topics",
            expected: (missing ?? groups[0]).joined(separator: " or "),
            actual: subscribed.isEmpty ? "no topics" : "\(subscribed.count) topics")
    }

    /// Whether the message may be shown to the user again. The wait begins at the last impression; the message is
    /// eligible again exactly after the span (web SDK, `models/trigger.js`). A running lease on another device closes
    /// it too. A walkthrough must differ from the last one shown (Synerise).
    private mutating func checkReEligibility(_ definition: Definition, _ context: Context, _ list: inout CheckList) {
        if context.isRequested { return }
        if definition.message.kind == .walkthrough {
            list.check(
                .walkthroughNotUnique, state.device.lastWalkthrough != definition.message.id, else: .event, "synerise",
                expected: "another walkthrough than the last one shown",
                actual: state.device.lastWalkthrough ?? "none shown")
        }
        let rule = definition.message.reEligibility
        if rule == .always { return }
        let id = definition.message.id
        let last = state.user.ledger.totals[.message(id)]?.last
        let isReserved = hasUnreadLeases || reservations(of: .user) { $0.message == id } > 0
        let opens: Instant? = if case .after(let span) = rule, let last { last + span } else { nil }
        let isOpen = (last == nil || opens.map { $0 <= now } ?? false) && !isReserved
        list.check(
            .reEligibility, isOpen, else: last != nil && opens == nil ? .permanent : .event, until: opens,
            "reEligibility", expected: opens.map { "from \($0)" } ?? "never shown",
            actual: last.map { "shown \($0)" } ?? (isReserved ? "offered elsewhere" : "never shown"))
    }

    /// An entry of the explanation only: a control group changes the display, not the choice.
    private mutating func checkControl(_ definition: Definition, _ list: inout CheckList) {
        guard explains, let group = controlGroup(of: definition) else { return }
        list.check(.control, true, else: .permanent, group, expected: "held back", actual: "member of \(group)")
    }

    /// The name of the group that holds this message back from this user; the vendor for a message that is a control.
    mutating func controlGroup(of definition: Definition) -> String? {
        if definition.message.kind == .control { return definition.message.vendor }
        if definition.message.isTest || policy.controlGroups.isEmpty { return nil }
        return policy.controlGroup(of: definition, for: state.user.id)?.name
    }
}

extension Turn.Context {
    /// The context of a message that has an offer on this device.
    init(_ offer: borrowing Offer, isSessionStart: Bool) {
        self.init(
            triggeredAt: offer.triggeredAt, isSessionStart: isSessionStart,
            isRequested: offer.flags.contains(.requested), offer: offer.flags,
            isFollowUp: offer.flags.contains(.followUp))
    }
}
