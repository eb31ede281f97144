import SignalboxJSON

// The keys beside `aps` (braze-docs, push_payload.json; braze-swift-sdk, ABKPushUtils.m).

extension Braze {
    func readApple(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        let ab = payload["ab"].flatMap { $0.isObject ? $0 : nil }
        notification.campaign = ab?["c"]?.text.map { .init(id: $0) }
        let isSilent = payload.aps?["alert"] == nil
        if isSilent { readAlert(ab?["apple"], &notification, in: payload.parser) }
        readAttachment(ab?["att"], &notification, in: payload.parser)
        readStory(ab?["c_items"], &notification, in: payload.parser)
        if notification.carousel == nil, ab?["ab_cd"] != nil { notification.vendorKind = "content-card" }
        note(housekeeping(payload), &notification)
        readTap(
            link: payload["ab_uri"], inWebView: payload["ab_use_webview"]?.appleFlag == true, &notification)
        readCategory(ab?["ab_cat"], &notification, in: payload.parser)
        let shape = isSilent ? Self.silentAppleKeys : Self.appleKeys
        notification.custom = CustomFields.text(of: payload, except: shape, &notification)
    }

    /// The test bench sends stories silently. It puts the contents of `aps` here, with sound and badge inside the
    /// alert (appboy-ios-sdk, PushStoryViewController.m).
    private func readAlert(_ apple: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser) {
        let alert = apple?["alert"]
        notification.readAlert(alert, in: parser)
        let sound = alert?["sound"] ?? apple?["sound"]
        notification.content.sound = notification.content.sound ?? sound?.text
        notification.content.badge = notification.content.badge ?? (alert?["badge"] ?? apple?["badge"])?.number
    }

    private func housekeeping(_ payload: borrowing PlatformPayload) -> Housekeeping? {
        if payload["appboy_uninstall_tracking"]?.appleFlag == true { return .uninstallTracking }
        if payload["ab_sync_geos"]?.appleFlag == true { return .geofenceSync }
        if payload["ab_push_fetch_test_triggers_key"]?.appleFlag == true { return .testInAppMessage }
        return nil
    }

    // MARK: Media

    private func readAttachment(_ attachment: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser)
    {
        guard let attachment, attachment.isObject else { return }
        let type = attachment["type"]?.text
        if type == nil {
            notification.warn(
                "braze.attachment-type-missing", "Without a type the SDK shows the push without its attachment.",
                key: "type", of: attachment, in: parser)
        }
        _ = notification.add(attachment["url"], as: .attachment, contentType: Self.contentType(ofExtension: type))
    }

    /// `type` is a file extension, one of eight (braze-docs, apple_object.md).
    private static func contentType(ofExtension name: String?) -> String? {
        switch name {
        case "aif": "audio/aiff"
        case "gif": "image/gif"
        case "jpg": "image/jpeg"
        case "m4a": "audio/mp4"
        case "mp3": "audio/mpeg"
        case "mp4": "video/mp4"
        case "png": "image/png"
        case "wav": "audio/wav"
        default: nil
        }
    }

    /// The pages of a push story.
    private func readStory(_ list: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser) {
        guard let list = notification.bounded(list, "braze.too-many-pages", in: parser) else { return }
        var items: [PushNotification.Carousel.Item] = []
        for page in list where page.isObject {
            let media = notification.add(
                page["i"], as: .carousel, contentType: Self.contentType(ofExtension: page["i_t"]?.text))
            items.append(
                .init(caption: page["t"]?.text, subcaption: page["st"]?.text, url: page["uri"]?.text, media: media))
        }
        guard !items.isEmpty else { return }
        notification.vendorKind = "push-story"
        notification.carousel = .init(items: items)
    }
}

// MARK: Buttons

extension Braze {
    /// What the buttons of a category do stands in `ab_cat`, by the buttons' identifiers; their titles are in the app,
    /// except for the categories that the SDK brings along.
    private func readCategory(
        _ behaviours: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser
    ) {
        var buttons: [Category.Button] = []
        for (identifier, title, isClosing) in Self.buttons(ofCategory: notification.category?.identifier) {
            let action = behaviours?.member(identifier).map { readBehaviour($0, &notification, in: parser) }
            buttons.append(
                .init(identifier: identifier, title: title, action: action ?? Action(isClosing ? .dismiss : .openApp)))
        }
        behaviours?.forEachMember { key, behaviour in
            let identifier = String(decoding: key, as: UTF8.self)
            guard buttons.count < longestList, !buttons.prefix(2).contains(where: { $0.identifier == identifier })
            else { return }
            let action = readBehaviour(behaviour, &notification, in: parser)
            buttons.append(.init(identifier: identifier, title: nil, action: action))
        }
        guard !buttons.isEmpty else { return }
        notification.category = Category(
            identifier: notification.category?.identifier, origin: .static, actions: buttons)
    }

    private func readBehaviour(
        _ behaviour: JSONValue, _ notification: inout PushNotification, in parser: JSONParser
    ) -> Action {
        if behaviour["a_t"]?.text == nil {
            notification.warn(
                "braze.action-type-missing", "A button's behaviour has a type.", key: "a_t", of: behaviour, in: parser)
        }
        return readAction(
            type: behaviour["a_t"], link: behaviour["a_uri"],
            inWebView: behaviour["a_use_webview"]?.appleFlag == true)
    }

    /// The categories that the SDK registers, with their English titles (braze-docs, "Action buttons").
    private static func buttons(ofCategory name: String?) -> [(identifier: String, title: String, isClosing: Bool)] {
        switch name {
        case "ab_cat_accept_decline": [("ab_pb_accept", "Accept", false), ("ab_pb_decline", "Decline", true)]
        case "ab_cat_yes_no": [("ab_pb_yes", "Yes", false), ("ab_pb_no", "No", true)]
        case "ab_cat_confirm_cancel": [("ab_pb_confirm", "Confirm", false), ("ab_pb_cancel", "Cancel", true)]
        case "ab_cat_more": [("ab_pb_more", "More", false)]
        default: []
        }
    }
}
