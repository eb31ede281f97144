import SignalboxJSON
import SignalboxModel

// A page over the whole screen, sent by a silent push (Synerise, "Campaigns: banners").

extension Synerise {
    /// A banner that cannot be closed is what Synerise calls a mandatory upgrade; it has no type of its own.
    func readBanner(
        _ content: JSONValue, _ payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) {
        notification.kind = .banner
        guard let page = content["page"], page.isObject else {
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
        notification.inApp = .init(layout: page["type"]?.text, pages: [JSONText(page)])
    }
}
