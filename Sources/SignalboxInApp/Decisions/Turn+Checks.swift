// The checks of one candidate, in the order of the reference, section 7.2. The same function decides and explains.
extension Turn {
    /// The circumstances of one candidate.
    struct Context {
        var event: TriggerEvent?
        var triggeredAt: Instant
        /// Of a message that is already pending on the device.
        var offer: Offer?

        var isRequested: Bool {
            if case .show? = event { return true }
            return offer?.flags.contains(.requested) ?? false
        }
    }

    /// Nil if no trigger of the message is for the event.
    func evaluate(_ definition: Definition, _ context: Context) -> CheckList? {
        var list = CheckList(explains: explains)
        let message = definition.message
        if let event = context.event, context.offer == nil, !context.isRequested {
            guard checkFilter(definition, event, &list) else { return nil }
        }
        if list.isSettled { return list }
        checkSchedule(definition, context, &list)
        checkPair(message, &list)
        if list.isSettled { return list }
        if !message.isTest {
            checkReEligibility(message, context, &list)
            for limit in policy.limits(for: message) { check(limit, message, context, &list) }
        }
        checkControl(message, &list)
        // A delayed message meets the client when its delay ends (Synerise for Android, iterable-swift-sdk#925).
        if message.delay > 0 && context.offer == nil || list.isSettled { return list }
        checkCapability(message, &list)
        checkScreen(definition, context, &list)
        return list
    }

    /// The checks of an inline message: no interval, no blocking screen, no limits across messages.
    func checkSlot(_ definition: Definition, _ context: Context, _ list: inout CheckList) {
        let message = definition.message
        checkSchedule(definition, context, &list)
        checkPair(message, &list)
        if !message.isTest {
            checkReEligibility(message, context, &list)
            for limit in message.limits { check(limit, message, context, &list) }
        }
        checkControl(message, &list)
        checkCapability(message, &list)
    }

    private func checkFilter(_ definition: Definition, _ event: TriggerEvent, _ list: inout CheckList) -> Bool {
        var best: Filter.Outcome = .otherEvent
        for trigger in definition.message.triggers {
            let outcome = trigger.outcome(of: event, definition.rules)
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

    private func checkSchedule(_ definition: Definition, _ context: Context, _ list: inout CheckList) {
        let (message, rules) = (definition.message, definition.rules)
        let ended = message.hasEnded(at: now, rules)
        list.check(
            .scheduleEnded, !ended, else: .permanent, "schedule.end",
            expected: message.schedule.end.map { "until \($0)" } ?? "no end", actual: "\(now)")
        let start = message.schedule.start ?? now
        list.check(
            rules.startCode, message.hasStarted(at: now, rules), else: rules.waitsForStart ? .waits : .event,
            until: rules.startIsInside ? start : start + 1, "schedule.start", expected: "from \(start)",
            actual: "\(now)")
        if let timeout = timeout(of: definition) {
            list.check(
                .timeout, now < context.triggeredAt + timeout, else: .permanent, "timeout",
                expected: "before \(context.triggeredAt + timeout)", actual: "\(now)")
        }
        guard message.isSmart else { return }
        let moment = moment(of: message, context.event)
        list.check(
            .moment, moment.isNow(now), else: .waits, until: moment.at, "sourse \(moment.manner.rawValue)",
            expected: moment.at.map { "from \($0)" } ?? "the next session start", actual: "\(now)")
    }

    func moment(of message: Message, _ event: TriggerEvent?) -> SourseMoment {
        SourseMoment(
            for: message, client: state.device.client, activity: state.device.activity,
            isSessionStart: event == .sessionStart, now: now)
    }

    /// The message's timeout, or its vendor's on the web.
    func timeout(of definition: Definition) -> Span? {
        if let timeout = definition.message.timeout { return timeout }
        guard state.device.client.platform == .web, let web = definition.rules.webTimeout else { return nil }
        return definition.message.delay + web
    }

    private func checkPair(_ message: Message, _ list: inout CheckList) {
        guard let pair = message.pair else { return }
        let subscribed = state.device.client.topics?.contains(pair.marker) ?? false
        list.check(
            .paired, subscribed == (pair.role == .smart), else: .permanent, "pair \(pair.key)",
            expected: pair.role == .smart ? "subscribed to \(pair.marker)" : "not subscribed to \(pair.marker)",
            actual: subscribed ? "subscribed" : "not subscribed")
    }

    private func checkReEligibility(_ message: Message, _ context: Context, _ list: inout CheckList) {
        if context.isRequested { return }
        if message.kind == .walkthrough {
            list.check(
                .walkthroughNotUnique, state.device.lastWalkthrough != message.id, else: .event, "synerise",
                expected: "another walkthrough than the last one shown",
                actual: state.device.lastWalkthrough ?? "none shown")
        }
        if message.reEligibility == .always { return }
        let last = state.user.ledger.totals[.message(message.id)]?.last
        let isReserved = reservations(of: .user) { $0.message == message.id } > 0
        let opens: Instant? = if case .after(let span) = message.reEligibility, let last { last + span } else { nil }
        let isOpen = (last == nil || opens.map { $0 <= now } ?? false) && !isReserved
        list.check(
            .reEligibility, isOpen, else: last != nil && opens == nil ? .permanent : .event, until: opens,
            "reEligibility", expected: opens.map { "from \($0)" } ?? "never shown",
            actual: last.map { "shown \($0)" } ?? (isReserved ? "offered elsewhere" : "never shown"))
    }

    private func checkControl(_ message: Message, _ list: inout CheckList) {
        guard explains, let group = controlGroup(of: message) else { return }
        list.check(.control, true, else: .permanent, group, expected: "held back", actual: "member of \(group)")
    }

    /// The name of the group that holds this message back from this user; the vendor for a message that is a control.
    func controlGroup(of message: Message) -> String? {
        if message.kind == .control { return message.vendor }
        if message.isTest { return nil }
        return policy.controlGroup(of: message, for: state.user.id)?.name
    }

    func checkCapability(_ message: Message, _ list: inout CheckList) {
        let (needs, client) = (message.requirements, state.device.client)
        if let template = needs.template {
            list.check(
                .templateUnknown, client.templates?.contains(template) ?? true, else: .permanent,
                "requires.template", expected: template,
                actual: client.templates.map { $0.sorted().joined(separator: ", ") } ?? "not reported")
        }
        if let orientation = needs.orientation {
            list.check(
                .orientation, client.orientation == nil || client.orientation == orientation, else: .permanent,
                "requires.orientation", expected: orientation.rawValue,
                actual: client.orientation?.rawValue ?? "not reported")
        }
        list.check(
            .imageMissing, !needs.lacksImage, else: .permanent, "braze", expected: "an image",
            actual: needs.lacksImage ? "none" : "as required")
        guard !needs.assets.isEmpty, let assets = client.assets else { return }
        let states = needs.assets.map { assets[$0] ?? .unknown }
        list.check(
            .assetFailed, !states.contains(.failed), else: .permanent, "requires.assets", expected: "none failed",
            actual: "\(states.count { $0 == .failed }) failed")
        list.check(
            .assetPending, states.allSatisfy { $0 == .ready || $0 == .failed }, else: .waits, "requires.assets",
            expected: "\(states.count) ready", actual: "\(states.count { $0 == .ready }) ready")
    }

    private func checkScreen(_ definition: Definition, _ context: Context, _ list: inout CheckList) {
        let (message, client) = (definition.message, state.device.client)
        if !message.requirements.screens.isEmpty {
            list.check(
                .screen, client.screen.map(message.requirements.screens.contains) ?? false, else: .event,
                "requires.screens", expected: message.requirements.screens.sorted().joined(separator: ", "),
                actual: client.screen ?? "not reported")
        }
        list.check(
            .screenBlocked, !client.isBlocked(for: message.vendor), else: .event, "state.blocked",
            expected: "a screen that allows \(message.vendor)", actual: client.screen ?? "not reported")
        let pause = policy.pauses.first { $0.applies(to: message.vendor, screen: client.screen, at: now) }
        list.check(
            .paused, pause == nil, else: .event, until: pause?.until, "pauses \(pause?.name ?? "")",
            expected: "no pause", actual: pause?.name ?? "none")
        checkInterval(definition, context, &list)
        list.check(
            .background, client.foreground, else: .screen, "state.foreground", expected: "foreground",
            actual: client.foreground ? "foreground" : "background")
        list.check(
            .slotBusy, !client.isBusy && (holder.map { isReplaced($0, by: definition) } ?? true), else: .screen,
            "state", expected: "a free screen",
            actual: holder.map { "\($0.message) is \($0.state)" } ?? (client.isBusy ? "busy" : "free"))
    }

    private func checkInterval(_ definition: Definition, _ context: Context, _ list: inout CheckList) {
        let message = definition.message
        let isSpared =
            message.isTest || context.isRequested || context.offer?.flags.contains(.followUp) ?? false
            || (!definition.rules.keepsInterval && message.interval == nil)
        guard !isSpared, let lastEnd = state.device.lastEnd else { return }
        let interval = message.interval ?? policy.interval
        list.check(
            .interval, now >= lastEnd + interval, else: .event, until: lastEnd + interval,
            message.interval == nil ? "inapp.interval" : "interval", expected: "\(interval) ms after the last display",
            actual: "\(now - lastEnd) ms")
    }

    /// Whether this message ends the shown one instead of waiting for it.
    func isReplaced(_ holder: Offer, by definition: Definition) -> Bool {
        definition.rules.replacesBanners && definition.message.kind == .banner && holder.state == .shown
            && holder.kind == .banner && holder.vendor == definition.message.vendor && !holder.flags.contains(.blocking)
    }
}

// MARK: Limits

extension Turn {
    func check(_ limit: Limit, _ message: Message, _ context: Context, _ list: inout CheckList) {
        let usage = usage(of: limit, message)
        let isFree = usage.used + usage.reserved < limit.count
        // A lifetime limit that committed displays fill stays full.
        let isFinal = limit.window == .lifetime && usage.used >= limit.count
        list.check(
            limit.code, isFree, else: isFinal ? .permanent : .event,
            until: opens(limit, message, usage.reserved),
            limit.name ?? (limit.owner == .message ? "limits" : "inapp.limits"),
            expected: "fewer than \(limit.count) per \(limit.per.rawValue)",
            actual: "used \(usage.used), reserved \(usage.reserved)")
    }

    private func usage(of limit: Limit, _ message: Message) -> (used: Int, reserved: Int) {
        if limit.per == .everyone {
            let tally = state.tallies[message.id] ?? Tally()
            return (tally.committed, tally.reserved)
        }
        let ledger = limit.per == .user ? state.user.ledger : state.device.ledger
        let total = ledger.total(of: limit, message.id)
        let used =
            limit.window == .lifetime || total == 0
            ? total : ledger.count(by: limit, message.id, windows)
        return (used, reservations(of: limit.per) { limit.counts($0, message.id) })
    }

    private var windows: WindowContext {
        WindowContext(
            now: now, device: state.device.id, session: state.device.session, zone: state.device.client.zone)
    }

    private func opens(_ limit: Limit, _ message: Message, _ reserved: Int) -> Instant? {
        if limit.per == .everyone { return nil }
        let ledger = limit.per == .user ? state.user.ledger : state.device.ledger
        let displays = ledger.counted(by: limit, message.id, windows)
        let used = displays.reduce(0) { $0 + $1.count }
        let surplus = used + reserved - limit.count + 1
        return used >= surplus ? windows.opens(limit.window, displays, leaving: surplus) : nil
    }

    func reservations(of subject: Limit.Subject, where isCounted: (Offer) -> Bool) -> Int {
        reserved.count { offer in
            (subject == .user ? offer.user == state.user.id : offer.device == state.device.id) && isCounted(offer)
        }
    }
}

extension Limit {
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
