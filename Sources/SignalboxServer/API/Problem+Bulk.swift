import HTTPTypes

/// Bulk changes.
extension Problem {
    /// A removal cannot be undone.
    static let reasonRequired = Problem(
        .badRequest, "reason-required", title: "A reason is required",
        "Send a reason; the action log keeps it. No delivery was removed.")
    /// Also for a token that was changed.
    static let confirmExpired = Problem(
        .conflict, "confirm-expired", title: "No change was made",
        "The confirmation is older than 5 minutes, or of another store: preview the change again.")
    /// The preview showed other deliveries.
    static let confirmMismatch = Problem(
        .conflict, "confirm-mismatch", title: "No change was made",
        "The confirmation is of another filter or another change: send the filter of the preview.")
}

extension Problem {
    /// A body that the endpoint does not accept. `pointer`: the location of the mistake.
    static func body(_ detail: String, at pointer: String) -> Problem {
        Problem(
            .badRequest, "body-unexpected", title: "The request was not understood", "\(detail) No change was made.",
            pointer: pointer)
    }
}
