import Hummingbird

/// Measures the requests of the router. The time ends with the head of the response, so that a stream counts as the
/// request that began it. Outermost, so that it sees the statuses of problems.
struct RequestTiming: RouterMiddleware {
    let counters: ServerCounters

    /// Requests to unknown paths share a route. Never changes the response.
    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response = try await next(request, context)
        // Hummingbird's word for a path without an endpoint.
        let path = context.endpointPath.flatMap { $0 == "NotFound" ? nil : $0 } ?? "unknown"
        counters.record(path, response.status.code, since: start)
        return response
    }
}
