/// The contracts of all endpoints.
extension EndpointContract {
    /// One for each element of ``Endpoint/all``; a test compares them.
    static let all: [EndpointContract] =
        console + senders + inAppMessages + categories + events + deliveries + destinations + captures + routes
        + observation + service

    /// By ``endpoint``.
    static let byEndpoint: [String: EndpointContract] = Dictionary(all.map { ($0.endpoint, $0) }) { first, _ in first }
}

/// Codes that many endpoints share.
extension EndpointContract {
    /// Of every request that reads or writes the queue.
    static let queue = ["queue-unavailable", "queue-timeout"]
    /// Of a text that is read as a payload.
    static let payload = ProblemDescription.payloads.map(\.code)
    /// Of a query whose values only the handler checks.
    static let query = ["query-malformed"]
}
