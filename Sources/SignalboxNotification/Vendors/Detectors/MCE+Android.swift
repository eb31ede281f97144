import SignalboxJSON

// The object whose JSON text `alert` holds in FCM's data (Acoustic-Mobile-Push/Android, constant values).

extension MCE {
    func readAlert(_ alert: JSONValue, _ notification: inout PushNotification, in parser: JSONParser) {
        readText(alert, &notification)
        if let action = alert["notification-action"] ?? alert["action"] {
            notification.action = readAction(action, &notification, in: parser)
        }
        if let icon = alert["icon"], icon.utf8?.startsSpelling("http") == true {
            _ = notification.add(icon, as: .icon)
        }
        readExpandable(parser.object(alert["expandable"]), &notification, in: parser)
        notification.vendorKind = alert["type"]?.text ?? notification.vendorKind
        if alert["type"]?.equals("carousel") == true {
            readCarousel(parser.object(alert["payload"]), &notification, in: parser)
        }
    }

    /// A badge of −1 is none.
    private func readText(_ alert: JSONValue, _ notification: inout PushNotification) {
        if let subject = alert["subject"]?.text { notification.content.title = subject }
        if let message = alert["message"]?.text { notification.content.body = message }
        if let sound = alert["sound"]?.text { notification.content.sound = sound }
        if let badge = alert["badge"]?.number, badge >= 0 { notification.content.badge = badge }
        if notification.content.title != nil || notification.content.body != nil { notification.kind = .alert }
    }

    private func readExpandable(
        _ expandable: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser
    ) {
        guard let expandable else { return }
        if expandable["type"]?.equals("image") == true {
            _ = notification.add(expandable["value"], as: .attachment)
        } else {
            _ = notification.add(expandable["image"], as: .attachment)
        }
        let list = expandable["expandable-actions"] ?? expandable["actions"]
        let buttons = readButtons(list, needFlags: false, &notification, in: parser)
        guard !buttons.isEmpty else { return }
        notification.vendorKind = "dynamic-category"
        notification.category = Category(identifier: nil, origin: .dynamic, actions: buttons)
    }

    private func readCarousel(_ payload: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser) {
        guard let list = notification.bounded(payload?["carousel"], "mce.too-many-items", in: parser) else { return }
        var items: [PushNotification.Carousel.Item] = []
        for item in list where item.isObject {
            let action = item["action"]
            let opensLink = action?["type"]?.equals("url") == true
            let media = notification.add(item["image"], as: .carousel)
            items.append(
                .init(caption: action?["name"]?.text, url: opensLink ? action?["value"]?.text : nil, media: media))
        }
        notification.carousel = .init(items: items)
    }
}
