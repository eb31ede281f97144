import HTTPTypes

/// Bulk changes.
extension Problem {
    /// For a removal without a reason: it cannot be undone.
    static let reasonRequired = Problem(
        .badRequest, "reason-required", title: "A reason is required",
        "Send a reason; the action log keeps it. No delivery was removed.")
    /// The confirmation is too old, is of another store, or was changed.
    static let confirmExpired = Problem(
        .conflict, "confirm-expired", title: "No change was made",
        "The confirmation is older than 5 minutes, or of another store: preview the change again.")
    /// The confirmation is of the preview of another filter or another change.
    static let confirmMismatch = Problem(
        .conflict, "confirm-mismatch", title: "No change was made",
        "The confirmation is of another filter or another change: send the filter of the preview.")
}

extension Problem {
    /// A body that the endpoint does not accept. `detail`: a sentence with a full stop. `pointer`: the location of the
    /// mistake.
    static func body(_ detail: String, at pointer: String) -> Problem {
        Problem(.badRequest, "body-unexpected", title: "Invalid request body", detail, pointer: pointer)
    }

    /// The same for a body that would change something.
    static func changeBody(_ detail: String, at pointer: String) -> Problem {
        .body("\(detail) No change was made.", at: pointer)
    }
}
