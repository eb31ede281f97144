/// Endpoints about captures, routes, failure rules and the gateway itself.
extension EndpointContract {
    /// Codes of waits. Their 408 has the captures that came, as members of the problem.
    private static let wait = search + ["capture-timeout", "captures-busy", "captures-stopping"]
    /// Codes of searches. Their bodies have patterns, which operators without the right to read content may not send.
    private static let search = query + ["captures-off", "capture-body-malformed", "content-hidden"]

    static let captures: [EndpointContract] = [
        EndpointContract("GET /v1/captures", "listCaptures", .json("CaptureList"), problems: ["captures-off"]),
        EndpointContract(
            "POST /v1/captures/search", "searchCaptures", body: [.json("CaptureSearch")], optional: true,
            .json("CaptureList"), problems: search),
        EndpointContract(
            "GET /v1/captures/wait", "awaitCaptures", .json("CaptureWait"),
            problems: ["captures-off", "capture-timeout", "captures-busy", "captures-stopping"]),
        EndpointContract(
            "POST /v1/captures/wait", "awaitMatchingCaptures", body: [.json("CaptureSearch")], optional: true,
            .json("CaptureWait"), problems: wait),
        EndpointContract(
            "DELETE /v1/captures", "removeCaptures", .json("Removed"), problems: queue + query + ["captures-off"]),
    ]

    static let routes: [EndpointContract] = [
        EndpointContract("GET /v1/routes", "listRoutes", .json("RouteList")),
        EndpointContract(
            "POST /v1/routes/test", "testRoutes", body: [.json("Payload")], .json("RouteTrial"),
            problems: query + payload),
        EndpointContract("GET /v1/failures", "listFailureRules", .json("FailureRuleList")),
        EndpointContract(
            "PUT /v1/failures/{name}", "putFailureRule", body: [.json("FailureRuleForm")], .json("FailureRule"),
            .json("FailureRule", status: 201),
            problems: queue + ["failure-malformed", "failures-full", "content-hidden"]),
        EndpointContract(
            "DELETE /v1/failures/{name}", "removeFailureRule", .json("FailureRuleList"),
            problems: queue + ["failure-not-found"]),
        EndpointContract("POST /v1/failures/reset", "resetFailureRules", .json("FailureRuleList"), problems: queue),
    ]

    static let service: [EndpointContract] = [
        EndpointContract("GET /v1/actions", "listActions", .json("ActionList"), problems: queue),
        EndpointContract(
            "GET /media/{sha256}", "getMedia", fields: [.ifNoneMatch, .ifMatch, .range, .ifRange],
            Answer(status: 200, content: [.bytes("*/*")], fields: file),
            Answer(status: 206, content: [.bytes("*/*")], fields: file + [.contentRange]),
            Answer(status: 304, content: [], fields: file),
            problems: [
                "media-not-found", "media-link-unsigned", "media-link-wrong", "media-link-expired",
                "media-not-matched", "range-not-satisfiable",
            ]),
        EndpointContract("GET /v1/whoami", "whoAmI", .json("Operator")),
        EndpointContract(
            "GET /metrics", "getMetrics",
            Answer(
                status: 200, content: [.text("text/plain"), .text("application/openmetrics-text")], fields: [.vary]),
            problems: queue),
        EndpointContract("GET /healthz", "getHealth", .json("Health")),
        EndpointContract("GET /readyz", "getReadiness", .json("Readiness"), .json("Unready", status: 503)),
        EndpointContract(
            "GET /schemas/{file}", "getSchema", Answer(status: 200, content: [.bytes("application/schema+json")]),
            problems: ["not-found"]),
        EndpointContract(
            "GET /openapi.json", "getOpenAPI", fields: [.ifNoneMatch],
            .json("OpenAPIDocument", fields: [.etag, .cacheControl]), .notModified),
    ]

    /// Of every successful answer of a media file, 304 included.
    private static let file: [AnswerField] = [.etag, .cacheControl, .acceptRanges, .contentDisposition]
}
