import SignalboxJSON
import SignalboxModel

/// IBM MCE, later Acoustic Mobile Push: `notification-action` and `category-actions` beside `aps`; in FCM's data the
/// same inside the JSON text `alert`, with the campaign in `mce`.
struct MCE: VendorDetector {
    var vendor: VendorID { VendorID("mce") }
    var looksAt: [StaticString] { ["notification-action", "category-actions", "alert", "mce", "inApp"] }
    var looksFor: String {
        """
        an object `notification-action`, `mce`, or `inApp` with rules and template, a list `category-actions`, \
        or JSON text `alert` with subject, message or notification-action
        """
    }

    /// Acoustic's samples route by `notification-action` alone (Acoustic-Mobile-Push/iOS, NotificationDelegate.swift),
    /// which misses pushes without an action. Its Android SDK takes every `alert` for its own, which others use too, so
    /// here the text must be MCE's object.
    func detect(_ payload: borrowing PlatformPayload) -> Detection? {
        if let marker = signature(in: payload) {
            return Detection(.signature, evidence: [payload.pointer(to: marker)])
        }
        if let hint = payload["media-attachment"] ?? payload["category-name"], hint.isString {
            return Detection(.hint, evidence: [payload.pointer(to: hint)])
        }
        return nil
    }

    private func signature(in payload: borrowing PlatformPayload) -> JSONValue? {
        if let action = payload["notification-action"], action.isObject { return action }
        if let actions = payload["category-actions"], actions.isArray { return actions }
        if let alert = payload["alert"], alert.isString, isAlert(payload.parser.object(alert)) { return alert }
        if let mce = payload["mce"], payload.parser.object(mce) != nil { return mce }
        if let inApp = payload["inApp"], isInApp(payload.parser.object(inApp)) { return inApp }
        return nil
    }

    private func isAlert(_ alert: JSONValue?) -> Bool {
        guard let alert else { return false }
        return alert["subject"] != nil || alert["message"] != nil || alert["notification-action"] != nil
    }

    private func isInApp(_ inApp: JSONValue?) -> Bool { inApp?["rules"] != nil && inApp?["template"] != nil }

    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        let parser = payload.parser
        readCampaign(parser.object(payload["mce"]), &notification)
        let alert = parser.object(payload["alert"])
        if let alert {
            readAlert(alert, &notification, in: parser)
        } else if let text = payload["alert"] {
            notification.warn(
                "mce.alert-not-an-object", "The alert is not the JSON text of an object.", at: text, in: parser)
        }
        readAppleKeys(payload, &notification)
        readInApp(parser.object(payload["inApp"]), &notification, in: parser)
        notification.custom = CustomFields.text(of: payload, except: Self.shape(of: payload, alert), &notification)
    }

    /// `mailingId` is a number in some payloads, a string in others (Acoustic-Mobile-Push/iOS).
    func readCampaign(_ mce: JSONValue?, _ notification: inout PushNotification) {
        guard let mce else { return }
        var campaign = notification.campaign ?? .init()
        campaign.id = campaign.id ?? mce["mailingId"]?.spelled
        campaign.name = campaign.name ?? mce["attribution"]?.text
        campaign.messageId = campaign.messageId ?? mce["inAppMessageId"]?.spelled
        notification.campaign = campaign.isEmpty ? nil : campaign
    }
}
