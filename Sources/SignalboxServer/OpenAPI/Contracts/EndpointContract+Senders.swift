/// Endpoints for senders and devices, and those about in-app messages.
extension EndpointContract {
    /// Fields that connect a request with the sender's trace (W3C Trace Context).
    private static let trace: [RequestField] = [.traceparent, .tracestate]
    /// Codes of requests that fail as a whole. Items of a 207 have codes of their own.
    private static let batch = queue + payload + ["batch-too-large"]
    /// Only payloads have idempotency keys.
    private static let notifications: [String] = batch + ["idempotency-key-malformed", "idempotency-key-reused"]
    /// Codes of requests that devices make through their app's server.
    private static let device = queue + ["inapp-malformed", "inapp-too-large", "inapp-device-forbidden"]
    /// `not-found` for an id whose percent escapes are not valid.
    private static let message = queue + ["not-found"]

    static let senders: [EndpointContract] = [
        EndpointContract(
            "POST /v1/notifications", "acceptPayloads", body: [.json("Payloads"), .lines],
            fields: [.idempotencyKey] + trace, .json("PayloadAnswer", status: 202, fields: [.idempotencyReplayed]),
            .json("PayloadReport", status: 207, fields: [.idempotencyReplayed]), problems: notifications),
        EndpointContract(
            "POST /v1/sources/{source}/notifications", "acceptPayloadsOfSource",
            body: [.json("Payloads"), .lines], fields: [.idempotencyKey] + trace,
            .json("PayloadAnswer", status: 202, fields: [.idempotencyReplayed]),
            .json("PayloadReport", status: 207, fields: [.idempotencyReplayed]), problems: notifications),
        EndpointContract(
            "POST /v1/interactions", "acceptInteractions", body: [.json("Interactions"), .lines],
            fields: trace,
            .json("InteractionAnswer", status: 202), .json("InteractionReport", status: 207),
            problems: batch + [
                "interaction-malformed", "event-not-found", "event-not-a-notification", "action-not-found",
            ]),
        EndpointContract(
            "POST /v1/inapp/triggers", "triggerInApp", body: [.json("InAppTrigger")], .json("InAppAnswer"),
            problems: device + ["inapp-explain-forbidden"]),
        EndpointContract(
            "POST /v1/inapp/slots", "fillInAppSlots", body: [.json("InAppPage")], .json("InAppPageAnswer"),
            problems: device + ["inapp-explain-forbidden"]),
        EndpointContract(
            "POST /v1/inapp/offers/{id}/outcome", "reportInAppOutcome", body: [.json("InAppOutcome")],
            .json("InAppOutcomeAnswer"), problems: device + ["offer-not-found", "outcome-contradicts"]),
    ]

    static let inAppMessages: [EndpointContract] = [
        EndpointContract(
            "POST /v1/inapp/explain", "explainInApp", body: [.json("InAppQuestion")], .json("InAppExplanation"),
            problems: queue + ["inapp-malformed", "inapp-too-large", "content-hidden"]),
        EndpointContract(
            "GET /v1/inapp/messages", "listInAppMessages", .json("InAppMessageList"), problems: queue),
        EndpointContract(
            "GET /v1/inapp/messages/{id}", "getInAppMessage", .json("InAppMessage"),
            problems: message + ["message-not-found", "inapp-malformed"]),
        EndpointContract(
            "PUT /v1/inapp/messages/{id}", "putInAppMessage", body: [.json("InAppMessageForm")],
            .json("InAppMessageState"), .json("InAppMessageState", status: 201),
            problems: message + ["inapp-malformed", "inapp-too-large", "inapp-limit-unknown", "inapp-group-unknown"]),
        EndpointContract(
            "DELETE /v1/inapp/messages/{id}", "withdrawInAppMessage", .json("InAppMessageState"),
            problems: message + ["message-not-found", "inapp-malformed"]),
    ]
}
