import SignalboxJSON

// Flat keys in FCM's data, all strings (braze-docs, android_object.md; braze-android-sdk, constant values).

extension Braze {
    /// `t`, `a`, `s`: title, text, summary. `uri`: the link of a tap. `cid`, `br_p_id`: campaign and message.
    /// `extra`: the app's own keys. `ab_iu`, `ab_li`: picture and icon. `sd`, `ab_bc`, `ab_nc`: sound, badge,
    /// channel. `n`: the identifier of the notification, which replaces an earlier one with the same identifier. Of
    /// the keys of any type only the presence counts. ``BrazeSlots`` reads the numbered keys of buttons and story
    /// pages.
    fileprivate static let androidKeys = KeySchema([
        "_ab": .any, "t": .scalar, "a": .scalar, "s": .scalar, "uri": .text, "cid": .scalar, "br_p_id": .scalar,
        "extra": .unchecked(.objectOrText(.anything)), "sd": .text, "ab_bc": .integer, "ab_nc": .scalar,
        "n": .scalar, "ab_use_webview": .scalar, "ab_iu": .text, "ab_iip": .any, "ab_li": .text, "ab_c": .any,
        "ab_cp": .any, "ab_sync_geos": .scalar, "br_ffr": .scalar, "br_br": .scalar,
        "ab_push_fetch_test_triggers_key": .scalar, "appboy_uninstall_tracking": .any,
    ])

    /// Keys of Braze inside `extra`, which are not the app's. `readsPicture`: whether the event has the picture of
    /// `extra`; otherwise it keeps the key.
    fileprivate static func isOwnInExtra(_ key: UnsafeBufferPointer<UInt8>, readsPicture: Bool) -> Bool {
        readsPicture && key.equals("appboy_image_url") || key.equals("appboy_uninstall_tracking")
    }
}

extension PushNotification {
    /// Reads flat keys; they override the values of FCM's display block.
    mutating func readBrazeAndroid(_ payload: borrowing PlatformPayload) {
        let parser = payload.parser
        if let marker = payload["_ab"], !marker.equals("true") {
            warn(
                "braze.marker-not-exact", "Only the string true is recognised by every Braze SDK.", at: marker,
                in: parser)
        }
        readText(payload)
        let extra = readExtra(payload["extra"], in: parser)
        // A picture in its own key overrides the older one inside `extra`, whose keys ADM has among the others.
        let isFlat = payload.envelope == .adm
        let olderPicture = isFlat ? payload["appboy_image_url"] : extra?["appboy_image_url"]
        let readsPicture = payload["ab_iu"]?.hasText != true && olderPicture?.isString == true
        if addMedia(readsPicture ? olderPicture : payload["ab_iu"], as: .attachment, kind: .image) != nil {
            vendorKind = payload["ab_iip"] != nil ? "inline-image" : "big-picture"
        }
        addMedia(payload["ab_li"], as: .icon)
        let slots = BrazeSlots(payload)
        // The most specific style counts: story, conversation, picture, content card.
        if payload["ab_cp"] != nil { vendorKind = "conversation" }
        if payload["ab_c"] != nil { readStory(slots) }
        if vendorKind == nil, payload["ab_cd"] != nil { vendorKind = "content-card" }
        // Uninstall tracking counts by the presence of its key, the other requests by its value.
        let isTracking = (payload["appboy_uninstall_tracking"] ?? extra?["appboy_uninstall_tracking"]) != nil
        let request = Braze.request(in: payload, of: Braze.androidRequests, where: \.androidFlag)
        readBrazeRequest(isTracking ? Braze.uninstallTracking : request)
        let untapped = readBrazeTap(link: payload["uri"], inWebView: payload["ab_use_webview"]?.androidFlag == true)
        readButtons(slots, in: parser)
        fillCustom(
            from: payload, except: Braze.androidKeys,
            adding: [
                .members(extra, of: "extra") { Braze.isOwnInExtra($0, readsPicture: readsPicture && !isFlat) },
                .member("uri", untapped, of: "braze"),
            ], isConsumed: { slots.isConsumed($0) || isFlat && readsPicture && $0.equals("appboy_image_url") })
    }

    /// The SDK shows a push only if it has both a title and a text; otherwise the platform's own keys count. It shows
    /// no message by which FCM reports that it deleted others (braze-android-sdk, BrazePushReceiver.kt).
    private mutating func readText(_ payload: borrowing PlatformPayload) {
        let title = payload["t"]
        let body = payload["a"]
        let isReport = payload["message_type"]?.equals("deleted_messages") == true
        if title != nil, body != nil, !isReport { kind = .alert }
        if let title = title?.scalarText { content.title = title }
        if let body = body?.scalarText { content.body = body }
        if let summary = payload["s"]?.scalarText { content.subtitle = summary }
        if let channel = payload["ab_nc"]?.scalarText { content.presentation.channelId = channel }
        if let badge = payload["ab_bc"]?.number { content.badge = badge }
        if let sound = payload["sd"]?.text { content.sound = sound == "d" ? "default" : sound }
        if let identifier = payload["n"]?.scalarText { tag = identifier }
        campaign = Campaign(id: payload["cid"]?.scalarText, messageId: payload["br_p_id"]?.scalarText).ifSet
    }

    /// The app's own keys, in the JSON text `extra`; ADM has them flat among the others.
    private mutating func readExtra(_ value: JSONValue?, in parser: JSONParser) -> JSONValue? {
        guard let value else { return nil }
        if let extra = parser.object(value) { return extra }
        if value.utf8?.isEmpty != true {
            warn("braze.extra-not-an-object", "The extra is not the JSON text of an object.", at: value, in: parser)
        }
        return nil
    }

    /// The pages of a push story, up to the first without a picture.
    private mutating func readStory(_ slots: BrazeSlots) {
        vendorKind = "push-story"
        carousel = Carousel(
            items: slots.shownPages.map { page in
                .init(
                    caption: page.title?.scalarText, subcaption: page.subtitle?.scalarText, url: page.link?.scalarText,
                    media: addMedia(page.image, as: .carousel))
            })
    }

    /// The buttons up to the first without a type.
    private mutating func readButtons(_ slots: BrazeSlots, in parser: JSONParser) {
        let shown = slots.shownButtons
        if let hidden = slots.buttons.dropFirst(shown.count).lazy.compactMap(\.anyValue).first {
            warn(
                "braze.button-after-gap", "The SDK stops reading buttons at the first without a type.", at: hidden,
                in: parser)
        }
        var buttons: [Category.Button] = []
        for (position, slot) in shown.enumerated() {
            let action = Braze.action(
                type: slot.type, link: slot.link?.scalarText, inWebView: slot.usesWebView?.androidFlag == true)
            if let type = slot.type, type.equals("ab_uri"), action.type == .openApp {
                warn("braze.button-uri-missing", "Without a link the button opens the app.", at: type, in: parser)
            }
            let identifier = slot.identifier?.scalarText ?? String(position)
            buttons.append(.init(identifier: identifier, title: slot.title?.scalarText, action: action))
        }
        defineCategory(buttons)
    }
}

// MARK: Numbered keys

/// The numbered keys of a payload, `ab_a0_id` for buttons and `ab_c1_i` for story pages, found in one pass over the
/// keys.
private struct BrazeSlots {
    /// `ab_aN_id`, `ab_aN_t`, `ab_aN_a`, `ab_aN_uri`, `ab_aN_use_webview`.
    struct Button {
        var identifier, title, type, link, usesWebView: JSONValue?

        /// The value of a key; nil for a key that is not read. `name`: the rest of the key after the number.
        func value(_ name: UnsafeBufferPointer<UInt8>) -> JSONValue? {
            if name.equals("_id") { return identifier }
            if name.equals("_t") { return title }
            if name.equals("_a") { return type }
            if name.equals("_uri") { return link }
            return name.equals("_use_webview") ? usesWebView : nil
        }

        /// True for a link that the type does not open.
        var hasUnusedLink: Bool {
            guard let type, link?.hasScalarText == true else { return false }
            return type.equals("ab_open") || type.equals("OPEN_APP") || type.equals("ab_none") || type.equals("CLOSE")
        }

        var anyValue: JSONValue? { identifier ?? title ?? type ?? link ?? usesWebView }
    }

    /// `ab_cN_i`, `ab_cN_t`, `ab_cN_st`, `ab_cN_uri`.
    struct Page {
        var image, title, subtitle, link: JSONValue?

        /// The value of a key; nil for a key that is not read. `name`: the rest of the key after the number.
        func value(_ name: UnsafeBufferPointer<UInt8>) -> JSONValue? {
            if name.equals("_i") { return image }
            if name.equals("_t") { return title }
            if name.equals("_st") { return subtitle }
            return name.equals("_uri") ? link : nil
        }
    }

    private(set) var buttons: [Button] = []
    /// The story's pages by number, with gaps as empty pages.
    private var pages: [Page] = []
    /// The SDK stops at the first button without a type and at the first page without a picture.
    private(set) var shownButtons: ArraySlice<Button> = []
    private(set) var shownPages: ArraySlice<Page> = []

    /// Reads the numbered keys in one pass over the payload's keys.
    init(_ payload: borrowing PlatformPayload) {
        payload.fields.forEach { key, value in
            guard !value.isNull, key.hasPrefix("ab_a") || key.hasPrefix("ab_c"), let (index, name) = Self.split(key)
            else { return }
            if key[3] == UInt8(ascii: "a") { readButton(index, name, value) } else { readPage(index, name, value) }
        }
        shownButtons = buttons.prefix { $0.type?.hasText == true }
        shownPages = pages.prefix { $0.image?.hasText == true }
    }

    /// Stores one value of the button with a number. `name`: the rest of the key after the number.
    private mutating func readButton(_ index: Int, _ name: UnsafeBufferPointer<UInt8>, _ value: JSONValue) {
        while buttons.count <= index { buttons.append(Button()) }
        if name.equals("_id") { buttons[index].identifier = value }
        if name.equals("_t") { buttons[index].title = value }
        if name.equals("_a") { buttons[index].type = value }
        if name.equals("_uri") { buttons[index].link = value }
        if name.equals("_use_webview") { buttons[index].usesWebView = value }
    }

    /// Stores one value of the story page with a number. `name`: the rest of the key after the number.
    private mutating func readPage(_ index: Int, _ name: UnsafeBufferPointer<UInt8>, _ value: JSONValue) {
        while pages.count <= index { pages.append(Page()) }
        if name.equals("_i") { pages[index].image = value }
        if name.equals("_t") { pages[index].title = value }
        if name.equals("_st") { pages[index].subtitle = value }
        if name.equals("_uri") { pages[index].link = value }
    }

    /// True for a numbered key whose value a shown button or page has. The event keeps objects and lists, which have
    /// no text, and links that are not opened.
    func isConsumed(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        guard key.hasPrefix("ab_a") || key.hasPrefix("ab_c"), let (index, name) = Self.split(key) else { return false }
        let value: JSONValue?
        if key[3] == UInt8(ascii: "a") {
            guard index < shownButtons.count else { return false }
            if name.equals("_uri"), shownButtons[index].hasUnusedLink { return false }
            value = shownButtons[index].value(name)
        } else {
            value = index < shownPages.count ? shownPages[index].value(name) : nil
        }
        guard let value else { return false }
        return !value.isObject && !value.isArray
    }

    /// The number after the four letters of the prefix, and the rest of the key. Numbers from 1000 on are ignored:
    /// the SDK reads such a slot only after all slots before it.
    private static func split(_ key: UnsafeBufferPointer<UInt8>) -> (index: Int, name: UnsafeBufferPointer<UInt8>)? {
        var index = 0
        var cursor = 4
        while cursor < key.count, key[cursor].isDigit {
            index = index * 10 + Int(key[cursor] - UInt8(ascii: "0"))
            cursor += 1
            if index >= longestList { return nil }
        }
        guard cursor > 4 else { return nil }
        return (index, UnsafeBufferPointer(rebasing: key[cursor...]))
    }
}
