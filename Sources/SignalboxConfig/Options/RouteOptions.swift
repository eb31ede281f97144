package import SignalboxJSON
package import SignalboxNotification

/// A route as the config declares it. SignalboxRouting compiles its pattern and its templates.
package struct RouteOptions: Sendable, Equatable {
    /// The location of its object in the config.
    package internal(set) var location = ConfigLocation(pointer: "")
    /// One line of text, unique in the config; the label of its metrics.
    package var name = ""
    /// The event pattern, as written; nil only while the config has errors.
    package var match: JSONText?
    /// At least one; all of them are declared.
    package var destinations: [DestinationName] = []
    /// Whether later routes are skipped for events that match.
    package var stop = false
    /// Parts of the schedule that have no effect for its deliveries.
    package var ignoring: ScheduleParts = []
    /// Parts that its destinations receive in addition to the event.
    package var including: EventParts = []
    /// The word of `media`; ``media`` combines it with ``mediaWait``.
    var mediaForm = MediaForm.link
    /// Has an effect for stored files only.
    var mediaWait: Duration = .seconds(30)
    /// A disabled route matches no event, and is checked like the others.
    package var isEnabled = true
    /// The share of matching events that it takes, from 0 to 1; nil for all. The event's `id` decides, so the decision
    /// for an event is always the same.
    package var sample: Double?
    /// Nil for any time.
    package var window: RouteWindow?
    /// No pointer leads to the value of another pointer, or into it.
    package var redactions: [Redaction] = []
    /// Nil to send the event's own data.
    package var transform: Transform?

    /// How its destinations receive the files of events.
    package var media: RouteMedia {
        switch mediaForm {
        case .stored: .stored(wait: mediaWait)
        case .link: .link
        case .none: .none
        }
    }

    enum MediaForm: String, Sendable, CaseIterable { case stored, link, none }

    /// The error for a field that occurs twice in a pattern.
    package static let repeatedField = "this field is listed twice; remove one"

    /// An action for the value under a pointer into the event, in which `*` is every element of an array.
    package struct Redaction: Sendable, Equatable {
        /// Begins with `data`; the envelope of an event stays.
        package let pointer: JSONPointer
        /// The same for every value that the pointer selects.
        package let action: RedactionAction
    }

    /// Replaces an event's data: by the JSON that a template writes, or by fields of the event.
    package enum Transform: Sendable, Equatable {
        /// Its output must be JSON.
        case template(TemplateSource)
        /// In the order of the config.
        case map([DataField])
    }
}

/// The effect on a value that a route redacts.
package enum RedactionAction: String, Sendable, CaseIterable {
    /// Removes the member or element.
    case drop
    /// Replaces strings by stars, numbers by 0 and booleans by false; keeps the structure.
    case mask
    /// Replaces the value by a keyed hash: equal for equal values, and not reversible by trying values.
    case hash
}

/// A member of the data that a route's map makes.
package struct DataField: Sendable, Equatable {
    /// The key of the member, unique in its object.
    package let name: String
    /// Its value.
    package let source: Source

    /// The value of a member: copied, or an object of further members, at most 16 levels deep.
    package indirect enum Source: Sendable, Equatable {
        /// A value of the event. If the event has none here, the member is omitted.
        case pointer(JSONPointer)
        /// Written even if none of its members has a value.
        case object([DataField])
    }
}

/// How the destinations of a route receive the files of events.
package enum RouteMedia: Sendable, Equatable {
    /// Events have no files.
    case none
    /// Events have the links of the vendor. The gateway downloads no file.
    case link
    /// Events have links to the gateway's copies. Deliveries wait for downloads at most this long; then
    /// unfinished files are marked as skipped.
    case stored(wait: Duration)
}

/// Parts of an event's schedule.
package struct ScheduleParts: OptionSet, Sendable {
    /// Bits of this process only; not stored.
    package let rawValue: Int
    /// For `OptionSet`; use the named parts.
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The time before which the event is not sent.
    package static let notBefore = ScheduleParts(rawValue: 1)
    /// The time at which the event expires.
    package static let notAfter = ScheduleParts(rawValue: 2)
}

/// Parts that an event may have in addition to the notification.
package struct EventParts: OptionSet, Sendable {
    /// Bits of this process only; not stored.
    package let rawValue: Int
    /// For `OptionSet`; use the named parts.
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The APNs payload as a device shows it.
    package static let apns = EventParts(rawValue: 1)
}

// MARK: Options

extension RouteOptions {
    /// The routes of one file, with their locations. Routes with errors are left out.
    static let type = OptionType<[RouteOptions]>(
        TypeInfo("array of routes", ["type": "array", "items": options.schema], members: options.infos),
        write: { _ in .array([]) }
    ) { value, reader in
        let file = reader.file(of: value)
        return reader.entries(value, 0...ConfigBounds.routes, orElse: "")?.enumerated().compactMap { position, entry in
            options.read(entry, &reader).map { route in
                var route = route
                route.location = ConfigLocation(file: file, pointer: "/routes/\(position)")
                if case .template(let source) = route.transform {
                    let location = route.location.appending("transform").appending("template")
                    route.transform = .template(TemplateSource(body: source.body, location: location))
                }
                return route
            }
        }
    }

    /// A default value is a route without name, pattern and destinations; `required` rejects it.
    static let options = Section(
        RouteOptions(),
        rules: [
            "if": ["required": ["mediaWait"]],
            "then": ["required": ["media"], "properties": ["media": ["const": "stored"]]],
        ]
    ) {
        Option("name", \.name, .line, required: missing("name"), "Unique; part of receipts and metrics.")
        Option(
            "match", \.match, pattern, required: missing("match"),
            "The events that the route matches: an event pattern in the language of Amazon EventBridge. `{}` matches every event."
        )
        Option("to", \.destinations, .destinations, required: missing("to"), "The destinations of matching events.")
        Option("stop", \.stop, .flag, "Whether later routes are skipped for matching events.")
        Option(
            "ignore", \.ignoring, .parts(scheduleParts, ScheduleParts.named), "Parts of an event's schedule to ignore.")
        Option(
            "include", \.including, .parts(eventParts, EventParts.named),
            "Parts to add to events: `apns` is the APNs payload as a device shows it.")
        Option(
            "media", \.mediaForm, .choice(expected: "this must be \"stored\", \"link\" or \"none\""),
            "How destinations receive the files of events: downloaded, as the vendor's links, or not at all.")
        Option(
            "mediaWait", \.mediaWait, .duration(from: "0ms", to: "1d", example: "30s"),
            "With `\"media\": \"stored\"`: how long deliveries wait for downloads.")
        Option("enabled", \.isEnabled, .flag, "Whether the route matches events. A disabled route is still checked.")
        Option(
            "sample", \.sample, .share,
            "The share of matching events that the route takes. The event's `id` decides. Default: all.")
        Option(
            "window", \.window, .section(RouteWindow.options),
            "When the route matches events, by the time of acceptance."
        )
        Option(
            "redact", \.redactions, Redaction.type,
            "Values of the data to hide: JSON Pointers in which `*` is every element of an array. An array drops the values; an object has an action for each: `drop` removes the value, `mask` replaces its content, `hash` replaces it by a keyed hash."
        )
        Option("transform", \.transform, Transform.type, "Replaces the event's data.")
    } check: { route, value, reader in
        if let wait = value["mediaWait"], route.mediaForm != .stored, !reader.mistaken.contains("media") {
            reader.note(wait, "deliveries wait for stored files only; add \"media\": \"stored\", or remove this")
        }
    }

    /// The error for a route that lacks one of the three required options.
    private static func missing(_ key: String) -> String {
        "\"\(key)\" is missing; a route needs a \"name\", a \"match\" and a \"to\""
    }

    /// Keeps the text; SignalboxRouting reads and compiles it. Only repeated fields are rejected here.
    static let pattern = OptionType<JSONText>(TypeInfo("event pattern", ["$ref": "#/$defs/pattern"])) {
        value, reader in
        reader.checkRepeats(in: value, repeatedField)
        return JSONText(value)
    }

    /// A part may be listed more than once.
    private static let scheduleParts = OptionType<String>.word(
        among: ["notBefore", "notAfter"],
        expected: "of an event's schedule \"notBefore\" and \"notAfter\" can be ignored"
    ).list(of: "`notBefore`, `notAfter`")

    /// A list, because later versions may add parts.
    private static let eventParts = OptionType<String>.word(
        among: ["apns"], expected: "an event can include \"apns\", the APNs payload as it should be shown"
    ).list(of: "`apns`")
}

extension ScheduleParts {
    /// The words of the config.
    fileprivate static let named: [(name: String, part: ScheduleParts)] = [
        ("notBefore", .notBefore), ("notAfter", .notAfter),
    ]
}

extension EventParts {
    /// The words of the config.
    fileprivate static let named: [(name: String, part: EventParts)] = [("apns", .apns)]
}
