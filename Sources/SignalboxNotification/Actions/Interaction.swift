import Foundation
package import SignalboxJSON

/// What an app reports of a tap: on a notification, on one of its buttons, or the one that put it away.
package struct Interaction: Sendable, Equatable {
    package enum Choice: Sendable, Equatable {
        /// The notification itself.
        case body
        case dismissal
        /// A button, by its identifier.
        case button(String)
    }

    /// Id of the event that the gateway made of the notification.
    package let eventID: String
    package private(set) var choice: Choice
    /// As reported.
    private let actionIdentifier: String
    /// What was typed into a button that takes text.
    package let text: String?
    /// By the device's clock.
    package let deviceTime: Timestamp
    /// Where it was shown; nil where the app does not say.
    package let activity: Activity?

    /// The most bytes of `text`.
    package static let textLimit = 16 * 1024
    private static let identifierLimit = 4 * 1024
    private static let members = ["eventId", "actionIdentifier", "text", "deviceTime", "activity"]

    /// Reads `{"eventId", "actionIdentifier", "text"?, "deviceTime", "activity"?}`, or says what is wrong with it. Apple's
    /// identifiers for the default action and the dismissal mean those.
    package init(_ value: JSONValue) throws(InteractionMistake) {
        guard value.isObject else {
            throw .malformed("An interaction is a JSON object with eventId, actionIdentifier and deviceTime.")
        }
        for (key, _) in value.members {
            let name = String(decoding: key, as: UTF8.self)
            guard Self.members.contains(name) else {
                throw .malformed(
                    "There is no member \(name.prefix(100)): an interaction has \(Self.members.joined(separator: ", "))."
                )
            }
        }
        eventID = try Self.text("eventId", of: value, upTo: 64, "the id that the gateway gave the event")
        actionIdentifier = try Self.text(
            "actionIdentifier", of: value, upTo: Self.identifierLimit, "a button's identifier, default or dismiss")
        choice = Choice(actionIdentifier)
        let time = try Self.text("deviceTime", of: value, upTo: 64, "when it happened, such as 2026-11-20T21:29:00Z")
        guard let deviceTime = Timestamp(rfc3339: time) else {
            throw .malformed("deviceTime is no time of RFC 3339: write it like 2026-11-20T21:29:00Z.")
        }
        self.deviceTime = deviceTime
        text = value["text"] == nil ? nil : try Self.text("text", of: value, upTo: Self.textLimit, "what was typed")
        activity = try value["activity"].map { (word) throws(InteractionMistake) in
            guard let activity = Activity(rawValue: word.string ?? "") else {
                let known = Activity.allCases.map(\.rawValue).joined(separator: ", ")
                throw .malformed("There is no such activity: it is one of \(known).")
            }
            return activity
        }
    }

    private static func text(
        _ key: StaticString, of value: JSONValue, upTo limit: Int, _ meaning: String
    ) throws(InteractionMistake) -> String {
        guard let text = value[key]?.string, key.description == "text" || !text.isEmpty else {
            throw .malformed("\(key) is missing or no string: it is \(meaning).")
        }
        guard text.utf8.count <= limit else { throw .malformed("\(key) is longer than \(limit) bytes.") }
        return text
    }

    /// The interaction on a notification with such buttons: one of exactly the reported name is meant before what `default`
    /// and `dismiss` mean otherwise. Apple's identifiers always mean the notification.
    func choosing(among buttons: [String]) -> Interaction {
        var interaction = self
        if Choice.words.contains(actionIdentifier), buttons.contains(actionIdentifier) {
            interaction.choice = .button(actionIdentifier)
        }
        return interaction
    }

    /// What makes two reports the same one, sent twice.
    package var identity: String {
        let isButton = if case .button = choice { "1" } else { "0" }
        return [eventID, isButton + choice.identifier, text.map { "1" + $0 } ?? "0", deviceTime.text].joined(
            separator: "\u{0}")
    }
}

extension Interaction.Choice {
    /// What a vendor may have named a button, too.
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

    /// As events spell it.
    package var identifier: String {
        switch self {
        case .body: "default"
        case .dismissal: "dismiss"
        case .button(let identifier): identifier
        }
    }
}

extension Timestamp {
    fileprivate init?(rfc3339 text: String) {
        var text = text
        guard let time = text.withUTF8({ Timestamp(iso8601: $0) }) else { return nil }
        self = time
    }
}

/// Why a report of a tap was not taken.
package enum InteractionMistake: Error, Sendable, Equatable {
    /// With a sentence for a person.
    case malformed(String)
    /// There is no event with this id, or none any more.
    case unknownEvent(String)
    /// The event is none that could be tapped on.
    case notANotification(String)
    /// What would be made of it is larger than an event may be.
    case tooLarge
    /// Matching the event against the routes exceeds the work limit.
    case tooCostly
    /// The event has no such button; some of those that it has.
    case unknownAction(String, known: [String])
}
