import HTTPTypes
import SignalboxJSON

// MARK: Events

extension Problem {
    /// `id`: as the client sent it, at most 200 characters of it are shown.
    static func noSuchEvent(_ id: String) -> Problem {
        unknown("event-not-found", "event", String(id.prefix(200)), in: "events")
    }

    /// The event is stored without its payload.
    static let payloadGone = Problem(
        .gone, "payload-gone", title: "The payload was not kept",
        "The payload of this event is not stored. Set console.keepPayloads to \"dead\" or \"all\" to keep those of "
            + "later events; POST /v1/explain takes a payload of your own.")

    /// A second delivery could have another form than the first one.
    static let sendAwaitsMedia = Problem(
        .conflict, "delivery-awaits-media", title: "No change was made",
        "A delivery of this event to this destination waits for its media files: it is sent when they have arrived or "
            + "the wait is over.")

    /// A pattern in a query or in a body. `mistake`: a clause. `position`: line and column, which become strings; nil
    /// leaves both members out.
    static func badPattern(_ mistake: String, at pointer: String, _ position: TextPosition?) -> Problem {
        Problem.pattern("The pattern is not valid: \(mistake).", at: pointer).with(position)
    }
}
