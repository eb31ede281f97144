import HTTPTypes
import HummingbirdCore
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification

/// Refusals of payloads and of reports, for the log of operators.
extension Observation {
    /// A request of a source that was refused as a whole. `bytes`: of its body. Requests without access and failures
    /// of the gateway itself are not refusals of a payload. `isReport`: see ``RefusedPayload/isReport``.
    func refused(_ problem: Problem, from source: SourceName, bytes: Int?, isReport: Bool) {
        guard problem.status.kind == .clientError, problem.status != .unauthorized, problem.status != .forbidden
        else { return }
        refused(
            RefusedPayload(
                at: clock.now, door: .api, code: problem.code, source: source, bytes: bytes, line: problem.line,
                isReport: isReport))
    }

    /// The same for a request to the router. The size is that of `content-length`; nil for a chunked body.
    func refused(_ problem: Problem, of call: Call, at endpoint: Endpoint) {
        let length = call.request.headers[.contentLength].flatMap { Int($0) }
        refused(problem, from: call.source, bytes: length, isReport: endpoint.access != .source(.notifications))
    }

    /// The refused items of a batch; the size of each is not known.
    func refused<Item, Failure: Error>(
        _ items: [Result<Item, Failure>], of call: Call, areReports: Bool = false,
        _ problem: (Failure) -> (Problem, PayloadPosition)
    ) {
        for case .failure(let failure) in items {
            let (problem, place) = problem(failure)
            refused(
                RefusedPayload(
                    at: clock.now, door: .api, code: problem.code, source: call.source, line: place.line,
                    isReport: areReports))
        }
    }

    /// A push that a provider endpoint refused. `reason`: the word of the answer; nil for an answer without one. An
    /// answer without a word is recorded by its status. Statuses from 500 on are not recorded.
    func refused(_ service: PushService, status: Int, reason: String?, from source: SourceName?, bytes: Int?) {
        // A failure of the gateway itself.
        guard status < 500 else { return }
        refused(
            RefusedPayload(
                at: clock.now, door: RefusedPayload.Door(service), code: reason ?? "\(status)", source: source,
                bytes: bytes))
    }
}

extension RefusedPayload.Door {
    fileprivate init(_ service: PushService) {
        switch service {
        case .apns: self = .apns
        case .fcm: self = .fcm
        case .expo: self = .expo
        }
    }
}
