import SignalboxJSON

// The keys beside `aps` (IBM, "Default actions for mobile app messages").

extension MCE {
    func readAppleKeys(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        let parser = payload.parser
        if let action = payload["notification-action"] {
            notification.action = readAction(action, &notification, in: parser) ?? notification.action
        }
        if notification.add(payload["media-attachment"], as: .attachment) != nil {
            warnUnlessMutable(payload.aps, "media-attachment", &notification, in: parser)
        }
        readCategory(payload, &notification)
        readCarousel(payload["carousel"]?["items"] ?? payload["extra"]?["items"], &notification, in: parser)
    }

    /// The SDK makes a category of the actions and gives it a random name unless `category-name` says one; a name
    /// without actions is that of a category compiled into the app.
    private func readCategory(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        let name = payload["category-name"]?.text
        guard let list = payload["category-actions"], list.isArray else {
            if let name { notification.category = Category(identifier: name, origin: .static, actions: []) }
            return
        }
        notification.vendorKind = "dynamic-category"
        notification.category = Category(
            identifier: name, origin: .dynamic,
            actions: readButtons(list, needFlags: true, &notification, in: payload.parser))
        warnUnlessMutable(payload.aps, "category-actions", &notification, in: payload.parser)
    }

    /// The service extension that adds attachments and categories runs only for mutable content.
    private func warnUnlessMutable(
        _ aps: JSONValue?, _ key: String, _ notification: inout PushNotification, in parser: JSONParser
    ) {
        guard let aps, aps["mutable-content"]?.appleFlag != true else { return }
        notification.warn(
            "mce.mutable-content-missing", "\(key) has no effect unless mutable-content is 1.",
            key: "mutable-content", of: aps, in: parser)
    }

    /// The items of the carousel plug-in, under `carousel` or, in an older form, under `extra`
    /// (Acoustic-Mobile-Push/iOS, Image Carousel Plugin).
    private func readCarousel(_ list: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser) {
        guard let list = notification.bounded(list, "mce.too-many-items", in: parser) else { return }
        var items: [PushNotification.Carousel.Item] = []
        for item in list where item.isObject {
            let media = notification.add(item["url"], as: .carousel)
            items.append(.init(caption: item["text"]?.text, media: media))
        }
        notification.carousel = .init(items: items)
    }
}
