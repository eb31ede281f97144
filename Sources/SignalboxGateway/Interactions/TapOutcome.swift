package import Foundation
package import SignalboxNotification

/// What the gateway does about a tap.
package enum TapOutcome: Sendable, Equatable {
    /// Nothing of its own: the app, or whoever gets the event, carries the action out.
    case passed
    /// Not carried out, for a reason that stands among the problems.
    case refused
    /// The notification comes again, as an event of its own.
    case snoozed(minutes: Int, until: Date, EventID)
    /// A calendar file was made.
    case rendered(CalendarMedia)

    package var word: String {
        switch self {
        case .passed: "passed"
        case .refused: "refused"
        case .snoozed: "snoozed"
        case .rendered: "rendered"
        }
    }

    /// A file that is kept, as an event offers it.
    package struct CalendarMedia: Sendable, Equatable {
        package let sha256: String
        package let bytes: Int
        /// Absolute where the gateway knows its own address, otherwise from its root.
        package let href: String

        package init(sha256: String, bytes: Int, href: String) {
            self.sha256 = sha256
            self.bytes = bytes
            self.href = href
        }
    }
}

/// A tap with all that is said about it.
package struct DecidedTap: Sendable {
    package let tap: Tap
    package let problems: [ActionProblem]
    package let outcome: TapOutcome
}
