import HTTPTypes
import Hummingbird
package import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// Where apps, or who speaks for them, report taps.
package struct InteractionsAPI: Sendable {
    private let intake: InteractionIntake

    package init(intake: InteractionIntake) { self.intake = intake }

    /// Takes the body of a request from a source. For one report 202 with what became of it; for a batch 202 when all were
    /// taken, else 207, with the items in the order of the reports.
    func accept(_ body: [UInt8], from source: SourceName, alarm: QueueAlarm) async throws -> Response {
        let report = try await alarm.watching { () throws(Intake.Failure) in try await intake.accept(body, from: source)
        }
        // Only an append says that the queue works again.
        if report.items.contains(where: { if case .success = $0 { true } else { false } }) { alarm.silence() }
        guard report.isBatch else {
            switch report.items.first {
            case nil: throw Problem.emptyInteraction
            case .failure(let failure)?: throw Problem(failure)
            case .success(let receipt)?:
                var json = JSONWriter()
                json.receipt(receipt)
                return .json(.accepted, json.bytes)
            }
        }
        return Response(
            .batch(report.items) { json, _, item in
                switch item {
                case .success(let receipt): json.receipt(receipt)
                case .failure(let failure): json.failure(failure)
                }
            })
    }
}

extension JSONWriter {
    fileprivate mutating func receipt(_ receipt: InteractionIntake.Receipt) {
        beginObject()
        key("id")
        string(receipt.duplicate ?? receipt.routed.event.id.description)
        if receipt.duplicate != nil {
            key("duplicate")
            bool(true)
        }
        key("eventId")
        string(receipt.decided.tap.interaction.eventID)
        key("action")
        beginObject()
        actionMembers(receipt.decided.tap.action)
        endObject()
        outcome(of: receipt.decided, isRepeat: receipt.duplicate != nil)
        key("routes")
        strings(receipt.routed.routes)
        key("destinations")
        strings(receipt.routed.destinations.map(\.name))
        endObject()
    }

    fileprivate mutating func failure(_ failure: InteractionIntake.Failure) {
        beginObject()
        let place = failure.place
        key("line")
        integer(place.line)
        key("offset")
        integer(place.offset)
        key("error")
        Problem(failure).write(into: &self)
        endObject()
    }
}

extension Problem {
    fileprivate init(_ failure: InteractionIntake.Failure) {
        switch failure {
        case .unreadable(let rejection): self.init(rejection, title: Self.interactionTitle)
        case .mistaken(let mistake, _): self.init(mistake)
        }
    }

    private init(_ mistake: InteractionMistake) {
        let title = Self.interactionTitle
        switch mistake {
        case .malformed(let detail):
            self.init(status: .unprocessableContent, code: "interaction-malformed", title: title, detail: detail)
        case .unknownEvent(let id):
            self.init(
                status: .notFound, code: "event-not-found", title: title,
                detail:
                    "There is no event \(id), or none any more: retention in the config says how long events are kept.")
        case .notANotification(let id):
            self.init(
                status: .unprocessableContent, code: "event-not-a-notification", title: title,
                detail: "Event \(id) is no notification: report the id of the notification's event.")
        case .tooLarge:
            self.init(
                status: .contentTooLarge, code: Rejection.Code.tooLarge.rawValue, title: title,
                detail: "What would be made of it is larger than an event may be.")
        case .tooCostly:
            self.init(
                status: .unprocessableContent, code: Rejection.Code.tooCostly.rawValue, title: title,
                detail: "Deciding which routes match its event takes too much work: shorten its texts.")
        case .unknownAction(let identifier, let known):
            let buttons =
                known.isEmpty
                ? "It has no buttons" : "Its buttons are " + known.joined(separator: ", ").prefix(2000)
            self.init(
                status: .unprocessableContent, code: "action-not-found", title: title,
                detail:
                    "The event has no action \(identifier.prefix(200)). \(buttons); default and dismiss always work.")
        }
    }

    private static let interactionTitle = "The interaction was not accepted"

    fileprivate static let emptyInteraction = Problem(
        status: .badRequest, code: Rejection.Code.empty.rawValue, title: interactionTitle,
        detail: "The request has no body: send one interaction, a JSON array of interactions, or NDJSON.")
}
