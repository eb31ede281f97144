package import SignalboxGateway
package import SignalboxJSON
import SignalboxNotification

/// Explanations as the API and the command line show them.
extension JSONWriter {
    /// Writes an explanation as an object. `hidesContent`: without texts of the event and values of routes. `failures`
    /// is absent without rules; `routes`, `fallback` and `destinations` are, if evaluating takes too much work.
    package mutating func explanation(_ explanation: PayloadExplanation, hidesContent: Bool = false) {
        object { json in
            json.member("platform", explanation.platform.rawValue)
            json.member("envelope", explanation.envelope.rawValue)
            json.member("vendor", explanation.vendor.name)
            if explanation.isVendorOfSource { json.member("vendorOfSource", true) }
            json.array("detectors", of: explanation.detectors) { $0.detector($1) }
            if let event = hidesContent ? ContentMask.event(explanation.event) : explanation.event {
                json.member("event", raw: event)
            }
            json.objects("provenance", of: explanation.provenance.links) { json, link in
                json.member("raw", link.raw)
                json.member("event", link.event)
                json.member("how", link.how.rawValue)
            }
            json.member("unread", explanation.provenance.unread)
            json.member("complete", explanation.provenance.isComplete)
            if !explanation.failures.verdicts.isEmpty {
                json.array("failures", of: explanation.failures.verdicts) { $0.failure($1) }
            }
            guard let routes = explanation.routes else { return }
            json.verdicts(of: routes, hidesContent: hidesContent)
            json.member("fallback", routes.usesFallback)
            json.member("destinations", routes.destinations.map(\.name))
        }
    }

    /// `mismatch` names the option that keeps the rule from selecting the payload. `due` tells whether the next push
    /// would have the rule's effects. The explanation itself counts for no rule.
    private mutating func failure(_ verdict: FailureTrial.Verdict) {
        object { json in
            json.member("name", verdict.name)
            json.member("origin", verdict.isFromAPI ? "api" : "config")
            json.member("selects", verdict.mismatch == nil)
            json.member("mismatch", verdict.mismatch)
            json.member("selected", verdict.selected)
            json.member("due", verdict.isDue)
            json.member("effects", verdict.effects)
        }
    }

    /// A detector without evidence has neither `strength` nor `at`.
    private mutating func detector(_ detector: PayloadExplanation.Detector) {
        object { json in
            json.member("name", detector.name)
            json.member("verdict", detector.verdict.rawValue)
            if let detection = detector.detection {
                json.member("strength", "\(detection.strength)")
                json.member("at", detection.evidence)
            }
            json.member("looksFor", detector.looksFor)
        }
    }
}
