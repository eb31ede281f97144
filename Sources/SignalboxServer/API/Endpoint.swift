import HTTPTypes
import Hummingbird
import SignalboxNotification
import SignalboxStore

/// An endpoint of the gateway. Routing, `allow`, the check of query parameters, access and the reference page derive
/// from its declaration.
package struct Endpoint: Sendable {
    /// The credential that a request needs. Raw values are the words of the reference page. `either`: the token of a
    /// source or of an operator. `link`: decided by the signature of the link. `none`: no credential.
    package enum Access: String, Sendable {
        case source, admin, either = "source or admin", link, none
    }

    /// Throws ``Problem`` for a rejected request. Any other error becomes a 500. Called after the access was checked,
    /// with a body of at most ``bodyLimit`` bytes that has arrived completely.
    typealias Handler = @Sendable (GatewayAPI, Call, _ body: [UInt8]) async throws -> Response

    /// `GET` includes `HEAD`.
    package let method: String
    /// Parameters are in braces: `/v1/deliveries/{id}`. Matched against the undecoded path, so a parameter may
    /// contain percent escapes.
    package let path: String
    /// Checked before the body is read.
    package let access: Access
    /// Names of query parameters. Others are rejected. The handler reads their values; names are checked before it
    /// runs.
    package let parameters: [String]
    /// One sentence in Markdown. The reference page prints it as it stands here.
    package let purpose: String
    /// The largest body in bytes; nil for an endpoint whose body is not collected. A POST to such an endpoint must not
    /// have a body.
    let bodyLimit: Int?
    /// `body` is empty unless the endpoint takes a body.
    let handler: Handler

    /// An endpoint that takes a body.
    private init(
        _ method: String, _ path: String, _ access: Access, _ purpose: String, parameters: [String] = [],
        bodyLimit: Int? = GatewayServer.bodyLimit, body handler: @escaping Handler
    ) {
        (self.method, self.path, self.access, self.purpose) = (method, path, access, purpose)
        (self.parameters, self.bodyLimit, self.handler) = (parameters, bodyLimit, handler)
    }

    /// An endpoint without a body.
    private init(
        _ method: String, _ path: String, _ access: Access, _ purpose: String, parameters: [String] = [],
        _ handler: @escaping @Sendable (GatewayAPI, Call) async throws -> Response
    ) {
        self.init(method, path, access, purpose, parameters: parameters, bodyLimit: nil) { api, call, _ in
            try await handler(api, call)
        }
    }

    /// The methods in the form of the `allow` header.
    package var allow: String { method == "GET" ? "GET, HEAD" : method }

    /// Rejects query parameters that are not known, and repeated ones: an ignored misspelled filter selects
    /// everything.
    ///
    /// Names are compared undecoded, because the readers of the query do not decode names either. Throws
    /// ``Problem/unknownParameter(_:known:)`` or ``Problem/repeatedParameter(_:)``. `query`: the text after the
    /// question mark, undecoded. A parameter without `=` counts as a name too.
    static func check(_ query: String, known: [String]) throws(Problem) {
        var seen: Set<Substring> = []
        for parameter in query.split(separator: "&") {
            let name = parameter.prefix { $0 != "=" }
            guard known.contains(String(name)) else { throw .unknownParameter(String(name), known: known) }
            guard seen.insert(name).inserted else { throw .repeatedParameter(String(name)) }
        }
    }
}

/// A request to an endpoint. Its access was checked.
struct Call: Sendable {
    /// Its body is read at most once, before the handler runs.
    let request: Request
    /// Parameters of the path and the peer.
    let context: GatewayRequestContext
    /// The source of a request to an endpoint for sources; otherwise the default source.
    var source = SourceName.default

    /// A part of the path, as the client wrote it. Not decoded; empty for a name that the path does not have. Values
    /// of `{source}`, `{name}` and `{id}` need no decoding, because names and numbers have no escapes.
    func path(_ name: String) -> String { context.parameters.get(name) ?? "" }

    /// A query parameter; nil when it is absent. Decoded by Hummingbird. An empty value is returned as an empty text,
    /// not as nil.
    func query(_ name: String) -> String? { request.uri.queryParameters[name[...]].map(String.init) }

    /// A whole-number query parameter; nil when it is absent. Throws ``Problem/badQuery(_:)`` for text that is not a
    /// number in the range. The sentence of the problem names the range.
    func number(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = query(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .badQuery("\(name) is \(text): write a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}

/// Also read by the test that compares docs/reference/http.md with the endpoints.
extension Endpoint {
    /// Every endpoint. A path occurs once for each of its methods. docs/reference/http.md lists the same endpoints.
    package static let all: [Endpoint] = [
        Endpoint("POST", "/v1/notifications", .source, "Accepts payloads for the source of the token.") {
            try await $0.notifications.accept($2, of: $1)
        },
        Endpoint("POST", "/v1/sources/{source}/notifications", .source, "Accepts payloads for the named source.") {
            try await $0.notifications.accept($2, of: $1)
        },
        Endpoint("POST", "/v1/interactions", .source, "Accepts reports of taps.") {
            try await $0.acceptInteractions($1, $2)
        },
        Endpoint(
            "POST", "/v1/inapp/triggers", .source, "Decides which in-app message a device shows now.",
            bodyLimit: InAppAPI.requestLimit
        ) { try await $0.inApp.trigger($1, $2) },
        Endpoint(
            "POST", "/v1/inapp/slots", .source, "Fills the slots of a page with inline messages.",
            bodyLimit: InAppAPI.requestLimit
        ) { try await $0.inApp.place($1, $2) },
        Endpoint(
            "POST", "/v1/inapp/offers/{id}/outcome", .source, "Accepts a report about an offered message.",
            bodyLimit: InAppAPI.requestLimit
        ) { try await $0.inApp.report($1, $2) },
        Endpoint(
            "POST", "/v1/inapp/explain", .admin,
            "Explains what a trigger would bring, at another time or with other counters; stores nothing.",
            bodyLimit: InAppAPI.requestLimit
        ) { try await $0.inApp.explain($2) },
        Endpoint(
            "GET", "/v1/inapp/messages", .admin, "Lists in-app messages by id.",
            parameters: ["withdrawn", "limit", "cursor"]
        ) { try await $0.inApp.list($1) },
        Endpoint("GET", "/v1/inapp/messages/{id}", .admin, "Returns one in-app message.") {
            try await $0.inApp.show($1)
        },
        Endpoint(
            "PUT", "/v1/inapp/messages/{id}", .admin, "Registers an in-app message, or changes it.",
            bodyLimit: InAppAPI.messageLimit
        ) { try await $0.inApp.register($1, $2) },
        Endpoint("DELETE", "/v1/inapp/messages/{id}", .admin, "Withdraws an in-app message: no new offers.") {
            try await $0.inApp.withdraw($1)
        },
        Endpoint(
            "GET", "/v1/categories", .either, "Lists the button sets that an app registers.",
            parameters: ["limit", "cursor"]
        ) { try await $0.surface.categories.list($1) },
        Endpoint("GET", "/v1/categories/{identifier}", .either, "Returns one button set.") {
            try await $0.surface.categories.show($1)
        },
        Endpoint(
            "GET", "/v1/deliveries", .admin, "Lists deliveries, newest first.",
            parameters: ["state", "destination", "event", "limit", "cursor"]
        ) { try await $0.surface.operations.listDeliveries($1) },
        Endpoint("GET", "/v1/deliveries/{id}", .admin, "Returns one delivery with its attempts.") {
            try await $0.surface.operations.showDelivery($1)
        },
        Endpoint(
            "POST", "/v1/deliveries/{id}/retry", .admin,
            "Requeues one dead or waiting delivery with a new retry budget."
        ) { try await $0.surface.operations.retryDelivery($1) },
        Endpoint(
            "POST", "/v1/deliveries/retry", .admin, "Requeues every matching delivery; `state` defaults to `dead`.",
            parameters: ["state", "destination", "event"]
        ) { try await $0.surface.operations.retryDeliveries($1) },
        Endpoint("GET", "/v1/destinations", .admin, "Lists destinations with their state and queue length.") { api, _ in
            try await api.surface.operations.listDestinations()
        },
        Endpoint("POST", "/v1/destinations/{name}/pause", .admin, "Pauses deliveries to a destination.") {
            try await $0.surface.operations.set(.paused, $1)
        },
        Endpoint("POST", "/v1/destinations/{name}/resume", .admin, "Resumes a paused or disabled destination.") {
            try await $0.surface.operations.set(nil, $1)
        },
        Endpoint(
            "POST", "/v1/destinations/{name}/ping", .admin, "Sends a signed test event and returns the outcome."
        ) { try await $0.surface.operations.ping($1) },
        Endpoint(
            "GET", "/v1/captures", .admin,
            "Lists pushes that reached the provider endpoints, newest first; with `after`, oldest first.",
            parameters: CaptureQuery.parameters + ["limit", "cursor"]
        ) { try await $0.captures.list($1) },
        Endpoint(
            "POST", "/v1/captures/search", .admin, "The same, with a `match` pattern over the event in the body.",
            parameters: CaptureQuery.parameters + ["limit", "cursor"], bodyLimit: CaptureQuery.bodyLimit
        ) { try await $0.captures.list($1, $2) },
        Endpoint(
            "GET", "/v1/captures/wait", .admin, "Waits for `count` pushes, at most `timeout`.",
            parameters: CaptureQuery.parameters + ["count", "timeout"]
        ) { try await $0.captures.wait($1) },
        Endpoint(
            "POST", "/v1/captures/wait", .admin, "The same, with a `match` pattern over the event in the body.",
            parameters: CaptureQuery.parameters + ["count", "timeout"], bodyLimit: CaptureQuery.bodyLimit
        ) { try await $0.captures.wait($1, $2) },
        Endpoint(
            "DELETE", "/v1/captures", .admin, "Removes the captures of a run, or all.", parameters: ["run"]
        ) { try $0.captures.remove($1) },
        Endpoint("GET", "/v1/routes", .admin, "Lists routes with their counters, and the active config.") { api, _ in
            api.surface.routes.list()
        },
        Endpoint(
            "POST", "/v1/routes/test", .admin, "Evaluates the routes for a payload or an event; stores nothing.",
            parameters: ["source"]
        ) { try $0.surface.routes.test($1, $2) },
        Endpoint(
            "GET", "/v1/failures", .admin, "Lists failure rules in the order of evaluation, with their counters."
        ) { api, _ in api.surface.failures.list() },
        Endpoint(
            "PUT", "/v1/failures/{name}", .admin,
            "Sets a failure rule until the process ends; before those of the config.",
            bodyLimit: FailuresAPI.bodyLimit
        ) { try $0.surface.failures.put($1, $2) },
        Endpoint("DELETE", "/v1/failures/{name}", .admin, "Removes a failure rule that `PUT` has set.") {
            try $0.surface.failures.remove($1)
        },
        Endpoint("POST", "/v1/failures/reset", .admin, "Sets the counters of all failure rules to 0.") { api, _ in
            api.surface.failures.reset()
        },
        Endpoint(
            "GET", "/media/{sha256}", .link, "Serves a stored media file.", parameters: ["expires", "signature"]
        ) { try await $0.surface.media.file($1) },
        Endpoint("GET", "/metrics", .admin, "Serves metrics in the Prometheus text format.") { api, _ in
            try await api.metrics()
        },
        Endpoint("GET", "/healthz", .none, "Returns 200 while the process answers requests.") { api, _ in
            api.health()
        },
        Endpoint(
            "GET", "/readyz", .none, "Returns 200 while the gateway accepts events, otherwise 503 with a reason."
        ) { api, _ in await api.readiness() },
        Endpoint(
            "GET", "/schemas/{file}", .none,
            "Serves a JSON Schema: `notification-1.json`, `interaction-1.json`, `inapp-1.json` or `inapp-event-1.json`."
        ) { try $0.schema($1) },
    ]
}
