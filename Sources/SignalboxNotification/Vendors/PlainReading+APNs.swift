import SignalboxJSON

// `aps` (developer.apple.com, "Generating a remote notification"; ActivityKit, "Starting and updating Live Activities
// with ActivityKit push notifications").

extension PlainReading {
    /// The texts of an alert, literal or by the keys of the app's strings.
    static let alert = KeySchema([
        "title": .text, "subtitle": .text, "body": .text, "title-loc-key": .text, "title-loc-args": .strings,
        "subtitle-loc-key": .text, "subtitle-loc-args": .strings, "loc-key": .text, "loc-args": .strings,
    ])
    /// A sound as an object; events contain only its name.
    private static let sound = KeySchema(["name": .text])

    /// The documented keys with a field of their own in events. `content-available` and `mutable-content` concern the
    /// system alone. Types of unchecked keys are checked by ``WellFormedness``.
    static let aps = KeySchema([
        "alert": .unchecked(.objectOrString(alert)), "badge": .unchecked(.integer),
        "sound": .unchecked(.objectOrString(sound)), "category": .unchecked(.text), "thread-id": .text,
        "interruption-level": .text, "relevance-score": .number, "target-content-id": .text, "filter-criteria": .text,
        "content-available": .scalar, "mutable-content": .scalar,
    ])

    /// A text of a Live Activity's alert, literal or by a key.
    private static let activityText = KeySchema.Value.objectOrString(
        KeySchema(["loc-key": .text, "loc-args": .strings]))
    /// The alert of a Live Activity, which contains the sound.
    private static let activityAlert = KeySchema(
        ["title": activityText, "body": activityText, "sound": .text], extending: alert)

    /// `aps` of a push that starts, updates or ends a Live Activity.
    static let liveActivity = KeySchema(
        [
            "alert": .unchecked(.objectOrString(activityAlert)), "event": .text, "timestamp": .number,
            "stale-date": .number, "dismissal-date": .number, "content-state": .object(.anything),
            "attributes": .object(.anything), "attributes-type": .text,
        ], extending: aps)

    /// The keys of an iOS app's `userInfo` that Firebase adds next to `aps`.
    static let userInfo = userInfo(aps: aps)
    /// The same around the `aps` of a Live Activity.
    static let userInfoLive = userInfo(aps: liveActivity)

    /// The same keys around one of the two forms of `aps`.
    private static func userInfo(aps: KeySchema) -> KeySchema {
        KeySchema(
            ["aps": .object(aps), "fcm_options": .object(KeySchema(["image": .text]))], others: .any, reserved: .apns)
    }

    /// True when `event` names a change of a Live Activity; a push that ends one needs no content state.
    static func isLiveActivity(_ aps: JSONValue) -> Bool {
        guard let event = aps["event"], event.isString else { return false }
        return event.equals("start") || event.equals("update") || event.equals("end") || aps["content-state"] != nil
    }

    /// True for a non-empty alert or sound. An empty one shows and plays nothing.
    static func isPresented(_ value: JSONValue?) -> Bool {
        guard let value, !value.isNull, !value.isEmptyContainer else { return false }
        return !value.isString || value.hasText
    }
}

extension PushNotification {
    /// Reads `aps`; keeps values that were read before. Without `aps` the push is silent: APNs passes it to the app,
    /// or to the system if it wakes a managed device, and shows nothing.
    mutating func readAPS(_ value: JSONValue?, in parser: JSONParser) {
        guard let aps = value.map({ JSONObject($0) }) else {
            kind = .silent
            return
        }
        kind = Self.kind(of: aps)
        let alert = aps["alert"]
        if kind == .liveActivity { readActivityAlert(alert, in: parser) }
        readAlert(alert, in: parser)
        let sound = aps["sound"]
        content.sound = content.sound ?? sound?.text ?? sound?["name"]?.text
        content.badge = content.badge ?? aps["badge"]?.number
        content.threadId = content.threadId ?? aps["thread-id"]?.text
        content.interruptionLevel = content.interruptionLevel ?? aps["interruption-level"]?.text
        content.relevanceScore = aps["relevance-score"]?.decimal
        if let target = aps["target-content-id"]?.text { content.presentation.targetContentId = target }
        if let criteria = aps["filter-criteria"]?.text { content.presentation.filterCriteria = criteria }
        if let name = aps["category"]?.text { category = .named(name) }
        if kind == .liveActivity { readLiveActivity(aps, in: parser) }
    }

    /// Reads an alert, which is a string or an object; keeps values that were read before.
    mutating func readAlert(_ value: JSONValue?, in parser: JSONParser) {
        guard let value else { return }
        let alert = JSONObject(value)
        fillTexts(title: alert["title"], subtitle: alert["subtitle"], body: value.isString ? value : alert["body"])
        guard value.isObject else { return }
        content.localized.fill(
            titleKey: alert["title-loc-key"], titleArgs: alert["title-loc-args"],
            subtitleKey: alert["subtitle-loc-key"], subtitleArgs: alert["subtitle-loc-args"],
            bodyKey: alert["loc-key"], bodyArgs: alert["loc-args"], in: parser)
    }

    /// Fills the texts that are still missing.
    mutating func fillTexts(title: JSONValue?, subtitle: JSONValue?, body: JSONValue?) {
        content.title = content.title ?? title?.text
        content.subtitle = content.subtitle ?? subtitle?.text
        content.body = content.body ?? body?.text
    }

    /// A push that shows nothing, plays nothing and sets no badge is silent, even if it wakes the app.
    private static func kind(of aps: JSONObject) -> Kind {
        if aps["event"] != nil, PlainReading.isLiveActivity(aps.value) { return .liveActivity }
        return aps["badge"] != nil || PlainReading.isPresented(aps["alert"]) || PlainReading.isPresented(aps["sound"])
            ? .alert : .silent
    }

    /// The alert of a Live Activity contains the sound, and localised texts as objects.
    private mutating func readActivityAlert(_ alert: JSONValue?, in parser: JSONParser) {
        let title = alert?["title"]
        let body = alert?["body"]
        content.sound = content.sound ?? alert?["sound"]?.text
        content.localized.fill(
            titleKey: title?["loc-key"], titleArgs: title?["loc-args"], bodyKey: body?["loc-key"],
            bodyArgs: body?["loc-args"], in: parser)
    }

    /// Reads the change of a Live Activity.
    private mutating func readLiveActivity(_ aps: JSONObject, in parser: JSONParser) {
        liveActivity = LiveActivity(
            event: aps["event"]?.text, timestamp: date(aps["timestamp"], in: parser),
            staleDate: date(aps["stale-date"], in: parser), dismissalDate: date(aps["dismissal-date"], in: parser),
            contentState: aps.block("content-state").map { JSONText($0) },
            attributesType: aps["attributes-type"]?.text, attributes: aps.block("attributes").map { JSONText($0) })
    }

    /// Seconds since 1970, with or without a fraction.
    private mutating func date(_ seconds: JSONValue?, in parser: JSONParser) -> String? {
        guard let seconds, let number = seconds.decimal else { return nil }
        let whole = seconds.number.flatMap { Timestamp(seconds: $0) }
        let milliseconds = Int64(exactly: (number * 1000).rounded())
        if let date = whole ?? milliseconds.flatMap({ Timestamp(milliseconds: $0) }) { return date.text }
        warn("apns.date-invalid", "The date is not a valid number of seconds since 1970.", at: seconds, in: parser)
        return nil
    }
}

extension PushNotification.Localized {
    /// Fills the keys that are still missing, with their arguments.
    mutating func fill(
        titleKey title: JSONValue?, titleArgs: JSONValue?, subtitleKey subtitle: JSONValue? = nil,
        subtitleArgs: JSONValue? = nil, bodyKey body: JSONValue?, bodyArgs: JSONValue?, in parser: JSONParser
    ) {
        if titleKey == nil, let key = title?.text {
            titleKey = key
            self.titleArgs = parser.strings(titleArgs)
        }
        if subtitleKey == nil, let key = subtitle?.text {
            subtitleKey = key
            self.subtitleArgs = parser.strings(subtitleArgs)
        }
        if bodyKey == nil, let key = body?.text {
            bodyKey = key
            self.bodyArgs = parser.strings(bodyArgs)
        }
    }
}
