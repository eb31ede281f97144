/// Endpoints about events.
extension EndpointContract {
    /// Codes of lists that accept a pattern. Operators without the right to read content may not send one.
    private static let search = queue + ["pattern-invalid", "content-hidden"]
    /// Codes of requests that name an event by its id.
    private static let one = queue + ["event-not-found"]

    static let events: [EndpointContract] = [
        EndpointContract("GET /v1/events", "listEvents", .json("EventList"), problems: search),
        EndpointContract(
            "POST /v1/events/search", "searchEvents", body: [.json("EventSearch")], optional: true,
            .json("EventList"), problems: search + query),
        EndpointContract("GET /v1/events/{id}", "getEvent", .json("EventDetail"), problems: one),
        EndpointContract(
            "GET /v1/events/{id}/payload", "getPayload",
            Answer(
                status: 200, content: [.bytes("application/octet-stream")],
                fields: [.contentDisposition, .contentTypeOptions]),
            problems: one + ["payload-gone", "content-hidden"]),
        EndpointContract(
            "GET /v1/events/{id}/explain", "explainEvent", .json("Explanation"),
            problems: one + payload + ["payload-gone"]),
        EndpointContract(
            "POST /v1/explain", "explainPayload", body: [.json("Payload")], .json("Explanation"),
            problems: query + payload),
        EndpointContract(
            "POST /v1/events/{id}/send", "sendEvent", .json("SentDelivery"),
            problems: one + payload + query + ["destination-not-found", "delivery-awaits-media", "payload-gone"]),
    ]
}
