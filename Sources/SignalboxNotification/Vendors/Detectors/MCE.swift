import SignalboxJSON

/// IBM MCE, later Acoustic Mobile Push: `notification-action` and `category-actions` beside `aps`; in FCM's data the
/// same inside the JSON text `alert`, with the campaign in `mce`.
struct MCE: VendorDetector {
    var vendor: VendorID { VendorID("mce") }
    var looksAt: [StaticString] { ["notification-action", "category-actions", "alert", "mce", "inApp"] }
    var looksFor: String {
        """
        an object `notification-action` with a type, a list `category-actions` of named actions with types, `mce` with \
        `attribution` or `mailingId`, `inApp` with rules and template, JSON text `alert` beside `mce`, or in it \
        `notification-action`, or `subject` and `message` with another of MCE's keys
        """
    }

    /// Acoustic's samples route by `notification-action` alone (Acoustic-Mobile-Push/iOS, NotificationDelegate.swift),
    /// which misses pushes without an action. Its Android SDK accepts every `alert`. Other apps send keys with these
    /// names, so a value must have MCE's form.
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
        let parser = payload.parser
        let action = payload["notification-action"]
        let actions = payload["category-actions"]
        if let action, action.isObject, isTyped(action) || actions?.isArray == true { return action }
        if let actions, actions.elements.prefix(longestList).contains(where: isButton) { return actions }
        let mce = parser.object(payload["mce"])
        if let alert = payload["alert"], isAlert(parser.object(alert), isBesideMCE: mce != nil, in: parser) {
            return alert
        }
        if let value = payload["mce"], isCampaign(mce) { return value }
        if let inApp = payload["inApp"], isInApp(parser.object(inApp)) { return inApp }
        return nil
    }

    private func isTyped(_ action: JSONValue) -> Bool { action["type"]?.hasText == true }

    /// A button has a title in addition to its type.
    private func isButton(_ value: JSONValue) -> Bool {
        value.isObject && isTyped(value) && value["name"]?.hasText == true
    }

    /// `mce` holds the campaign (Acoustic-Mobile-Push/Android, Constants.Notifications).
    private func isCampaign(_ mce: JSONValue?) -> Bool {
        mce?["attribution"]?.hasText == true || mce?["mailingId"]?.isSpelled == true
    }

    /// Many apps send JSON text `alert` with a title and a message. The other keys here are MCE's own.
    private func isAlert(_ alert: JSONValue?, isBesideMCE: Bool, in parser: JSONParser) -> Bool {
        guard let alert else { return false }
        if isBesideMCE { return true }
        if let action = alert["notification-action"], isTyped(action) { return true }
        guard alert["subject"]?.isString == true, alert["message"]?.isString == true else { return false }
        return parser.object(alert["expandable"]).map(isTyped) == true || alert["lightsPreferences"]?.isArray == true
            || alert["vibratePattern"]?.isArray == true || alert["soundEnabled"]?.isSpelled == true
    }

    /// `maxViews` is required (Acoustic-Mobile-Push/iOS, MCEInAppMessage.h), and every template shows a content.
    private func isInApp(_ inApp: JSONValue?) -> Bool {
        guard let inApp, inApp["rules"]?.isArray == true, inApp["template"]?.hasText == true else { return false }
        return inApp["maxViews"]?.number != nil || inApp["content"]?.isObject == true
    }

    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        let parser = payload.parser
        readCampaign(parser.object(payload["mce"]), &notification)
        let alert = parser.object(payload["alert"])
        if let alert {
            readAlert(alert, &notification, in: parser)
        } else if payload.platform == .fcm, let text = payload["alert"] {
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
