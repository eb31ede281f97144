import SignalboxJSON

/// Collects the mistakes of an envelope, up to a limit. Never rejects a payload: the push service would, but the
/// gateway only observes. At most 32 warnings, so a payload of mistakes does not become a large event.
struct WellFormedness {
    /// The most mistakes of an envelope, and the most repeated keys of an object. Finding a pointer walks the
    /// document.
    private static let limit = 32

    let parser: JSONParser
    /// At most ``limit``, in the order in which they were found.
    private(set) var warnings: [Warning] = []

    /// Records the mistakes of payloads in any envelope: repeated keys, and an event instead of a payload. Walks the
    /// whole payload once for repeated keys.
    init(of arrival: Arrival) {
        parser = arrival.parser
        checkKeys(of: arrival.root.value, hasRepeats: arrival.root.hasRepeats)
        if let description = Self.eventForm(of: arrival.root) {
            warn(
                "json.event-as-payload", "This is \(description), not a payload: send the request to the push service.",
                at: arrival.root.value)
        }
    }

    /// Recognises the body of a webhook, which is sometimes sent back by mistake; nil for any other object. Source:
    /// github.com/cloudevents/spec, v1.0.2, spec.md, "Required Attributes"; github.com/standard-webhooks.
    private static func eventForm(of root: JSONObject) -> String? {
        if root["specversion"]?.isString == true, ["id", "source", "type"].allSatisfy({ root[$0]?.isString == true }) {
            return "a CloudEvent"
        }
        if root["data"]?.isObject == true, root["timestamp"]?.isString == true,
            root["type"]?.utf8?.starts(with: "io.signalbox.".utf8) == true
        {
            return "an event of Signalbox"
        }
        if root["detection"]?["evidence"]?.isArray == true, root["vendor"]?.isString == true {
            return "the data of an event of Signalbox"
        }
        return nil
    }

    /// Records a mistake of a value, up to the limit.
    mutating func warn(_ code: String, _ message: String, at value: JSONValue) {
        warnings.append(Warning(code, at: parser.pointer(to: value), message), upTo: Self.limit)
    }

    /// Records repeated keys at every depth.
    private mutating func checkKeys(of value: JSONValue, hasRepeats: Bool) {
        if hasRepeats {
            for repeated in value.repeats(upTo: Self.limit) {
                warn("json.duplicate-key", "The key is repeated in its object; the last value counts.", at: repeated)
            }
        }
        for (_, member) in value.members where member.isObject || member.isArray {
            checkKeys(of: member, hasRepeats: member.hasRepeats)
        }
        for element in value.elements where element.isObject || element.isArray {
            checkKeys(of: element, hasRepeats: element.hasRepeats)
        }
    }
}

// MARK: APNs

extension WellFormedness {
    /// Limit of APNs, in bytes; VoIP pushes may have 5120 (developer.apple.com, "Generating a remote notification").
    private static let largestPushToAPNs = 4096
    private static let largestCall = 5120

    /// Records an `aps` that is not an object. For a payload without an object `aps`.
    mutating func warnOfWrongAPS(in arrival: Arrival) {
        guard let aps = arrival.root["aps"] else { return }
        warn("apns.aps-not-an-object", "`aps` is not an object.", at: aps)
    }

    /// Checks the payload that FCM forwards to APNs. The request's headers contain the type of push; white space does
    /// not count.
    mutating func checkSizeForAPNs(_ block: JSONValue?, within arrival: Arrival) {
        guard arrival.size > Self.largestPushToAPNs, let payload = block?["payload"] else { return }
        let isCall = block?["headers"]?["apns-push-type"]?.equals("voip") == true
        let limit = isCall ? Self.largestCall : Self.largestPushToAPNs
        guard JSONText(payload).bytes.count > limit else { return }
        warn("apns.payload-too-large", "APNs rejects payloads of more than \(limit) bytes.", at: payload)
    }

    /// Checks a payload for APNs, white space included, as APNs counts.
    mutating func checkSizeForAPNs(_ arrival: Arrival) {
        guard arrival.size > Self.largestPushToAPNs else { return }
        warn("apns.payload-too-large", "APNs rejects payloads of more than 4096 bytes.", at: arrival.root.value)
    }

    /// The types of `aps` keys as Apple documents them. The size is checked elsewhere.
    mutating func checkAPS(_ value: JSONValue) {
        let aps = JSONObject(value)
        if let badge = aps["badge"], badge.double == nil {
            warn("apns.badge-not-a-number", "The badge is not a number.", at: badge)
        }
        if let alert = aps["alert"], !alert.isString, !alert.isObject {
            warn("apns.alert-not-text", "The alert is neither a string nor an object.", at: alert)
        }
        if let sound = aps["sound"], !sound.isString, !sound.isObject {
            warn("apns.sound-not-a-name", "The sound is neither a string nor an object.", at: sound)
        }
        if let category = aps["category"], !category.isString {
            warn("apns.category-not-a-string", "The category is not a string.", at: category)
        }
    }
}

// MARK: FCM

extension WellFormedness {
    /// Limit of FCM, in bytes, for `data` and `notification` together (firebase.google.com, "About FCM messages").
    private static let largestMessage = 4096

    /// Counts the parts that FCM sends to the device, without white space.
    mutating func checkSizeForFCM(_ arrival: Arrival, parts: @autoclosure () -> [JSONValue?]) {
        guard arrival.size > Self.largestMessage else { return }
        let bytes = parts().reduce(0) { sum, part in sum + (part.map { JSONText($0).bytes.count } ?? 0) }
        guard bytes > Self.largestMessage else { return }
        warn("fcm.payload-too-large", "FCM rejects messages of more than 4096 bytes.", at: arrival.root.value)
    }

    /// `data` is a map from string to string in HTTP v1 (REST reference of `projects.messages`).
    mutating func checkValues(of data: JSONValue?) {
        guard let data else { return }
        for (_, value) in data.members where !value.isString {
            warn("fcm.data-value-not-a-string", "The value is not a string; FCM accepts only strings.", at: value)
            if warnings.count == Self.limit { return }
        }
    }

    /// The parsed condition; nil, with a warning, if Google would reject it (firebase.google.com, "Send messages to
    /// topics").
    mutating func checkCondition(_ condition: JSONValue?) -> TopicCondition? {
        guard let condition else { return nil }
        guard let text = condition.utf8 else {
            warn("fcm.condition-malformed", "The condition is not a string.", at: condition)
            return nil
        }
        do throws(InvalidCondition) {
            return try TopicCondition(parsing: text)
        } catch {
            let isTooLong = error.reason == .tooManyTopics
            warn(isTooLong ? "fcm.condition-too-long" : "fcm.condition-malformed", error.message, at: condition)
            return nil
        }
    }

    /// A request has exactly one target; a received message has none.
    mutating func checkTargets(_ targets: JSONValue?..., of message: JSONValue) {
        guard targets.count(where: { $0 != nil }) > 1 else { return }
        warn("fcm.several-targets", "The message has more than one target; FCM accepts one.", at: message)
    }
}
