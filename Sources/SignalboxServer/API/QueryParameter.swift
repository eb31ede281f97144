import SignalboxStore

/// A query parameter of endpoints. The check of names and the reference page derive from its declaration.
package struct QueryParameter: Sendable, Equatable {
    /// The form of the value. The handler checks values.
    package enum Form: Sendable, Equatable {
        /// Any text.
        case text
        /// Text that a regular expression describes, in the dialect of ECMA-262. It begins with `^` and ends with `$`.
        case pattern(String)
        /// 1 to 64 letters, digits, `-`, `_` or `.`: the name of a source or a destination, or a label.
        case name
        /// RFC 3339.
        case time
        /// A number and a unit, such as `10s`. Units are `ms`, `s`, `m`, `h` and `d`.
        case duration
        /// RFC 3339, or a duration from now.
        case end
        /// A whole number. Both bounds are permitted, and are part of the OpenAPI document.
        case whole(ClosedRange<Int>)
        /// One of these words. The case of letters matters.
        case words([String])
    }

    /// Compared with the undecoded query.
    package let name: String
    /// For the reference page and the OpenAPI document. It decides nothing when a request arrives.
    package let form: Form
    /// One phrase without a full stop.
    package let purpose: String
    /// Whether the endpoint answers 400 without it.
    package let isRequired: Bool

    init(_ name: String, _ form: Form = .text, _ purpose: String, isRequired: Bool = false) {
        (self.name, self.form, self.purpose, self.isRequired) = (name, form, purpose, isRequired)
    }
}

/// Parameters that several endpoints have. A name means the same everywhere.
extension QueryParameter {
    /// Rows of the largest page of every list.
    static let largestPage = 500

    static let limit = Self("limit", .whole(1...largestPage), "The most entries of the page; default 50")
    static let wholeLimit = Self("limit", .whole(1...largestPage), "The most entries of the page; default 500")
    static let cursor = Self("cursor", .text, "`next` of the former page")
    static let since = Self("since", .time, "Entries from this time on")
    static let until = Self("until", .time, "Entries before this time")
    static let pauseEnd = Self(
        "until", .end,
        "When the gateway resumes the destination, within 366 days: RFC 3339, or a time from now such as `30m`")
    static let state = Self("state", .words(DeliveryRecord.State.allCases.map(\.rawValue)), "Deliveries in this state")
    static let mediaState = Self(
        "state", .words(["stored", "wanted", "failed"]), "Files, or URLs in this state; default `stored`")
    static let destination = Self("destination", .text, "Deliveries to this destination")
    static let recipient = Self("destination", .name, "The destination that receives the event", isRequired: true)
    static let event = Self("event", .text, "Deliveries of this event")
    static let vendor = Self("vendor", .text, "Deliveries of events of this vendor")
    static let status = Self(
        "status", .pattern("^[1-5]([0-9]{2}|[xX]{2})$"), "The HTTP status of the last attempt, such as `503` or `5xx`")
    static let error = Self(
        "error", .words(DeliveryFilter.errors),
        "The error of a last attempt without an answer, such as `timeout-reply`")
    static let source = Self("source", .name, "The source of the payload")
    static let withdrawn = Self("withdrawn", .words(["true", "false"]), "Whether to list withdrawn messages too")
    static let count = Self("count", .whole(1...1000), "The number of pushes to wait for; default 1")
    static let timeout = Self("timeout", .duration, "The longest wait; default 10s")
    static let expires = Self("expires", .text, "The end of a signed link")
    static let signature = Self("signature", .text, "The signature of a signed link")
    static let reason = Self("reason", .text, "Why; the action log records it, up to 500 characters")
    static let actor = Self("actor", .text, "Actions of this actor")
    static let operation = Self("operation", .text, "Actions of this kind")
    static let target = Self("target", .text, "Actions on this object")
    static let run = Self("run", .name, "Pushes with this label")
}
