import SignalboxJSON

/// Reads a payload along the paths of an entry, and records the consumed values, so that the event keeps the rest.
/// Follows the entry alone: no code is specific to a vendor.
struct CatalogueReading {
    /// Without the paths that do not apply to this payload.
    private let entry: CatalogueEntry
    /// The paths that apply to this payload.
    var fields: CatalogueFields { entry.fields }
    /// The values that the event need not keep in ``PushNotification/custom``.
    var consumed = ConsumedValues()

    /// Finds keys that count up. Most payloads have none.
    private(set) lazy var members = JSONMemberTable()
    /// True once a title, subtitle or body of the vendor replaced that of the push service.
    private var replacesTexts = false
    /// True if the vendor's SDK removes white space around links.
    let trimsLinks: Bool

    /// A reading serves one payload. Opens the texts that it decodes, and removes the paths that it ignores.
    init(of entry: CatalogueEntry, in payload: borrowing PlatformPayload) {
        if payload.mayHave(entry.fields.base64) {
            for path in entry.fields.base64.all { payload.openBase64(at: path) }
        }
        trimsLinks = entry.fields.trimsLinks.contains { $0.holds(in: payload) }
        let ignored = entry.fields.ignored
        let rules = ignored.indices.filter { ignored[$0].holds(in: payload) }
        self.entry = rules.isEmpty ? entry : entry.ignoring(rules)
    }

    /// Fills a notification, which already contains the values of the platform's keys. Fills `custom` last, because it
    /// contains the values that no step before it consumed. Never throws: values of unexpected types become warnings or
    /// stay in `custom`.
    mutating func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        let showsText = readContent(payload, &notification)
        readKind(payload, showsText: showsText, &notification)
        readCampaign(payload, &notification)
        readSchedule(payload, &notification)
        readMedia(payload, &notification)
        readCarousel(payload, &notification)
        if let tap = tap(payload) {
            notification.action = tap
            readArguments(payload, &notification)
        }
        readButtons(payload, &notification)
        for condition in entry.redundant { consume(condition, in: payload) }
        if payload.mayHave(fields.secrets) {
            for path in fields.secrets.all { consumed.insert(all: payload.values(at: path)) }
        }
        if replacesTexts || !payload.hasPresentedTexts {
            payload.forEachPlainText { if !notification.content.shows($0) { consumed.keepReplaced($0) } }
        }
        var lifted: [(prefix: [UInt8], object: JSONValue)] = []
        for path in payload.mayHave(fields.custom) ? fields.custom.all : [] {
            let value = payload.value(at: path).flatMap { payload.parser.container($0) }
            if let value, value.isObject { lifted.append((path.dotted, value)) }
        }
        consumed.sort()
        notification.fillCustom(from: payload, without: consumed, lifting: lifted)
    }

    // MARK: Values

    /// The first suitable value of the alternatives, which counts as consumed. `find` returns the value at a path.
    mutating func take(
        _ paths: CataloguePaths, _ find: (CataloguePath) -> JSONValue?, where fits: (JSONValue) -> Bool
    ) -> JSONValue? {
        for path in paths.all {
            guard let value = find(path), fits(value) else { continue }
            consumed.insert(value)
            return value
        }
        return nil
    }

    /// The same for paths that lead from the payload.
    @inline(__always)
    mutating func take(
        _ paths: CataloguePaths, in payload: borrowing PlatformPayload, where fits: (JSONValue) -> Bool
    ) -> JSONValue? {
        guard payload.mayHave(paths) else { return nil }
        return take(paths, { payload.value(at: $0) }, where: fits)
    }

    /// The scalar text of the first alternative with one.
    @inline(__always)
    mutating func takeText(_ paths: CataloguePaths, in payload: borrowing PlatformPayload) -> String? {
        guard payload.mayHave(paths) else { return nil }
        return takeText(paths) { payload.value(at: $0) }
    }

    /// The same for an element of a list; `find` returns the value at a path below it.
    mutating func takeText(_ paths: CataloguePaths, _ find: (CataloguePath) -> JSONValue?) -> String? {
        take(paths, find, where: \.hasScalarText)?.scalarText
    }

    /// Consumes the value of a condition that holds and determines it; false if the condition does not hold.
    @discardableResult
    private mutating func consume(_ condition: CatalogueCondition, in payload: borrowing PlatformPayload) -> Bool {
        guard condition.holds(in: payload) else { return false }
        if condition.test.determinesValue, let value = condition.value(in: payload) { consumed.insert(value) }
        return true
    }

    /// The code of a warning: `VENDOR.mistake`.
    func code(_ mistake: String) -> String { entry.vendor.name + "." + mistake }

    // MARK: Texts

    /// True when the vendor's own keys contain a title or a body.
    private mutating func readContent(
        _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> Bool {
        let title = text(fields.title, payload, &notification)
        let body = text(fields.body, payload, &notification)
        if let title { notification.content.title = title }
        if let body { notification.content.body = body }
        let subtitle = text(fields.subtitle, payload, &notification)
        if let subtitle { notification.content.subtitle = subtitle }
        replacesTexts = title != nil || body != nil || subtitle != nil
        if let sound = takeText(fields.sound, in: payload) {
            let isDefault = fields.defaultSound?.holds(in: payload) ?? false
            notification.content.sound = isDefault ? "default" : sound
        }
        if let thread = takeText(fields.threadId, in: payload) { notification.content.threadId = thread }
        if let level = takeText(fields.interruptionLevel, in: payload) {
            notification.content.interruptionLevel = level
        }
        let badge = take(fields.badge, in: payload, where: \.isCount)
        if let badge = badge?.number { notification.content.badge = badge }
        if let channel = takeText(fields.channel, in: payload) {
            notification.content.presentation.channelId = channel
        }
        if let tag = takeText(fields.tag, in: payload) { notification.tag = tag }
        if let name = takeText(fields.category, in: payload) { notification.category = .named(name) }
        return title != nil || body != nil
    }

    /// The first text of the alternatives; warns of other values before it.
    private mutating func text(
        _ paths: CataloguePaths, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> String? {
        guard payload.mayHave(paths) else { return nil }
        for path in paths.all {
            guard let value = payload.value(at: path) else { continue }
            if let text = value.scalarText {
                consumed.insert(value)
                return text
            }
            guard !value.isString, !containsMarker(path, payload) else { continue }
            notification.warn(code("text-expected"), "Expected a string.", at: value, in: payload.parser)
        }
        return nil
    }

    /// True when the value at a path contains one of the vendor's markers: the vendor's form for the other platform
    /// has an object there. The paths of both platforms apply to an envelope without a platform.
    private func containsMarker(_ path: CataloguePath, _ payload: borrowing PlatformPayload) -> Bool {
        for marker in entry.markers {
            for case .path(let mark) in marker.conditions.map(\.subject)
            where mark.tokens.count > path.tokens.count && mark.tokens.starts(with: path.tokens) {
                if payload.value(at: mark) != nil { return true }
            }
        }
        return false
    }

    // MARK: Kind, campaign, schedule

    /// FCM's data shows nothing by itself; the push is an alert if the vendor's SDK makes a notification of its texts.
    private mutating func readKind(
        _ payload: borrowing PlatformPayload, showsText: Bool, _ notification: inout PushNotification
    ) {
        notification.vendorKind = takeText(fields.vendorKind, in: payload)
        if any(fields.control, payload) {
            notification.kind = .control
        } else if any(fields.liveActivity, payload) {
            notification.kind = .liveActivity
        } else if any(fields.silent, payload) {
            notification.kind = .silent
        } else if notification.kind == .silent, any(fields.alert, payload) {
            notification.kind = .alert
        } else if showsText, notification.kind == .silent, makesNotification(payload) {
            notification.kind = .alert
        }
    }

    /// True unless the vendor's SDK makes no notification of the vendor's texts.
    private mutating func makesNotification(_ payload: borrowing PlatformPayload) -> Bool {
        if fields.shown.isEmpty { return true }
        return any(fields.shown, payload)
    }

    /// True if one of the conditions holds; consumes its value if the condition determines it.
    private mutating func any(_ conditions: [CatalogueCondition], _ payload: borrowing PlatformPayload) -> Bool {
        for condition in conditions {
            if consume(condition, in: payload) { return true }
        }
        return false
    }

    /// Keeps the campaign unchanged if no path has a value.
    private mutating func readCampaign(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        guard
            payload.mayHave(fields.campaign.id) || payload.mayHave(fields.campaign.name)
                || payload.mayHave(fields.campaign.type) || payload.mayHave(fields.campaign.variant)
                || payload.mayHave(fields.campaign.messageId)
        else { return }
        let id = take(fields.campaign.id, in: payload, where: \.hasScalarText)
        let number = fields.campaign.isNumeric ? id?.number.map { String($0) } : nil
        let campaign = PushNotification.Campaign(
            id: number ?? id?.scalarText, name: takeText(fields.campaign.name, in: payload),
            type: takeText(fields.campaign.type, in: payload), variant: takeText(fields.campaign.variant, in: payload),
            messageId: takeText(fields.campaign.messageId, in: payload))
        notification.campaign = campaign.ifSet ?? notification.campaign
    }

    /// Sets no mode: a period does not determine when within it the vendor's SDK shows the push.
    private mutating func readSchedule(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        let start = instant(fields.notBefore, payload, &notification)
        let end = instant(fields.notAfter, payload, &notification)
        guard start != nil || end != nil else { return }
        if let start, let end, start.date > end.date {
            notification.warn(
                code("embargo-after-expiry"), "The notification expires before it may be shown.", at: start.value,
                in: payload.parser)
        }
        notification.schedule = .init(notBefore: start?.date.text, notAfter: end?.date.text)
    }

    /// The first instant of the alternatives; warns of other values before it, unless they mean that there is no
    /// limit.
    private mutating func instant(
        _ paths: CataloguePaths, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> (date: Timestamp, value: JSONValue)? {
        guard payload.mayHave(paths) else { return nil }
        for path in paths.all {
            guard let value = payload.value(at: path) else { continue }
            if let date = value.instant {
                consumed.insert(value)
                return (date, value)
            }
            guard !value.meansNoLimit, value.utf8?.isEmpty != true else { continue }
            notification.warn(code("date-expected"), "A date is expected here.", at: value, in: payload.parser)
        }
        return nil
    }
}

extension JSONValue {
    /// True for a badge to set: `+2` and `-1` change the existing one (Pushwoosh).
    fileprivate var isCount: Bool { number.map { $0 >= 0 } == true && utf8?.first != UInt8(ascii: "+") }
}
