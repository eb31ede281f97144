import SignalboxJSON

extension PushNotification {
    /// Reads `aps` (developer.apple.com, "Generating a remote notification"). What was read before is kept.
    mutating func readAPS(_ value: JSONValue?, in parser: JSONParser) {
        guard let aps = value.map({ JSONObject($0) }) else { return }
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
        if let target = aps["target-content-id"]?.text { content.targetContentId = target }
        if let criteria = aps["filter-criteria"]?.text { content.filterCriteria = criteria }
        if let name = aps["category"]?.text { category = Category(identifier: name, origin: .static, actions: []) }
        if kind == .liveActivity { readLiveActivity(aps, in: parser) }
    }

    private mutating func readLiveActivity(_ aps: JSONObject, in parser: JSONParser) {
        liveActivity = LiveActivity(
            event: aps["event"]?.text, timestamp: date(aps["timestamp"], in: parser),
            staleDate: date(aps["stale-date"], in: parser), dismissalDate: date(aps["dismissal-date"], in: parser),
            contentState: aps["content-state"].flatMap { $0.isObject ? JSONText($0) : nil },
            attributesType: aps["attributes-type"]?.text,
            attributes: aps["attributes"].flatMap { $0.isObject ? JSONText($0) : nil })
    }

    /// The alert of a Live Activity has its own sound, and localised texts as objects (ActivityKit, "Starting and
    /// updating Live Activities with ActivityKit push notifications").
    private mutating func readActivityAlert(_ alert: JSONValue?, in parser: JSONParser) {
        let title = alert?["title"]
        let body = alert?["body"]
        content.sound = content.sound ?? alert?["sound"]?.text
        content.localized.fill(
            titleKey: title?["loc-key"], titleArgs: title?["loc-args"], bodyKey: body?["loc-key"],
            bodyArgs: body?["loc-args"], in: parser)
    }

    /// Seconds since 1970, with or without a fraction.
    private mutating func date(_ seconds: JSONValue?, in parser: JSONParser) -> String? {
        guard let seconds, let number = seconds.decimal else { return nil }
        let whole = seconds.number.flatMap { Timestamp(seconds: $0) }
        let milliseconds = Int64(exactly: (number * 1000).rounded())
        if let date = whole ?? milliseconds.flatMap({ Timestamp(milliseconds: $0) }) { return date.text }
        warn("apns.date-invalid", "Dates are seconds since 1970.", at: seconds, in: parser)
        return nil
    }

    /// A push that neither shows, sounds nor counts is silent, whatever wakes the app.
    private static func kind(of aps: JSONObject) -> Kind {
        if aps["event"] != nil, PlainReading.isLiveActivity(aps.value) { return .liveActivity }
        let counts = aps["badge"].map { !$0.isNull } ?? false
        return counts || PlainReading.isShown(aps["alert"]) || PlainReading.isShown(aps["sound"]) ? .alert : .silent
    }

    /// Reads an alert, which is a string or an object. Values read earlier are kept.
    mutating func readAlert(_ value: JSONValue?, in parser: JSONParser) {
        guard let value else { return }
        let alert = JSONObject(value)
        content.title = content.title ?? alert["title"]?.text
        content.subtitle = content.subtitle ?? alert["subtitle"]?.text
        content.body = content.body ?? value.text ?? alert["body"]?.text
        guard value.isObject else { return }
        content.localized.fill(
            titleKey: alert["title-loc-key"], titleArgs: alert["title-loc-args"],
            subtitleKey: alert["subtitle-loc-key"], subtitleArgs: alert["subtitle-loc-args"],
            bodyKey: alert["loc-key"], bodyArgs: alert["loc-args"], in: parser)
    }
}

extension PlainReading {
    /// True for a present, non-empty alert or sound. An empty one shows and plays nothing.
    static func isShown(_ value: JSONValue?) -> Bool {
        guard let value, !value.isNull, !value.isEmptyContainer else { return false }
        return !value.isString || value.hasText
    }
}

extension PushNotification.Localized {
    /// Takes keys, with their arguments, that are still open.
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
