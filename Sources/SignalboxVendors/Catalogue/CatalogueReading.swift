import SignalboxJSON
import SignalboxModel

/// Reads a payload along the paths of an entry.
struct CatalogueReading {
    let entry: CatalogueEntry
    var fields: CatalogueFields { entry.fields }

    init(of entry: CatalogueEntry) { self.entry = entry }

    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        let showsText = readContent(payload, &notification)
        readKind(payload, showsText: showsText, &notification)
        readCampaign(payload, &notification)
        readMedia(payload, &notification)
        readCarousel(payload, &notification)
        if let tap = tap(fields.tap, { payload.value(at: $0) }) { notification.action = tap }
        readButtons(payload, &notification)
        notification.custom = custom(of: payload)
    }

    // MARK: Texts

    /// True when the vendor's keys themselves hold something to show.
    private func readContent(
        _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> Bool {
        let title = text(fields.title, payload, &notification)
        let body = text(fields.body, payload, &notification)
        if let title { notification.content.title = title }
        if let body { notification.content.body = body }
        if let subtitle = text(fields.subtitle, payload, &notification) { notification.content.subtitle = subtitle }
        return title != nil || body != nil
    }

    /// The first text to which a path leads. What is no text is passed over, with a warning.
    private func text(
        _ paths: CataloguePaths, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> String? {
        for path in paths {
            guard let value = payload.value(at: path) else { continue }
            if let text = value.spelled { return text }
            guard !value.isString else { continue }
            notification.warn(
                code("text-expected"), "A text is expected here.", at: value, in: payload.parser)
        }
        return nil
    }

    func code(_ what: String) -> String { entry.vendor.name + "." + what }

    // MARK: Kind

    /// FCM's data shows nothing by itself; that the vendor's SDK makes a notification of its texts makes it an alert.
    private func readKind(
        _ payload: borrowing PlatformPayload, showsText: Bool, _ notification: inout PushNotification
    ) {
        notification.vendorKind = first(fields.vendorKind, payload)?.spelled
        if any(fields.control, payload) {
            notification.kind = .control
        } else if any(fields.silent, payload) {
            notification.kind = .silent
        } else if showsText, notification.kind == .silent {
            notification.kind = .alert
        }
    }

    private func any(_ conditions: [CatalogueCondition], _ payload: borrowing PlatformPayload) -> Bool {
        for condition in conditions where condition.holds(in: payload) { return true }
        return false
    }

    /// The first value among alternatives that has a text.
    private func first(_ paths: CataloguePaths, _ payload: borrowing PlatformPayload) -> JSONValue? {
        for path in paths {
            if let value = payload.value(at: path), value.isSpelled { return value }
        }
        return nil
    }

    // MARK: Campaign

    private func readCampaign(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        let id = first(fields.campaign.id, payload)
        let number = fields.campaign.isNumeric ? id?.number.map { String($0) } : nil
        let campaign = PushNotification.Campaign(
            id: number ?? id?.spelled, name: first(fields.campaign.name, payload)?.spelled,
            type: first(fields.campaign.type, payload)?.spelled,
            variant: first(fields.campaign.variant, payload)?.spelled,
            messageId: first(fields.campaign.messageId, payload)?.spelled)
        if !campaign.isEmpty { notification.campaign = campaign }
    }

    // MARK: Taps

    /// What the vendor's word means, else where the link leads; nil when there is neither. `find` follows a path.
    func tap(_ tap: CatalogueTap, _ find: (CataloguePath) -> JSONValue?) -> Action? {
        let word = tap.word.first(find, where: \.isSpelled)?.spelled
        let link = tap.link.first(find, where: \.hasText)
        let type = word.flatMap { tap.types[$0] ?? (tap.types.isEmpty ? nil : .custom) }
        if let type, type != .openUrl, type != .deepLink {
            return Action(type, value: type == .openApp || type == .dismiss ? nil : link?.text, vendorType: word)
        }
        if let link { return .opening(link, vendorType: word) }
        return word.map { Action(type == nil ? .custom : .openApp, vendorType: $0) }
    }

    // MARK: The app's own

    /// What the vendor neither claims nor leaves out: the members of the objects that it keeps for the app come first.
    private func custom(of payload: borrowing PlatformPayload) -> JSONText? {
        var additions: [CustomFields.Addition] = []
        for own in entry.custom {
            guard let value = payload.value(at: own.path) else { continue }
            additions.append(.members(payload.parser.container(value)) { own.isTaken($0) })
        }
        var claims: [CatalogueClaim] = []
        for claim in entry.claims where payload.has(claim.place) { claims.append(claim) }
        return CustomFields.text(of: payload, adding: additions, withPlatform: !entry.readsPlatform) { key in
            claims.contains { $0.covers(key) }
        }
    }
}

extension CataloguePaths {
    /// The first value that will do; `find` follows a path.
    func first(_ find: (CataloguePath) -> JSONValue?, where fits: (JSONValue) -> Bool) -> JSONValue? {
        for path in self {
            if let value = find(path), fits(value) { return value }
        }
        return nil
    }
}
