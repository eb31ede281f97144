import SignalboxJSON

// In-app messages and their triggers, from Braze's backend to its SDKs (braze-roku-sdk, BrazeSDK.brs; doc "In-app
// messages"). Pushes do not contain them.

extension Braze {
    /// A message: its texts, its picture, the effect of a tap, buttons, and the app's own keys in `extras`. The event
    /// contains it unchanged as a page.
    private static let message = KeySchema(
        [
            "type": .text, "trigger_id": .scalar, "message": .text, "header": .text, "image_url": .text, "icon": .text,
            "click_action": .text, "uri": .text, "use_webview": .scalar, "message_close": .text, "duration": .number,
            "slide_from": .text, "orientation": .text, "extras": .object(.whole),
            "btns": .list(
                KeySchema(
                    ["id": .scalar, "text": .text, "click_action": .text, "uri": .text, "use_webview": .scalar],
                    isWhole: true)),
        ], isWhole: true)

    /// A trigger: the conditions and period in which the SDK shows the message in `data`.
    private static let trigger = KeySchema(
        [
            "id": .scalar, "type": .text, "trigger_condition": .list(.whole), "start_time": .integer,
            "end_time": .integer, "priority": .integer, "delay": .number, "timeout": .number, "re_eligibility": .number,
            "min_seconds_since_last_trigger": .number, "data": .object(message),
        ], isWhole: true)
    /// A list of triggers, as the backend sends it.
    private static let triggers = KeySchema(["triggers": .list(trigger)])

    /// The keys of the payload's form: a list of triggers, one trigger, or a message alone.
    fileprivate static func inAppKeys(of payload: borrowing PlatformPayload) -> KeySchema {
        if payload["triggers"] != nil { return triggers }
        return payload["trigger_condition"] != nil ? trigger : message
    }
}

extension PushNotification {
    /// Each trigger, with its message and its conditions, is a page. The other fields of the event are those of the
    /// trigger with the highest priority, which the SDK shows if one event fires several.
    mutating func readBrazeInApp(_ payload: borrowing PlatformPayload) {
        let parser = payload.parser
        var pages: [JSONText] = []
        var first: (trigger: JSONValue, priority: Int64)?
        let triggers = triggers(in: payload)
        for trigger in triggers {
            pages.append(JSONText(trigger))
            let priority = trigger["priority"]?.number ?? 0
            if first.map({ $0.priority < priority }) ?? true { first = (trigger, priority) }
        }
        kind = .inAppMessage
        inApp = InApp(pages: pages)
        if let first { readTrigger(first.trigger, in: parser) }
        let extras = first.flatMap { ($0.trigger["data"] ?? $0.trigger)["extras"] }
        fillCustom(from: payload, except: Braze.inAppKeys(of: payload), adding: [.members(extras, of: "extras")])
        // A message alone has no conditions: only the app itself shows it.
        if readsMessages, payload["triggers"] != nil || payload["trigger_condition"] != nil {
            bringBrazeMessages(of: triggers, in: parser)
        }
    }

    /// The triggers of a list; otherwise the payload itself is the only one.
    private mutating func triggers(in payload: borrowing PlatformPayload) -> [JSONValue] {
        guard let list = payload["triggers"], list.isArray else { return [payload.root] }
        return boundedObjects(list, "braze.too-many-triggers", in: payload.parser).map(\.value)
    }

    /// Reads the trigger's identifier, its message and its period.
    private mutating func readTrigger(_ trigger: JSONValue, in parser: JSONParser) {
        let message = trigger["data"] ?? trigger
        let isTrigger = trigger["trigger_condition"] != nil
        vendorKind = isTrigger ? trigger["type"]?.text : "in-app-message"
        let identifier = (isTrigger ? trigger["id"] : nil) ?? message["trigger_id"]
        campaign = identifier?.scalarText.map { Campaign(id: $0) }
        readInAppMessage(message, in: parser)
        let start = time(trigger["start_time"], in: parser)
        let end = time(trigger["end_time"], in: parser)
        if start != nil || end != nil { schedule = Schedule(notBefore: start, notAfter: end) }
    }

    /// Reads layout, texts, picture, tap and buttons of a message.
    private mutating func readInAppMessage(_ message: JSONValue, in parser: JSONParser) {
        inApp?.layout = message["type"]?.text
        content.title = message["header"]?.text
        content.body = message["message"]?.text
        addMedia(message["image_url"], as: .background, kind: .image)
        if message["click_action"] != nil { action = readClick(message, in: parser) }
        defineCategory(
            boundedObjects(message["btns"], "braze.too-many-buttons", in: parser).map { position, button in
                Category.Button(
                    identifier: button["id"]?.scalarText ?? String(position), title: button["text"]?.text,
                    action: readClick(button, in: parser))
            })
    }

    /// The effect of a click, with a warning if a link is missing.
    private mutating func readClick(_ object: JSONValue, in parser: JSONParser) -> Action {
        let action = Braze.click(object)
        if object["click_action"]?.equals("URI") == true, object["uri"]?.hasText != true {
            warn("braze.action-uri-missing", "This click action needs a link.", key: "uri", of: object, in: parser)
        }
        return action
    }

    /// Seconds since 1970; null and -1 leave the period open.
    private mutating func time(_ value: JSONValue?, in parser: JSONParser) -> String? {
        guard let value, let seconds = value.number, seconds != -1 else { return nil }
        if let date = Timestamp(seconds: seconds) { return date.text }
        warn("braze.date-invalid", "The date is not a valid number of seconds since 1970.", at: value, in: parser)
        return nil
    }
}

extension Braze {
    /// The effect of a click on a message or a button. `NONE` closes the message; `NEWS_FEED` is a screen of older
    /// SDKs. Without its link, a click opens the app.
    static func click(_ object: JSONValue) -> Action {
        let word = object["click_action"]?.text
        switch word {
        case "URI":
            let isWeb = object["use_webview"]?.appleFlag == true
            let opening = object["uri"].flatMap { Action.opening($0, inWebView: isWeb, vendorType: word) }
            return opening ?? Action(.openApp, vendorType: word)
        case "NONE", nil: return Action(.dismiss, vendorType: word)
        default: return Action(.custom, value: object["uri"]?.text, vendorType: word)
        }
    }
}

// MARK: Web push

extension Braze {
    /// The body for Braze's service worker: title, text, icon, picture, link, campaign, the app's own keys in `e`, and
    /// buttons (braze-web-sdk, service-worker.js).
    fileprivate static let webKeys = KeySchema([
        "t": .text, "a": .text, "i": .text, "img": .text, "u": .text, "cid": .text, "e": .object(.anything),
        "pab": .list(KeySchema(["action": .scalar, "title": .text, "a": .text, "u": .text])),
    ])
}

extension PushNotification {
    /// Reads the body of a web push, which the service worker always shows.
    mutating func readBrazeWeb(_ payload: borrowing PlatformPayload) {
        kind = .alert
        content.title = payload["t"]?.text
        content.body = payload["a"]?.text
        campaign = payload["cid"]?.text.map { Campaign(id: $0) }
        addMedia(payload["img"], as: .attachment, kind: .image)
        addMedia(payload["i"], as: .icon)
        readBrazeTap(link: payload["u"], inWebView: false)
        defineCategory(
            boundedObjects(payload["pab"], "braze.too-many-buttons", in: payload.parser).map { position, button in
                Category.Button(
                    identifier: button["action"]?.scalarText ?? String(position), title: button["title"]?.text,
                    action: Braze.action(type: button["a"], link: button["u"]?.text, inWebView: false))
            })
        fillCustom(from: payload, except: Braze.webKeys, adding: [.members(payload["e"], of: "e")])
    }
}
