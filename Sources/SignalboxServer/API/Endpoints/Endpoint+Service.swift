/// About captures, routes, failure rules and the gateway itself.
extension Endpoint {
    /// Codes of waits. Their 408 has the captures that came, as members of the problem.
    private static let wait = search + ["capture-timeout", "captures-busy", "captures-stopping"]
    /// Codes of searches. Their bodies have patterns, which operators without the right to read content may not send.
    private static let search = query + ["captures-off", "capture-body-malformed", "content-hidden"]
    /// Of every successful answer of a media file, 304 included.
    private static let file: [AnswerField] = [.etag, .cacheControl, .acceptRanges, .contentDisposition]

    /// Pushes that reached the provider endpoints.
    static let captures: [Endpoint] = [
        Endpoint(
            "GET", "/v1/captures", .reader,
            "Lists pushes that reached the provider endpoints, newest first; with `after`, oldest first.",
            .init("listCaptures", .json("CaptureList"), problems: ["captures-off"]),
            parameters: CaptureQuery.parameters + [.limit, .cursor]
        ) { try await $0.captures.list($1) },
        Endpoint(
            "POST", "/v1/captures/search", .reader, "The same, with a `match` pattern over the event in the body.",
            .init(
                "searchCaptures", body: [.json("CaptureSearch")], optional: true, .json("CaptureList"),
                problems: search),
            parameters: CaptureQuery.parameters + [.limit, .cursor], bodyLimit: CaptureQuery.bodyLimit, work: .heavy,
            head: { try $0.captures.checkHead(of: $1) }
        ) { try await $0.captures.list($1, $2) },
        Endpoint(
            "GET", "/v1/captures/wait", .reader, "Waits for `count` pushes, at most `timeout`.",
            .init(
                "awaitCaptures", .json("CaptureWait"),
                problems: ["captures-off", "capture-timeout", "captures-busy", "captures-stopping"]),
            parameters: CaptureQuery.parameters + [.count, .timeout]
        ) { try await $0.captures.wait($1) },
        Endpoint(
            "POST", "/v1/captures/wait", .reader, "The same, with a `match` pattern over the event in the body.",
            .init(
                "awaitMatchingCaptures", body: [.json("CaptureSearch")], optional: true, .json("CaptureWait"),
                problems: wait),
            parameters: CaptureQuery.parameters + [.count, .timeout], bodyLimit: CaptureQuery.bodyLimit,
            head: { try $0.captures.checkHead(of: $1) }
        ) { try await $0.captures.wait($1, $2) },
        Endpoint(
            "DELETE", "/v1/captures", .operator, "Removes the captures of a run, or all.",
            .init("removeCaptures", .json("Removed"), problems: queue + query + ["captures-off"]), parameters: [.run],
            changes: .memory("captures.remove")
        ) { try $0.captures.remove($1) },
    ]

    /// Routes and failure rules.
    static let routes: [Endpoint] = [
        Endpoint(
            "GET", "/v1/routes", .reader, "Lists routes with their counters, and the active config.",
            .init("listRoutes", .json("RouteList"))
        ) { api, _ in api.surface.routes.list() },
        Endpoint(
            "POST", "/v1/routes/test", .reader, "Evaluates the routes for a payload or an event; stores nothing.",
            .init("testRoutes", body: [.json("Payload")], .json("RouteTrial"), problems: query + payload),
            parameters: [.source], work: .heavy, head: { _ = try $1.trialSource() }
        ) { try $0.surface.routes.test($1, $2) },
        Endpoint(
            "GET", "/v1/routes/graph", .reader, "Returns sources, vendors, routes and destinations with counts.",
            .init("getRouteGraph", .json("RouteGraph"))
        ) { api, _ in api.surface.flows.graph() },
        Endpoint(
            "POST", "/v1/routes/match", .reader, "Tries a pattern on the newest stored events.",
            .init(
                "matchPattern", body: [.json("PatternTrial")], .json("PatternMatches"),
                problems: queue + ["pattern-invalid", "body-unexpected", "content-hidden"]),
            bodyLimit: FlowsAPI.bodyLimit, work: .heavy
        ) { try await $0.surface.flows.match($1, $2) },
        Endpoint(
            "GET", "/v1/failures", .reader, "Lists failure rules in the order of evaluation, with their counters.",
            .init("listFailureRules", .json("FailureRuleList"))
        ) { $0.surface.failures.list($1) },
        Endpoint(
            "PUT", "/v1/failures/{name}", .operator,
            "Sets a failure rule until the process ends; before those of the config.",
            .init(
                "putFailureRule", body: [.json("FailureRuleForm")], .json("FailureRule"),
                .json("FailureRule", status: 201),
                problems: queue + ["failure-malformed", "failures-full", "content-hidden"]),
            bodyLimit: FailuresAPI.bodyLimit, changes: .memory("failures.put"),
            head: { _ = try FailuresAPI.name(in: $1) }
        ) { try $0.surface.failures.put($1, $2) },
        Endpoint(
            "DELETE", "/v1/failures/{name}", .operator, "Removes a failure rule that `PUT` has set.",
            .init("removeFailureRule", .json("FailureRuleList"), problems: queue + ["failure-not-found"]),
            changes: .memory("failures.remove")
        ) { try $0.surface.failures.remove($1) },
        Endpoint(
            "POST", "/v1/failures/reset", .operator, "Sets the counters of all failure rules to 0.",
            .init("resetFailureRules", .json("FailureRuleList"), problems: queue), changes: .memory("failures.reset")
        ) { $0.surface.failures.reset($1) },
    ]

    /// The live view, and counts since the start.
    static let observation: [Endpoint] = [
        Endpoint(
            "GET", "/v1/stream", .reader,
            "Streams events, deliveries and changes of destinations as they happen, as server-sent events.",
            .init(
                "followStream", fields: [.lastEventID], .init(status: 200, content: [.text("text/event-stream")]),
                problems: query + ["pattern-invalid", "content-hidden", "too-many-streams", "streams-closed"]),
            parameters: LiveSelection.parameters
        ) { try $0.live.stream($1) },
        Endpoint(
            "GET", "/v1/vendors", .reader,
            "Lists vendors with their share, warnings, and keys that no detector reads.",
            .init("listVendors", .json("VendorList"))
        ) { api, _ in api.observed.vendors(known: api.surface.vendorNames) },
        Endpoint(
            "GET", "/v1/rejections", .reader, "Lists the last 200 refused payloads, without their bodies.",
            .init("listRejections", .json("RejectionList")), parameters: [.since, .until]
        ) { try $0.observed.rejections($1) },
        Endpoint(
            "GET", "/v1/stats", .reader, "Returns counts of the last 15 minutes, by vendor, code and destination.",
            .init("getStats", .json("Stats")), parameters: ObservationAPI.statsParameters
        ) { try $0.observed.stats($1) },
    ]

    /// The gateway itself.
    static let service: [Endpoint] = [
        Endpoint(
            "GET", "/v1/actions", .reader, "Lists what operators changed, or tried to change, newest first.",
            .init("listActions", .json("ActionList"), problems: queue),
            parameters: [.actor, .operation, .target, .since, .until, .limit, .cursor]
        ) { try await $0.actions.list($1) },
        Endpoint(
            "POST", "/v1/config/check", .admin, "Checks the text of a config, as `routes check` does.",
            .init(
                "checkConfig", body: [.json("ConfigText")], .json("ConfigCheck"),
                problems: ["payload-empty", "config-unreadable", "config-check-busy"]),
            bodyLimit: ConfigAPI.bodyLimit
        ) { try await $0.surface.configs.check($1, $2) },
        Endpoint(
            "GET", "/v1/config/history", .admin, "Lists the last configs with their changes, without secrets.",
            .init("listConfigs", .json("ConfigHistory"))
        ) { $0.surface.configs.list($1) },
        Endpoint(
            "GET", "/v1/ledger", .reader, "Returns the sums of deliveries by destination and state.",
            .init("getLedger", .json("Ledger"), problems: queue)
        ) { api, _ in try await api.surface.ledger.ledger() },
        Endpoint(
            "GET", "/v1/media", .reader, "Lists stored files, or URLs whose download is due or failed.",
            .init("listMedia", .json("MediaList"), problems: queue), parameters: [.mediaState, .limit, .cursor]
        ) { try await $0.surface.ledger.media($1) },
        Endpoint(
            "GET", "/media/{sha256}", .link, "Serves a stored media file.",
            .init(
                "getMedia", fields: [.ifNoneMatch, .ifMatch, .range, .ifRange],
                .init(status: 200, content: [.bytes("*/*")], fields: file),
                .init(status: 206, content: [.bytes("*/*")], fields: file + [.contentRange]),
                .init(status: 304, content: [], fields: file),
                problems: [
                    "media-not-found", "media-link-unsigned", "media-link-wrong", "media-link-expired",
                    "media-not-matched", "range-not-satisfiable",
                ]),
            parameters: [.expires, .signature]
        ) { try await $0.surface.media.file($1) },
        Endpoint(
            "GET", "/v1/whoami", .metrics, "Returns the name and the role of the token.",
            .init("whoAmI", .json("Operator"))
        ) { api, call in try api.whoami(call) },
        Endpoint(
            "GET", "/metrics", .metrics, "Serves metrics in the Prometheus text format, or OpenMetrics by `accept`.",
            .init(
                "getMetrics",
                .init(
                    status: 200, content: [.text("text/plain"), .text("application/openmetrics-text")], fields: [.vary])
            )
        ) { await $0.metrics($1) },
        Endpoint(
            "GET", "/healthz", .none, "Returns 200 while the process answers requests.",
            .init("getHealth", .json("Health"))
        ) { api, _ in api.health() },
        Endpoint(
            "GET", "/readyz", .none, "Returns 200 while the gateway accepts events, otherwise 503 with a reason.",
            .init("getReadiness", .json("Readiness"), .json("Unready", status: 503))
        ) { api, _ in await api.readiness() },
        Endpoint(
            "GET", "/schemas/{file}", .none,
            "Serves a JSON Schema: `notification-1.json`, `interaction-1.json`, `inapp-1.json`, `inapp-event-1.json`, "
                + "`push-1.json` or, of configs, `routes.json`.",
            .init(
                "getSchema", .init(status: 200, content: [.bytes("application/schema+json")]), problems: ["not-found"])
        ) { try $0.schema($1) },
        Endpoint(
            "GET", "/openapi.json", .none, "Describes this API in OpenAPI 3.1.",
            .init(
                "getOpenAPI", fields: [.ifNoneMatch], .json("OpenAPIDocument", fields: [.etag, .cacheControl]),
                .notModified)
        ) { $0.openAPI($1) },
    ]
}
