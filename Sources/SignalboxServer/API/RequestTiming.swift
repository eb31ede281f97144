import Hummingbird

/// Measures the requests of the router. The time ends with the head of the response, so that a stream counts as the
/// request that began it. Outermost, so that it sees the statuses of problems.
struct RequestTiming: RouterMiddleware {
    let counters: ServerCounters

    /// The route of requests that reach no endpoint.
    private static let shared = "unknown"
    /// Statuses of requests without access, and of methods that a path does not have.
    private static let refusals = [401, 403, 405]

    /// Requests to unknown paths, and those without access, share a route. Never changes the response.
    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response = try await next(request, context)
        // Hummingbird's word for a path without an endpoint.
        let path = context.endpointPath.flatMap { $0 == "NotFound" ? nil : $0 } ?? Self.shared
        // A scan without a token would use up the series.
        let isRefused = Self.refusals.contains(response.status.code)
        counters.record(isRefused ? Self.shared : path, response.status.code, since: start)
        return response
    }
}
