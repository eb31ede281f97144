import SignalboxJSON

// The keys next to `aps` (braze-docs, push_payload.json; braze-swift-sdk, ABKPushUtils.m).

extension Braze {
    /// - `ab`: `c` is the campaign, `att` the attachment, `c_items` the pages of a push story, `ab_cat` the effects of
    ///   buttons by their identifiers, `apple` the contents of `aps` for a silent push story.
    /// - `ab_uri`, `ab_use_webview`: the link of a tap.
    /// - the others: requests to the SDK.
    private static func keys(apple: KeySchema.Value) -> KeySchema {
        let ab = KeySchema([
            "c": .text, "att": .object(KeySchema(["url": .text, "type": .text])),
            "ab_cat": .map(KeySchema(["a_t": .text, "a_uri": .text, "a_use_webview": .scalar])),
            "ab_carousel": .scalar,
            "c_items": .list(KeySchema(["i": .text, "i_t": .text, "t": .text, "st": .text, "uri": .text])),
            "apple": apple,
        ])
        return KeySchema([
            "ab": .object(ab), "ab_uri": .text, "ab_use_webview": .scalar, "ab_sync_geos": .scalar,
            "ab_push_fetch_test_triggers_key": .scalar, "appboy_uninstall_tracking": .scalar,
        ])
    }

    /// An alert of a silent push story, which contains sound and badge.
    private static let alert = KeySchema(["sound": .text, "badge": .integer], extending: PlainReading.alert)

    /// The keys of a push whose alert is in `aps`.
    fileprivate static let appleKeys = keys(apple: .unread)
    /// The keys of a push without an alert in `aps`, whose texts are in `ab.apple`.
    fileprivate static let silentAppleKeys = keys(
        apple: .object(KeySchema(["alert": .objectOrString(alert), "sound": .text, "badge": .integer])))

    /// The categories that the SDK registers, with their English titles (braze-docs, "Action buttons").
    fileprivate static func buttons(
        ofCategory name: String?
    ) -> [(identifier: String, title: String, isClosing: Bool)] {
        switch name {
        case "ab_cat_accept_decline": [("ab_pb_accept", "Accept", false), ("ab_pb_decline", "Decline", true)]
        case "ab_cat_yes_no": [("ab_pb_yes", "Yes", false), ("ab_pb_no", "No", true)]
        case "ab_cat_confirm_cancel": [("ab_pb_confirm", "Confirm", false), ("ab_pb_cancel", "Cancel", true)]
        case "ab_cat_more": [("ab_pb_more", "More", false)]
        default: []
        }
    }
}

extension PushNotification {
    /// Reads the keys next to `aps`; the alert in `aps` has precedence over Braze's copy.
    mutating func readBrazeApple(_ payload: borrowing PlatformPayload) {
        let parser = payload.parser
        let ab = payload["ab"].map { JSONObject($0) }
        campaign = ab?["c"]?.text.map { Campaign(id: $0) }
        let isSilent = !PlainReading.isPresented(payload.aps?["alert"])
        if isSilent { readSilentAlert(ab?["apple"], in: parser) }
        if let attachment = ab?["att"], attachment.isObject { readAttachment(attachment, in: parser) }
        readStory(ab?["c_items"], in: parser)
        if carousel == nil, ab?["ab_cd"] != nil { vendorKind = "content-card" }
        readBrazeRequest(Braze.request(in: payload, of: Braze.appleRequests, where: \.appleFlag))
        let untapped = readBrazeTap(link: payload["ab_uri"], inWebView: payload["ab_use_webview"]?.appleFlag == true)
        readCategory(ab?["ab_cat"], in: parser)
        fillCustom(
            from: payload, except: isSilent ? Braze.silentAppleKeys : Braze.appleKeys,
            adding: untapped.map { [.member("ab_uri", $0, of: "braze")] } ?? [])
    }

    /// The test bench sends stories silently. It puts the contents of `aps` here, with sound and badge inside the
    /// alert (appboy-ios-sdk, PushStoryViewController.m).
    private mutating func readSilentAlert(_ apple: JSONValue?, in parser: JSONParser) {
        let alert = apple?["alert"]
        readAlert(alert, in: parser)
        content.sound = content.sound ?? (alert?["sound"] ?? apple?["sound"])?.text
        content.badge = content.badge ?? (alert?["badge"] ?? apple?["badge"])?.number
    }

    /// `type` is the extension of a file's name, one of eight (braze-docs, apple_object.md).
    private mutating func readAttachment(_ attachment: JSONValue, in parser: JSONParser) {
        let type = attachment["type"]?.text
        if type == nil {
            warn(
                "braze.attachment-type-missing", "Without a type the SDK shows the push without its attachment.",
                key: "type", of: attachment, in: parser)
        }
        addMedia(
            attachment["url"], as: .attachment, contentType: type.flatMap { MediaKind.contentTypesByExtension[$0] })
    }

    /// The pages of a push story.
    private mutating func readStory(_ list: JSONValue?, in parser: JSONParser) {
        let items = boundedObjects(list, "braze.too-many-pages", in: parser).map { _, page in
            let type = page["i_t"]?.text.flatMap { MediaKind.contentTypesByExtension[$0] }
            return Carousel.Item(
                caption: page["t"]?.text, subcaption: page["st"]?.text, url: page["uri"]?.text,
                media: addMedia(page["i"], as: .carousel, contentType: type))
        }
        guard !items.isEmpty else { return }
        vendorKind = "push-story"
        carousel = Carousel(items: items)
    }

    /// `ab_cat` contains the effects of the buttons of the app's category. The app contains their titles, except for
    /// the categories that the SDK registers.
    private mutating func readCategory(_ effects: JSONValue?, in parser: JSONParser) {
        var buttons = Braze.buttons(ofCategory: category?.identifier).map { identifier, title, isClosing in
            let action = effects?.member(identifier).map { readEffect($0, in: parser) }
            return Category.Button(
                identifier: identifier, title: title, action: action ?? Action(isClosing ? .dismiss : .openApp))
        }
        effects?.forEachMember { key, effect in
            let identifier = String(decoding: key, as: UTF8.self)
            guard buttons.count < longestList, !buttons.prefix(2).contains(where: { $0.identifier == identifier })
            else { return }
            let action = readEffect(effect, in: parser)
            buttons.append(.init(identifier: identifier, title: nil, action: action))
        }
        guard !buttons.isEmpty else { return }
        category = Category(identifier: category?.identifier, origin: .static, actions: buttons)
    }

    /// The effect of one button; warns of a missing type.
    private mutating func readEffect(_ effect: JSONValue, in parser: JSONParser) -> Action {
        if effect["a_t"]?.text == nil {
            warn("braze.action-type-missing", "The button's action has no type.", key: "a_t", of: effect, in: parser)
        }
        return Braze.action(
            type: effect["a_t"], link: effect["a_uri"]?.text, inWebView: effect["a_use_webview"]?.appleFlag == true)
    }
}
