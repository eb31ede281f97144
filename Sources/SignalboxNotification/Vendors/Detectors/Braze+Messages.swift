import SignalboxInApp
import SignalboxJSON

// Braze's triggers as messages of the in-app engine (braze-roku-sdk, BrazeSDK.brs; braze-web-sdk, models/trigger.js;
// doc "In-app messages").

extension PushNotification {
    /// Adds the message of each trigger, or a warning for a trigger that cannot be read.
    mutating func bringBrazeMessages(of triggers: [JSONValue], in parser: JSONParser) {
        var conditions = BrazeConditions()
        for trigger in triggers {
            var reader = BrazeTrigger(trigger, conditions)
            let pushed = reader.message()
            conditions = reader.conditions
            for condition in conditions.takeUnknown() {
                warn("braze.condition-unknown", "Unknown type of Braze condition.", at: condition, in: parser)
            }
            if let pushed { bring(pushed, from: trigger, in: parser) }
            if let fault = conditions.takeFault() { rejectMessage(fault.reason, at: fault.value, in: parser) }
        }
    }
}

/// Reads one trigger. A rule that is present but unreadable brings no message: the SDK would show it at another time,
/// or not at all.
private struct BrazeTrigger {
    private let trigger: JSONValue
    /// Reads the conditions, and keeps the first value that cannot be read.
    private(set) var conditions: BrazeConditions

    /// `conditions`: with the bounds that remain for this payload.
    init(_ trigger: JSONValue, _ conditions: BrazeConditions) {
        (self.trigger, self.conditions) = (trigger, conditions)
    }

    /// Nil, with a fault, for a trigger that cannot be read.
    mutating func message() -> PushedMessage? {
        do throws(Unreadable) { return try read() } catch { return nil }
    }

    private mutating func read() throws(Unreadable) -> PushedMessage {
        let triggers = try conditions.triggers(of: trigger)
        let isTemplate = trigger["type"]?.equals("templated_iam") == true
        if let type = trigger["type"], !type.isNull, !isTemplate, !type.equals("inapp") {
            throw conditions.fault("Unknown type of Braze trigger.", at: type)
        }
        guard let data = trigger["data"], data.isObject else {
            throw conditions.fault("The trigger has no message in data.", at: trigger["data"] ?? trigger)
        }
        // Analytics name the message by its trigger's id; the message repeats it (BrazeSDK.brs, `trigger_ids`).
        let id = trigger["id"]?.scalarText ?? data["trigger_id"]?.scalarText
        let kind = isTemplate ? .modal : try kind(of: data)
        var pushed = PushedMessage(
            VendorID("braze"), id: id, kind: kind, triggers: triggers,
            content: kind == .control ? nil : JSONText(data))
        pushed.message.campaign = id
        pushed.message.isTest = triggers.allSatisfy { $0 == .test }
        try readRules(into: &pushed.message)
        if isTemplate {
            // The app fetches the body when the message fires. One that cannot must not show an empty message.
            pushed.message.requirements.template = "templated_iam"
        } else if kind != .control {
            pushed.action = Braze.click(data)
            try readRequirements(of: data, kind, into: &pushed.message)
        }
        return pushed
    }

    /// Priority, period and spans. Null and -1 mean that there is none (BrazeSDK.brs).
    private mutating func readRules(into message: inout Message) throws(Unreadable) {
        message.rank = try rank(trigger["priority"])
        message.schedule.start = try instant(trigger["start_time"])
        message.schedule.end = try instant(trigger["end_time"])
        message.delay = try span(trigger["delay"], of: 1000) ?? 0
        // From the event, delay included (models/trigger.js).
        message.timeout = try span(trigger["timeout"], of: 1)
        message.interval = try span(trigger["min_seconds_since_last_trigger"], of: 1000)
        if let after = try span(trigger["re_eligibility"], of: 1000) {
            message.reEligibility = after == 0 ? .always : .after(after)
        }
    }

    /// A number (the higher one wins), or the name of one of the dashboard's buckets.
    private mutating func rank(_ value: JSONValue?) throws(Unreadable) -> Int {
        guard let value, !value.isNull else { return VendorRules.rank(of: nil, vendor: "braze") }
        if let bucket = value.text.flatMap({ VendorRules.rank(ofBrazeBucket: $0.lowercased()) }) { return bucket }
        guard let number = value.number else { throw conditions.fault("The priority is not a number.", at: value) }
        return VendorRules.rank(of: Int(clamping: number), vendor: "braze")
    }

    /// Seconds since 1970.
    private mutating func instant(_ value: JSONValue?) throws(Unreadable) -> Instant? {
        guard let value, !value.isNull, value.number != -1 else { return nil }
        guard let seconds = value.number, let time = Timestamp(seconds: seconds) else {
            throw conditions.fault("The date is not a valid number of seconds since 1970.", at: value)
        }
        return time.milliseconds
    }

    /// A number of units. `unit`: in milliseconds.
    private mutating func span(_ value: JSONValue?, of unit: Double) throws(Unreadable) -> Span? {
        guard let value, !value.isNull, value.decimal != -1 else { return nil }
        guard let number = value.decimal, (0...1e11).contains(number) else {
            throw conditions.fault("The time span is not a number of 0 or more.", at: value)
        }
        return Span((number * unit).rounded())
    }

    // MARK: The message

    /// A control wins like any other message and shows nothing.
    private mutating func kind(of data: JSONValue) throws(Unreadable) -> Message.Kind {
        if data["is_control"]?.appleFlag == true { return .control }
        switch data["type"]?.string {
        case "SLIDEUP": return .bar
        case "MODAL", "MODAL_STYLED": return .modal
        case "FULL", "HTML_FULL", "HTML": return .fullscreen
        default: throw conditions.fault("Unknown type of Braze message.", at: data["type"] ?? data)
        }
    }

    /// The SDK discards a message in another orientation, a FULL message without an image, and a modal that consists
    /// of an image and has none (doc "In-app messages").
    private mutating func readRequirements(
        of data: JSONValue, _ kind: Message.Kind, into message: inout Message
    ) throws(Unreadable) {
        let word = data["orientation"]
        switch word?.string {
        case "PORTRAIT": message.requirements.orientation = .portrait
        case "LANDSCAPE": message.requirements.orientation = .landscape
        case "ANY", "": break
        default:
            if let word, !word.isNull { throw conditions.fault("Unknown orientation.", at: word) }
        }
        if let image = data["image_url"]?.text {
            message.requirements.assets = PushedMessage.assets([image])
        } else if data["type"]?.equals("FULL") == true {
            message.requirements.lacksImage = true
        } else if kind == .modal {
            // Unverified: no public source names the key of image-only modals. One without texts has nothing to show.
            let isGraphic = data["image_style"]?.text?.uppercased() == "GRAPHIC"
            let hasText = data["message"]?.hasText == true || data["header"]?.hasText == true
            message.requirements.lacksImage = isGraphic || !hasText
        }
    }
}
