/// The result of one step: the answer, the rows to write and the events to record. The step itself has no effect; a
/// caller that drops the changes has asked "what if".
package struct Decision: Sendable, Hashable {
    /// For the client.
    package var answer: Answer
    /// To be committed together before the answer is sent.
    package var changes: [RowChange]
    /// In the order in which they happened.
    package var records: [Record]
    /// The rows after the changes.
    package var state: InAppState
    /// The time of the decision: the server's, but never before the last decision about this user and device.
    package var now: Instant
    /// When ``InAppEngine/advance(_:messages:now:)`` has work for this device; nil for none.
    package var nextDue: Instant?
}

/// The answer to a trigger or a report.
package struct Answer: Sendable, Hashable {
    /// To be shown now, and reported until its lease ends.
    package var offer: Offer?
    /// When the client may ask again (``TriggerEvent/poll``): the earliest time at which a waiting message may be
    /// shown.
    package var nextCheck: Instant?
    /// Whether this is the answer to a repeated trigger or report.
    package var isRepeat = false
    /// Only with `explain`: every message that the event concerned, best first, at most ``Bounds/explained``.
    package var candidates: [Candidate] = []
    /// Candidates beyond that number.
    package var omitted = 0
}

/// An event for the routes.
package struct Record: Sendable, Hashable {
    /// The last part of the event type `io.signalbox.inapp.*`.
    package enum Kind: String, Sendable, Hashable {
        case offered, impression, clicked, dismissed, discarded, expired, held
        case noMatch = "no-match"
    }

    /// The transition of the offer, or `no-match`.
    package var kind: Kind
    /// The time of the decision, equal for all records of one step.
    package var at: Instant
    /// The offer after the transition; nil for `no-match`.
    package var offer: Offer?
    /// A check's code, an ``EndReason``, the manner of a dismissal or the button of a click.
    package var detail: String?
    /// `late`, `again`, `withdrawn`, `revision-changed`, `over-limit`, and the names of ``Offer/Flags``.
    package var flags: [String] = []
    /// Kind and name of the event, for `no-match`.
    package var trigger: TriggerEvent?
}

/// A client's report about an offer that it was given.
package struct Report: Sendable, Hashable {
    /// Chosen by the client. A repeat gets the first answer.
    package var id: String?
    /// The offer that the client was given.
    package var offer: OfferID
    /// The device that reports; the offer of another device is unknown.
    package var device: DeviceID
    /// The event that the client reports.
    package var outcome: Outcome
    /// Evidence only; tells a repeated click from a second click.
    package var deviceTime: Instant?
    /// Names the offer that may follow in the same turn; unique, and not to be guessed.
    package var ticket: String

    package init(
        id: String? = nil, offer: OfferID, device: DeviceID, outcome: Outcome, deviceTime: Instant? = nil,
        ticket: String
    ) {
        (self.id, self.offer, self.device) = (id, offer, device)
        (self.outcome, self.deviceTime, self.ticket) = (outcome, deviceTime, ticket)
    }

    /// Reports that end, put off or confirm an offer. An offer that is only leased treats a click or a
    /// dismissal as an impression too, because reports overtake each other.
    package enum Outcome: Sendable, Hashable {
        /// The message is on the screen. Counts the impression.
        case shown
        /// A tap on a button, or on the message itself for nil. One that closes ends the display.
        case clicked(button: String?, closes: Bool)
        /// How: `user`, `swipe`, `auto`, `back`, `replaced`.
        case dismissed(how: String)
        /// Keep on top of the stack (Braze `DISPLAY_LATER`, `.reenqueue` of Swift).
        case later
        /// As if never triggered (Braze ObjC and Android `REENQUEUE`).
        case undo
        /// The app does not want it now.
        case discard
        /// The client cannot show the message. Its reservation is released and its re-eligibility is not spent.
        case assetFailed, orientation, templateUnknown, imageMissing, renderFailed
        /// The server of a templated message aborted it (Braze `templated_iam`).
        case templateAborted
        /// The app was killed while the message was shown.
        case interrupted

        /// The word for keys and records.
        package var word: String {
            switch self {
            case .shown: "shown"
            case .clicked: "clicked"
            case .dismissed: "dismissed"
            case .later: "later"
            case .undo: "undo"
            case .discard: "discard"
            case .assetFailed: "asset-failed"
            case .orientation: "orientation"
            case .templateUnknown: "template-unknown"
            case .imageMissing: "image-missing"
            case .renderFailed: "render-failed"
            case .templateAborted: "template-aborted"
            case .interrupted: "interrupted"
            }
        }

        /// Whether the next message of the same event may be shown instead (Braze web 2.2.6, Android 3.1.0; a
        /// message that the device cannot show must not keep the others away).
        var triesNext: Bool {
            switch self {
            case .templateAborted, .templateUnknown, .orientation, .imageMissing: true
            default: false
            }
        }
    }

    /// Equal for repeats of one report, and short. Without an id, outcome and device time identify a report.
    var key: String {
        if let idKey { return idKey + outcome.word }
        var digest = Digest()
        digest.add(outcome.word)
        switch outcome {
        case .clicked(let button, let closes): digest.add("\(button ?? "") \(closes)")
        case .dismissed(let how): digest.add(how)
        default: break
        }
        digest.add(deviceTime.map(String.init) ?? "")
        return "#" + String(digest.value, radix: 16)
    }

    /// The beginning of the key of each report with this id; nil without an id.
    var idKey: String? {
        id.map { id in
            var digest = Digest()
            digest.add(id)
            return String(digest.value, radix: 16) + " "
        }
    }
}

/// The reason why a report is not accepted. The state is unchanged.
package enum ReportFault: Error, Sendable, Hashable {
    /// The device has no such offer, or it is no longer kept (404).
    case unknownOffer
    /// The report contradicts an accepted one or the message (409).
    case conflict(Conflict)

    /// The rule that a report breaks, with the state that stays.
    package struct Conflict: Sendable, Hashable {
        /// The rules that a report can break, by their words in the API.
        package enum Code: String, Sendable, Hashable {
            /// The offer was never given to the client.
            case notOffered = "not-offered"
            case alreadyShown = "already-shown"
            case alreadyEnded = "already-ended"
            /// A mandatory message ends only by a click.
            case notDismissible = "not-dismissible"
            /// Another report about the offer has the same id.
            case idReused = "report-id-reused"
            /// The offer has had ``Bounds/reports`` reports.
            case tooMany = "too-many-reports"
        }

        /// The broken rule.
        package var code: Code
        /// The state that the report contradicts.
        package var state: Offer.State
        /// How the offer ended, if it has.
        package var reason: String?
    }
}
