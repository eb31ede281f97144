import SignalboxJSON

// Flat keys, all strings (braze-docs, android_object.md; braze-android-sdk, constant values).

extension Braze {
    func readAndroid(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        if let marker = payload["_ab"], !marker.equals("true") {
            notification.warn(
                "braze.marker-not-exact", "Only the string true is recognised by every Braze SDK.", at: marker,
                in: payload.parser)
        }
        readText(payload, &notification)
        let extra = readExtra(payload, &notification)
        readPicture(payload, extra, &notification)
        let slots = BrazeSlots(payload)
        readStory(slots, payload, &notification)
        note(housekeeping(payload, extra), &notification)
        readTap(link: payload["uri"], inWebView: payload["ab_use_webview"]?.androidFlag == true, &notification)
        readButtons(slots, &notification, in: payload.parser)
        notification.custom = CustomFields.text(
            of: payload, except: Self.androidKeys, &notification,
            adding: [.members(extra, of: "extra", except: Self.ownsInExtra)], claiming: { slots.areRead($0) })
    }

    /// The SDK shows a push only when both the title and the text are there; without, what the service shows counts.
    private func readText(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        let title = payload["t"]
        let body = payload["a"]
        if title != nil, body != nil { notification.kind = .alert }
        if let title = title?.spelled { notification.content.title = title }
        if let body = body?.spelled { notification.content.body = body }
        if let summary = payload["s"]?.spelled { notification.content.subtitle = summary }
        if let channel = payload["ab_nc"]?.spelled { notification.content.channelId = channel }
        if let badge = payload["ab_bc"]?.number { notification.content.badge = badge }
        if let sound = payload["sd"]?.text { notification.content.sound = sound == "d" ? "default" : sound }
        let campaign = PushNotification.Campaign(id: payload["cid"]?.spelled, messageId: payload["br_p_id"]?.spelled)
        notification.campaign = campaign.isEmpty ? nil : campaign
    }

    /// The app's own keys, in the JSON text `extra`; ADM has them flat beside the rest.
    private func readExtra(
        _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> JSONValue? {
        guard let value = payload["extra"] else { return nil }
        if let extra = payload.parser.object(value) { return extra }
        if value.utf8?.isEmpty == true { return nil }
        notification.warn(
            "braze.extra-not-an-object", "The extra is not the JSON text of an object.", at: value, in: payload.parser)
        return nil
    }

    /// A picture of its own key wins over the old way inside `extra`.
    private func readPicture(
        _ payload: borrowing PlatformPayload, _ extra: JSONValue?, _ notification: inout PushNotification
    ) {
        if notification.add(payload["ab_iu"] ?? extra?["appboy_image_url"], as: .attachment) != nil {
            notification.vendorKind = payload["ab_iip"] != nil ? "inline-image" : "big-picture"
        }
        _ = notification.add(payload["ab_li"], as: .icon)
    }

    /// Keys that are there count, whatever their value.
    private func housekeeping(_ payload: borrowing PlatformPayload, _ extra: JSONValue?) -> Housekeeping? {
        if (payload["appboy_uninstall_tracking"] ?? extra?["appboy_uninstall_tracking"]) != nil {
            return .uninstallTracking
        }
        if payload["ab_sync_geos"] != nil { return .geofenceSync }
        if payload["br_ffr"] != nil { return .featureFlagRefresh }
        if payload["br_br"] != nil { return .bannerRefresh }
        if payload["ab_push_fetch_test_triggers_key"] != nil { return .testInAppMessage }
        return nil
    }

    private static func ownsInExtra(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
        key.equals("appboy_image_url") || key.equals("appboy_uninstall_tracking")
    }
}

// MARK: Numbered keys

extension Braze {
    /// The most specific style wins: story, conversation, picture.
    private func readStory(
        _ slots: BrazeSlots, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) {
        if payload["ab_cp"] != nil { notification.vendorKind = "conversation" }
        guard payload["ab_c"] != nil else { return }
        var items: [PushNotification.Carousel.Item] = []
        for page in slots.shownPages {
            let media = notification.add(page.image, as: .carousel)
            items.append(
                .init(caption: page.title?.text, subcaption: page.subtitle?.text, url: page.link?.text, media: media))
        }
        notification.vendorKind = "push-story"
        notification.carousel = .init(items: items)
    }

    /// The SDK stops at the first slot without a type, so those behind a gap are never shown.
    private func readButtons(_ slots: BrazeSlots, _ notification: inout PushNotification, in parser: JSONParser) {
        let shown = slots.shownButtons
        if let hidden = slots.buttons.dropFirst(shown.count).lazy.compactMap(\.anything).first {
            notification.warn(
                "braze.button-after-gap", "The SDK stops reading buttons at the first without a type.", at: hidden,
                in: parser)
        }
        var buttons: [Category.Button] = []
        for (position, slot) in shown.enumerated() {
            let action = readAction(
                type: slot.type, link: slot.link, inWebView: slot.usesWebView?.androidFlag == true)
            if slot.type?.equals("ab_uri") == true, action.type == .openApp, let type = slot.type {
                notification.warn(
                    "braze.button-uri-missing", "Without a link the button opens the app.", at: type, in: parser)
            }
            buttons.append(
                .init(identifier: slot.identifier?.text ?? String(position), title: slot.title?.text, action: action))
        }
        guard !buttons.isEmpty else { return }
        notification.category = Category(identifier: nil, origin: .dynamic, actions: buttons)
    }
}
