// The checks of the abilities of the client and of its screen.
extension Turn {
    /// Whether the client can show the message at all: template, orientation, image, assets.
    mutating func checkCapability(_ definition: Definition, _ list: inout CheckList) {
        if let template = definition.message.requirements.template {
            let templates = state.device.client.templates
            list.check(
                .templateUnknown, templates?.contains(template) ?? true, else: .permanent, "requires.template",
                expected: template, actual: templates.map { $0.sorted().joined(separator: ", ") } ?? "not reported")
        }
        if let needed = definition.message.requirements.orientation {
            let orientation = state.device.client.orientation
            list.check(
                .orientation, orientation == nil || orientation == needed, else: .permanent,
                "requires.orientation", expected: needed.rawValue, actual: orientation?.rawValue ?? "not reported")
        }
        let lacksImage = definition.message.requirements.lacksImage
        list.check(
            .imageMissing, !lacksImage, else: .permanent, definition.message.vendor, expected: "an image",
            actual: lacksImage ? "none" : "as required")
        if !definition.message.requirements.assets.isEmpty { checkAssets(definition, &list) }
    }

    /// Files that the message needs. A failed one is final for this trigger; one that is loading lets others pass
    /// first.
    private mutating func checkAssets(_ definition: Definition, _ list: inout CheckList) {
        guard let assets = state.device.client.assets else { return }
        let states = definition.message.requirements.assets.map { assets[$0] ?? .unknown }
        list.check(
            .assetFailed, !states.contains(.failed), else: .permanent, "requires.assets", expected: "none failed",
            actual: "\(states.count { $0 == .failed }) failed")
        list.check(
            .assetPending, states.allSatisfy { $0 == .ready || $0 == .failed }, else: .waits, "requires.assets",
            expected: "\(states.count) ready", actual: "\(states.count { $0 == .ready }) ready")
    }

    /// Whether the screen allows the message and is free.
    mutating func checkScreen(_ definition: Definition, _ context: Context, _ list: inout CheckList) {
        if !definition.message.requirements.screens.isEmpty {
            let screens = definition.message.requirements.screens
            list.check(
                .screen, state.device.client.screen.map(screens.contains) ?? false, else: .event,
                "requires.screens", expected: screens.sorted().joined(separator: ", "),
                actual: state.device.client.screen ?? "not reported")
        }
        list.check(
            .screenBlocked, !state.device.client.isBlocked(for: definition.message.vendor), else: .event,
            "state.blocked", expected: "a screen that allows \(definition.message.vendor)",
            actual: state.device.client.screen ?? "not reported")
        if explains || !policy.pauses.isEmpty { checkPauses(definition, &list) }
        checkInterval(definition, context, &list)
        let isForeground = state.device.client.foreground
        list.check(
            .background, isForeground, else: .screen, "state.foreground", expected: "foreground",
            actual: isForeground ? "foreground" : "background")
        checkFreeScreen(definition, &list)
    }

    /// The first pause of the policy that covers vendor, screen and time.
    private mutating func checkPauses(_ definition: Definition, _ list: inout CheckList) {
        let screen = state.device.client.screen
        let pause = policy.pauses.first { $0.applies(to: definition.message.vendor, screen: screen, at: now) }
        list.check(
            .paused, pause == nil, else: .event, until: pause?.until,
            pause.map { "inapp.pauses \($0.name)" } ?? "inapp.pauses", expected: "no pause",
            actual: pause?.name ?? "none")
    }

    /// The time since the last display on this device ended. Test sends, requests of the app and follow-ups of a click
    /// are spared, and vendors whose SDK has no interval (MCE `MCEInAppManager.h`, Granify) unless the message has its
    /// own.
    private mutating func checkInterval(_ definition: Definition, _ context: Context, _ list: inout CheckList) {
        guard let lastEnd = state.device.lastEnd else { return }
        let own = definition.message.interval
        let isSpared =
            definition.message.isTest || context.isRequested || context.isResumed || context.isFollowUp
            || (!definition.rules.keepsInterval && own == nil)
        if isSpared { return }
        let interval = own ?? policy.interval
        list.check(
            .interval, now >= lastEnd + interval, else: .event, until: lastEnd + interval,
            own == nil ? "inapp.interval" : "interval", expected: "\(interval) ms after the last display",
            actual: "\(now - lastEnd) ms")
    }

    /// Whether another message or the app itself uses the screen. With this failure, and in the background, a message
    /// keeps its turn: it is stacked.
    private mutating func checkFreeScreen(_ definition: Definition, _ list: inout CheckList) {
        let isBusy = state.device.client.isBusy
        if !isBusy && !explains && live.isEmpty { return }
        let holder = holder()
        list.check(
            .slotBusy, !isBusy && (holder.map { isReplaced($0, by: definition) } ?? true), else: .screen, "state",
            expected: "a free screen",
            actual: holder.map { "\($0.message) is \($0.state)" } ?? (isBusy ? "busy" : "free"))
    }

    /// Whether this message ends the shown one instead of waiting for it.
    mutating func isReplaced(_ holder: Offer, by definition: Definition) -> Bool {
        definition.rules.replacesBanners && definition.message.kind == .banner && holder.state == .shown
            && holder.kind == .banner && holder.vendor == definition.message.vendor && !holder.flags.contains(.blocking)
    }
}
