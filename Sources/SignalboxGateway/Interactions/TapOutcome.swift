package import Foundation
import SignalboxJSON
package import SignalboxNotification

/// The gateway's action on a tap. Exactly one applies to each tap.
package enum TapOutcome: Sendable, Equatable {
    /// The gateway does nothing: the app or a receiver of the event handles the action.
    case passed
    /// Rejected, for a reason among the problems.
    case refused
    /// The notification is redelivered later, as a new event.
    case snoozed(minutes: Int, until: Date, EventID)
    /// A calendar file was stored.
    case rendered(CalendarMedia)

    /// Its name in events and replies. The names are part of the event's schema.
    package var word: String {
        switch self {
        case .passed: "passed"
        case .refused: "refused"
        case .snoozed: "snoozed"
        case .rendered: "rendered"
        }
    }

    /// A stored file as an event describes it. The role of the file in events is `calendar`.
    package struct CalendarMedia: Sendable, Equatable {
        /// 64 lower-case hexadecimal digits.
        package let sha256: String
        /// Size of the file.
        package let bytes: Int
        /// Absolute if the config has a public URL, otherwise relative to the gateway's root.
        package let href: String
    }
}

/// A tap, its problems, and its outcome. ``InteractionIntake`` writes it to the event and to the reply.
package struct DecidedTap: Sendable {
    /// The tap as it was found in the notification's event.
    package let tap: Tap
    /// Mistakes in the action, and reasons why the gateway did not act. In the order in which they were found; empty
    /// for most taps.
    package let problems: [ActionProblem]
    /// `refused` comes with at least one problem.
    package let outcome: TapOutcome
}

/// The result of an earlier report of a tap, as the event about it has it. The same tap may have another one later: a
/// snooze that ends before the notification expires is too long a minute later.
package struct FormerOutcome: Sendable {
    /// Members of the event's data; nil for those that it lacks.
    let presentation, outcome, problems, snooze, media: JSONText?

    /// Nil if the event has this outcome.
    init?(_ event: EventDocument, unless present: TapOutcome) {
        guard event.text("data", "outcome") != present.word else { return nil }
        (presentation, outcome) = (event.json("data", "presentation"), event.json("data", "outcome"))
        (problems, snooze) = (event.json("data", "problems"), event.json("data", "snooze"))
        media = event.json("data", "media")
    }
}
