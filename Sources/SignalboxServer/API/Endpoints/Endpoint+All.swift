/// The list of all endpoints. Read by the router, and by the test that compares docs/reference/http.md with the
/// endpoints.
extension Endpoint {
    /// Every endpoint. A path occurs once for each of its methods. docs/reference/http.md lists the same endpoints.
    package static let all: [Endpoint] =
        console + senders + inAppMessages + categories + events + deliveries + destinations + captures + routes
        + observation + service

    /// Codes of every request that reads or writes the queue.
    static let queue = ["queue-unavailable", "queue-timeout"]
    /// Codes of a text that is read as a payload.
    static let payload = ProblemDescription.payloads.map(\.code)
    /// Codes of a query whose values only the handler checks.
    static let query = ["query-malformed"]
}
