import Hummingbird
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// `POST /v1/interactions`. The rules are in SignalboxGateway; this file words the replies.
extension GatewayAPI {
    /// Accepts reports of taps. For one report 202 with its receipt. For a batch 202 when all reports were accepted,
    /// otherwise 207, with one item per report in their order. Returns after the accepted reports are durable. Throws
    /// for an empty request, for a single report that is rejected, and when the queue fails. `call`: its source is
    /// that of the reports. 503 for a failure of the queue has `retry-after`.
    func acceptInteractions(_ call: Call, _ body: [UInt8]) async throws(Problem) -> Response {
        let report = try await resources.alarm.watching { () throws(Intake.Failure) in
            try await surface.interactions.accept(body, from: call.source, trace: call.context.trace)
        }
        resources.alarm.recover(by: report.items)
        guard report.isBatch else {
            switch report.items.first {
            case nil: throw .emptyInteraction
            case .failure(let failure)?: throw Problem(failure)
            case .success(let receipt)?: return .json(.accepted) { $0.members(of: receipt) }
            }
        }
        surface.observation.refused(report.items, of: call, areReports: true) { (Problem($0), $0.place) }
        let answer = StoredAnswer.batch(report.items) { json, _, receipt in
            json.object { $0.members(of: receipt) }
        } failure: { failure in
            (Problem(failure), failure.place)
        }
        return Response(Reply(answer))
    }
}

/// Receipts of reported taps.
extension JSONWriter {
    /// Members of the open object: the receipt of one accepted report. A repeated report has the id of the first event,
    /// `duplicate`, and the outcome of the first report. `routes` and `destinations` are those of the event about the
    /// tap; for a repeated report, those that it would have had now. The outcome adds `outcome` and further members.
    fileprivate mutating func members(of receipt: InteractionIntake.Receipt) {
        member("id", receipt.duplicate ?? receipt.routed.event.id.description)
        if receipt.duplicate != nil { member("duplicate", true) }
        member("eventId", receipt.decided.tap.interaction.eventID)
        object("action") { $0.actionMembers(receipt.decided.tap.action) }
        if let former = receipt.former {
            outcome(of: former)
        } else {
            outcome(of: receipt.decided, isRepeat: receipt.duplicate != nil)
        }
        member("routes", receipt.routed.routes)
        member("destinations", receipt.routed.destinations.map(\.name))
    }
}

/// Problems of reports. Their titles say that no interaction was accepted.
extension Problem {
    /// The title of all problems of reports.
    private static let noInteraction = "The interaction was not accepted"

    /// Unicode scalars of a list of buttons.
    private static let longestList = 2_000

    /// For a body without bytes. An empty batch is accepted.
    fileprivate static let emptyInteraction = Problem(
        .badRequest, Rejection.Code.empty.rawValue, title: noInteraction,
        "The request has no body: send one interaction, a JSON array of interactions, or NDJSON.")

    /// The status depends on the failure: 400 or 413 for text that cannot be read, 404 for an unknown event, 413 for
    /// an interaction whose event would be too large, otherwise 422. The detail of an unknown action lists the known
    /// ones, at most ``longestList`` scalars of them, because identifiers come from the payload.
    fileprivate init(_ failure: InteractionIntake.Failure) {
        let title = Self.noInteraction
        switch failure {
        case .unreadable(let rejection): self.init(rejection, title: title)
        case .mistaken(.malformed(let detail), _):
            self.init(.unprocessableContent, "interaction-malformed", title: title, detail)
        case .mistaken(.unknownEvent(let id), _):
            self.init(
                .notFound, "event-not-found", title: title,
                "No stored event has the id \(id); `retention` in the config limits how long events are stored.")
        case .mistaken(.notANotification(let id), _):
            self.init(
                .unprocessableContent, "event-not-a-notification", title: title,
                "Event \(id) is not a notification: report the id of the notification's event.")
        case .mistaken(.tooLarge, _):
            self.init(
                .contentTooLarge, Rejection.Code.tooLarge.rawValue, title: title,
                "The event about this interaction exceeds the size limit of events.")
        case .mistaken(.tooCostly, _):
            self.init(
                .unprocessableContent, Rejection.Code.tooCostly.rawValue, title: title,
                "Evaluating the routes for its event exceeds the work limit: shorten its texts.")
        case .mistaken(.unknownAction(let identifier, let known), _):
            self.init(
                .unprocessableContent, "action-not-found", title: title,
                "The event has no action \(identifier.beginning(ofScalars: 200)). \(Self.words(of: known)); "
                    + "default and dismiss always work.")
        }
    }

    /// The identifiers of buttons, for a sentence. Cuts each one before they are joined, because a request may have
    /// many reports about one event.
    private static func words(of buttons: [String]) -> String {
        guard !buttons.isEmpty else { return "It has no buttons" }
        let list = buttons.map { $0.beginning(ofScalars: longestList) }.joined(separator: ", ")
        return "Its buttons are " + list.beginning(ofScalars: longestList)
    }
}
