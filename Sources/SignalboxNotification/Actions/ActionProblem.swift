/// A mistake of an action, found by rules that apply to every vendor.
package struct ActionProblem: Error, Sendable, Equatable {
    /// Stable; the message may change.
    package enum Code: String, Sendable, CaseIterable {
        /// The action lacks the link or number that its type needs.
        case valueMissing = "action.value-missing"
        /// The link violates RFC 3986; see ``LinkSyntax``.
        case uriInvalid = "action.uri-invalid"
        /// A pass or web view whose link is not https.
        case notHTTPS = "action.not-https"
        /// The config does not allow the link's scheme, or the scheme is unsafe.
        case schemeNotAllowed = "action.scheme-not-allowed"
        /// The number is not one to dial; see ``PhoneNumber``.
        case phoneInvalid = "action.phone-invalid"
        /// The minutes are missing, not a whole number, or out of range.
        case snoozeInvalid = "action.snooze-invalid"
        case snoozeTooLong = "action.snooze-too-long"
        /// The calendar event lacks a title or a start, has an invalid date, or ends before it starts.
        case calendarInvalid = "action.calendar-invalid"
        case calendarNotKept = "action.calendar-not-kept"
        /// The time zone is unknown; the gateway reads the event in UTC.
        case timeZoneUnknown = "action.time-zone-unknown"
        /// The config requires the argument, or a calendar event has no end.
        case argumentMissing = "action.argument-missing"
        /// The argument's type differs from the schema in the config.
        case argumentWrongType = "action.argument-wrong-type"
        /// The number or the length is outside of the schema's bounds.
        case argumentOutOfRange = "action.argument-out-of-range"
        /// The value is not one that the schema lists.
        case argumentNotAllowed = "action.argument-not-allowed"
        /// The button lacks an option that the config requires of its type.
        case optionMissing = "action.option-missing"
    }

    /// The code of the warning on the event.
    package let code: Code
    /// JSON Pointer from the action in an event, such as `/value`; empty for the action itself.
    package let path: String
    /// One sentence for people.
    package let message: String

    /// `path`: from the action; empty for the action itself.
    package init(_ code: Code, at path: String = "", _ message: String) {
        (self.code, self.path, self.message) = (code, path, message)
    }

    /// True when the gateway does not perform such an action, because it cannot or must not.
    package var isRefusal: Bool {
        switch code {
        case .valueMissing, .uriInvalid, .notHTTPS, .schemeNotAllowed, .phoneInvalid, .snoozeInvalid, .snoozeTooLong,
            .calendarInvalid:
            true
        case .calendarNotKept, .timeZoneUnknown, .argumentMissing, .argumentWrongType, .argumentOutOfRange,
            .argumentNotAllowed, .optionMissing:
            false
        }
    }
}
