/// About events.
extension Endpoint {
    /// Codes of lists that accept a pattern. Operators without the right to read content may not send one.
    private static let search = queue + ["pattern-invalid", "content-hidden"]
    /// Codes of requests that name an event by its id.
    private static let one = queue + ["event-not-found"]

    /// Stored events.
    static let events: [Endpoint] = [
        Endpoint(
            "GET", "/v1/events", .reader, "Lists events, newest first.",
            .init("listEvents", .json("EventList"), problems: search),
            parameters: EventQuery.parameters + [EventQuery.pattern], work: .heavyWith(EventQuery.examined)
        ) { try await $0.surface.events.list($1) },
        Endpoint(
            "POST", "/v1/events/search", .reader, "The same, with a `pattern` over the event in the body.",
            .init(
                "searchEvents", body: [.json("EventSearch")], optional: true, .json("EventList"),
                problems: search + query),
            parameters: EventQuery.parameters, bodyLimit: EventQuery.bodyLimit, work: .heavy,
            head: { _ = (try EventQuery.filter($1, []), try $1.pageSize()) }
        ) { try await $0.surface.events.list($1, $2) },
        Endpoint(
            "GET", "/v1/events/{id}", .reader,
            "Returns one event with its deliveries, interactions and files, and the decision of each route.",
            .init("getEvent", .json("EventDetail"), problems: one)
        ) { try await $0.surface.events.show($1) },
        Endpoint(
            "GET", "/v1/events/{id}/payload", .operator, "Serves the payload of an event as it was received.",
            .init(
                "getPayload",
                .init(
                    status: 200, content: [.bytes("application/octet-stream")],
                    fields: [.contentDisposition, .contentTypeOptions]),
                problems: one + ["payload-gone", "content-hidden"])
        ) { try await $0.surface.events.payload($1) },
        Endpoint(
            "GET", "/v1/events/{id}/explain", .reader,
            "Explains how the payload of an event was recognised and read, with the origin of each value.",
            .init("explainEvent", .json("Explanation"), problems: one + payload + ["payload-gone"]), work: .heavy
        ) { try await $0.surface.explanations.explainEvent($1) },
        Endpoint(
            "POST", "/v1/events/{id}/send", .operator, "Sends an event to a destination once more.",
            .init(
                "sendEvent", .json("SentDelivery"),
                problems: one + payload + query + ["destination-not-found", "delivery-awaits-media", "payload-gone"]),
            parameters: [.recipient], changes: .stored("events.send")
        ) { try await $0.surface.events.send($1) },
        Endpoint(
            "POST", "/v1/explain", .reader, "Explains how a payload is recognised, read and routed; stores nothing.",
            .init("explainPayload", body: [.json("Payload")], .json("Explanation"), problems: query + payload),
            parameters: [.source], work: .heavy, head: { _ = try $1.trialSource() }
        ) { try await $0.surface.explanations.explain($1, $2) },
    ]
}
