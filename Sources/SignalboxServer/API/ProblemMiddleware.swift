import Hummingbird
import Logging

/// Turns every error that a handler throws into a problem response. Without it, Hummingbird answers with an empty 500.
/// Logs errors other than problems: they are defects of the gateway. Applies to unknown paths too.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    /// Responses to HEAD lose their body here, after the handler of GET has run. Never throws.
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = await respond(to: request, context: context, next: next)
        if request.method == .head {
            // A response to HEAD has the length of the response to GET, and no body (RFC 9110, 9.3.2).
            let length = response.headers[.contentLength]
            response.body = ResponseBody()
            response.headers[.contentLength] = length
        }
        return response
    }

    /// Never throws, so each request receives a response. The log line of an unexpected error has the path without
    /// the query, which may contain a signature.
    private func respond(
        to request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async -> Response {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            return Response(Reply(problem))
        } catch let error as HTTPError where error.status == .notFound {
            // The router knows the common methods of each path; any other method is as wrong as they are.
            if let allow = Endpoint.allow(at: request.uri.path) {
                return Response(Reply(Problem.methodNotAllowed(request, allow: allow)))
            }
            return Response(Reply(Problem.notFound(request.uri.path)))
        } catch let error as HTTPError where error.status.kind == .clientError {
            return Response(Reply(Problem.refused(error.status)))
        } catch {
            context.logger.error("Request failed.", metadata: ["error": "\(error)", "path": "\(request.uri.path)"])
            return Response(Reply(Problem.unexpected))
        }
    }
}
