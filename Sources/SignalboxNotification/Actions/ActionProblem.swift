/// A mistake of an action, found by rules that apply to every vendor.
package struct ActionProblem: Error, Sendable, Equatable {
    /// Stable; the message may change.
    package enum Code: String, Sendable, CaseIterable {
        case valueMissing = "action.value-missing"
        case uriInvalid = "action.uri-invalid"
        case notHTTPS = "action.not-https"
        case schemeNotAllowed = "action.scheme-not-allowed"
        case phoneInvalid = "action.phone-invalid"
        case snoozeInvalid = "action.snooze-invalid"
        case snoozeTooLong = "action.snooze-too-long"
        case calendarInvalid = "action.calendar-invalid"
        case calendarNotKept = "action.calendar-not-kept"
        case timeZoneUnknown = "action.time-zone-unknown"
        case argumentMissing = "action.argument-missing"
        case argumentWrongType = "action.argument-wrong-type"
        case argumentOutOfRange = "action.argument-out-of-range"
        case argumentNotAllowed = "action.argument-not-allowed"
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
        self.code = code
        self.path = path
        self.message = message
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
