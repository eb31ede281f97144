import SignalboxJSON

// A visible push, with buttons and rich media or without (Synerise, "Campaigns: simple push").

extension Synerise {
    /// On APNs the text stands in `aps` and `content.notification` has the action at most; on FCM it has both.
    func readSimplePush(
        _ content: JSONValue, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) {
        let display = content["notification"]
        if let title = display?["title"]?.text { notification.content.title = title }
        if let body = display?["body"]?.text { notification.content.body = body }
        if let sound = display?["sound"]?.text { notification.content.sound = sound }
        if notification.content.title != nil || notification.content.body != nil { notification.kind = .alert }
        notification.action = readAction(display?["action"], &notification, in: payload.parser)
        readButtons(content["buttons"], &notification, in: payload.parser)
        readRichMedia(content["rich-media"], &notification, in: payload.parser)
        if let icon = display?["icon"], icon.utf8?.startsSpelling("http") == true {
            _ = notification.add(icon, as: .icon)
        }
    }

    /// Without an action a tap opens the app. The documents spell the deep link's type both ways.
    func readAction(
        _ action: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser
    ) -> Action {
        guard let action, let type = action["type"] else { return Action(.openApp) }
        let word = type.text
        let item = action["item"]
        let kind: Action.ActionType =
            switch word {
            case "OPEN_APP": .openApp
            case "OPEN_URL": .openUrl
            case "DEEP_LINKING", "DEEPLINKING": .deepLink
            default: .custom
            }
        if kind == .custom {
            notification.warn(
                "synerise.action-type-unknown", "Synerise has no such type of action.", at: type, in: parser)
        } else if kind != .openApp, item?.hasText != true {
            notification.warn(
                "synerise.action-item-missing", "This type of action needs an item.", key: "item", of: action,
                in: parser)
        }
        return Action(kind, value: item?.spelled, vendorType: word)
    }

    private func readButtons(_ list: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser) {
        guard let buttons = notification.bounded(list, "synerise.too-many-buttons", in: parser) else { return }
        var actions: [Category.Button] = []
        for value in buttons where value.isObject {
            let button = JSONObject(value)
            let action = readAction(button["action"], &notification, in: parser)
            let identifier = button["identifier"]?.spelled
            if identifier == nil {
                notification.warn(
                    "synerise.button-identifier-missing", "A button has an identifier.", key: "identifier",
                    of: value, in: parser)
            }
            actions.append(
                Category.Button(
                    identifier: identifier ?? action.identifier, title: button["text"]?.text, action: action))
        }
        guard !actions.isEmpty else { return }
        notification.category = Category(
            identifier: notification.category?.identifier, origin: .dynamic, actions: actions)
    }

    private func readRichMedia(_ media: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser) {
        guard let media, let type = media["type"] else { return }
        switch type.string {
        case "single-image":
            let image = media["single-image"]?["image"]
            if notification.add(image, as: .attachment) == nil {
                notification.warn(
                    "synerise.image-missing", "A single image has a URL.", key: "single-image", of: media, in: parser)
            }
        case "carousel": readCarousel(media["carousel"], &notification, in: parser)
        default:
            notification.warn(
                "synerise.rich-media-type-unknown", "Synerise has no such type of rich media.", at: type, in: parser)
        }
    }

    private func readCarousel(_ carousel: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser) {
        guard let carousel, let list = notification.bounded(carousel["items"], "synerise.too-many-items", in: parser)
        else { return }
        var items: [PushNotification.Carousel.Item] = []
        for item in list where item.isObject {
            let media = notification.add(item["image"], as: .carousel)
            if media == nil {
                notification.warn(
                    "synerise.image-missing", "An item of a carousel has an image.", key: "image", of: item,
                    in: parser)
            }
            items.append(
                .init(
                    caption: item["caption"]?.text, subcaption: item["subcaption"]?.text, url: item["url"]?.text,
                    media: media))
        }
        notification.carousel = .init(
            orientation: readOrientation(carousel["orientation"], &notification, in: parser), items: items)
    }

    private func readOrientation(
        _ orientation: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser
    ) -> String? {
        guard let orientation, !orientation.isNull else { return nil }
        let word = orientation.text?.lowercased()
        if word == "portrait" || word == "landscape" { return word }
        notification.warn(
            "synerise.orientation-unknown", "A carousel is portrait or landscape.", at: orientation, in: parser)
        return nil
    }
}
