import SignalboxConfig
import SignalboxStore

/// Also read by the test that compares docs/reference/http.md with the endpoints.
extension Endpoint {
    /// Every endpoint. A path occurs once for each of its methods. docs/reference/http.md lists the same endpoints.
    package static let all: [Endpoint] =
        console + senders + inAppMessages + categories + events + deliveries + destinations + captures + routes
        + observation + service

    /// The console. Its files have no data, so they need no token.
    private static let console: [Endpoint] = [
        Endpoint("GET", "/", .none, "Serves the console.") { try ConsoleFile.page($1, $0.surface.browsers) },
        Endpoint("GET", "/console/{file}", .none, "Serves a file of the console.") {
            try ConsoleFile.file($1, $0.surface.browsers)
        },
        Endpoint("GET", "/assets/{version}/{file}", .none, "Serves the same file, by its version, for caches.") {
            try ConsoleFile.versioned($1, $0.surface.browsers)
        },
    ]

    /// Of senders: payloads, taps and devices.
    private static let senders: [Endpoint] = [
        Endpoint("POST", "/v1/notifications", .source(.notifications), "Accepts payloads for the source of the token.")
        {
            try await $0.notifications.accept($2, of: $1)
        },
        Endpoint(
            "POST", "/v1/sources/{source}/notifications", .source(.notifications),
            "Accepts payloads for the named source."
        ) { try await $0.notifications.accept($2, of: $1) },
        Endpoint("POST", "/v1/interactions", .source(.interactions), "Accepts reports of taps.") {
            try await $0.acceptInteractions($1, $2)
        },
        Endpoint(
            "POST", "/v1/inapp/triggers", .source(.inapp), "Decides which in-app message a device shows now.",
            bodyLimit: InAppAPI.requestLimit
        ) { try await $0.inApp.trigger($1, $2) },
        Endpoint(
            "POST", "/v1/inapp/slots", .source(.inapp), "Fills the slots of a page with inline messages.",
            bodyLimit: InAppAPI.requestLimit
        ) { try await $0.inApp.place($1, $2) },
        Endpoint(
            "POST", "/v1/inapp/offers/{id}/outcome", .source(.inapp), "Accepts a report about an offered message.",
            bodyLimit: InAppAPI.requestLimit
        ) { try await $0.inApp.report($1, $2) },
    ]

    /// In-app messages.
    private static let inAppMessages: [Endpoint] = [
        Endpoint(
            "POST", "/v1/inapp/explain", .reader,
            "Explains what a trigger would bring, at another time or with other counters; stores nothing.",
            bodyLimit: InAppAPI.requestLimit, work: .heavy
        ) { try await $0.inApp.explain($1, $2) },
        Endpoint(
            "GET", "/v1/inapp/messages", .reader, "Lists in-app messages by id.",
            parameters: [.withdrawn, .limit, .cursor]
        ) { try await $0.inApp.list($1) },
        Endpoint("GET", "/v1/inapp/messages/{id}", .reader, "Returns one in-app message.") {
            try await $0.inApp.show($1)
        },
        Endpoint(
            "PUT", "/v1/inapp/messages/{id}", .operator, "Registers an in-app message, or changes it.",
            bodyLimit: InAppAPI.messageLimit, changes: .stored("inapp.register")
        ) { try await $0.inApp.register($1, $2) },
        Endpoint(
            "DELETE", "/v1/inapp/messages/{id}", .operator, "Withdraws an in-app message: no new offers.",
            changes: .stored("inapp.withdraw")
        ) { try await $0.inApp.withdraw($1) },
    ]

    /// Button sets.
    private static let categories: [Endpoint] = [
        Endpoint(
            "GET", "/v1/categories", .sourceOr(.reader, .categories), "Lists the button sets that an app registers.",
            parameters: [.wholeLimit, .cursor]
        ) { try await $0.surface.categories.list($1) },
        Endpoint("GET", "/v1/categories/{identifier}", .sourceOr(.reader, .categories), "Returns one button set.") {
            try await $0.surface.categories.show($1)
        },
    ]

    /// Stored events.
    private static let events: [Endpoint] = [
        Endpoint(
            "GET", "/v1/events", .reader, "Lists events, newest first.",
            parameters: EventQuery.parameters + [EventQuery.pattern], work: .heavyWith(EventQuery.examined)
        ) { try await $0.surface.events.list($1) },
        Endpoint(
            "POST", "/v1/events/search", .reader, "The same, with a `pattern` over the event in the body.",
            parameters: EventQuery.parameters, bodyLimit: EventQuery.bodyLimit, work: .heavy
        ) { try await $0.surface.events.list($1, $2) },
        Endpoint(
            "GET", "/v1/events/{id}", .reader,
            "Returns one event with its deliveries, interactions and files, and the decision of each route."
        ) { try await $0.surface.events.show($1) },
        Endpoint("GET", "/v1/events/{id}/payload", .operator, "Serves the payload of an event as it was received.") {
            try await $0.surface.events.payload($1)
        },
        Endpoint(
            "GET", "/v1/events/{id}/explain", .reader,
            "Explains how the payload of an event was recognised and read, with the origin of each value.",
            work: .heavy
        ) { try await $0.surface.explanations.explainEvent($1) },
        Endpoint(
            "POST", "/v1/events/{id}/send", .operator, "Sends an event to a destination once more.",
            parameters: [.recipient], changes: .stored("events.send")
        ) { try await $0.surface.events.send($1) },
        Endpoint(
            "POST", "/v1/explain", .reader,
            "Explains how a payload is recognised, read and routed; stores nothing.", parameters: [.source],
            work: .heavy
        ) { try await $0.surface.explanations.explain($1, $2) },
    ]

    /// Deliveries.
    private static let deliveries: [Endpoint] = [
        Endpoint(
            "GET", "/v1/deliveries", .reader, "Lists deliveries, newest first.",
            parameters: DeliveryFilter.parameters + [.limit, .cursor]
        ) { try await $0.surface.operations.listDeliveries($1) },
        Endpoint("GET", "/v1/deliveries/{id}", .reader, "Returns one delivery with its attempts.") {
            try await $0.surface.operations.showDelivery($1)
        },
        Endpoint(
            "POST", "/v1/deliveries/{id}/retry", .operator,
            "Requeues one dead or waiting delivery with a new retry budget.", changes: .stored("deliveries.retry")
        ) { try await $0.surface.operations.retryDelivery($1) },
        Endpoint(
            "POST", "/v1/deliveries/retry", .operator,
            "Requeues every matching delivery: those of a confirmed preview with a body, at once without one.",
            parameters: DeliveryFilter.parameters, bodyLimit: BulkRequest.bodyLimit,
            changes: .stored("deliveries.retry")
        ) { try await $0.bulk.retry($1, $2) },
        Endpoint(
            "POST", "/v1/deliveries/purge", .admin, "Removes the deliveries of a confirmed preview permanently.",
            bodyLimit: BulkRequest.bodyLimit, changes: .stored("deliveries.purge")
        ) { try await $0.bulk.purge($1, $2) },
    ]

    /// Destinations.
    private static let destinations: [Endpoint] = [
        Endpoint("GET", "/v1/destinations", .reader, "Lists destinations with their state, queue length and latency.") {
            try await $0.surface.destinations.list($1)
        },
        Endpoint("GET", "/v1/destinations/{name}", .reader, "Returns one destination.") {
            try await $0.surface.destinations.show($1)
        },
        Endpoint(
            "POST", "/v1/destinations/{name}/pause", .operator, "Pauses deliveries to a destination.",
            parameters: [.pauseEnd], changes: .stored("destinations.pause")
        ) { try await $0.surface.destinations.pause($1) },
        Endpoint(
            "POST", "/v1/destinations/{name}/resume", .operator,
            "Ends every reason why a destination waits, such as a pause, a 410 or the wait for a probe.",
            changes: .stored("destinations.resume")
        ) { try await $0.surface.destinations.resume($1) },
        Endpoint(
            "POST", "/v1/destinations/{name}/ping", .operator, "Sends a signed test event and returns the outcome.",
            changes: .memory("destinations.ping")
        ) { try await $0.surface.destinations.ping($1) },
    ]

    /// Pushes that reached the provider endpoints.
    private static let captures: [Endpoint] = [
        Endpoint(
            "GET", "/v1/captures", .reader,
            "Lists pushes that reached the provider endpoints, newest first; with `after`, oldest first.",
            parameters: CaptureQuery.parameters + [.limit, .cursor]
        ) { try await $0.captures.list($1) },
        Endpoint(
            "POST", "/v1/captures/search", .reader, "The same, with a `match` pattern over the event in the body.",
            parameters: CaptureQuery.parameters + [.limit, .cursor], bodyLimit: CaptureQuery.bodyLimit,
            work: .heavy
        ) { try await $0.captures.list($1, $2) },
        Endpoint(
            "GET", "/v1/captures/wait", .reader, "Waits for `count` pushes, at most `timeout`.",
            parameters: CaptureQuery.parameters + [.count, .timeout]
        ) { try await $0.captures.wait($1) },
        Endpoint(
            "POST", "/v1/captures/wait", .reader, "The same, with a `match` pattern over the event in the body.",
            parameters: CaptureQuery.parameters + [.count, .timeout], bodyLimit: CaptureQuery.bodyLimit
        ) { try await $0.captures.wait($1, $2) },
        Endpoint(
            "DELETE", "/v1/captures", .operator, "Removes the captures of a run, or all.", parameters: [.run],
            changes: .memory("captures.remove")
        ) { try $0.captures.remove($1) },
    ]

    /// Routes and failure rules.
    private static let routes: [Endpoint] = [
        Endpoint("GET", "/v1/routes", .reader, "Lists routes with their counters, and the active config.") { api, _ in
            api.surface.routes.list()
        },
        Endpoint(
            "POST", "/v1/routes/test", .reader, "Evaluates the routes for a payload or an event; stores nothing.",
            parameters: [.source], work: .heavy
        ) { try $0.surface.routes.test($1, $2) },
        Endpoint("GET", "/v1/routes/graph", .reader, "Returns sources, vendors, routes and destinations with counts.") {
            api, _ in
            api.surface.flows.graph()
        },
        Endpoint(
            "POST", "/v1/routes/match", .reader, "Tries a pattern on the newest stored events.",
            bodyLimit: FlowsAPI.bodyLimit, work: .heavy
        ) { try await $0.surface.flows.match($1, $2) },
        Endpoint(
            "GET", "/v1/failures", .reader, "Lists failure rules in the order of evaluation, with their counters."
        ) { $0.surface.failures.list($1) },
        Endpoint(
            "PUT", "/v1/failures/{name}", .operator,
            "Sets a failure rule until the process ends; before those of the config.",
            bodyLimit: FailuresAPI.bodyLimit, changes: .memory("failures.put")
        ) { try $0.surface.failures.put($1, $2) },
        Endpoint(
            "DELETE", "/v1/failures/{name}", .operator, "Removes a failure rule that `PUT` has set.",
            changes: .memory("failures.remove")
        ) { try $0.surface.failures.remove($1) },
        Endpoint(
            "POST", "/v1/failures/reset", .operator, "Sets the counters of all failure rules to 0.",
            changes: .memory("failures.reset")
        ) { $0.surface.failures.reset($1) },
    ]

    /// The live view, and counts since the start.
    private static let observation: [Endpoint] = [
        Endpoint(
            "GET", "/v1/stream", .reader,
            "Streams events, deliveries and changes of destinations as they happen, as server-sent events.",
            parameters: LiveSelection.parameters
        ) { try $0.live.stream($1) },
        Endpoint(
            "GET", "/v1/vendors", .reader, "Lists vendors with their share, warnings, and keys that no detector reads."
        ) { api, _ in api.observed.vendors(known: api.surface.vendorNames) },
        Endpoint(
            "GET", "/v1/rejections", .reader, "Lists the last 200 refused payloads, without their bodies.",
            parameters: [.since, .until]
        ) { try $0.observed.rejections($1) },
        Endpoint(
            "GET", "/v1/stats", .reader, "Returns counts of the last 15 minutes, by vendor, code and destination.",
            parameters: ObservationAPI.statsParameters
        ) { try $0.observed.stats($1) },
    ]

    /// The gateway itself.
    private static let service: [Endpoint] = [
        Endpoint(
            "GET", "/v1/actions", .reader, "Lists what operators changed, or tried to change, newest first.",
            parameters: [.actor, .operation, .target, .since, .until, .limit, .cursor]
        ) { try await $0.actions.list($1) },
        Endpoint(
            "POST", "/v1/config/check", .admin, "Checks the text of a config, as `routes check` does.",
            bodyLimit: ConfigAPI.bodyLimit
        ) { try await $0.surface.configs.check($1, $2) },
        Endpoint("GET", "/v1/config/history", .admin, "Lists the last configs with their changes, without secrets.") {
            $0.surface.configs.list($1)
        },
        Endpoint("GET", "/v1/ledger", .reader, "Returns the sums of deliveries by destination and state.") { api, _ in
            try await api.surface.ledger.ledger()
        },
        Endpoint(
            "GET", "/v1/media", .reader, "Lists stored files, or URLs whose download is due or failed.",
            parameters: [.mediaState, .limit, .cursor]
        ) { try await $0.surface.ledger.media($1) },
        Endpoint(
            "GET", "/media/{sha256}", .link, "Serves a stored media file.", parameters: [.expires, .signature]
        ) { try await $0.surface.media.file($1) },
        Endpoint("GET", "/v1/whoami", .metrics, "Returns the name and the role of the token.") { api, call in
            try api.whoami(call)
        },
        Endpoint(
            "GET", "/metrics", .metrics, "Serves metrics in the Prometheus text format, or OpenMetrics by `accept`."
        ) { try await $0.metrics($1) },
        Endpoint("GET", "/healthz", .none, "Returns 200 while the process answers requests.") { api, _ in
            api.health()
        },
        Endpoint(
            "GET", "/readyz", .none, "Returns 200 while the gateway accepts events, otherwise 503 with a reason."
        ) { api, _ in await api.readiness() },
        Endpoint(
            "GET", "/schemas/{file}", .none,
            "Serves a JSON Schema: `notification-1.json`, `interaction-1.json`, `inapp-1.json`, `inapp-event-1.json`, "
                + "`push-1.json` or, of configs, `routes.json`."
        ) { try $0.schema($1) },
        Endpoint("GET", "/openapi.json", .none, "Describes this API in OpenAPI 3.1.") { $0.openAPI($1) },
    ]
}
