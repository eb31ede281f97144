import HTTPTypes
import Hummingbird
import SignalboxGateway

extension Call {
    /// Runs a handler with the trace of the request, and records the request's span when the status is known. The
    /// trace is nil for a request without one.
    func traced(
        by telemetry: Telemetry, _ handle: (RequestTrace?) async throws(Problem) -> Response
    ) async throws(Problem) -> Response {
        let headers = request.headers
        let trace = telemetry.trace(
            traceparent: headers[text: "traceparent"], state: headers[text: "tracestate"])
        do throws(Problem) {
            let response = try await handle(trace)
            trace?.finish(request.method.rawValue, route: route, status: response.status.code)
            return response
        } catch {
            trace?.finish(request.method.rawValue, route: route, status: error.status.code)
            throw error
        }
    }

    /// The path of the endpoint with the names of its parameters.
    private var route: String { context.endpointPath ?? request.uri.path }
}
