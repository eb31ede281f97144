import Foundation
import SignalboxEgress
import SignalboxNotification
import SignalboxStore

extension AttemptTrace {
    /// The span of an attempt that has ended. `url`: of the webhook; only its host and port are shown, because a path
    /// may be secret.
    func span(of leases: [Lease], message: String, to url: String, _ result: SendResult) -> TraceSpan {
        let attempt = result.attempt
        let end = attempt.startedAt.addingTimeInterval(attempt.duration / .seconds(1))
        var span = TraceSpan(context, "POST", .client, from: attempt.startedAt, to: end)
        span.parent = parent
        span.links = links
        span.attributes = [
            .init("http.request.method", "POST"), .init("messaging.system", "signalbox"),
            .init("messaging.operation.name", "send"), .init("messaging.operation.type", "send"),
            .init("messaging.destination.name", leases.first?.destination.name ?? ""),
            .init("messaging.message.id", message),
        ]
        if leases.count > 1 { span.attributes.append(.init("messaging.batch.message_count", leases.count)) }
        if let parts = URLComponents(string: url), let host = parts.host {
            let isHTTPS = parts.scheme?.lowercased() == "https"
            span.attributes += [
                .init("server.address", host), .init("server.port", parts.port ?? (isHTTPS ? 443 : 80)),
            ]
        }
        let earlier = leases.map(\.earlier).max() ?? 0
        if earlier > 0 { span.attributes.append(.init("http.request.resend_count", earlier)) }
        switch result.answer {
        case .replied(let status, _):
            span.attributes.append(.init("http.response.status_code", status))
            if !(200..<300).contains(status) { span.fail(String(status)) }
        case .failed(let error): span.fail(error.code)
        }
        return span
    }
}
