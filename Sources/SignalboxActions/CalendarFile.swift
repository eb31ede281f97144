package import Foundation
package import SignalboxModel

/// An event for a calendar as a file: iCalendar (RFC 5545).
package struct CalendarFile: Sendable, Equatable {
    package static let contentType = "text/calendar; charset=utf-8"

    /// UTF-8, with CRLF.
    package let bytes: [UInt8]
    /// What is wrong with the action and did not keep a file from being made of it.
    package let problems: [ActionProblem]

    /// Makes a file of an action of the type calendar. `uid`: what tells this event from all others, the same for each
    /// file that is made of it. `stamp`: when the file is made. Fails with what is wrong with the action.
    package init(action: Action, uid: String, stamp: Date) throws(ActionProblem) {
        problems = try CalendarEvent(action).problems
        bytes = []
    }
}
