import SignalboxJSON

/// Texts that the vendor's SDK replaces by its own texts are found by comparison with these texts.
extension PlatformPayload {
    /// True if the texts are those of a display block or an alert: the notification has them until a vendor's text
    /// replaces one.
    var hasPresentedTexts: Bool { !notifications.isEmpty || aps?["alert"] != nil }

    /// Calls `body` with the title, subtitle and body that the push service shows without the vendor's SDK.
    func forEachPlainText(_ body: (JSONValue) -> Void) {
        if let block = notifications.first { return block.forEachText(body) }
        if let alert = aps?["alert"] { return alert.isString ? body(alert) : alert.forEachText(body) }
        if let title = root["gcm.n.title"] { body(title) }
        if let text = root["gcm.n.body"] { body(text) }
        if let title = root["gcm.notification.title"] { body(title) }
        if let text = root["gcm.notification.body"] { body(text) }
    }
}

/// Decides whether a plain text is still shown after the vendor's texts have been read.
extension PushNotification.Content {
    /// True for a shown text, and for a value without a text.
    func shows(_ value: JSONValue) -> Bool {
        guard value.hasText else { return true }
        if let title, value.isScalar(withText: title) { return true }
        if let subtitle, value.isScalar(withText: subtitle) { return true }
        return body.map { value.isScalar(withText: $0) } ?? false
    }
}

extension JSONValue {
    /// Calls `body` with the values of `title`, `subtitle` and `body` that are present, in this order.
    fileprivate func forEachText(_ body: (JSONValue) -> Void) {
        if let title = self["title"] { body(title) }
        if let subtitle = self["subtitle"] { body(subtitle) }
        if let text = self["body"] { body(text) }
    }
}
