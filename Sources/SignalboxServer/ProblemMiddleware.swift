import HTTPTypes
import Hummingbird
import Logging

/// Turns every error that a handler throws into a problem response. Without it, Hummingbird answers with an empty 500.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = await respond(to: request, context: context, next: next)
        // RFC 9110, 9.3.2: a HEAD is answered without a body, problems too.
        if request.method == .head {
            // What a GET would have is said all the same.
            let length = response.headers[.contentLength]
            response.body = ResponseBody()
            response.headers[.contentLength] = length
        }
        return response
    }

    private func respond(
        to request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async -> Response {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            return problem.response
        } catch let error as HTTPError where error.status == .notFound {
            return Problem.notFound(request.uri.path).response
        } catch let error as HTTPError where error.status.kind == .clientError {
            return Problem.refused(error.status).response
        } catch {
            context.logger.error("A request failed.", metadata: ["error": "\(error)", "path": "\(request.uri.path)"])
            return Problem.unexpected.response
        }
    }
}
