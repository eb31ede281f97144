import SignalboxJSON

// A page over the whole screen, sent by a silent push (Synerise, "Campaigns: banners").

extension Synerise {
    /// A banner that cannot be closed is what Synerise calls a mandatory upgrade; it has no type of its own.
    func readBanner(
        _ content: JSONValue, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) {
        notification.kind = .banner
        guard let page = content["page"], page.isObject else {
            // The documentation shows the structure of a push with empty content.
            guard !content.isEmptyContainer else { return }
            notification.warn(
                "synerise.page-missing", "A banner has a page.", key: "page",
                of: payload["content"] ?? payload.root, in: payload.parser)
            return
        }
        if page["close_button"]?["is_enabled"].map({ !$0.appleFlag }) == true { notification.kind = .mandatoryUpgrade }
        notification.content.title = notification.content.title ?? page["header"]?["text"]?.text
        notification.content.body = notification.content.body ?? page["description"]?["text"]?.text
        notification.action = readAction(page["action"], &notification, in: payload.parser)
        _ = notification.add(page["image"]?["url"], as: .background)
        notification.inApp = .init(layout: readLayout(page, &notification, in: payload.parser), pages: [JSONText(page)])
    }

    /// Pages to leaf through before the app is used (Synerise, "Campaigns: walkthrough").
    func readWalkthrough(
        _ list: JSONValue, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) {
        guard let list = notification.bounded(list, "synerise.too-many-pages", in: payload.parser) else { return }
        notification.kind = .walkthrough
        let pages = list.filter(\.isObject)
        for page in pages { _ = notification.add(page["image"]?["url"], as: .background) }
        let layouts = pages.map { readLayout($0, &notification, in: payload.parser) }
        notification.content.title = notification.content.title ?? pages.first?["header"]?["text"]?.text
        notification.content.body = notification.content.body ?? pages.first?["description"]?["text"]?.text
        notification.inApp = .init(layout: layouts.first ?? nil, pages: pages.map { JSONText($0) })
    }

    private func readLayout(
        _ page: JSONValue, _ notification: inout PushNotification, in parser: JSONParser
    ) -> String? {
        guard let type = page["type"], let layout = type.text else { return nil }
        let known = ["color_as_background", "image_as_background", "image_with_text_atop", "image_with_text_below"]
        if !known.contains(layout) {
            notification.warn("synerise.layout-unknown", "Synerise has no such layout.", at: type, in: parser)
        }
        return layout
    }
}
