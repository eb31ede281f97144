package import SignalboxJSON

/// An app's report of a tap: on a notification, on one of its buttons, or to dismiss it. Apps may send a report again:
/// ``identity`` recognises repeats.
package struct Interaction: Sendable, Equatable {
    /// The part of the notification that the user tapped.
    package enum Choice: Sendable, Equatable {
        /// The notification itself.
        case body
        /// The user dismissed the notification without a tap.
        case dismissal
        /// A button, by its identifier.
        case button(String)
    }

    /// The id of the notification's event.
    package let eventID: String
    /// ``choosing(among:)`` settles whether a word means a button.
    package private(set) var choice: Choice
    /// The reported identifier.
    private let actionIdentifier: String
    /// The user's input, for a button with a text input.
    package let text: String?
    /// The time of the tap by the device's clock.
    package let deviceTime: Timestamp
    /// The place where the notification was shown; nil if the app does not report it.
    package let activity: Activity?

    /// The largest `text`, in bytes.
    static let textLimit = 16 * 1024
    /// The longest `actionIdentifier`, in bytes.
    private static let identifierLimit = 4 * 1024
    /// The accepted members; any other one makes the report malformed.
    private static let members = ["eventId", "actionIdentifier", "text", "deviceTime", "activity"]

    /// Reads `{"eventId", "actionIdentifier", "text"?, "deviceTime", "activity"?}`. Accepts Apple's identifiers for
    /// the default action and the dismissal. Throws ``InteractionMistake/malformed(_:)``.
    package init(_ value: JSONValue) throws(InteractionMistake) {
        guard value.isObject else {
            throw .malformed("The interaction is not a JSON object with eventId, actionIdentifier and deviceTime.")
        }
        var seen: Set<String> = []
        for (key, _) in value.members {
            let name = String(decoding: key, as: UTF8.self)
            guard Self.members.contains(name) else {
                let known = Self.members.joined(separator: ", ")
                throw .malformed("Unknown member \(name.beginning(ofScalars: 100)); known: \(known).")
            }
            guard seen.insert(name).inserted else { throw .malformed("\(name) occurs twice: keep one of them.") }
        }
        eventID = try Self.text("eventId", of: value, upTo: 64, "the id that the gateway gave the event")
        actionIdentifier = try Self.text(
            "actionIdentifier", of: value, upTo: Self.identifierLimit, "a button's identifier, default or dismiss")
        choice = Choice(actionIdentifier)
        var time = try Self.text("deviceTime", of: value, upTo: 64, "the time of the tap, such as 2026-11-20T21:29:00Z")
        guard let deviceTime = time.withUTF8({ Timestamp(iso8601: $0) }) else {
            throw .malformed("Invalid deviceTime: write it in RFC 3339, such as 2026-11-20T21:29:00Z.")
        }
        self.deviceTime = deviceTime
        text = value["text"] == nil ? nil : try Self.text("text", of: value, upTo: Self.textLimit, "the user's input")
        activity = try value["activity"].map { (word) throws(InteractionMistake) in
            guard let activity = Activity(rawValue: word.string ?? "") else {
                let known = Activity.allCases.map(\.rawValue).joined(separator: ", ")
                throw .malformed("Unknown activity; expected one of \(known).")
            }
            return activity
        }
    }

    /// Parses and reads a report. Throws if the text is not JSON; see ``init(_:)``. `parser` is reset.
    package static func read(
        _ text: UnsafeBufferPointer<UInt8>, with parser: JSONParser
    ) throws(JSONError) -> Result<Interaction, InteractionMistake> {
        parser.reset()
        let value = try parser.parse(text)
        return Result { () throws(InteractionMistake) in try Interaction(value) }
    }

    /// A required string of limited length; only `text` may be empty. `meaning`: for the error message.
    private static func text(
        _ key: StaticString, of value: JSONValue, upTo limit: Int, _ meaning: String
    ) throws(InteractionMistake) -> String {
        guard let text = value[key]?.string, key.description == "text" || !text.isEmpty else {
            throw .malformed("\(key) is missing or not a string; expected \(meaning).")
        }
        guard text.utf8.count <= limit else { throw .malformed("\(key) is longer than \(limit) bytes.") }
        return text
    }

    /// The interaction with a notification that has these buttons: a button named exactly `default` or `dismiss` has
    /// precedence over the meaning of that word. Apple's identifiers always mean the notification.
    func choosing(among buttons: [String]) -> Interaction {
        var interaction = self
        if Choice.words.contains(actionIdentifier), buttons.contains(actionIdentifier) {
            interaction.choice = .button(actionIdentifier)
        }
        return interaction
    }

    /// Equal for reports of the same tap.
    package var identity: String {
        let isButton = if case .button = choice { "1" } else { "0" }
        return [eventID, isButton + choice.identifier, text.map { "1" + $0 } ?? "0", deviceTime.text].joined(
            separator: "\u{0}")
    }
}

extension Interaction.Choice {
    /// Words that a vendor may also use as the identifier of a button.
    fileprivate static let words = ["default", "dismiss"]

    /// Source: developer.apple.com/documentation/usernotifications (UNNotificationDefaultActionIdentifier,
    /// UNNotificationDismissActionIdentifier)
    fileprivate init(_ identifier: String) {
        switch identifier {
        case "default", "com.apple.UNNotificationDefaultActionIdentifier": self = .body
        case "dismiss", "com.apple.UNNotificationDismissActionIdentifier": self = .dismissal
        default: self = .button(identifier)
        }
    }

    /// Its form in events.
    package var identifier: String {
        switch self {
        case .body: "default"
        case .dismissal: "dismiss"
        case .button(let identifier): identifier
        }
    }
}

/// The place in the app where the user tapped a campaign, in the words of Synerise's SDK (`SNRSyneriseActivity`).
package enum Activity: String, Sendable, CaseIterable {
    /// The raw values are those of reports and events.
    case simplePush, banner, walkthrough

    /// The fate of a shown campaign after its action.
    package enum Presentation: String, Sendable {
        /// The app removes the campaign from the screen, or leaves it there.
        case hide, keep
    }

    /// A walkthrough stays, so that the user can see its other pages; the others disappear.
    /// Source: Synerise, "Handling actions from campaigns" (completion handlers `.none` and `.hide`)
    var presentation: Presentation { self == .walkthrough ? .keep : .hide }

    /// The place of a notification of this kind, for an app that does not report it.
    init?(kind: String) {
        switch kind {
        case "alert": self = .simplePush
        case "banner", "mandatory-upgrade": self = .banner
        case "walkthrough": self = .walkthrough
        default: return nil
        }
    }
}

/// Why the gateway rejects a report of a tap.
package enum InteractionMistake: Error, Sendable, Equatable {
    /// With a sentence for people.
    case malformed(String)
    /// No event has this id, or the event has expired.
    case unknownEvent(String)
    /// The event is not that of a notification.
    case notANotification(String)
    /// The interaction's event would exceed the size limit.
    case tooLarge
    /// Matching the event against the routes exceeds the work limit.
    case tooCostly
    /// The event has no such button. `known`: some of its buttons.
    case unknownAction(String, known: [String])
}
