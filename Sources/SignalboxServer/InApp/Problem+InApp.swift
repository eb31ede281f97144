import HTTPTypes
import SignalboxGateway
import SignalboxInApp

// Rejected requests of in-app messages.
/// Codes are part of the API and do not change. Details say what to do, and repeat no value of the request.
extension Problem {
    /// Nil for failures of the store, which ``QueueAlarm`` describes.
    /// The only place that chooses the status of such a request; the router's path and the direct one share it.
    init?(_ failure: InAppFailure) {
        switch failure {
        case .malformed(let fault): self.init(fault)
        case .mayNotExplain: self = .noExplanation
        case .foreignDevice: self = .foreignDevice
        case .unknownMessage(let id): self = .noMessage(id)
        case .unknownOffer: self = .noOffer
        case .contradicts(let conflict): self.init(conflict)
        case .store: return nil
        }
    }

    /// 400 for a form with a mistake, 413 for one that is too large, 422 for one that the config does not permit. The
    /// member `pointer` locates the mistake in the body (RFC 6901), and `reason` is the code of the mistake. Other
    /// codes of the engine are 400 too.
    private init(_ fault: FormFault) {
        let (status, code): (HTTPResponse.Status, String) =
            switch fault.code {
            case InputFault.Code.unknownLimit.rawValue: (.unprocessableContent, "inapp-limit-unknown")
            case InputFault.Code.unknownGroup.rawValue: (.unprocessableContent, "inapp-group-unknown")
            case FormFault.Code.tooLarge: (.contentTooLarge, "inapp-too-large")
            default: (.badRequest, "inapp-malformed")
            }
        self.init(status, code, fault.detail)
        members = [Member(name: "pointer", value: fault.pointer), Member(name: "reason", value: fault.code)]
    }

    /// 409. The member `reason` names the broken rule, `state` the unchanged state of the offer, and `ended` how the
    /// offer ended. A client that receives it drops its report.
    private init(_ conflict: ReportFault.Conflict) {
        let detail =
            switch conflict.code {
            case .notOffered: "The offer was never given to the client: report only offers that an answer contained."
            case .alreadyShown: "The message was reported as shown before: report its click or its end."
            case .alreadyEnded: "The offer has ended otherwise: drop the report."
            case .idReused: "Another report about this offer has the same reportId: give each its own."
            case .tooMany: "The offer already has the maximum number of reports: drop the report."
            case .notDismissible: "A mandatory message ends only by a click: show it again."
            }
        self.init(.conflict, "outcome-contradicts", detail)
        members = [
            Member(name: "reason", value: conflict.code.rawValue), Member(name: "state", value: conflict.state.word),
        ]
        if let ended = conflict.reason { members.append(Member(name: "ended", value: ended)) }
    }

    /// 403. An explanation tells what a user has seen on all devices.
    private static let noExplanation = Problem(
        .forbidden, "inapp-explain-forbidden", title: "No explanation for a source",
        "This source reads no explanations: set its option explain, or ask POST /v1/inapp/explain with an admin token."
    )

    /// 403. One source can neither read nor end the offers of another one's device.
    private static let foreignDevice = Problem(
        .forbidden, "inapp-device-forbidden", title: "Device of another source",
        "The device uses another source of this gateway: give each app ids of its own, and each device one source.")

    /// Does not tell an unknown offer from one of another device.
    /// 404. A client drops the report: repeating it cannot succeed.
    private static let noOffer = Problem(
        .notFound, "offer-not-found", title: "No such offer",
        "The device has no such offer, or it ended long ago: report the offer of an answer, with its own device.")

    /// `id`: decoded.
    /// 404 for operators. A message that upkeep has removed is unknown too.
    private static func noMessage(_ id: String) -> Problem {
        unknown("message-not-found", "message", id, in: "inapp/messages")
    }
}
