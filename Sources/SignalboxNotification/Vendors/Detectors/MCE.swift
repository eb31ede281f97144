import SignalboxJSON

/// IBM MCE, later Acoustic Mobile Push. An APNs payload has `notification-action`, `category-actions` and other keys
/// next to `aps`. On FCM, `data.alert` is JSON text of an object with the texts. Both have the campaign in `mce`, and
/// in-app messages in `inApp`. `MCE+Messages.swift` lists and reads the keys, `MCE+Actions.swift` reads actions.
///
/// Keys: IBM, "Default actions for mobile app messages"; Acoustic-Mobile-Push/iOS, plug-ins and samples;
/// Acoustic-Mobile-Push/Android, constant values and plug-ins.
struct MCE: VendorDetector {
    let vendor = VendorID("mce")
    var looksAt: [StaticString] { ["notification-action", "category-actions", "alert", "mce", "inApp"] }
    var looksFor: String {
        """
        `notification-action` with a type of MCE's or a value, a list `category-actions` of named actions, `mce` with \
        `attribution` or `mailingId`, `inApp` with rules and template, JSON text `alert` next to `mce`, or with \
        `notification-action` in it, or `subject` and `message` with another of MCE's keys
        """
    }

    /// Acoustic's samples recognise a push by `notification-action` alone (Acoustic-Mobile-Push/iOS,
    /// NotificationDelegate.swift), which misses pushes without an action. Its Android SDK accepts every `alert`.
    /// Other vendors use keys of the same names, so each value must also have MCE's form.
    func detect(_ payload: borrowing PlatformPayload) -> Detection? {
        if let marker = signature(in: payload) {
            return Detection(.signature, evidence: [payload.pointer(to: marker)])
        }
        if let hint = payload["media-attachment"] ?? payload["category-name"], hint.isString {
            return Detection(.hint, evidence: [payload.pointer(to: hint)])
        }
        return nil
    }

    /// The first value with MCE's form.
    private func signature(in payload: borrowing PlatformPayload) -> JSONValue? {
        let parser = payload.parser
        let action = payload["notification-action"]
        let actions = payload["category-actions"]
        if let action, action.isObject, isAction(action) || actions?.isArray == true { return action }
        if let actions, actions.elements.prefix(longestList).contains(where: isButton) { return actions }
        let mce = parser.object(payload["mce"])
        if let alert = payload["alert"], isAlert(parser.object(alert), hasMCE: mce != nil, in: parser) { return alert }
        if let value = payload["mce"], isCampaign(mce) { return value }
        if let inApp = payload["inApp"], isInApp(parser.object(inApp)) { return inApp }
        return nil
    }

    /// Every action of MCE has a type, a non-empty string.
    private func isTyped(_ action: JSONValue) -> Bool { action["type"]?.hasText == true }

    /// An action that other apps do not send: its type is one of MCE's, or any type with a value. The carousel's action
    /// has a type but no value (Acoustic-Mobile-Push/iOS, Image Carousel Plugin).
    private func isAction(_ action: JSONValue) -> Bool {
        guard let word = action["type"]?.text else { return false }
        switch MCE.type(word) {
        case .custom: return word == "carousel" || JSONObject(action)["value"] != nil
        default: return true
        }
    }

    /// A button has a title in addition to its type.
    private func isButton(_ value: JSONValue) -> Bool {
        value.isObject && isTyped(value) && value["name"]?.hasText == true
    }

    /// `mce` contains the campaign (Acoustic-Mobile-Push/Android, Constants.Notifications).
    private func isCampaign(_ mce: JSONValue?) -> Bool {
        mce?["attribution"]?.hasText == true || mce?["mailingId"]?.hasScalarText == true
    }

    /// Many apps send JSON text `alert` with a title and a message. The other keys are MCE's own.
    private func isAlert(_ alert: JSONValue?, hasMCE: Bool, in parser: JSONParser) -> Bool {
        guard let alert else { return false }
        if hasMCE { return true }
        if let action = alert["notification-action"], isAction(action) { return true }
        guard alert["subject"]?.isString == true, alert["message"]?.isString == true else { return false }
        return parser.object(alert["expandable"]).map(isTyped) == true || alert["lightsPreferences"]?.isArray == true
            || alert["vibratePattern"]?.isArray == true || alert["soundEnabled"]?.hasScalarText == true
    }

    /// `maxViews` is required (Acoustic-Mobile-Push/iOS, MCEInAppMessage.h). Without it, the message must have content
    /// and one of the SDK's own templates: other apps also send rules, templates and content.
    private func isInApp(_ inApp: JSONValue?) -> Bool {
        guard let inApp, inApp["rules"]?.isArray == true, let template = inApp["template"]?.text else { return false }
        let own = ["default", "image", "video", "mce-mini", "mce-image", "mce-video"]
        return inApp["maxViews"]?.number != nil || inApp["content"]?.isObject == true && own.contains(template)
    }

    func read(_ payload: borrowing PlatformPayload, into notification: inout PushNotification) {
        notification.readMCE(payload)
    }
}
