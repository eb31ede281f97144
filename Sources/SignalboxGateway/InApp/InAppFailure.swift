package import SignalboxInApp
package import SignalboxStore

/// Why a request about in-app messages was rejected. No row was changed, except possibly after
/// ``store(_:)`` with `undecided`. The server chooses the status of each case.
package enum InAppFailure: Error, Sendable {
    /// A mistake in the request, with its location.
    /// A repeat of the same request has the same fault.
    case malformed(FormFault)
    /// The request asks for an explanation, which its client may not read.
    case mayNotExplain
    /// The device is one of another source, whose token it uses.
    case foreignDevice
    /// No stored message has this id.
    case unknownMessage(MessageID)
    /// The device has no such offer, or it is no longer kept.
    case unknownOffer
    /// The report contradicts an accepted one, or the message; the state stays.
    case contradicts(ReportFault.Conflict)
    /// The store could not read or write. A client may repeat its request: triggers and reports with an id are
    /// decided once.
    case store(StoreError)

    /// The engine's reasons, as the server sees them.
    init(_ fault: ReportFault) {
        switch fault {
        case .unknownOffer: self = .unknownOffer
        case .conflict(let conflict): self = .contradicts(conflict)
        }
    }
}
