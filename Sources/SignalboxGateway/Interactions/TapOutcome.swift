package import Foundation
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
