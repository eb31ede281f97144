import Foundation
import Hummingbird
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// Explains how payloads are recognised, read and routed. For operators; stores nothing.
struct ExplainAPI: Sendable {
    /// Has the routes of the same config, and reads the present failure rules for each request.
    let explainer: PayloadExplainer
    /// Finds stored payloads.
    let events: EventsAPI

    /// The time for the search of origins; an answer after it is not `complete`.
    private static let longestSearch: Duration = .seconds(2)

    /// Explains the body, which is one payload. `source`: as for `routes/test`. Throws 400, 413 or 422 for a payload
    /// that the gateway would reject.
    func explain(_ call: Call, _ body: [UInt8]) async throws -> Response {
        let source = try call.trialSource()
        return try await response(to: call) { () throws(Rejection) in
            try await explainer.explanation(of: body, from: source, at: Date(), upTo: Self.longestSearch)
        }
    }

    /// Explains a stored event by its payload. Throws 404 for an unknown event, and 410 for one whose payload was not
    /// kept.
    func explainEvent(_ call: Call) async throws -> Response {
        let (payload, event) = try await events.storedPayload(call.path("id"))
        return try await response(to: call) { () throws(Rejection) in
            try await explainer.explanation(
                of: payload, from: event.source, at: event.acceptedAt, stored: event.body, upTo: Self.longestSearch)
        }
    }

    /// Turns a rejection of the payload into a problem: 400, 413 or 422.
    private func response(
        to call: Call, _ explain: () async throws(Rejection) -> PayloadExplanation
    ) async throws(Problem) -> Response {
        do throws(Rejection) {
            let explanation = try await explain()
            return Response(
                Reply(status: .ok, body: .json { $0.explanation(explanation, hidesContent: call.hidesContent) }))
        } catch {
            throw Problem(error)
        }
    }
}
