import HTTPTypes
import Hummingbird
import SignalboxGateway

/// Measures the requests of the router, and records the spans of those that senders and devices make, refused ones
/// too. The time ends with the head of the response, so that a stream counts as the request that began it. Outermost,
/// so that it sees the statuses of problems.
struct RequestTiming: RouterMiddleware {
    /// Shared by all configs, so a reload keeps the series.
    let counters: ServerCounters
    /// Decides which requests are traced.
    let telemetry: Telemetry

    /// The route of requests that reach no endpoint.
    private static let shared = "unknown"
    /// Statuses of requests without access, and of methods that a path does not have.
    private static let refusals = [401, 403, 405]
    /// The paths whose requests have a span. Operators and probes have none.
    private static let traced = Set(
        Endpoint.all.filter { $0.access.isOfSources || $0.path.hasPrefix("/v1/inapp/") }.map(\.path))

    /// Requests to unknown paths, and those without access, share a route. Never changes the response. Errors do not
    /// reach it: ``ProblemMiddleware`` has made responses of them.
    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let headers = request.headers
        var context = context
        context.trace = telemetry.trace(traceparent: headers[text: "traceparent"], state: headers[text: "tracestate"])
        let response = try await next(request, context)
        // Hummingbird's word for a path without an endpoint.
        let path = context.endpointPath.flatMap { $0 == "NotFound" ? nil : $0 } ?? Self.shared
        // A scan without a token would use up the series.
        let isRefused = Self.refusals.contains(response.status.code)
        let trace = Self.traced.contains(path) ? context.trace : nil
        counters.record(isRefused ? Self.shared : path, response.status.code, since: start, trace: trace?.exemplar)
        trace?.finish(request.method.rawValue, route: path, status: response.status.code)
        return response
    }
}
