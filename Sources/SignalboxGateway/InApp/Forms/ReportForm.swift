package import SignalboxInApp

/// A client's report about an offer: the body of `POST /v1/inapp/offers/{id}/outcome`.
/// Members: `outcome` is required; `reportId`, `device`, `button` and `closes` (of a click), `how` (of a dismissal)
/// and `at` (the device's time) are not. Reports with one `reportId` count once; another outcome with
/// the same `reportId` is rejected.
package struct ReportForm: Sendable, Hashable {
    /// The device that the report names; nil if it names none.
    package let device: DeviceID?
    /// Its device is a placeholder until the offer's device is known.
    private let report: Report

    /// Reads a report about an offer. `ticket` names the offer that may follow. Throws the first mistake; every bound
    /// of ``Report`` is checked.
    package static func read(_ bytes: [UInt8], offer: OfferID, ticket: String) throws(FormFault) -> ReportForm {
        try FormDocument.read(bytes, upTo: FormBounds.report) { (root) throws(FormFault) in
            let object = try FormObject(root, at: "", FormKeys.report)
            let device = try object.text("device")
            let report = Report(
                id: try object.text("reportId"), offer: offer, device: device ?? "",
                outcome: try outcome(of: object), deviceTime: try object.instant("at"), ticket: ticket)
            return ReportForm(device: device, report: report)
        }
    }

    /// The report for the engine. `device`: the offer's device, for a report that names none. The engine knows no
    /// such offer if the report names another device.
    package func report(on device: DeviceID) -> Report {
        var report = report
        report.device = self.device ?? device
        return report
    }

    /// Throws for a member that belongs to another outcome: the client would expect it to count.
    private static func outcome(of object: FormObject) throws(FormFault) -> Report.Outcome {
        let word = try object.required("outcome", object.choice("outcome", Outcome.allCases))
        for (key, owner) in [("button", Outcome.clicked), ("closes", .clicked), ("how", .dismissed)]
            as [(StaticString, Outcome)]
        where word != owner && object[key] != nil {
            throw FormFault(
                .contradictory, object.pointer(key), "Only the outcome \(owner.rawValue) has the member \(key).")
        }
        return switch word {
        case .shown: .shown
        case .clicked:
            .clicked(button: try object.text("button"), closes: try object.flag("closes") ?? true)
        case .dismissed: .dismissed(how: (try object.choice("how", Manner.allCases) ?? .user).rawValue)
        case .later: .later
        case .undo: .undo
        case .discard: .discard
        case .assetFailed: .assetFailed
        case .orientation: .orientation
        case .templateUnknown: .templateUnknown
        case .imageMissing: .imageMissing
        case .renderFailed: .renderFailed
        case .templateAborted: .templateAborted
        case .interrupted: .interrupted
        }
    }

    /// The words of `outcome`, as in ``Report/Outcome/word``.
    /// The raw values are those of the form, and labels of a metric.
    package enum Outcome: String, CaseIterable, Sendable {
        /// Outcomes of a message on the screen.
        case shown, clicked, dismissed
        /// Outcomes of a message that the client does not show.
        case later, undo, discard
        case assetFailed = "asset-failed", orientation, templateUnknown = "template-unknown"
        case imageMissing = "image-missing", renderFailed = "render-failed", templateAborted = "template-aborted"
        /// The app was killed while the message was shown.
        case interrupted
    }

    /// The words of `how`: the manner of a dismissal.
    package enum Manner: String, CaseIterable, Sendable {
        /// The user's button; the default.
        case user
        case swipe, auto, back, replaced
    }
}

/// The members of a report.
extension FormKeys {
    /// Members of a report.
    package static let report: [StaticString] = ["reportId", "device", "outcome", "button", "closes", "how", "at"]
}
