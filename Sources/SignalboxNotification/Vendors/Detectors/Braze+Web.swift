import SignalboxJSON

// The body that Braze's service worker is handed (braze-web-sdk, service-worker.js).

extension Braze {
    func readWeb(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        notification.kind = .alert
        notification.content.title = payload["t"]?.text
        notification.content.body = payload["a"]?.text
        notification.campaign = payload["cid"]?.text.map { .init(id: $0) }
        _ = notification.add(payload["img"], as: .attachment)
        _ = notification.add(payload["i"], as: .icon)
        readTap(link: payload["u"], inWebView: false, &notification)
        readWebButtons(payload["pab"], &notification, in: payload.parser)
        notification.custom = CustomFields.text(
            of: payload, except: Self.webKeys, &notification,
            adding: [.members(payload["e"], of: "e")])
    }

    private func readWebButtons(_ list: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser) {
        guard let list = notification.bounded(list, "braze.too-many-buttons", in: parser) else { return }
        var buttons: [Category.Button] = []
        for (position, button) in list.enumerated() where button.isObject {
            buttons.append(
                .init(
                    identifier: button["action"]?.spelled ?? String(position), title: button["title"]?.text,
                    action: readAction(type: button["a"], link: button["u"], inWebView: false)))
        }
        guard !buttons.isEmpty else { return }
        notification.category = Category(identifier: nil, origin: .dynamic, actions: buttons)
    }
}
