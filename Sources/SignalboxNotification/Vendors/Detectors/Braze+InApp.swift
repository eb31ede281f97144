import SignalboxJSON

// In-app messages and what triggers them, from Braze's backend to its SDKs (braze-roku-sdk, BrazeSDK.brs; doc "In-app
// messages"). Pushes do not carry them.

extension Braze {
    /// The conditions beside the message, or what closes a message beside what a tap on it does, are in nobody else's
    /// payloads.
    func inAppEvidence(in payload: borrowing PlatformPayload) -> JSONValue? {
        guard payload.envelope == .inApp else { return nil }
        return payload["triggers"] ?? payload["trigger_condition"] ?? payload["message_close"]
    }

    /// Each trigger, with its message and its conditions, is a page; what stands outside of them is that of the highest
    /// priority, which the SDK shows when one event triggers several.
    func readInApp(_ payload: borrowing PlatformPayload, _ notification: inout PushNotification) {
        let parser = payload.parser
        var pages: [JSONText] = []
        var first: (trigger: JSONValue, priority: Int64)?
        for trigger in triggers(in: payload, &notification) {
            pages.append(JSONText(trigger))
            let priority = trigger["priority"]?.number ?? 0
            if first.map({ $0.priority < priority }) ?? true { first = (trigger, priority) }
        }
        notification.kind = .inAppMessage
        notification.inApp = .init(pages: pages)
        if let first { readTrigger(first.trigger, &notification, in: parser) }
        let extras = first.flatMap { ($0.trigger["data"] ?? $0.trigger)["extras"] }
        notification.custom = CustomFields.text(
            of: payload, except: Self.inAppShape(payload), &notification,
            adding: [.members(extras, of: "extras")])
    }

    private func triggers(
        in payload: borrowing PlatformPayload, _ notification: inout PushNotification
    ) -> [JSONValue] {
        guard let list = notification.bounded(payload["triggers"], "braze.too-many-triggers", in: payload.parser) else {
            return [payload.root]
        }
        return list.filter(\.isObject)
    }

    private func readTrigger(
        _ trigger: JSONValue, _ notification: inout PushNotification, in parser: JSONParser
    ) {
        let message = trigger["data"] ?? trigger
        let isTrigger = trigger["trigger_condition"] != nil
        notification.vendorKind = isTrigger ? trigger["type"]?.text : "in-app-message"
        let identifier = (isTrigger ? trigger["id"] : nil) ?? message["trigger_id"]
        notification.campaign = identifier?.spelled.map { .init(id: $0) }
        readMessage(message, &notification, in: parser)
        let start = time(trigger["start_time"], &notification, in: parser)
        let end = time(trigger["end_time"], &notification, in: parser)
        if start != nil || end != nil { notification.schedule = .init(notBefore: start, notAfter: end) }
    }

    private func readMessage(_ message: JSONValue, _ notification: inout PushNotification, in parser: JSONParser) {
        notification.inApp?.layout = message["type"]?.text
        notification.content.title = message["header"]?.text
        notification.content.body = message["message"]?.text
        _ = notification.add(message["image_url"], as: .background)
        if message["click_action"] != nil { notification.action = readClick(message, &notification, in: parser) }
        guard let list = notification.bounded(message["btns"], "braze.too-many-buttons", in: parser) else { return }
        var buttons: [Category.Button] = []
        for (position, button) in list.enumerated() where button.isObject {
            buttons.append(
                .init(
                    identifier: button["id"]?.spelled ?? String(position), title: button["text"]?.text,
                    action: readClick(button, &notification, in: parser)))
        }
        if !buttons.isEmpty { notification.category = Category(identifier: nil, origin: .dynamic, actions: buttons) }
    }

    /// `NONE` closes the message; `NEWS_FEED` is a screen of older SDKs.
    private func readClick(
        _ object: JSONValue, _ notification: inout PushNotification, in parser: JSONParser
    ) -> Action {
        let word = object["click_action"]?.text
        switch word {
        case "URI":
            if let link = object["uri"], link.hasText,
                let action = Action.opening(
                    link, inWebView: object["use_webview"]?.appleFlag == true, vendorType: word)
            {
                return action
            }
            notification.warn(
                "braze.action-uri-missing", "This click action needs a link.", key: "uri", of: object, in: parser)
            return Action(.openApp, vendorType: word)
        case "NONE", nil: return Action(.dismiss, vendorType: word)
        default: return Action(.custom, value: object["uri"]?.text, vendorType: word)
        }
    }

    /// Seconds since 1970; null and −1 leave the window open.
    private func time(
        _ value: JSONValue?, _ notification: inout PushNotification, in parser: JSONParser
    ) -> String? {
        guard let value, let seconds = value.number, seconds != -1 else { return nil }
        if let date = Timestamp(seconds: seconds) { return date.text }
        notification.warn("braze.date-invalid", "Dates are seconds since 1970.", at: value, in: parser)
        return nil
    }

    private static func inAppShape(_ payload: borrowing PlatformPayload) -> Shape {
        if payload["triggers"] != nil { return triggers }
        return payload["trigger_condition"] != nil ? trigger : message
    }

    private static let triggers = Shape(["triggers": .list(trigger)])

    // Pages are kept whole.
    private static let trigger = Shape(
        [
            "id": .scalar, "type": .text, "trigger_condition": .list(Shape([:], isWhole: true)), "start_time": .integer,
            "end_time": .integer, "priority": .integer, "delay": .number, "timeout": .number, "re_eligibility": .number,
            "min_seconds_since_last_trigger": .number, "data": .object(message),
        ], isWhole: true)
    private static let message = Shape(
        [
            "type": .text, "trigger_id": .scalar, "message": .text, "header": .text, "image_url": .text, "icon": .text,
            "click_action": .text, "uri": .text, "use_webview": .scalar, "message_close": .text, "duration": .number,
            "slide_from": .text, "orientation": .text, "extras": .object(Shape([:], isWhole: true)),
            "btns": .list(
                Shape(
                    ["id": .scalar, "text": .text, "click_action": .text, "uri": .text, "use_webview": .scalar],
                    isWhole: true)),
        ], isWhole: true)
}
