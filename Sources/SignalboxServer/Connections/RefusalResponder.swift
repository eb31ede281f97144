import Hummingbird

/// Answers the requests that ``RequestGuard`` rejected, and forwards the others.
struct RefusalResponder<Next: HTTPResponder>: HTTPResponder where Next.Context == GatewayRequestContext {
    let next: Next

    func respond(to request: Request, context: GatewayRequestContext) async throws -> Response {
        guard let refusal = HeadRefusal(request.method) else {
            return try await next.respond(to: request, context: context)
        }
        return Problem(refusal).response
    }
}
