import SignalboxJSON

/// Declarative Web Push: messages that a browser shows without the web app's service worker.
extension Arrival {
    /// A declarative push message: `web_push` is 8030, and `notification` has the two required strings (W3C, Push API,
    /// "Declarative push message"; webkit.org, "Meet Declarative Web Push"). Browsers pass any other web push to the
    /// service worker.
    var isDeclarativePush: Bool {
        guard root["web_push"]?.integer == 8030, let shown = root.block("notification") else { return false }
        return shown["title"]?.isString == true && shown["navigate"]?.isString == true
    }

    /// Opens a declarative push message. The app's own keys are in `notification.data`; others may be next to the
    /// message's. The platform is unknown in events, because events know only APNs and FCM as platforms.
    func declarativePush() -> PlatformPayload {
        payload(
            .unknown, .webPush, layers: .of(root["notification"]?["data"], .none) + layer(.webPush),
            notifications: notification, warnings: WellFormedness(of: self).warnings)
    }
}
