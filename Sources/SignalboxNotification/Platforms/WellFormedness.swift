import SignalboxJSON

/// Collects what an envelope gets wrong. Bounded, so that a payload full of mistakes costs no more than one with a few.
struct WellFormedness {
    private static let limit = 32

    let parser: JSONParser
    private(set) var warnings: [Warning] = []

    /// Starts with the warnings that any payload may have: repeated keys, and an event instead of a payload.
    init(of arrival: Arrival) {
        parser = arrival.parser
        checkKeys(of: arrival.root.value, hasRepeats: arrival.root.hasRepeats)
        if let description = Self.eventForm(of: arrival.root.value) {
            warn(
                "json.event-as-payload", "This is \(description), not a payload: send what the push service gets.",
                at: arrival.root.value)
        }
    }

    /// Recognises the body of a webhook, which is sometimes sent back by mistake; nil for anything else. Source:
    /// github.com/cloudevents/spec, v1.0.2, spec.md, "Required Attributes"; github.com/standard-webhooks.
    private static func eventForm(of root: JSONValue) -> String? {
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

    mutating func warn(_ code: String, _ message: String, at value: JSONValue) {
        guard warnings.count < Self.limit else { return }
        warnings.append(Warning(code, at: parser.pointer(to: value), message))
    }

    private mutating func checkKeys(of value: JSONValue, hasRepeats: Bool) {
        if hasRepeats {
            for repeated in value.repeats(upTo: Self.limit) {
                warn(
                    "json.duplicate-key", "The key stands more than once in its object; the last one counts.",
                    at: repeated)
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
    /// What APNs takes at most, in bytes; VoIP pushes may have 5120
    /// (developer.apple.com, "Generating a remote notification").
    private static let largestPushToAPNs = 4096

    private static let largestCall = 5120

    /// Checks what FCM hands on to APNs, whose type of push the request's headers tell. Blanks do not count.
    mutating func checkSizeForAPNs(_ block: JSONValue?, within arrival: Arrival) {
        guard arrival.size > Self.largestPushToAPNs, let payload = block?["payload"] else { return }
        let isCall = block?["headers"]?["apns-push-type"]?.equals("voip") == true
        let limit = isCall ? Self.largestCall : Self.largestPushToAPNs
        guard JSONText(payload).bytes.count > limit else { return }
        warn("apns.payload-too-large", "APNs refuses payloads of more than \(limit) bytes.", at: payload)
    }

    mutating func checkSizeForAPNs(_ arrival: Arrival) {
        guard arrival.size > Self.largestPushToAPNs else { return }
        warn("apns.payload-too-large", "APNs refuses payloads of more than 4096 bytes.", at: arrival.root.value)
    }

    /// The types of `aps` keys as Apple documents them.
    mutating func checkAPS(_ value: JSONValue) {
        let aps = JSONObject(value)
        if let badge = aps["badge"], badge.double == nil, !badge.isNull {
            warn("apns.badge-not-a-number", "Apple takes only a number as badge.", at: badge)
        }
        if let alert = aps["alert"], !alert.isString, !alert.isObject, !alert.isNull {
            warn("apns.alert-not-text", "An alert is a string or an object.", at: alert)
        }
        if let sound = aps["sound"], !sound.isString, !sound.isObject, !sound.isNull {
            warn("apns.sound-not-a-name", "A sound is a string or an object.", at: sound)
        }
        if let category = aps["category"], !category.isString, !category.isNull {
            warn("apns.category-not-a-string", "A category is a string.", at: category)
        }
    }
}

// MARK: FCM

extension WellFormedness {
    /// What FCM takes at most, in bytes, of `data` and `notification` together
    /// (firebase.google.com, "About FCM messages").
    private static let largestMessage = 4096

    /// Only the parts count that travel to the device, blanks left out, however the request was written.
    mutating func checkSizeForFCM(_ arrival: Arrival, parts: @autoclosure () -> [JSONValue?]) {
        guard arrival.size > Self.largestMessage else { return }
        let bytes = parts().reduce(0) { sum, part in sum + (part.map { JSONText($0).bytes.count } ?? 0) }
        guard bytes > Self.largestMessage else { return }
        warn("fcm.payload-too-large", "FCM refuses messages of more than 4096 bytes.", at: arrival.root.value)
    }

    /// `data` is a map from string to string in HTTP v1 (REST reference of `projects.messages`).
    mutating func checkValues(of data: JSONValue?) {
        guard let data else { return }
        for (_, value) in data.members where !value.isString {
            warn("fcm.data-value-not-a-string", "FCM takes only strings as values of data.", at: value)
            if warnings.count == Self.limit { return }
        }
    }

    /// The condition as a tree, with a warning when Google would refuse it
    /// (firebase.google.com, "Send messages to topics").
    mutating func checkCondition(_ condition: JSONValue?) -> TopicCondition? {
        guard let condition, !condition.isNull else { return nil }
        guard let text = condition.utf8 else {
            warn("fcm.condition-malformed", "A condition is a string.", at: condition)
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

    /// A message has exactly one target; what was received has none left.
    mutating func checkTargets(
        _ device: JSONValue?, _ topic: JSONValue?, _ condition: JSONValue?, of message: JSONValue
    ) {
        let count = (device == nil ? 0 : 1) + (topic == nil ? 0 : 1) + (condition == nil ? 0 : 1)
        guard count > 1 else { return }
        warn("fcm.several-targets", "A message has one target: a token, a topic or a condition.", at: message)
    }
}
