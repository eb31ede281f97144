import Hummingbird
import Logging
import NIOCore

extension GatewayAPI {
    /// Logs a request that a page of another site may have caused. Bounded, because such a page may send any number.
    func reportForeignPage(_ problem: Problem, _ call: Call, at access: Endpoint.Access) {
        guard Problem.foreignCodes.contains(problem.code), access.role != nil, resources.refusals.take() else { return }
        call.context.logger.warning(
            "Request of another site refused.",
            metadata: [
                "code": "\(problem.code)", "method": "\(call.request.method)", "path": "\(call.request.uri.path)",
                "remote": "\(call.context.channel.remoteAddress?.ipAddress ?? "")",
            ])
    }
}
