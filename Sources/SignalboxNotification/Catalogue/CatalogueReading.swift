import SignalboxJSON

/// Reads a payload along the paths of an entry, and remembers what it took: the rest is kept.
struct CatalogueReading {
    private(set) var entry: CatalogueEntry
    var fields: CatalogueFields { entry.fields }
    var taken = CatalogueTaken()

    init(of entry: CatalogueEntry) { self.entry = entry }

    mutating func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        for rule in fields.ignored where rule.condition.holds(in: payload) { entry.fields.ignore(rule.under) }
        let showsText = readContent(payload, &notification)
        readKind(payload, showsText: showsText, &notification)
        readCampaign(payload, &notification)
        readSchedule(payload, &notification)
        readMedia(payload, &notification)
        readCarousel(payload, &notification)
        if let tap = tap(fields.tap, { payload.value(at: $0) }) { notification.action = tap }
        readButtons(payload, &notification)
        takeMarkers(payload)
        for path in fields.secrets { taken.insert(all: payload.values(at: path)) }
        for text in payload.shownTexts where !notification.content.shows(text) { taken.keep(text) }
        // Found anew, since of it too something was taken here.
        notification.platformRest = nil
        notification.custom = taken.rest(of: payload, lifting: entry.fields.custom)
    }

    /// Follows alternatives to the first value that will do, and takes it.
    mutating func take(
        _ paths: CataloguePaths, _ find: (CataloguePath) -> JSONValue?, where fits: (JSONValue) -> Bool
    ) -> JSONValue? {
        for path in paths {
            guard let value = find(path), fits(value) else { continue }
            taken.insert(value)
            return value
        }
        return nil
    }

    /// As above; the text of a text, number or boolean.
    mutating func takeText(_ paths: CataloguePaths, _ find: (CataloguePath) -> JSONValue?) -> String? {
        take(paths, find, where: \.isSpelled)?.spelled
    }

    // MARK: Texts

    /// True when the vendor's keys themselves hold something to show.
    private mutating func readContent(
        _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> Bool {
        let title = text(fields.title, payload, &notification)
        let body = text(fields.body, payload, &notification)
        if let title { notification.content.title = title }
        if let body { notification.content.body = body }
        if let subtitle = text(fields.subtitle, payload, &notification) { notification.content.subtitle = subtitle }
        if let sound = takeText(fields.sound, { payload.value(at: $0) }) { notification.content.sound = sound }
        let badge = take(fields.badge, { payload.value(at: $0) }, where: \.isCount)
        if let badge = badge?.number { notification.content.badge = badge }
        if let channel = takeText(fields.channel, { payload.value(at: $0) }) {
            notification.content.channelId = channel
        }
        if let tag = takeText(fields.tag, { payload.value(at: $0) }) { notification.tag = tag }
        if let category = takeText(fields.category, { payload.value(at: $0) }) {
            notification.category = Category(identifier: category, origin: .static, actions: [])
        }
        return title != nil || body != nil
    }

    /// The first text to which a path leads. What is no text is passed over, with a warning.
    private mutating func text(
        _ paths: CataloguePaths, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> String? {
        for path in paths {
            guard let value = payload.value(at: path) else { continue }
            if let text = value.spelled {
                taken.insert(value)
                return text
            }
            guard !value.isString, !isVendorsObject(path, payload) else { continue }
            notification.warn(
                code("text-expected"), "A text is expected here.", at: value, in: payload.parser)
        }
        return nil
    }

    /// True when the vendor's own marker lies inside the value: its other platform has an object there. An envelope
    /// without a platform is read by the paths of both.
    private func isVendorsObject(_ path: CataloguePath, _ payload: borrowing PlatformPayload) -> Bool {
        for marker in entry.markers {
            for case .path(let mark) in marker.conditions.map(\.subject)
            where mark.tokens.count > path.tokens.count && mark.tokens.starts(with: path.tokens) {
                if payload.value(at: mark) != nil { return true }
            }
        }
        return false
    }

    func code(_ what: String) -> String { entry.vendor.name + "." + what }

    // MARK: Kind

    /// FCM's data shows nothing by itself; that the vendor's SDK makes a notification of its texts makes it an alert.
    private mutating func readKind(
        _ payload: borrowing PlatformPayload, showsText: Bool, _ notification: inout PushNotification
    ) {
        notification.vendorKind = takeText(fields.vendorKind) { payload.value(at: $0) }
        if any(fields.control, payload) {
            notification.kind = .control
        } else if any(fields.liveActivity, payload) {
            notification.kind = .liveActivity
        } else if any(fields.silent, payload) {
            notification.kind = .silent
        } else if showsText, notification.kind == .silent {
            notification.kind = .alert
        }
    }

    private mutating func any(_ conditions: [CatalogueCondition], _ payload: borrowing PlatformPayload) -> Bool {
        for condition in conditions where condition.holds(in: payload) {
            if condition.test.saysAll, let value = condition.value(in: payload) { taken.insert(value) }
            return true
        }
        return false
    }

    /// That the vendor is recognised says all about a mark with a certain value.
    private mutating func takeMarkers(_ payload: borrowing PlatformPayload) {
        for marker in entry.markers {
            for condition in marker.conditions where condition.test.saysAll && condition.holds(in: payload) {
                if let value = condition.value(in: payload) { taken.insert(value) }
            }
        }
    }

    // MARK: Campaign

    private mutating func readCampaign(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        let id = take(fields.campaign.id, { payload.value(at: $0) }, where: \.isSpelled)
        let number = fields.campaign.isNumeric ? id?.number.map { String($0) } : nil
        let campaign = PushNotification.Campaign(
            id: number ?? id?.spelled, name: takeText(fields.campaign.name) { payload.value(at: $0) },
            type: takeText(fields.campaign.type) { payload.value(at: $0) },
            variant: takeText(fields.campaign.variant) { payload.value(at: $0) },
            messageId: takeText(fields.campaign.messageId) { payload.value(at: $0) })
        if !campaign.isEmpty { notification.campaign = campaign }
    }

    // MARK: Taps

    /// What the vendor's word means, else where the link leads; nil when there is neither. `find` follows a path.
    mutating func tap(_ tap: CatalogueTap, _ find: (CataloguePath) -> JSONValue?) -> Action? {
        var action = plainTap(tap, find)
        if action?.type == .custom, let arguments = take(tap.arguments, find, where: \.isObject) {
            action?.arguments = JSONText(arguments)
        }
        return action
    }

    private mutating func plainTap(_ tap: CatalogueTap, _ find: (CataloguePath) -> JSONValue?) -> Action? {
        let word = takeText(tap.word, find)
        let type = word.flatMap { tap.types[$0] ?? (tap.types.isEmpty ? nil : .custom) }
        if let type, type == .openApp || type == .dismiss { return Action(type, vendorType: word) }
        if let link = take(tap.webView, find, where: \.hasText) {
            return .opening(link, inWebView: true, vendorType: word)
        }
        if let type, type != .openUrl, type != .deepLink {
            return Action(type, value: takeText(tap.link, find), vendorType: word)
        }
        let link = take(tap.link, find, where: \.hasText)
        if let link { return .opening(link, vendorType: word) }
        return word.map { Action(type == nil ? .custom : .openApp, vendorType: $0) }
    }
}

extension JSONValue {
    /// A badge that is set: `+2` and `-1` change the one that is there (Pushwoosh).
    fileprivate var isCount: Bool { number.map { $0 >= 0 } == true && utf8?.first != UInt8(ascii: "+") }
}

extension PlatformPayload {
    /// Title, subtitle and body as the push service would show them without the vendor's SDK.
    fileprivate var shownTexts: [JSONValue] {
        if let block = notifications.first { return block.texts }
        if let alert = aps?["alert"] { return alert.isString ? [alert] : alert.texts }
        return [
            root["gcm.n.title"], root["gcm.n.body"], root["gcm.notification.title"], root["gcm.notification.body"],
        ].compactMap { $0 }
    }
}

extension PushNotification.Content {
    /// True when the text is one of those shown, or when there is no text.
    fileprivate func shows(_ value: JSONValue) -> Bool {
        guard let text = value.text else { return true }
        return text == title || text == subtitle || text == body
    }
}

extension JSONValue {
    fileprivate var texts: [JSONValue] { [self["title"], self["subtitle"], self["body"]].compactMap { $0 } }
}
