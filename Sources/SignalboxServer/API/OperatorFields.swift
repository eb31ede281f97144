import HTTPTypes
import Hummingbird

/// Adds the header fields that every response of the operators' endpoints has.
///
/// `x-request-id`: the client's, or one of the gateway's own, which is also in the log. `cache-control: no-store`,
/// unless the handler decides otherwise, because responses change at any time and may have personal data.
struct OperatorFields: RouterMiddleware {
    /// Never changes the status or the body.
    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        response.headers[text: "x-request-id"] = Self.id(of: request) ?? context.id
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }

    /// Nil unless the client sent 1 to 128 visible characters of ASCII.
    private static func id(of request: Request) -> String? {
        guard let id = request.headers[text: "x-request-id"], (1...128).contains(id.utf8.count),
            id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return id
    }
}
